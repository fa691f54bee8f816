//! Fetching memory before it is needed.
//!
//! This is the only `unsafe` code of the engine. `core::hint::prefetch_read` will replace it; as of Rust 1.95 it is
//! unstable.

/// Bytes of a cache line.
const LINE: usize = 64;

type Line = [u8; LINE];

/// Requests the cache lines of the value at `place`, without waiting for them: a read would stall the processor. The
/// pointer need not be valid; any address is harmless. On processors other than x86-64 nothing happens.
#[inline(always)]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of::<T>()).step_by(LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = place.cast::<i8>().wrapping_add(line);
        // SAFETY: SSE is part of x86-64. A prefetch is a hint, which accesses no memory in the sense of the language and never
        // faults, whatever the address.
        #[expect(unsafe_code, reason = "the language has no stable way to fetch ahead")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// The same of the first bytes of a value.
#[inline(always)]
pub fn prefetch_bytes<const BYTES: usize>(value: &impl Sized) {
    prefetch(std::ptr::from_ref(value).cast::<[u8; BYTES]>());
}

/// The same of a value whose size is known only as the program runs.
#[inline]
pub fn prefetch_value<T: ?Sized>(value: &T) {
    let place = std::ptr::from_ref(value).cast::<Line>();
    for line in 0..size_of_val(value).div_ceil(size_of::<Line>()) {
        prefetch(place.wrapping_add(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fetched_stays_as_it_is_and_may_be_nowhere() {
        let lines = [7_u64; 40];
        prefetch(&lines);
        prefetch_value(&lines[..7]);
        prefetch_bytes::<100>(&lines);
        assert_eq!(lines, [7; 40]);
        prefetch(std::ptr::null::<[u64; 40]>());
        prefetch(std::ptr::without_provenance::<[u64; 40]>(usize::MAX));
    }
}
