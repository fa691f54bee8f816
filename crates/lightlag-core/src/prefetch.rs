//! Fetching memory before it is needed.
//!
//! This is the only `unsafe` code of the engine. `core::hint::prefetch_read` will replace it; as of Rust 1.95 it is
//! unstable.

/// Bytes of a cache line.
const LINE: usize = 64;

type CacheLine = [u8; LINE];

/// Requests the cache lines of the value at `pointer` without waiting for them, whereas a read would stall the
/// processor. The pointer need not be valid; any address is harmless. On processors other than x86-64 nothing happens.
#[inline(always)]
pub fn prefetch<T>(pointer: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = pointer.cast::<i8>().wrapping_add(line);
        // SAFETY: SSE is part of x86-64. A prefetch is a hint, which accesses no memory in the sense of the language
        // and never faults, for any address.
        #[expect(unsafe_code, reason = "stable Rust has no prefetch instruction")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = pointer;
}

/// Prefetches the first bytes of a value.
#[inline(always)]
pub fn prefetch_bytes<const BYTES: usize>(value: &impl Sized) {
    prefetch(std::ptr::from_ref(value).cast::<[u8; BYTES]>());
}

/// Prefetches a value whose size is known only at run time.
#[inline]
pub fn prefetch_value<T: ?Sized>(value: &T) {
    let first_line = std::ptr::from_ref(value).cast::<CacheLine>();
    for line in 0..size_of_val(value).div_ceil(size_of::<CacheLine>()) {
        prefetch(first_line.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetching_changes_nothing_at_any_address() {
        let lines = [7_u64; 40];
        prefetch(&lines);
        prefetch_value(&lines[..7]);
        prefetch_bytes::<100>(&lines);
        assert_eq!(lines, [7; 40]);
        prefetch(std::ptr::null::<[u64; 40]>());
        prefetch(std::ptr::without_provenance::<[u64; 40]>(usize::MAX));
    }
}
