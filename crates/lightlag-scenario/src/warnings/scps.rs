//! Warnings of ACKs at fixed intervals, and of rate control, that do not suit the path.

use super::{Found, Kind, percent, seconds, three_digits};
use crate::expand::{ConnectionPath, Sizes, flow_path};
use crate::network::{Flow, Network};
use crate::spec::Transport;
use lightlag_core::{Duration, Rate};
use lightlag_net::PackedExit;
use std::collections::{BTreeMap, BTreeSet};

/// Retransmission timeout after the first sample, in round-trip times: R + 4 R/2 (RFC 6298 §2.2).
const FIRST_TIMEOUT: u64 = 3;

/// Warns of ACKs that are too rare for the retransmission timer or too frequent for the return path, and of token rates
/// that exceed the rate of the path.
pub(super) fn warn(network: &Network, flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
    if let Some(interval) = flow.receiver_tcp.ack_interval {
        acks_by_the_clock(network, flow, way, interval, path, findings);
    }
    let Some(control) = flow.tcp.rate_control else { return };
    if control.rate > way.rate {
        let of_route = flow.tcp.route.is_some_and(|route| route.rate == Some(control.rate));
        let key = if of_route { ".tcp.route.rate" } else { ".tcp.rate_control.rate" };
        findings.flow(Kind::RateAboveLink, path, key, || {
            format!(
                "{} are above the {} of the slowest link, {}: the excess waits in its queue and is lost there; use \
                 about 95 % of the link",
                control.rate,
                way.rate,
                percent(control.rate.as_bps() as f64 / way.rate.as_bps() as f64)
            )
        });
    }
    if let Some(rate) = control.ack_rate.filter(|rate| *rate > way.return_rate) {
        findings.flow(Kind::AckRateAboveLink, path, ".tcp.rate_control.ack_rate", || {
            format!(
                "{rate} are above the {} of the slowest link on the return path: ACKs that wait in its queue report an \
                 outdated state; use about 90 % of the link, so that they wait for tokens and report the latest state",
                way.return_rate
            )
        });
    }
}

/// Token buckets by exit, rate and size. Connections for which these are equal share a bucket.
type Buckets = BTreeSet<(PackedExit, u64, u64)>;

/// Warns of token buckets at several nodes that in total admit more than the next link carries.
pub(super) fn warn_together(network: &Network, ways: &[Option<ConnectionPath>], findings: &mut Found) {
    let mut leading: BTreeMap<u32, (Buckets, &Flow, Rate)> = BTreeMap::new();
    for (flow, way) in network.flows.iter().zip(ways) {
        let (Some(way), Some(control)) = (way, flow.tcp.rate_control) else { continue };
        let Some(out) = network.routes.at_start().next(flow.from, flow.to) else { continue };
        if flow.transport != Transport::Tcp || !flow.traffic.is_bulk() || control.rate > way.rate {
            continue;
        }
        let (buckets, ..) = leading.entry(way.bottleneck.0).or_insert_with(|| (Buckets::new(), flow, way.rate));
        buckets.insert((out, control.rate.as_bps(), control.size(&flow.tcp)));
    }
    for (link, (buckets, first, rate)) in leading {
        let name = &network.links[link as usize].name;
        let together: u64 = buckets.iter().map(|(_, rate, _)| rate).sum();
        if together > rate.as_bps() {
            findings.flow(Kind::BucketsAboveLink, &flow_path(first), ".tcp.rate_control.rate", || {
                format!(
                    "{} token buckets with a combined rate of {} feed {name}, which carries {rate}: the excess waits \
                     in its queue and is lost there; divide its rate among them",
                    buckets.len(),
                    three_digits(together)
                )
            });
        }
    }
}

/// Warns of ACKs at fixed intervals that are too rare for the retransmission timer, or too frequent for the return
/// path.
fn acks_by_the_clock(
    network: &Network,
    flow: &Flow,
    way: &ConnectionPath,
    interval: Duration,
    path: &str,
    findings: &mut Found,
) {
    let (tcp, round_trip) = (&flow.tcp, way.round_trip);
    let key = &format!(".{}.ack_interval", flow.receiver_table());
    let timeout = (round_trip * FIRST_TIMEOUT).max(tcp.rto.min).min(tcp.rto.max);
    if tcp.rto.max >= round_trip && tcp.rto.max < round_trip + interval {
        findings.flow(Kind::LateAcks, path, key, || {
            format!(
                "{interval} and the round trip of {} are longer than rto.max, which is {}: segments time out before \
                 their ACK can arrive and are retransmitted unnecessarily; raise rto.max above the sum",
                seconds(round_trip),
                tcp.rto.max
            )
        });
    } else if interval > timeout {
        findings.flow(Kind::LateAcks, path, key, || {
            format!(
                "{interval} are longer than the retransmission timeout of {} that a round trip of {} requires: the \
                 timeout grows to the sum of round trip and interval, {}, and losses are repaired correspondingly \
                 later; two ACKs per round trip are recommended",
                seconds(timeout),
                seconds(round_trip),
                seconds(round_trip + interval)
            )
        });
    }
    let header = network.links[way.return_bottleneck.0 as usize].header.0;
    let load = ((Sizes::of(tcp, network.ip).ack.0 + header) * 8) as f64 / interval.as_secs_f64();
    if load > way.return_rate.as_bps() as f64 {
        findings.flow(Kind::AckLoad, path, key, || {
            format!(
                "an ACK every {interval} needs {} of the return path's {}: ACKs queue up there and are lost; increase \
                 it",
                three_digits(load as u64),
                way.return_rate
            )
        });
    }
}
