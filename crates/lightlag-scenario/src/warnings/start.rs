//! Warnings about algorithms that start faster than slow start, in conditions that remove this advantage.

use super::{Found, Kind, bytes, seconds};
use crate::expand::ConnectionPath;
use crate::network::Flow;
use lightlag_control::congestion::Choice;
use lightlag_core::Bytes;

/// Fast start of an algorithm.
enum FastStart {
    /// Sudden Start of TCP Peach and Peach+, which probes for the window that the peer advertises.
    Sudden,
    /// Start of Hybla, with its ρ.
    Rho(f64),
}

impl FastStart {
    fn of(flow: &Flow, way: &ConnectionPath) -> Option<Self> {
        match &flow.tcp.congestion {
            Choice::Peach(config) if config.sudden_window == 0.0 => Some(Self::Sudden),
            Choice::PeachPlus(config) if config.sudden_window == 0.0 => Some(Self::Sudden),
            Choice::Hybla(config) => {
                Some(way.round_trip / config.reference_rtt).filter(|rho| *rho > 1.0).map(Self::Rho)
            }
            _ => None,
        }
    }

    /// Returns the window in bytes that the fast start may reach within two round trips. `share` is the flow's fair
    /// share of the path.
    fn window(&self, flow: &Flow, share: Bytes) -> u64 {
        match self {
            Self::Sudden => share.0,
            Self::Rho(rho) => {
                let first = u64::from(flow.tcp.initial_window) * u64::from(flow.tcp.usual_payload());
                ((rho * first as f64) as u64).min(share.0)
            }
        }
    }
}

/// Warns of an initial receive window that is smaller than the window of a fast start.
pub(super) fn receive_window(flow: &Flow, way: &ConnectionPath, share: Bytes, path: &str, findings: &mut Found) {
    // A fixed buffer below the product limits the entire flow; another warning reports it.
    if flow.tcp.receive_buffer_initial.is_none() || flow.tcp.receive_buffer < share {
        return;
    }
    let Some(start) = FastStart::of(flow, way) else { return };
    let first = flow.tcp.first_window();
    if first >= start.window(flow, share) {
        return;
    }
    findings.flow(Kind::SpoiltStart, path, ".tcp.receive_buffer", || {
        let first = bytes(Bytes(first));
        let (name, product) = (flow.tcp.congestion.name(), bytes(share));
        match start {
            FastStart::Sudden => format!(
                "it is automatic and advertises {first} at first: the Sudden Start of {name} opens the window no \
                 further, and then a segment per round trip of {} is added up to {product}; set receive_buffer to a \
                 size of at least {product}",
                seconds(way.round_trip)
            ),
            FastStart::Rho(rho) => format!(
                "it is automatic and advertises {first} at first: the first window of {name}, {rho:.1} times the \
                 standard one, does not fit, and its start waits for the buffer to grow; set receive_buffer to a size \
                 of at least {product}"
            ),
        }
    });
}

/// Warns of a fast start that overflows the queue without SACK. Returns true if the flow has a fast start.
pub(super) fn sack(
    flow: &Flow,
    way: &ConnectionPath,
    segments: u64,
    key: &str,
    path: &str,
    findings: &mut Found,
) -> bool {
    let Some(start) = FastStart::of(flow, way) else { return false };
    findings.flow(Kind::SpoiltStart, path, key, || {
        let name = flow.tcp.congestion.name();
        let grows = match start {
            FastStart::Sudden => format!("the Sudden Start of {name} opens the window in two round trips"),
            FastStart::Rho(rho) => format!("the slow start of {name} grows 2^{rho:.1} times as fast"),
        };
        format!(
            "{grows} and loses many of up to {segments} segments when the queue overflows; without SACK one of them is \
             repaired per round trip of {}; set sack = true and recovery = \"sack\"",
            seconds(way.round_trip)
        )
    });
    true
}
