//! Behaviour of implementations, as tables of values. The versions are quinn-proto 0.11.19, picoquic d199d45, quiche
//! e97798e, msquic 4984c21 and aioquic 1.2.0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An implementation of QUIC whose behaviour an endpoint follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "QuicProfile")]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The rules and recommendations of the RFCs.
    #[default]
    Rfc9002,
    /// quinn.
    Quinn,
    /// picoquic.
    Picoquic,
    /// quiche.
    Quiche,
    /// msquic.
    Msquic,
    /// aioquic.
    Aioquic,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 6] = [Self::Rfc9002, Self::Quinn, Self::Picoquic, Self::Quiche, Self::Msquic, Self::Aioquic];

    /// Returns the name in a scenario.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rfc9002 => "rfc9002",
            Self::Quinn => "quinn",
            Self::Picoquic => "picoquic",
            Self::Quiche => "quiche",
            Self::Msquic => "msquic",
            Self::Aioquic => "aioquic",
        }
    }

    /// Returns the profile with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}
