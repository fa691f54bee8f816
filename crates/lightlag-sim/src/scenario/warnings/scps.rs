//! ACKs by the clock and rate control on a path that does not fit them.

use super::{Found, Sizes, Way, percent, seconds, three_digits};
use crate::scenario::network::{Flow, Network};

/// How many round-trip times a timeout has after the first sample: R + 4 R/2 (RFC 6298 §2.2).
const FIRST_TIMEOUT: u64 = 3;

/// ACKs that come too seldom for the timer, or too often for the return path; more tokens than the path carries.
pub(super) fn warn(network: &Network, flow: &Flow, way: &Way, path: &str, found: &mut Found) {
    let (tcp, round_trip) = (&flow.tcp, way.round_trip);
    if let Some(interval) = tcp.ack_interval {
        let timeout = (round_trip * FIRST_TIMEOUT).max(tcp.rto.min).min(tcp.rto.max);
        if interval > timeout {
            found.flow("ack_interval", path, ".tcp.ack_interval", || {
                format!(
                    "{interval} are longer than the retransmission timeout of {} that a round trip of {} asks for: the \
                     timeout grows to round trip and interval, {}, and losses are repaired that much later; two ACKs a \
                     round trip are recommended",
                    seconds(timeout),
                    seconds(round_trip),
                    seconds((round_trip + interval).min(tcp.rto.max))
                )
            });
        }
        let header = network.links[way.return_bottleneck.0 as usize].header.0;
        let load = ((Sizes::of(tcp, network.ip).ack.0 + header) * 8) as f64 / interval.as_secs_f64();
        if load > way.return_rate.as_bps() as f64 {
            found.flow("ack load", path, ".tcp.ack_interval", || {
                format!(
                    "an ACK each {interval} takes {} of the return path's {}: ACKs queue up there and are lost; make it \
                     longer",
                    three_digits(load as u64),
                    way.return_rate
                )
            });
        }
    }
    if let Some(control) = tcp.rate_control
        && control.rate > way.rate
    {
        found.flow("rate_control", path, ".tcp.rate_control.rate", || {
            format!(
                "{} are above the {} of the slowest link, {}: what is sent too much waits in its queue and is lost there; \
                 take about 95 % of the link",
                control.rate,
                way.rate,
                percent(control.rate.as_bps() as f64 / way.rate.as_bps() as f64)
            )
        });
    }
}
