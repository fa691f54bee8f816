//! Keys of features that a connection works without: the search for the path MTU, the frequency of acknowledgements, PING
//! frames on an idle connection, version 2, changes of the client's address, and key updates.

use super::Options;
use super::{MAX_DATAGRAM, OptionError, error, in_range};
use crate::codec::Version;
use crate::config::{AckFrequency, Config, Move, MoveKind, MtuRules, MtuSearch};
use lightlag_core::{Bytes, Duration, Instant, forms, overrides};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Largest datagram of a search without a size: Ethernet's 1,500 B less the headers of IPv6 and UDP.
const MTU: u16 = 1_452;
/// Delay of acknowledgements that an end permits its peer to request (draft-ietf-quic-ack-frequency-14 §3), unless its
/// own maximum is less.
const MIN_ACK_DELAY: Duration = Duration::from_millis(1);
/// Bound of acknowledgement delays (RFC 9000 §18.2).
const ACK_DELAYS: Duration = Duration::from_millis(1 << 14);

/// Maximum number of changes of the port.
const MAX_REBINDS: usize = 1_000;
/// Maximum number of migrations: a client has eight addresses.
const MAX_MIGRATIONS: usize = 7;

/// Value of `mtu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MtuSwitch {
    /// `false` keeps the size of datagrams; `true` searches as the profile does, or up to 1,452 B in halves.
    Switch(bool),
    /// Largest datagram of the search.
    Max(Bytes),
}

forms! {
    MtuSwitch, "false, true or a size such as \"1452 B\"";
    switch MtuSwitch::Switch;
    text |text: &str| text.parse().map(MtuSwitch::Max);
}

impl JsonSchema for MtuSwitch {
    fn schema_name() -> Cow<'static, str> {
        "MtuSwitch".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a switch, or the largest datagram of the search",
            "anyOf": [generator.subschema_for::<Bytes>(), { "type": "boolean" }]
        })
    }
}

overrides! {
    /// Frequency of acknowledgements that a sender of data requests (draft-ietf-quic-ack-frequency-14).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[schemars(title = "QuicAckFrequency")]
    pub struct AckFrequencyOptions {
        /// Number of packets that one acknowledgement covers, 1 to 1,000. Default: 10.
        #[schemars(range(min = 1, max = 1000))]
        packets: u32;
        /// Maximum delay of an acknowledgement, 1 ms up to 2^14 ms. Default: a quarter of the round-trip time.
        delay: Duration;
        /// Reordering threshold of immediate acknowledgements in packets, at most 1,000; 0 never acknowledges
        /// immediately. Default: 1.
        #[schemars(range(max = 1000))]
        reordering: u64;
    }
}

impl Options {
    pub(super) fn resolve_extensions(&self, config: &mut Config) -> Result<(), OptionError> {
        let standard = || MtuRules {
            max: MTU,
            search: MtuSearch::Binary(20),
            raise: Duration::from_secs(600),
            black_hole: Some(Duration::from_secs(60)),
        };
        match self.mtu {
            None => {}
            Some(MtuSwitch::Switch(false)) => config.mtu = None,
            Some(MtuSwitch::Switch(true)) => {
                config.mtu = config.mtu.or_else(|| Some(standard()).filter(|mtu| mtu.max > config.datagram));
            }
            Some(MtuSwitch::Max(size)) => {
                let max = in_range("mtu", size.0, config.datagram.into(), MAX_DATAGRAM, " B")? as u16;
                config.mtu = Some(MtuRules { max, ..config.mtu.unwrap_or_else(standard) });
            }
        }
        if let Some(interval) = self.keep_alive {
            if !interval.is_zero() && interval < Duration::from_millis(1) {
                return error("keep_alive", format!("{interval} is below 1 ms; write 0 s for none"));
            }
            config.keep_alive = Some(interval).filter(|interval| !interval.is_zero());
        }
        if let Some(frequency) = self.ack_frequency {
            config.ack_frequency = Some(frequency.resolve()?);
        }
        config.version = match self.version {
            None | Some(1) => Version::One,
            Some(2) => Version::Two,
            Some(other) => {
                return error("version", format!("{other} is not 1 or 2, the versions of RFC 9000 and 9369"));
            }
        };
        config.key_update = self.key_update.filter(|packets| *packets > 0);
        config.moves = self.moves()?;
        Ok(())
    }

    /// Returns the changes of the client's address in the order of time.
    fn moves(&self) -> Result<Vec<Move>, OptionError> {
        let mut moves = Vec::new();
        for (key, times, kind, max) in [
            ("rebind", &self.rebind, MoveKind::Port, MAX_REBINDS),
            ("migrate", &self.migrate, MoveKind::Address, MAX_MIGRATIONS),
        ] {
            let times = times.as_deref().unwrap_or_default();
            if times.len() > max {
                return error(key, format!("{} times are more than {max}, the maximum", times.len()));
            }
            moves.extend(times.iter().map(|time| Move { at: Instant::ZERO + *time, kind }));
        }
        moves.sort_unstable_by_key(|each| (each.at, each.kind));
        Ok(moves)
    }

    /// Rejects keys in the tables of the ends that belong to the other end, or to the connection.
    pub(super) fn check_common(&self) -> Result<(), OptionError> {
        for (table, own) in [("client", &self.client), ("server", &self.server)] {
            let Some(own) = own.as_deref() else { continue };
            let common = [("version", own.version.is_some()), ("key_update", own.key_update.is_some())];
            if let Some((key, _)) = common.into_iter().find(|(_, is_given)| *is_given) {
                return error(&format!("{table}.{key}"), "is the same at both ends; move it to quic".to_owned());
            }
            let moves = [("rebind", own.rebind.is_some()), ("migrate", own.migrate.is_some())];
            if let Some((key, _)) = moves.into_iter().find(|(_, is_given)| table == "server" && *is_given) {
                let message = "changes the address of the client; move it to client".to_owned();
                return error(&format!("server.{key}"), message);
            }
        }
        Ok(())
    }
}

impl AckFrequencyOptions {
    fn resolve(self) -> Result<AckFrequency, OptionError> {
        let packets = in_range("ack_frequency.packets", self.packets.unwrap_or(10).into(), 1, 1_000, " packets")?;
        let reordering = in_range("ack_frequency.reordering", self.reordering.unwrap_or(1), 0, 1_000, " packets")?;
        if let Some(delay) = self.delay.filter(|delay| *delay < MIN_ACK_DELAY || *delay >= ACK_DELAYS) {
            return error("ack_frequency.delay", format!("{delay} is not between 1 ms and 2^14 ms = 16.384 s"));
        }
        Ok(AckFrequency { threshold: packets - 1, max_delay: self.delay, reordering })
    }
}

/// Rejects PING frames that are too rare for the idle timeout of the other end.
pub(super) fn check_idle(client: &Config, server: &Config) -> Result<(), OptionError> {
    for (end, peer) in [(client, server), (server, client)] {
        let idle = peer.idle_timeout;
        if let Some(interval) = end.keep_alive.filter(|interval| !idle.is_zero() && *interval >= idle) {
            let message = format!("{interval} is not below the idle_timeout of the other end, {idle}; use half of it");
            return error("keep_alive", message);
        }
    }
    Ok(())
}

/// Lets an end whose peer requests a frequency of acknowledgements support it.
pub(super) fn support_frequency(end: &mut Config, peer: &Config) {
    if peer.ack_frequency.is_some() {
        end.min_ack_delay = end.min_ack_delay.or(Some(MIN_ACK_DELAY.min(end.ack.max_delay)));
    }
}
