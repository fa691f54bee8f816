//! The SCPS-TP extensions to TCP (CCSDS 714.0-B), as separate switches.

use super::options::{OptionError, error, in_range};
use super::{Config, Scheme};
use crate::ecn::EcnMode;
use crate::segment::{Flags, HEADER, Segment};
use lightlag_control::congestion::Probes;
use lightlag_core::{Bytes, Duration, Rate, forms, overrides};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod bets;

pub use bets::{Bets, BetsOptions, BetsSwitch};

/// Default size of a token bucket, in packets.
const BUCKET: u64 = 5;

/// Maximum size of a token bucket or a record, in bytes.
pub(super) const MOST: u64 = 1 << 40;

/// Size of an IPv4 header in bytes. [`HEADERS`] adds a TCP header without options.
const IPV4: u64 = 20;
const HEADERS: u64 = IPV4 + HEADER as u64;

/// Capabilities offered to a peer that supports SCPS-TP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scps {
    /// Form of the negative acknowledgements (SNACK).
    pub snack: SnackForm,
    /// Minimum time between two retransmissions for the same hole, but at least a round trip.
    pub snack_delay: Duration,
    /// Size of the application's records. The last segment of a record ends exactly at its end, and is marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_size: Option<Bytes>,
    /// Whether ACKs report packets that arrived corrupted at the receiver's interface.
    pub report_corruption: bool,
    /// Whether headers are compressed, if the connection has an ID.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compression: bool,
    /// Partial reliability; `None` if every byte must arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bets: Option<Bets>,
}

/// Form of the options that report missing data (SNACK).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnackForm {
    /// No SNACK options are sent.
    Off,
    /// One option for each hole, for up to six holes.
    #[default]
    Short,
    /// One option with the first hole and a bit vector of the data after it; `short` if the peer supports only that.
    Long,
}

/// A token bucket that counts bytes of IP packets. It is shared by all connections of a node whose packets are sent on
/// the same link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RateControl {
    /// Token rate.
    pub rate: Rate,
    /// Token rate at the passive end, which sends ACKs; by default [`Self::rate`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_rate: Option<Rate>,
    /// Size of the bucket; by default five packets of full size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bytes>,
    /// Event that releases data that waits for tokens.
    #[serde(skip_serializing_if = "super::is_default")]
    pub release: TokenRelease,
}

/// The event that releases data that waits for tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenRelease {
    /// The arrival of enough tokens: data is sent as soon as the bucket has them.
    #[default]
    Tokens,
    /// The next ACK or timeout, as in ns-3's TCP of 2017, which has no timer for tokens: it sends only when an ACK
    /// arrives, the application writes or a timeout expires. If no data is in flight, and for segments without data,
    /// this works as `tokens`.
    Acks,
}

impl RateControl {
    /// Returns the size of this end's bucket in bytes.
    pub fn size(&self, config: &Config) -> u64 {
        self.bucket.map_or(BUCKET * packet(config), |bucket| bucket.0)
    }
}

/// Size of the timestamps option with its padding, in bytes.
const STAMPS: u64 = 12;

impl Config {
    /// Returns the header sizes of a data segment and of an ACK in bytes, after the handshake, if both ends have this
    /// configuration.
    pub fn usual_headers(&self) -> [u32; 2] {
        let compressed = self.ecn == EcnMode::Off && self.scps.is_some_and(|scps| scps.compression);
        [1, 0].map(|len| {
            let plain = Segment::usual(len, Flags::ACK, self.timestamps);
            if compressed { plain.compressed(1, false) } else { plain }.header_len()
        })
    }

    /// Returns the size of a full packet in bytes, if both ends have this configuration.
    pub(super) fn usual_packet(&self) -> u64 {
        IPV4 + u64::from(self.usual_headers()[0] + self.usual_payload())
    }

    /// Returns the payload of a full segment in bytes, if both ends have this configuration.
    pub fn usual_payload(&self) -> u32 {
        let mss = u32::from(self.mss);
        if self.mss_is_payload { mss } else { (mss + HEADER).saturating_sub(self.usual_headers()[0]).max(1) }
    }
}

/// Returns the size of a full packet with an uncompressed header, in bytes.
pub(super) fn packet(config: &Config) -> u64 {
    let stamps = if config.timestamps && config.mss_is_payload { STAMPS } else { 0 };
    u64::from(config.mss) + HEADERS + stamps
}

overrides! {
    /// A token bucket that counts bytes of IP packets, shared by all connections of a node whose packets are sent on
    /// the same link.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "RateControl")]
    pub struct RateControlOptions {
        /// Token rate. Default: `route.rate`.
        rate: Rate;
        /// Token rate at the passive end, which sends ACKs. Default: `rate`.
        ack_rate: Rate;
        /// Size of the bucket. Default: five packets of full size.
        bucket: Bytes;
        /// Event that releases data that waits for tokens: enough tokens in the bucket (tokens), or the next ACK
        /// (acks). Default: tokens.
        release: TokenRelease;
    }
}

/// Value of `scps`: off, on, or a table of switches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScpsSwitch {
    /// `false`, or `true` for the defaults.
    Switch(bool),
    /// A table of keys.
    On(ScpsOptions),
}

overrides! {
    /// Capabilities of SCPS-TP that a connection offers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "Scps")]
    pub struct ScpsOptions {
        /// Form of the negative acknowledgements: off, short (one option for each hole, up to six) or long (a bit
        /// vector).
        snack: SnackForm;
        /// Minimum time between two retransmissions for the same hole, but at least a round trip. Default: 0 s.
        snack_delay: Duration;
        /// Size of the application's records. The last segment of a record ends exactly at its end, and is marked.
        record_size: Bytes;
        /// Report in ACKs the packets that arrived corrupted at the receiver's interface, so that the sender attributes
        /// their losses to corruption.
        report_corruption: bool;
        /// Compress headers after the handshake to 8 to 24 bytes, instead of 20 to 60. Default: false.
        compression: bool;
        /// Partial reliability: `false`, `true` or a table. Data that could not be repaired is a hole in the stream,
        /// which is reported to the receiving application. Default: false.
        bets: BetsSwitch, joined by BetsSwitch::merge;
    }
}

impl ScpsSwitch {
    /// Returns these options, overridden by those that `over` sets.
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(base.merge(&over)),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            (_, over) => over,
        }
    }

    /// Returns true if the options select a form of SNACK.
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

/// Rejects contradicting switches, and applies their implications. `recovery` and `snack` are true if the scenario set
/// those keys, and false if the profile set them.
pub(super) fn check(config: &mut Config, recovery: bool, snack: bool) -> Result<(), OptionError> {
    repair(config, recovery, snack)?;
    if let Some(timeouts) = config.outage_after.filter(|timeouts| *timeouts > config.retries.saturating_add(1)) {
        let retries = config.retries;
        let message = format!("{timeouts} timeouts are never reached with retries = {retries}; use {retries} or less");
        return error("outage_after", message);
    }
    if let Some(interval) = config.ack_interval {
        if interval > Duration::from_secs(3_600) {
            return error("ack_interval", format!("{interval} is not between 0 s, which is off, and 3600 s"));
        }
        // A timeout must not fire before the ACK can arrive: SRTT + max(4 RTTVAR, interval).
        config.rto.variance_floor = config.rto.variance_floor.max(interval);
    }
    if !config.awaits_path() {
        check_interval(config)?;
    }
    check_hold(config)?;
    check_bucket(config)
}

/// Rejects a receive buffer that is smaller than the data that a receiver may hold above a hole before it skips it.
fn check_hold(config: &Config) -> Result<(), OptionError> {
    let hold = config.scps.and_then(|scps| scps.bets?.hold);
    match hold.filter(|hold| *hold >= config.receive_buffer) {
        Some(hold) => {
            let buffer = config.receive_buffer;
            let message =
                format!("{hold} can never be held: the receive buffer has {buffer}. Reduce it, or use a larger buffer");
            error("scps.bets.hold", message)
        }
        None => Ok(()),
    }
}

/// Rejects an ACK interval that is not shorter than the maximum timeout.
pub(super) fn check_interval(config: &Config) -> Result<(), OptionError> {
    match config.ack_interval {
        Some(interval) if interval >= config.rto.max => {
            let message = format!(
                "{interval} is not shorter than rto.max, which is {}: every timeout would fire before the ACK arrives; \
                 reduce it, or increase rto.max",
                config.rto.max
            );
            error("ack_interval", message)
        }
        _ => Ok(()),
    }
}

/// Selects repair by SNACK if SNACK is offered and the scenario sets no other scheme. If the scenario sets another
/// scheme but no form of SNACK, SNACK is turned off. If the profile repairs by SNACK but SNACK is not offered, SACK or
/// NewReno replaces it.
fn repair(config: &mut Config, recovery: bool, snack: bool) -> Result<(), OptionError> {
    let offered = config.scps.is_some_and(|scps| scps.snack != SnackForm::Off);
    match (config.recovery == Scheme::Snack, offered) {
        (true, false) if recovery => {
            let message = "\"snack\" repairs losses that SNACK options report, but they are not offered: set \
                           scps = true, or use \"newreno\", or \"sack\" with sack = true";
            return error("recovery", message.to_owned());
        }
        (true, false) => config.recovery = if config.sack { Scheme::Sack } else { Scheme::NewReno },
        (false, true) if recovery && snack => {
            let message = "its reports are unused with another recovery, and it replaces SACK: remove recovery, or set \
                           snack = \"off\"";
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
        return error("scps.snack_delay", "delays repairs of losses that SNACK reports, but snack is off".to_owned());
    }
    Ok(())
}

/// Rejects a token bucket that is smaller than a packet.
pub(super) fn check_bucket(config: &Config) -> Result<(), OptionError> {
    let Some(control) = config.rate_control else { return Ok(()) };
    let (size, packet) = (control.size(config), packet(config));
    if size < packet {
        let message = format!("{} holds less than one packet of {packet} B: nothing could be sent", Bytes(size));
        return error("rate_control.bucket", message);
    }
    in_range("rate_control.bucket", size, 1, MOST, " B").map(|_| ())
}

/// Rejects segments that do not fit a compressed header.
pub(super) fn check_compression(config: &Config) -> Result<(), OptionError> {
    if !config.scps.is_some_and(|scps| scps.compression) {
        return Ok(());
    }
    if config.ecn != EcnMode::Off {
        let message = "true leaves no space for the ECN bits in a header: set ecn = \"off\" and use an algorithm that \
                       does not need marks, or remove compression";
        return error("scps.compression", message.to_owned());
    }
    if config.congestion.fixed_needs().probes != Probes::None {
        let name = config.congestion.name();
        let message = format!("true leaves no space for the low priority of {name}: use another congestion control");
        return error("scps.compression", message);
    }
    Ok(())
}

forms! {
    ScpsSwitch, "true, false or a table such as { snack = \"short\" }";
    switch ScpsSwitch::Switch;
    table ScpsOptions: ScpsSwitch::On;
}
