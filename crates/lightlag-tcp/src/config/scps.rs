//! The additions of SCPS-TP to TCP (CCSDS 714.0-B), switch by switch.

use super::options::{OptionError, error, in_range};
use super::{Config, Scheme};
use crate::ecn::Mode;
use crate::segment::{Flags, HEADER, Segment};
use lightlag_control::congestion::Probes;
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

mod bets;

pub use bets::{Bets, BetsOptions, BetsSwitch};

/// Packets in a bucket by default.
const BUCKET: u64 = 5;

/// The largest bucket and record.
pub(super) const MOST: u64 = 1 << 40;

/// Bytes of an IPv4 header, alone and with that of TCP without options.
const IPV4: u64 = 20;
const HEADERS: u64 = IPV4 + HEADER as u64;

/// The offer of an end to a peer that knows SCPS-TP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scps {
    /// Negative acknowledgements.
    pub snack: SnackForm,
    /// No hole is repaired again within this time or a round trip, whichever is longer.
    pub snack_delay: Duration,
    /// The application writes records of this size; each ends its segment and is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_size: Option<Bytes>,
    /// ACKs report packets that arrived damaged at the receiver's interface.
    pub report_corruption: bool,
    /// Headers are compressed, if the connection has an id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compression: bool,
    /// Partial reliability; `None` if every byte must arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bets: Option<Bets>,
}

/// How holes are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnackForm {
    /// Not at all.
    Off,
    /// One option for each hole, up to six.
    #[default]
    Short,
    /// The first hole, and a bit vector of what lies behind it; `short` with a peer that knows only that.
    Long,
}

/// A token bucket in bytes of IP packets, shared by all connections that leave a node on the same link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateControl {
    /// Its rate.
    pub rate: Rate,
    /// The rate of the passive end instead, which sends ACKs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_rate: Option<Rate>,
    /// Its size; by default five packets of full size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bytes>,
    /// When data that waits for tokens leaves.
    #[serde(skip_serializing_if = "super::is_default")]
    pub release: TokenRelease,
}

/// The event that releases data that waits for tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenRelease {
    /// Its tokens: it leaves as soon as there are enough.
    #[default]
    Tokens,
    /// The next ACK or timeout, while data is in flight: the sender has no timer for tokens, as in ns-3's TCP of 2017,
    /// which sends only when an ACK arrives, the application writes or a timeout expires. Without data in flight, and
    /// for segments without data, as `tokens`.
    Acks,
}

impl RateControl {
    /// The size of this end's bucket in bytes.
    pub fn size(&self, config: &Config) -> u64 {
        self.bucket.map_or(BUCKET * packet(config), |bucket| bucket.0)
    }
}

/// Bytes of the timestamps option with its padding.
const STAMPS: u64 = 12;

impl Config {
    /// Header bytes of a data segment and of an ACK, after the handshake, between two ends with this configuration.
    pub fn usual_headers(&self) -> [u32; 2] {
        let compressed = self.ecn == Mode::Off && self.scps.is_some_and(|scps| scps.compression);
        [1, 0].map(|len| {
            let plain = Segment::usual(len, Flags::ACK, self.timestamps);
            if compressed { plain.compressed(1, false) } else { plain }.header_len()
        })
    }

    /// Bytes of a full packet between them.
    pub(super) fn usual_packet(&self) -> u64 {
        IPV4 + u64::from(self.usual_headers()[0] + self.usual_payload())
    }

    /// Payload of a full segment between two ends with this configuration.
    pub fn usual_payload(&self) -> u32 {
        let mss = u32::from(self.mss);
        if self.mss_is_payload { mss } else { (mss + HEADER).saturating_sub(self.usual_headers()[0]).max(1) }
    }
}

/// Bytes of a full packet with a plain header.
pub(super) fn packet(config: &Config) -> u64 {
    let stamps = if config.timestamps && config.mss_is_payload { STAMPS } else { 0 };
    u64::from(config.mss) + HEADERS + stamps
}

/// The value of `rate_control`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RateControlOptions {
    /// What flows into the bucket; by default `route.rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What the end that is connected to may send instead: its ACKs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_rate: Option<Rate>,
    /// What the bucket holds; by default five packets of full size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bytes>,
    /// When data that waits for tokens leaves: with its `tokens`, or with the next of the `acks`. Default: tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<TokenRelease>,
}

/// The value of `scps`: off, on, or what is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScpsSwitch {
    /// `false`, or `true` for the defaults.
    Switch(bool),
    /// Some of the keys.
    On(ScpsOptions),
}

/// Keys of `scps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScpsOptions {
    /// Negative acknowledgements: off, short (one option for each hole, up to six) or long (a bit vector).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snack: Option<SnackForm>,
    /// No hole is repaired again within this time or a round trip, whichever is longer. Default: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snack_delay: Option<Duration>,
    /// The application writes records of this size; each ends its segment and is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_size: Option<Bytes>,
    /// ACKs tell of packets that arrived damaged at the receiver's interface: losses are then blamed on corruption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_corruption: Option<bool>,
    /// Headers of 8 to 24 bytes instead of 20 to 60, from the end of the handshake on. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compression: Option<bool>,
    /// Best-effort transport, partial reliability: `false`, `true` or a table. What could not be repaired is a hole in the
    /// stream, of which the receiving application hears. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bets: Option<BetsSwitch>,
}

impl ScpsSwitch {
    /// `over` on top of these.
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(ScpsOptions {
                snack: over.snack.or(base.snack),
                snack_delay: over.snack_delay.or(base.snack_delay),
                record_size: over.record_size.or(base.record_size),
                report_corruption: over.report_corruption.or(base.report_corruption),
                compression: over.compression.or(base.compression),
                bets: base.bets.map_or(over.bets, |bets| Some(over.bets.map_or(bets, |over| bets.merge(over)))),
            }),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            (_, over) => over,
        }
    }

    /// Whether it selects a form of SNACK.
    pub(super) fn names_snack(self) -> bool {
        matches!(self, Self::On(ScpsOptions { snack: Some(_), .. }))
    }

    pub(super) fn resolve(self, profile: Option<Scps>) -> Result<Option<Scps>, OptionError> {
        let base = profile.unwrap_or_default();
        let Self::On(options) = self else { return Ok((self == Self::Switch(true)).then_some(base)) };
        let snack_delay = options.snack_delay.unwrap_or(base.snack_delay);
        if snack_delay > Duration::from_secs(3_600) {
            return error("scps.snack_delay", format!("{snack_delay} is not between 0 s and 3600 s"));
        }
        if let Some(size) = options.record_size {
            in_range("scps.record_size", size.0, 1, MOST, " B")?;
        }
        let record_size = options.record_size.or(base.record_size);
        let report_corruption = options.report_corruption.unwrap_or(base.report_corruption);
        let bets = options.bets.map_or(Ok(base.bets), |switch| switch.resolve(base.bets))?;
        Ok(Some(Scps {
            snack: options.snack.unwrap_or(base.snack),
            snack_delay,
            record_size,
            report_corruption,
            bets,
            compression: options.compression.unwrap_or(base.compression),
        }))
    }
}

/// Refuses switches that contradict each other, and applies their implications. `recovery`, `snack`: whether they were
/// set, rather than being the profile's.
/// set, or are the profile's.
pub(super) fn check(config: &mut Config, recovery: bool, snack: bool) -> Result<(), OptionError> {
    repair(config, recovery, snack)?;
    if let Some(timeouts) = config.outage_after.filter(|timeouts| *timeouts > config.retries.saturating_add(1)) {
        let retries = config.retries;
        let message = format!("{timeouts} timeouts are never reached with retries = {retries}; take {retries} or less");
        return error("outage_after", message);
    }
    if let Some(interval) = config.ack_interval {
        if interval > Duration::from_secs(3_600) {
            return error("ack_interval", format!("{interval} is not between 0 s, which is off, and 3600 s"));
        }
        // A timeout must not come before the ACK can: SRTT + max(4 RTTVAR, interval).
        config.rto.variance_floor = config.rto.variance_floor.max(interval);
    }
    if !config.awaits_path() {
        check_interval(config)?;
    }
    check_hold(config)?;
    check_bucket(config)
}

/// Refuses a receiver that skips holes but can never hold its allowance.
fn check_hold(config: &Config) -> Result<(), OptionError> {
    let hold = config.scps.and_then(|scps| scps.bets?.hold);
    match hold.filter(|hold| *hold >= config.receive_buffer) {
        Some(hold) => {
            let buffer = config.receive_buffer;
            let message =
                format!("{hold} are never held: the receive buffer has {buffer}. Take less, or a larger buffer");
            error("scps.bets.hold", message)
        }
        None => Ok(()),
    }
}

/// Refuses an ACK interval that no timeout can exceed.
pub(super) fn check_interval(config: &Config) -> Result<(), OptionError> {
    match config.ack_interval {
        Some(interval) if interval >= config.rto.max => {
            let message = format!(
                "{interval} are no shorter than rto.max, which is {}: every timeout would come before the ACK; make it \
                 shorter, or rto.max longer",
                config.rto.max
            );
            error("ack_interval", message)
        }
        _ => Ok(()),
    }
}

/// Negative acknowledgements repair if both are on. Naming another repair and no SNACK means no SNACK.
fn repair(config: &mut Config, recovery: bool, snack: bool) -> Result<(), OptionError> {
    let offered = config.scps.is_some_and(|scps| scps.snack != SnackForm::Off);
    match (config.recovery == Scheme::Snack, offered) {
        (true, false) if recovery => {
            let message = "\"snack\" repairs what SNACK options report, and nothing offers them: set scps = true, or \
                           take \"newreno\", or \"sack\" with sack = true";
            return error("recovery", message.to_owned());
        }
        (true, false) => config.recovery = if config.sack { Scheme::Sack } else { Scheme::NewReno },
        (false, true) if recovery && snack => {
            let message = "what it reports repairs nothing with another recovery, and stands in the place of SACK: leave \
                           recovery out, or set snack = \"off\"";
            return error("scps.snack", message.to_owned());
        }
        (false, true) if recovery => {
            if let Some(scps) = &mut config.scps {
                scps.snack = SnackForm::Off;
            }
        }
        (false, true) => config.recovery = Scheme::Snack,
        _ => {}
    }
    let unused = config.scps.is_some_and(|scps| scps.snack == SnackForm::Off && !scps.snack_delay.is_zero());
    if unused {
        return error("scps.snack_delay", "delays repairs of what SNACK reports, and snack is off".to_owned());
    }
    Ok(())
}

/// Refuses a bucket that can let no packet pass.
pub(super) fn check_bucket(config: &Config) -> Result<(), OptionError> {
    let Some(control) = config.rate_control else { return Ok(()) };
    let (size, packet) = (control.size(config), packet(config));
    if size < packet {
        let message = format!("{} hold less than one packet of {packet} B: nothing could leave", Bytes(size));
        return error("rate_control.bucket", message);
    }
    in_range("rate_control.bucket", size, 1, MOST, " B").map(|_| ())
}

/// Refuses segments that have no place in a compressed header.
pub(super) fn check_compression(config: &Config) -> Result<(), OptionError> {
    if !config.scps.is_some_and(|scps| scps.compression) {
        return Ok(());
    }
    if config.ecn != Mode::Off {
        let message = "true leaves no place for the bits of ECN in a header: set ecn = \"off\" and an algorithm that does \
                       without marks, or leave compression out";
        return error("scps.compression", message.to_owned());
    }
    if config.congestion.fixed_needs().probes != Probes::None {
        let name = config.congestion.name();
        let message = format!("true leaves no place for the low priority of {name}: take another congestion control");
        return error("scps.compression", message);
    }
    Ok(())
}

impl<'de> Deserialize<'de> for ScpsSwitch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Switch;
        impl<'de> Visitor<'de> for Switch {
            type Value = ScpsSwitch;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a table such as { snack = \"short\" }")
            }
            fn visit_bool<E: Error>(self, on: bool) -> Result<Self::Value, E> {
                Ok(ScpsSwitch::Switch(on))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ScpsOptions::deserialize(MapAccessDeserializer::new(map)).map(ScpsSwitch::On)
            }
        }
        deserializer.deserialize_any(Switch)
    }
}
