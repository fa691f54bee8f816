//! Handles of contents in an arena.

/// Bits of a handle that hold the index of the slot; the others hold its generation.
const INDEX_BITS: u32 = 22;
const INDEX: u32 = (1 << INDEX_BITS) - 1;

/// A slot of an arena, with its generation. The default refers to none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Handle(u32);

impl Handle {
    /// Returns the handle of a slot.
    ///
    /// # Panics
    /// If the index has more than 22 bits.
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        assert!(index <= INDEX, "at most 2^22 packets with stored contents are in transit");
        Self(generation << INDEX_BITS | index)
    }

    /// Returns the generation after `generation`; never 0, which no handle has.
    pub(crate) fn next_generation(generation: u32) -> u32 {
        generation % (u32::MAX >> INDEX_BITS) + 1
    }

    #[inline(always)]
    pub(crate) fn exists(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    pub(crate) fn index(self) -> u32 {
        self.0 & INDEX
    }

    #[inline(always)]
    pub(crate) fn generation(self) -> u32 {
        self.0 >> INDEX_BITS
    }
}
