//! The capture point, and the round-trip time between the endpoints of a connection.
//!
//! A capture point splits the round trip into two parts: from it to the receiver of the data and back, and from it to
//! the sender and back. If the capture was taken at one end, one of the two parts is close to zero.

use super::report::{DirectionReport, Rtt, Vantage};

/// Minimum fraction of the round trip that lies between the capture and the receiver, for a capture at the sender.
const NEAR_SENDER: f64 = 0.7;
/// Maximum fraction of the round trip that lies between the capture and the receiver, for a capture at the receiver.
const NEAR_RECEIVER: f64 = 0.3;

/// The capture point of a connection, and its round-trip times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CapturePoint {
    pub vantage: Option<Vantage>,
    /// Typical round-trip time between the ends, in seconds.
    pub rtt_s: Option<f64>,
    /// Minimum round-trip time between the ends, in seconds.
    pub min_rtt_s: Option<f64>,
}

/// Infers the capture point and the round-trip times from the reports on both directions and the round-trip time of the
/// handshake.
pub(crate) fn from(forward: &DirectionReport, backward: &DirectionReport, initial_rtt_s: Option<f64>) -> CapturePoint {
    let forward_sends = forward.counts.unique_bytes >= backward.counts.unique_bytes;
    let (own, other) = if forward_sends { (forward, backward) } else { (backward, forward) };
    let (own, other) = (own.rtt, other.rtt);
    let both = own.zip(other);
    let of_data = both.map(|(own, other)| own.min_s + other.min_s);
    let min_rtt_s = initial_rtt_s.into_iter().chain(of_data).reduce(f64::min).or(own.map(|own| own.min_s));
    let vantage = own.zip(initial_rtt_s.or(of_data)).and_then(|(own, _)| vantage(own.min_s, min_rtt_s?));
    let min_rtt_s = match (both, own, vantage) {
        // The handshake may have had a wait that data did not have.
        (None, Some(own), Some(Vantage::Sender)) => min_rtt_s.map(|least| least.min(own.min_s)),
        _ => min_rtt_s,
    };
    let rtt_s = match (both, own, vantage) {
        // What is short may have waited for data or for a delayed ACK, but not each time.
        (Some((own, other)), ..) => Some(typical(own, other)),
        (None, Some(own), Some(Vantage::Sender)) => Some(own.median_s),
        _ => initial_rtt_s,
    };
    CapturePoint { vantage, rtt_s, min_rtt_s }
}

fn typical(own: Rtt, other: Rtt) -> f64 {
    if own.min_s >= other.min_s { own.median_s + other.min_s } else { other.median_s + own.min_s }
}

fn vantage(beyond: f64, round_trip: f64) -> Option<Vantage> {
    if round_trip <= 0.0 {
        return None;
    }
    Some(match beyond / round_trip {
        share if share > NEAR_SENDER => Vantage::Sender,
        share if share < NEAR_RECEIVER => Vantage::Receiver,
        _ => Vantage::Between,
    })
}
