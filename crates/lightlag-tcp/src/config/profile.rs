//! The names of the profiles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A set of defaults for the behaviour of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// A current Linux kernel, as far as it is modelled.
    #[default]
    Linux,
    /// The RFCs with their recommendations.
    Rfc,
    /// INET of OMNeT++ with its default settings, and a receive window of 64 KiB.
    Inet,
    /// ns-3 with its default settings.
    Ns3,
    /// The TCP-Linux agent of ns-2.35 with its SACK1 sink.
    #[serde(rename = "ns2-linux")]
    Ns2Linux,
    /// SCPS-TP (CCSDS 714.0-B), as in its reference implementation and its ns-3 model.
    Scps,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 6] = [Self::Linux, Self::Rfc, Self::Inet, Self::Ns3, Self::Ns2Linux, Self::Scps];

    /// Returns the name of the profile in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Rfc => "rfc",
            Self::Inet => "inet",
            Self::Ns3 => "ns3",
            Self::Ns2Linux => "ns2-linux",
            Self::Scps => "scps",
        }
    }
}
