//! Warnings of QUIC settings that do not suit the path.

use super::{Found, Kind, bytes, percent, seconds, three_digits};
use crate::expand::ConnectionPath;
use crate::network::{Flow, Network, QuicEnds};
use crate::read::shortened;
use lightlag_core::{Bytes, Rate};
use lightlag_quic::Config;
use lightlag_quic::credit::Tuning;

/// Warns of timers and credit that are too small for the path of a flow.
pub(super) fn warn(flow: &Flow, ends: &QuicEnds, way: &ConnectionPath, share: Bytes, path: &str, findings: &mut Found) {
    for config in [&ends.sender, &ends.receiver] {
        timers(config, way, path, findings);
    }
    if flow.traffic.is_bulk() && !flow.part.is_tunnel() {
        credit(ends, way, share, path, findings);
    }
}

fn timers(config: &Config, way: &ConnectionPath, path: &str, findings: &mut Found) {
    let (round_trip, idle) = (way.round_trip, config.idle_timeout);
    let needed = config.needed_idle_timeout(round_trip);
    if !idle.is_zero() && idle < needed {
        findings.flow(Kind::QuicIdleTimeout, path, ".quic.idle_timeout", || {
            format!(
                "{idle} is below three probe timeouts after the first round trip of {}, so a few losses end the \
                 connection; set it to at least {}, or to \"0 s\" for none",
                seconds(round_trip),
                seconds(needed)
            )
        });
    }
    let probe = config.first_probe();
    if probe < round_trip {
        findings.flow(Kind::QuicInitialRtt, path, ".quic.initial_rtt", || {
            format!(
                "{} lets the client repeat its first packet after {}, before the answer can arrive after {}; set it to \
                 the round trip",
                config.initial_rtt,
                seconds(probe),
                seconds(round_trip)
            )
        });
    }
}

/// Warns of credit that limits the goodput and does not grow.
fn credit(ends: &QuicEnds, way: &ConnectionPath, share: Bytes, path: &str, findings: &mut Found) {
    let flow = &ends.receiver.flow;
    let credits = [
        (flow.stream, flow.stream_tuning, "stream_credit"),
        (flow.connection, flow.connection_tuning, "connection_credit"),
    ];
    let fixed = credits.into_iter().filter(|(_, tuning, _)| matches!(tuning, Tuning::Fixed(_)));
    let fixed = fixed.map(|(bytes, _, key)| (bytes, key));
    let of_sender = ends.sender.flow.send_buffer.map(|bytes| (bytes, "send_buffer"));
    let Some((least, key)) = fixed.chain(of_sender).min() else { return };
    if least < share.0 {
        findings.flow(Kind::QuicCredit, path, &format!(".quic.{key}"), || {
            let goodput = least as f64 * 8.0 / way.round_trip.as_secs_f64().max(1e-9);
            let rate = Rate::from_bps(goodput as u64).map_or("0 bit/s".to_owned(), |rate| three_digits(rate.as_bps()));
            format!(
                "{} are below the bandwidth-delay product of {} ({} × {}): goodput cannot exceed credit / RTT = \
                 {rate}, {} of the slowest link; raise it to the product",
                Bytes(least),
                bytes(share),
                way.rate,
                seconds(way.round_trip),
                percent(goodput / way.rate.as_bps() as f64)
            )
        });
    }
}

/// Warns of proxies on the paths of QUIC flows, which they cannot split.
pub(super) fn warn_of_proxies(network: &Network, findings: &mut Found) {
    for split in &network.opaque {
        let flow = &network.flows[split.flow as usize];
        findings.flow(Kind::QuicAtProxy, &format!("proxies[{}]", split.proxy), ".node", || {
            let node = &network.nodes[network.proxies[split.proxy as usize].node.0 as usize];
            format!(
                "the proxy at {:?} does not split {:?}: QUIC encrypts its transport header, so its packets pass as at \
                 a router",
                shortened(node),
                shortened(&flow.name)
            )
        });
    }
}
