//! Products of 128 bits.

/// Returns the product of two numbers of 64 bits.
///
/// WebAssembly has no such product, and its compiler calls a function that multiplies numbers of 128 bits and returns
/// the result through memory. Four products of halves take a fraction of that time.
#[inline(always)]
pub const fn product(a: u64, b: u64) -> u128 {
    if cfg!(target_family = "wasm") { by_halves(a, b) } else { a as u128 * b as u128 }
}

/// Returns the lower 128 bits of the product of two numbers of 128 bits.
#[inline(always)]
pub const fn wrapping_product(a: u128, b: u128) -> u128 {
    if cfg!(target_family = "wasm") {
        let (high, low) = ((a >> 64) as u64, a as u64);
        let (other_high, other_low) = ((b >> 64) as u64, b as u64);
        let crossed = high.wrapping_mul(other_low).wrapping_add(low.wrapping_mul(other_high));
        by_halves(low, other_low).wrapping_add((crossed as u128) << 64)
    } else {
        a.wrapping_mul(b)
    }
}

#[inline(always)]
const fn by_halves(a: u64, b: u64) -> u128 {
    const HALF: u64 = u32::MAX as u64;
    let (high, low) = (a >> 32, a & HALF);
    let (other_high, other_low) = (b >> 32, b & HALF);
    let lowest = low * other_low;
    // At most (2^32 - 1)^2 + 2^32 - 1, and then less than 2^64.
    let middle = high * other_low + (lowest >> 32);
    let crossed = low * other_high + (middle & HALF);
    let highest = high * other_high + (middle >> 32) + (crossed >> 32);
    (highest as u128) << 64 | (crossed << 32 | lowest & HALF) as u128
}

#[cfg(test)]
mod tests {
    use super::{by_halves, product, wrapping_product};
    use crate::RandomStream;

    #[test]
    fn products_by_halves_are_exact() {
        let mut random = RandomStream::new(1, "products");
        let ends = [0, 1, 2, u64::from(u32::MAX), 1 << 32, (1 << 32) + 1, 1 << 63, u64::MAX - 1, u64::MAX];
        let any = std::iter::repeat_with(|| random.bits()).take(1000);
        let all: Vec<u64> = ends.into_iter().chain(any).collect();
        for &a in &all {
            for &b in all.iter().take(40) {
                let exact = u128::from(a) * u128::from(b);
                assert_eq!(by_halves(a, b), exact, "{a} * {b}");
                assert_eq!(product(a, b), exact);
                let wide = u128::from(a) << 64 | u128::from(b);
                assert_eq!(wrapping_product(wide, exact), wide.wrapping_mul(exact));
            }
        }
    }
}
