//! Access classes of EDCA (IEEE 802.11-2020 §10.2.3.2 and table 9-155).

mod edca;

pub use edca::{Edca, Parameters};

use lightlag_core::{Dscp, Duration};

/// An access class, which determines how soon and how often its packets gain access to the medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Class {
    /// Best effort, for packets without a mark.
    #[default]
    BestEffort,
    /// Background, for packets that can wait.
    Background,
    /// Video.
    Video,
    /// Voice.
    Voice,
}

impl Class {
    /// All classes, in the order of their indices.
    pub const ALL: [Self; 4] = [Self::BestEffort, Self::Background, Self::Video, Self::Voice];
    /// Names of the classes in scenarios, in the order of [`Class::ALL`].
    pub const NAMES: [&'static str; 4] = ["best-effort", "background", "video", "voice"];

    /// Returns the user priority that stands for the class in frames.
    pub const fn priority(self) -> u8 {
        match self {
            Self::BestEffort => 0,
            Self::Background => 1,
            Self::Video => 5,
            Self::Voice => 6,
        }
    }

    /// Returns the class of packets with this DSCP (RFC 8325 §4.3).
    pub const fn of_dscp(dscp: Dscp) -> Self {
        match dscp.number() {
            // CS6, CS7, EF, VA
            48 | 56 | 46 | 44 => Self::Voice,
            // CS3 to CS5, AF3x, AF4x
            24 | 32 | 40 | 26 | 28 | 30 | 34 | 36 | 38 => Self::Video,
            // CS1, LE (RFC 8622)
            8 | 1 => Self::Background,
            _ => Self::BestEffort,
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Returns the rank of the class: if two classes are ready simultaneously, the one with the higher rank sends
    /// first.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Background => 0,
            Self::BestEffort => 1,
            Self::Video => 2,
            Self::Voice => 3,
        }
    }

    /// Returns the default parameters of the class (table 9-155, for OFDM).
    const fn parameters(self) -> Parameters {
        let (aifsn, cw_min, cw_max, txop) = match self {
            Self::BestEffort => (3, 15, 1023, 0),
            Self::Background => (7, 15, 1023, 0),
            Self::Video => (2, 7, 15, 4096),
            Self::Voice => (2, 3, 7, 2080),
        };
        Parameters { aifsn, cw_min, cw_max, txop: Duration::from_micros(txop) }
    }
}

/// The parameters of DCF, which has no classes (§10.3.4.3).
pub(crate) const DCF: Parameters = Parameters { aifsn: 2, cw_min: 15, cw_max: 1023, txop: Duration::ZERO };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_follow_rfc_8325() {
        let classes =
            [0, 1, 8, 10, 18, 26, 34, 40, 46, 48, 63].map(|number| Class::of_dscp(Dscp::new(number).unwrap()));
        use Class::*;
        let expected =
            [BestEffort, Background, Background, BestEffort, BestEffort, Video, Video, Video, Voice, Voice, BestEffort];
        assert_eq!(classes, expected);
    }
}
