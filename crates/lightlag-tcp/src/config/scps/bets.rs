//! Partial reliability of SCPS-TP (best-effort transport service, BETS).

use super::{MOST, OptionError, error, in_range};
use lightlag_core::{Bytes, Duration, forms, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of partial reliability, which is used if both ends offer BETS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bets {
    /// Maximum number of transmissions of a segment; with 1 nothing is retransmitted.
    pub max_transmissions: u8,
    /// Time for which the receiver waits for a hole to be filled before it skips it.
    pub receive_timeout: Duration,
    /// Maximum amount of data that the receiver stores above a hole before it skips the hole; by default half the
    /// receive buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Bytes>,
}

impl Default for Bets {
    /// Returns the maximum number of transmissions and the timeout of the reference implementation
    /// (`BETS_MAXIMUM_TRANSMISSIONS`, and `BETS_RECEIVE_TIMEOUT` of 0x100001 µs). Its threshold for stored data is left
    /// out, because the implementation does not use it.
    fn default() -> Self {
        Self { max_transmissions: 20, receive_timeout: Duration::from_micros(0x10_0001), hold: None }
    }
}

/// Value of `scps.bets`: off, on, or a table of settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BetsSwitch {
    /// `false`, or `true` for the defaults.
    Switch(bool),
    /// A table of keys.
    On(BetsOptions),
}

overrides! {
    /// Partial reliability (BETS of SCPS-TP), if both ends offer it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Bets")]
    pub struct BetsOptions {
        /// Maximum number of transmissions of a segment, 1 to 20; with 1 nothing is retransmitted. Default: 20.
        #[schemars(range(min = 1, max = 20))]
        max_transmissions: u32;
        /// Time for which the receiver waits for a hole to be filled, before it skips it. Default: 1.048577 s.
        receive_timeout: Duration;
        /// Maximum amount of data that the receiver stores above a hole before it skips the hole. Default: half the
        /// receive buffer.
        hold: Bytes;
    }
}

impl BetsSwitch {
    /// Returns these options, overridden by those that `over` sets.
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(base.merge(&over)),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            (_, over) => over,
        }
    }

    pub(super) fn resolve(self, profile: Option<Bets>) -> Result<Option<Bets>, OptionError> {
        let base = profile.unwrap_or_default();
        let Self::On(options) = self else { return Ok((self == Self::Switch(true)).then_some(base)) };
        let max_transmissions = options.max_transmissions.unwrap_or(base.max_transmissions.into());
        if !(1..=20).contains(&max_transmissions) {
            let message = format!("{max_transmissions} is not between 1, which repairs nothing, and 20");
            return error("scps.bets.max_transmissions", message);
        }
        let receive_timeout = options.receive_timeout.unwrap_or(base.receive_timeout);
        if receive_timeout.is_zero() || receive_timeout > Duration::from_secs(3_600) {
            let message = format!(
                "{receive_timeout} is not between 1 ns and 3600 s: with 0 s, every late segment would be a hole"
            );
            return error("scps.bets.receive_timeout", message);
        }
        if let Some(hold) = options.hold {
            in_range("scps.bets.hold", hold.0, 1, MOST, " B")?;
        }
        Ok(Some(Bets { max_transmissions: max_transmissions as u8, receive_timeout, hold: options.hold.or(base.hold) }))
    }
}

forms! {
    BetsSwitch, "true, false or a table such as { max_transmissions = 3 }";
    switch BetsSwitch::Switch;
    table BetsOptions: BetsSwitch::On;
}
