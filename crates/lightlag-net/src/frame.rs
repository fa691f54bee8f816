//! Sizes of the frames of DVB-S2.

/// Format of the frames of a MODCOD.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameFormat {
    /// Bits of the data field of a BBFRAME: K_bch without the header of 80 bits.
    pub data_bits: u32,
    /// Symbols of the PLFRAME, with headers and pilots.
    pub symbols: u32,
}

impl FrameFormat {
    /// Returns the bits of data per symbol.
    pub fn efficiency(self) -> f64 {
        f64::from(self.data_bits) / f64::from(self.symbols)
    }

    /// Returns the complete bytes of the data field.
    pub fn data_bytes(self) -> u32 {
        self.data_bits / 8
    }
}
