//! Neighbours of a segment in its burst, in one byte.

/// Whether a segment continues a burst, and whether the burst continues after it.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Neighbours(u8);

impl Neighbours {
    const BEFORE: u8 = 1;
    const AFTER: u8 = 2;

    pub(crate) fn new(continues: bool, goes_on: bool) -> Self {
        Self((u8::from(continues) * Self::BEFORE) | (u8::from(goes_on) * Self::AFTER))
    }

    pub(crate) fn continues(self) -> bool {
        self.0 & Self::BEFORE != 0
    }

    pub(crate) fn goes_on(self) -> bool {
        self.0 & Self::AFTER != 0
    }
}
