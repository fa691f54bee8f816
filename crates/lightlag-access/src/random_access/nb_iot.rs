//! Preambles, resource units and transport blocks of NB-IoT.
//!
//! - Preamble: 3GPP TS 36.211 §10.1.6. Four symbol groups of a cyclic prefix and five symbols of 1/3.75 kHz: 5.6 ms with
//!   format 0, 6.4 ms with format 1.
//! - Resource units of the NPUSCH: TS 36.211 §10.1.2.3; their times are printed in TS 36.101, table A.2.4-1.
//! - Sizes of transport blocks: TS 36.213, table 16.5.1.2-2 (release 13).

use lightlag_core::{Bytes, Duration, Probability, settings, words};

words! {
    /// Spacing of the subcarriers of the NPUSCH.
    pub enum Spacing {
        /// 12 subcarriers per carrier.
        Wide = "15 kHz",
        /// 48 subcarriers per carrier.
        Narrow = "3.75 kHz",
    }
}

settings! {
    /// NB-IoT over a satellite.
    #[derive(Clone, PartialEq, Debug)]
    pub struct NbIotConfig {
        /// Time between two opportunities to send a preamble of NB-IoT.
        nprach_period: Duration = Duration::from_millis(640) => time();
        /// Format of NB-IoT preambles: 0 with 5.6 ms, or 1 with 6.4 ms.
        nprach_format: u32 = 1 => count_or_zero(1, "a preamble format");
        /// Coverage classes of NB-IoT: fraction of the sensors, subcarriers for preambles, repetitions of the preamble,
        /// repetitions of data.
        coverage: Vec<Vec<f64>> = vec![vec![1.0, 48.0, 1.0, 1.0]] => rows(COLUMNS, "[[0.9, 36, 1, 1], [0.1, 12, 8, 8]]");
        /// Spacing of the subcarriers for data of NB-IoT.
        spacing: Spacing = Spacing::default() => choice("a subcarrier spacing");
        /// Number of subcarriers (tones) of a transmission of NB-IoT data: 1, 3, 6 or 12; 1 with 3.75 kHz.
        tones: u32 = 1 => count(12, "a number of tones", "");
        /// Index I_TBS of the size of NB-IoT transport blocks; up to 10 with one tone.
        tbs_index: u32 = 4 => count_or_zero(12, "an index of a transport block size");
        /// Number of carriers of 180 kHz for data of NB-IoT.
        data_carriers: u32 = 1 => count(1000, "a number of carriers", "");
        /// Time from the end of an NB-IoT transmission at the gateway to the end of its response, which has the next
        /// grant.
        response_delay: Duration = Duration::from_millis(20) => time_or_zero();
        /// Time from the reception of an NB-IoT grant to the transmission.
        grant_delay: Duration = Duration::from_millis(12) => time_or_zero();
        /// Time to wait for a response, in addition to the round trip, before a sensor starts again.
        contention_timer: Duration = Duration::from_millis(640) => time_or_zero();
        /// Whether each transport block of NB-IoT is acknowledged before the next one (HARQ).
        harq: bool = true => flag();
        /// Maximum number of transmissions of an NB-IoT transport block with HARQ.
        harq_transmissions: u32 = 4 => count(28, "a number of transmissions", "");
        /// Probability that a transmission of an NB-IoT transport block is not decoded.
        block_error: Probability = Probability::ZERO => probability();
    }
}

const COLUMNS: &[&str] = &["fraction", "subcarriers", "preamble repetitions", "data repetitions"];

/// Sizes of transport blocks in bits, by I_TBS and I_RU.
const BLOCKS: [&[u32]; 13] = [
    &[16, 32, 56, 88, 120, 152, 208, 256],
    &[24, 56, 88, 144, 176, 208, 256, 344],
    &[32, 72, 144, 176, 208, 256, 328, 424],
    &[40, 104, 176, 208, 256, 328, 440, 568],
    &[56, 120, 208, 256, 328, 408, 552, 680],
    &[72, 144, 224, 328, 424, 504, 680, 872],
    &[88, 176, 256, 392, 504, 600, 808, 1000],
    &[104, 224, 328, 472, 584, 712, 1000],
    &[120, 256, 392, 536, 680, 808],
    &[136, 296, 456, 616, 776, 936],
    &[144, 328, 504, 680, 872, 1000],
    &[176, 376, 584, 776, 1000],
    &[208, 440, 680, 1000],
];

/// Numbers of resource units, by I_RU.
const UNITS: [u32; 8] = [1, 2, 3, 4, 5, 6, 8, 10];

/// Size of message 3, which identifies a sensor and requests capacity, in bits (TS 36.213 §16.3.3, from memory).
const MESSAGE_3: u32 = 88;

/// Coverage class of a sensor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Coverage {
    /// Number of subcarriers for preambles.
    pub(super) subcarriers: u32,
    /// Repetitions of the preamble.
    pub(super) preambles: u32,
    /// Repetitions of data.
    pub(super) data: u32,
}

impl NbIotConfig {
    /// Returns a coverage class by its index.
    pub(super) fn class(&self, class: u32) -> Coverage {
        let row = &self.coverage[class as usize];
        Coverage { subcarriers: row[1] as u32, preambles: row[2] as u32, data: row[3] as u32 }
    }

    /// Returns the class of a sensor by a uniform random number from 0 to 1.
    pub(super) fn draw(&self, uniform: f64) -> u32 {
        let mut sum = 0.0;
        let is_beyond = |row: &&Vec<f64>| {
            sum += row[0];
            sum <= uniform
        };
        (self.coverage.iter().take_while(is_beyond).count() as u32).min(self.coverage.len() as u32 - 1)
    }

    /// Returns the duration of a preamble with its repetitions.
    pub fn preamble(&self, repetitions: u32) -> Duration {
        let one = Duration::from_micros(if self.nprach_format == 0 { 5_600 } else { 6_400 });
        // TS 36.211 §10.1.6.1: a gap follows each 64 repetitions; 40 ms are from memory.
        one * u64::from(repetitions) + Duration::from_millis(40) * (u64::from(repetitions.saturating_sub(1)) / 64)
    }

    /// Returns the duration of a resource unit.
    pub fn resource_unit(&self) -> Duration {
        Duration::from_millis(match (self.spacing, self.tones) {
            (Spacing::Narrow, _) => 32,
            (Spacing::Wide, 1) => 8,
            (Spacing::Wide, 3) => 4,
            (Spacing::Wide, 6) => 2,
            (Spacing::Wide, _) => 1,
        })
    }

    /// Returns the number of transmissions of data that can take place simultaneously.
    pub(super) fn parallel(&self) -> u32 {
        let per_carrier = if self.spacing == Spacing::Narrow { 48 } else { 12 / self.tones };
        per_carrier * self.data_carriers
    }

    /// Returns the number of bits of a transport block that carries up to `bits`, and its number of resource units: the
    /// smallest block that carries all of them, or else the largest one.
    pub fn block(&self, bits: u32) -> (u32, u32) {
        let sizes = BLOCKS[self.tbs_index as usize];
        let index = sizes.iter().position(|size| *size >= bits).unwrap_or(sizes.len() - 1);
        (sizes[index], UNITS[index])
    }

    /// Returns the durations of the transport blocks that carry this number of bytes.
    pub fn blocks(&self, bytes: Bytes, repetitions: u32) -> impl Iterator<Item = Duration> + '_ {
        let mut bits = u32::try_from(bytes.0 * 8).unwrap_or(u32::MAX);
        std::iter::from_fn(move || {
            (bits > 0).then(|| {
                let (size, units) = self.block(bits);
                bits = bits.saturating_sub(size);
                self.resource_unit() * u64::from(units * repetitions)
            })
        })
    }

    /// Returns the duration of message 3.
    pub fn message_3(&self, repetitions: u32) -> Duration {
        self.blocks(Bytes(u64::from(MESSAGE_3 / 8)), repetitions).fold(Duration::ZERO, |sum, block| sum + block)
    }

    /// Returns the time of all transmissions of a sensor for a packet of `bytes`, without contention and errors.
    pub(super) fn airtime(&self, bytes: Bytes, class: u32) -> Duration {
        let Coverage { preambles, data, .. } = self.class(class);
        let blocks = self.blocks(bytes, data).fold(Duration::ZERO, |sum, block| sum + block);
        self.preamble(preambles) + self.message_3(data) + blocks
    }

    /// Checks the settings; see [`super::RandomAccessConfig::check`].
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let is_power = |number: f64| [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0].contains(&number);
        let refuse = |message: String| Err(("coverage", message));
        for row in &self.coverage {
            if ![12.0, 24.0, 36.0, 48.0].contains(&row[1]) {
                return refuse(format!("{} is not a number of subcarriers for preambles: 12, 24, 36 or 48", row[1]));
            }
            if let Some(other) = row[2..].iter().find(|number| !is_power(**number)) {
                return refuse(format!("{other} is not a number of repetitions: 1, 2, 4 and so on up to 128"));
            }
            let preamble = self.preamble(row[2] as u32);
            if preamble > self.nprach_period {
                let message = format!(
                    "is {}, shorter than {} preambles, which take {preamble}; increase it",
                    self.nprach_period, row[2]
                );
                return Err(("nprach_period", message));
            }
        }
        let [fractions, subcarriers] = [0, 1].map(|column| self.coverage.iter().map(|row| row[column]).sum::<f64>());
        if (fractions - 1.0).abs() > 1e-6 || self.coverage.iter().any(|row| row[0] < 0.0) {
            return refuse(format!("has fractions of sensors that add up to {fractions}; they must add up to 1"));
        }
        if subcarriers > 48.0 {
            return refuse(format!("has {subcarriers} subcarriers for preambles in total; a carrier has 48"));
        }
        if ![1, 3, 6, 12].contains(&self.tones) {
            return Err(("tones", format!("{} is not a number of tones: 1, 3, 6 or 12", self.tones)));
        }
        if self.spacing == Spacing::Narrow && self.tones > 1 {
            return Err(("tones", format!("{} needs a spacing of 15 kHz; write 1", self.tones)));
        }
        if self.tones == 1 && self.tbs_index > 10 {
            return Err(("tbs_index", format!("{} needs several tones; write up to 10", self.tbs_index)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(of: u64) -> Duration {
        Duration::from_millis(of)
    }

    /// TS 36.101, table A.2.4-1: subcarrier spacing, tones, I_TBS, payload in bits, resource units, time in ms.
    #[test]
    fn transmission_times_are_those_of_the_reference_channels() {
        let wide = Spacing::Wide;
        let rows = [
            (Spacing::Narrow, 1, 0, 32, 2, 64),
            (Spacing::Narrow, 1, 3, 40, 1, 32),
            (wide, 1, 0, 32, 2, 16),
            (wide, 1, 3, 40, 1, 8),
            (wide, 3, 5, 72, 1, 4),
            (wide, 6, 5, 72, 1, 2),
            (wide, 12, 5, 72, 1, 1),
        ];
        for (spacing, tones, tbs_index, bits, units, time) in rows {
            let config = NbIotConfig { spacing, tones, tbs_index, ..NbIotConfig::default() };
            assert_eq!(config.check(), Ok(()));
            assert_eq!(config.block(bits), (bits, units));
            assert_eq!(config.blocks(Bytes(u64::from(bits / 8)), 1).collect::<Vec<_>>(), [ms(time)]);
        }
        // TS 36.104, table A.16.1-1: I_TBS, I_RU, payload.
        for (tbs_index, unit, bits) in [(0, 1, 32), (3, 0, 40), (7, 0, 104), (9, 0, 136), (5, 4, 424)] {
            let config = NbIotConfig { tones: 12, tbs_index, ..NbIotConfig::default() };
            assert_eq!(config.block(bits), (bits, UNITS[unit]));
        }
    }

    #[test]
    fn preambles_and_blocks_are_repeated() {
        let config = NbIotConfig::default();
        assert_eq!(config.preamble(1), Duration::from_micros(6_400));
        assert_eq!(NbIotConfig { nprach_format: 0, ..config.clone() }.preamble(8), Duration::from_micros(44_800));
        // 128 · 6.4 ms and one gap of 40 ms.
        assert_eq!(config.preamble(128), Duration::from_micros(859_200));
        // I_TBS 4: 150 B are 1,200 bits: blocks of 680 bits with 10 units and of 552 bits with 8, each repeated twice.
        assert_eq!(config.blocks(Bytes(150), 2).collect::<Vec<_>>(), [ms(160), ms(128)]);
        // 88 bits need 120 bits, 2 units.
        assert_eq!(config.message_3(1), ms(16));
    }

    #[test]
    fn classes_have_their_fractions() {
        let coverage = vec![vec![0.5, 12.0, 1.0, 1.0], vec![0.3, 12.0, 8.0, 4.0], vec![0.2, 24.0, 32.0, 16.0]];
        let config = NbIotConfig { coverage, ..NbIotConfig::default() };
        assert_eq!(config.check(), Ok(()));
        assert_eq!([0.0, 0.49, 0.5, 0.79, 0.81, 0.999].map(|uniform| config.draw(uniform)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(config.class(2), Coverage { subcarriers: 24, preambles: 32, data: 16 });
    }
}
