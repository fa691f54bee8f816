//! Partial reliability of SCPS-TP (best-effort transport service, BETS).

use super::{MOST, OptionError, error, in_range};
use lightlag_core::{Bytes, Duration};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The losses that a connection tolerates if both ends agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bets {
    /// The most transmissions of a segment; with 1 nothing is repaired.
    pub transmissions: u8,
    /// Time for which the receiver waits for a hole to be filled before it skips it.
    pub patience: Duration,
    /// The most data that the receiver holds above a hole before it skips it; by default half the receive buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Bytes>,
}

impl Default for Bets {
    /// Transmissions and patience of the reference implementation (`BETS_MAXIMUM_TRANSMISSIONS`, and
    /// `BETS_RECEIVE_TIMEOUT` of 0x100001 µs), which does not use its threshold.
    fn default() -> Self {
        Self { transmissions: 20, patience: Duration::from_micros(0x10_0001), hold: None }
    }
}

/// The value of `scps.bets`: off, on, or what is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BetsSwitch {
    /// `false`, or `true` for the defaults.
    Switch(bool),
    /// Some of the keys.
    On(BetsOptions),
}

/// Keys of `scps.bets`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BetsOptions {
    /// How often a segment leaves at most, 1 to 20; 1 repairs nothing. Default: 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 20))]
    pub transmissions: Option<u32>,
    /// How long the receiver waits for a hole to be filled before it goes on behind it. Default: 1.048577 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Duration>,
    /// What the receiver holds above a hole at most before it goes on behind it. Default: half the receive buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Bytes>,
}

impl BetsSwitch {
    /// `over` on top of these.
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(BetsOptions {
                transmissions: over.transmissions.or(base.transmissions),
                patience: over.patience.or(base.patience),
                hold: over.hold.or(base.hold),
            }),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            (_, over) => over,
        }
    }

    pub(super) fn resolve(self, profile: Option<Bets>) -> Result<Option<Bets>, OptionError> {
        let base = profile.unwrap_or_default();
        let Self::On(options) = self else { return Ok((self == Self::Switch(true)).then_some(base)) };
        let transmissions = options.transmissions.unwrap_or(base.transmissions.into());
        if !(1..=20).contains(&transmissions) {
            let message = format!("{transmissions} is not between 1, which repairs nothing, and 20");
            return error("scps.bets.transmissions", message);
        }
        let patience = options.patience.unwrap_or(base.patience);
        if patience.is_zero() || patience > Duration::from_secs(3_600) {
            let message =
                format!("{patience} is not between 1 ns and 3600 s: without any, every late segment is a hole");
            return error("scps.bets.patience", message);
        }
        if let Some(hold) = options.hold {
            in_range("scps.bets.hold", hold.0, 1, MOST, " B")?;
        }
        Ok(Some(Bets { transmissions: transmissions as u8, patience, hold: options.hold.or(base.hold) }))
    }
}

impl<'de> Deserialize<'de> for BetsSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl<'de> Visitor<'de> for Switch {
            type Value = BetsSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a table such as { transmissions = 3 }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(BetsSwitch::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                BetsOptions::deserialize(MapAccessDeserializer::new(map)).map(BetsSwitch::On)
            }
        }
        deserializer.deserialize_any(Switch)
    }
}
