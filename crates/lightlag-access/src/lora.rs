//! The airtime of LoRa (Semtech SX1276 data sheet §4.1.1.6 and §4.1.1.7; application note AN1200.13).

use lightlag_core::Duration;

/// Settings of a LoRa transmission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chirps {
    /// Spreading factor, 7 to 12.
    pub spreading_factor: u32,
    /// Bandwidth in hertz.
    pub bandwidth: f64,
    /// Coding rate 4/(4 + n), with n from 1 to 4.
    pub coding: u32,
    /// Number of preamble symbols, without the 4.25 symbols that the modem adds.
    pub preamble: u32,
    /// Whether the packet has an explicit header.
    pub header: bool,
    /// Whether the payload has a CRC of 16 bits.
    pub crc: bool,
}

/// Minimum duration of a symbol for which the low data rate optimisation is mandatory, in seconds.
const LONG_SYMBOL: f64 = 0.016;

impl Chirps {
    /// Returns the duration of a symbol in seconds: 2^SF / BW.
    pub fn symbol(&self) -> f64 {
        f64::from(1_u32 << self.spreading_factor) / self.bandwidth
    }

    /// Returns the number of symbols of a payload of this size in bytes, with its header.
    pub fn payload_symbols(&self, size: u32) -> u32 {
        let optimised = self.symbol() >= LONG_SYMBOL;
        let factor = i64::from(self.spreading_factor);
        let (header, crc) = (if self.header { 0 } else { 20 }, if self.crc { 16 } else { 0 });
        let bits = 8 * i64::from(size) - 4 * factor + 28 + crc - header;
        let per_block = 4 * (factor - if optimised { 2 } else { 0 });
        let blocks = bits.max(0).div_euclid(per_block) + i64::from(bits.max(0).rem_euclid(per_block) > 0);
        8 + blocks as u32 * (self.coding + 4)
    }

    /// Returns the airtime of a packet with this payload in bytes.
    pub fn airtime(&self, size: u32) -> Duration {
        let symbols = f64::from(self.preamble) + 4.25 + f64::from(self.payload_symbols(size));
        Duration::from_secs_f64(symbols * self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chirps(spreading_factor: u32, bandwidth: f64, coding: u32) -> Chirps {
        Chirps { spreading_factor, bandwidth, coding, preamble: 8, header: true, crc: true }
    }

    /// Airtimes by the formula of the data sheet, worked out by hand; the table of airtimes for 51 B of payload at
    /// 125 kHz in LoRaWAN's regional parameters gives the same for SF7 (102.7 ms at 51 B) and SF12 (2,465.8 ms).
    #[test]
    fn airtimes_follow_the_data_sheet() {
        // SF7: T = 1.024 ms; ceil((408 − 28 + 28 + 16) / 28) = ceil(15.14) = 16, 8 + 16 · 5 = 88 symbols;
        // (12.25 + 88) · 1.024 ms = 102.656 ms.
        assert_eq!(chirps(7, 125e3, 1).airtime(51), Duration::from_micros(102_656));
        // SF12: T = 32.768 ms, optimised; ceil((408 − 48 + 28 + 16) / 40) = ceil(10.1) = 11, 8 + 11 · 5 = 63;
        // (12.25 + 63) · 32.768 ms = 2,465.792 ms.
        assert_eq!(chirps(12, 125e3, 1).airtime(51), Duration::from_micros(2_465_792));
        // SF10, 13 B: T = 8.192 ms; ceil((104 − 40 + 44) / 40) = 3, 8 + 15 = 23; 35.25 · 8.192 ms = 288.768 ms.
        assert_eq!(chirps(10, 125e3, 1).airtime(13), Duration::from_micros(288_768));
    }

    #[test]
    fn without_a_header_and_a_crc_a_packet_is_shorter() {
        let plain = Chirps { header: false, crc: false, ..chirps(7, 125e3, 1) };
        // ceil((80 − 28 + 28 − 20) / 28) = ceil(2.14) = 3; 8 + 15 = 23 instead of ceil(96 / 28) = 4, 8 + 20 = 28.
        assert_eq!([plain.payload_symbols(10), chirps(7, 125e3, 1).payload_symbols(10)], [23, 28]);
    }

    #[test]
    fn the_coding_rate_scales_the_blocks() {
        // 16 blocks of 4 + 4 symbols.
        assert_eq!(chirps(7, 125e3, 4).payload_symbols(51), 8 + 16 * 8);
    }
}
