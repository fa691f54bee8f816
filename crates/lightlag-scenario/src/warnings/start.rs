//! Starts that an algorithm makes faster than slow start, and what takes their advantage away.

use super::{Found, Kind, bytes, seconds};
use crate::expand::Way;
use crate::network::Flow;
use lightlag_control::congestion::Choice;
use lightlag_core::Bytes;

/// The fast start of an algorithm.
enum Start {
    /// Sudden Start of Peach and Peach+: probes for the window that the peer advertises.
    Sudden,
    /// Hybla's, with ρ.
    Rho(f64),
}

impl Start {
    fn of(flow: &Flow, way: &Way) -> Option<Self> {
        match &flow.tcp.congestion {
            Choice::Peach(config) if config.sudden_window == 0.0 => Some(Self::Sudden),
            Choice::PeachPlus(config) if config.sudden_window == 0.0 => Some(Self::Sudden),
            Choice::Hybla(config) => {
                Some(way.round_trip / config.reference_rtt).filter(|rho| *rho > 1.0).map(Self::Rho)
            }
            _ => None,
        }
    }

    /// The window that it may open within two round trips on a path where `share` fits.
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

/// A first receive window below that of a fast start.
pub(super) fn receive_window(flow: &Flow, way: &Way, share: Bytes, path: &str, found: &mut Found) {
    // A fixed buffer below the product limits the entire flow, of which another warning tells.
    if flow.tcp.receive_buffer_initial.is_none() || flow.tcp.receive_buffer < share {
        return;
    }
    let Some(start) = Start::of(flow, way) else { return };
    let first = flow.tcp.first_window();
    if first >= start.window(flow, share) {
        return;
    }
    found.flow(Kind::SpoiltStart, path, ".tcp.receive_buffer", || {
        let first = bytes(Bytes(first));
        let (name, product) = (flow.tcp.congestion.name(), bytes(share));
        match start {
            Start::Sudden => format!(
                "it is automatic and advertises {first} at first: the Sudden Start of {name} opens the window no \
                 further, and then a segment per round trip of {} is added up to {product}; set receive_buffer to a \
                 size of at least {product}",
                seconds(way.round_trip)
            ),
            Start::Rho(rho) => format!(
                "it is automatic and advertises {first} at first: the first window of {name}, {rho:.1} times the usual \
                 one, does not fit, and its start waits for the buffer to grow; set receive_buffer to a size of at \
                 least {product}"
            ),
        }
    });
}

/// A fast start that overflows the queue without SACK; returns true if the flow has one.
pub(super) fn sack(flow: &Flow, way: &Way, segments: u64, key: &str, path: &str, found: &mut Found) -> bool {
    let Some(start) = Start::of(flow, way) else { return false };
    found.flow(Kind::SpoiltStart, path, key, || {
        let name = flow.tcp.congestion.name();
        let grows = match start {
            Start::Sudden => format!("the Sudden Start of {name} opens the window in two round trips"),
            Start::Rho(rho) => format!("the slow start of {name} grows 2^{rho:.1} times as fast"),
        };
        format!(
            "{grows} and loses many of up to {segments} segments when the queue overflows; without SACK one of them is \
             repaired per round trip of {}; set sack = true and recovery = \"sack\"",
            seconds(way.round_trip)
        )
    });
    true
}
