//! ACKs by the clock and rate control on a path that does not fit them.

use super::{Found, Kind, percent, seconds, three_digits};
use crate::expand::{Sizes, Way, flow_path};
use crate::network::{Flow, Network};
use crate::spec::Transport;
use lightlag_core::{Duration, Rate};
use lightlag_net::PackedExit;
use std::collections::{BTreeMap, BTreeSet};

/// Round-trip times in a timeout after the first sample: R + 4 R/2 (RFC 6298 §2.2).
const FIRST_TIMEOUT: u64 = 3;

/// ACKs too seldom for the timer, or too often for the return path; more tokens than the path carries.
pub(super) fn warn(network: &Network, flow: &Flow, way: &Way, path: &str, found: &mut Found) {
    if let Some(interval) = flow.receiver_tcp.ack_interval {
        acks_by_the_clock(network, flow, way, interval, path, found);
    }
    let Some(control) = flow.tcp.rate_control else { return };
    if control.rate > way.rate {
        let of_route = flow.tcp.route.is_some_and(|route| route.rate == Some(control.rate));
        let key = if of_route { ".tcp.route.rate" } else { ".tcp.rate_control.rate" };
        found.flow(Kind::RateAboveLink, path, key, || {
            format!(
                "{} are above the {} of the slowest link, {}: what is sent too much waits in its queue and is lost there; \
                 take about 95 % of the link",
                control.rate,
                way.rate,
                percent(control.rate.as_bps() as f64 / way.rate.as_bps() as f64)
            )
        });
    }
    if let Some(rate) = control.ack_rate.filter(|rate| *rate > way.return_rate) {
        found.flow(Kind::AckRateAboveLink, path, ".tcp.rate_control.ack_rate", || {
            format!(
                "{rate} are above the {} of the slowest link on the way back: ACKs that wait in its queue tell what was; take \
                 about 90 % of the link, so that they wait for tokens and tell the newest state",
                way.return_rate
            )
        });
    }
}

/// Token buckets by the exit behind them, their rate and their size: connections with the same three share one.
type Buckets = BTreeSet<(PackedExit, u64, u64)>;

/// Token buckets of several nodes that together let through more than the link behind them carries.
pub(super) fn warn_together(network: &Network, ways: &[Option<Way>], found: &mut Found) {
    let mut leading: BTreeMap<u32, (Buckets, &Flow, Rate)> = BTreeMap::new();
    for (flow, way) in network.flows.iter().zip(ways) {
        let (Some(way), Some(control)) = (way, flow.tcp.rate_control) else { continue };
        let Some(out) = network.routes.at_start().next(flow.from, flow.to) else { continue };
        if flow.transport == Transport::Udp || !flow.traffic.is_bulk() || control.rate > way.rate {
            continue;
        }
        let (buckets, ..) = leading.entry(way.bottleneck.0).or_insert_with(|| (Buckets::new(), flow, way.rate));
        buckets.insert((out, control.rate.as_bps(), control.size(&flow.tcp)));
    }
    for (link, (buckets, first, rate)) in leading {
        let name = &network.links[link as usize].name;
        let together: u64 = buckets.iter().map(|(_, rate, _)| rate).sum();
        if together > rate.as_bps() {
            found.flow(Kind::BucketsAboveLink, &flow_path(first), ".tcp.rate_control.rate", || {
                format!(
                    "{} token buckets of together {} lead to {name}, which carries {rate}: what is sent too much waits in \
                     its queue and is lost there; divide its rate among them",
                    buckets.len(),
                    three_digits(together)
                )
            });
        }
    }
}

/// One ACK in each `interval`.
fn acks_by_the_clock(network: &Network, flow: &Flow, way: &Way, interval: Duration, path: &str, found: &mut Found) {
    let (tcp, round_trip) = (&flow.tcp, way.round_trip);
    let key = &format!(".{}.ack_interval", flow.receiver_table());
    let timeout = (round_trip * FIRST_TIMEOUT).max(tcp.rto.min).min(tcp.rto.max);
    if tcp.rto.max >= round_trip && tcp.rto.max < round_trip + interval {
        found.flow(Kind::LateAcks, path, key, || {
            format!(
                "{interval} and the round trip of {} are longer than rto.max, which is {}: segments time out before their \
                 ACK can arrive and are sent again for nothing; raise rto.max above the sum",
                seconds(round_trip),
                tcp.rto.max
            )
        });
    } else if interval > timeout {
        found.flow(Kind::LateAcks, path, key, || {
            format!(
                "{interval} are longer than the retransmission timeout of {} that a round trip of {} asks for: the \
                 timeout grows to round trip and interval, {}, and losses are repaired that much later; two ACKs a \
                 round trip are recommended",
                seconds(timeout),
                seconds(round_trip),
                seconds(round_trip + interval)
            )
        });
    }
    let header = network.links[way.return_bottleneck.0 as usize].header.0;
    let load = ((Sizes::of(tcp, network.ip).ack.0 + header) * 8) as f64 / interval.as_secs_f64();
    if load > way.return_rate.as_bps() as f64 {
        found.flow(Kind::AckLoad, path, key, || {
            format!(
                "an ACK each {interval} takes {} of the return path's {}: ACKs queue up there and are lost; make it \
                 longer",
                three_digits(load as u64),
                way.return_rate
            )
        });
    }
}
