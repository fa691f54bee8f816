//! Windows that count single packets, and the reports that they receive: the basis of the windows of quinn and picoquic.

use lightlag_control::congestion::CongestionControl;
use lightlag_core::{Duration, Instant};

/// A window that counts single packets. It is a congestion control for reports.
pub(crate) trait PacketWindow: CongestionControl {
    /// Notes the start of the connection.
    fn start(&mut self, _now: Instant) {}

    /// Sets the size of a full datagram.
    fn set_datagram(&mut self, datagram: u64);

    /// Notes a packet that is sent.
    fn packet_sent(&mut self, _now: Instant) {}

    /// Notes an acknowledged packet. `limited`: whether the application limits the sender.
    fn packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64, limited: bool, srtt: Duration);

    /// Notes a round-trip sample; both times are in seconds.
    fn sampled(&mut self, _now: f64, _rtt: f64) {}

    /// Reacts to a loss or a mark of a packet that was sent at `sent`, with `in_flight` bytes still in flight. Returns
    /// false if the packet belongs to the last episode.
    fn congestion(&mut self, now: Instant, sent: Instant, persistent: bool, in_flight: u64) -> bool;

    /// Notes a packet that was found lost.
    fn packet_lost(&mut self, _number: u32, _sent: Instant) {}

    /// Notes an acknowledgement of packets that had been found lost. `newest`: transmission time of the packet sent last
    /// among its packets. Returns true if the window has grown.
    fn packet_spurious(&mut self, _now: Instant, _newest: Instant, _srtt: Duration) -> bool {
        false
    }

    /// Handles a complete acknowledgement, or the losses that a timer found. Returns true if the window was reduced;
    /// `None` for a window that counts single packets, which learns from the other methods.
    fn report(&mut self, _report: &Report) -> Option<bool> {
        None
    }
}

/// The effects of an acknowledgement on a window that handles it as a whole; or of the loss timer, which acknowledges
/// nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) now: Instant,
    /// Bytes acknowledged for the first time, and the transmission time of the largest acknowledged packet.
    pub(crate) acked: u64,
    pub(crate) sent: Instant,
    /// Round-trip sample.
    pub(crate) rtt: Option<Duration>,
    pub(crate) srtt: Duration,
    pub(crate) min_rtt: Duration,
    pub(crate) is_marked: bool,
    /// Whether persistent congestion was found.
    pub(crate) is_persistent: bool,
    /// Whether the window, not the pacer, stopped the sender before.
    pub(crate) is_blocked: bool,
    /// Time when the sender last had nothing to send, although it was permitted.
    pub(crate) limited: Instant,
}
