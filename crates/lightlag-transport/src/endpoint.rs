//! One end of a connection, without a network and without a clock.

use crate::{Failure, Snapshot, Standing, Statistics};
use lightlag_control::congestion::Phase;
use lightlag_control::congestion::custom::Fault;
use lightlag_core::{Codepoint, Duration, Instant};

/// One end of a connection. It takes packets and the time, and returns packets and a deadline.
///
/// After each call, its owner calls [`Self::poll_packet`] until that returns `None`, and sets a timer for
/// [`Self::poll_timeout`].
pub trait Endpoint: Inspect {
    /// A packet of the transport without network headers. Payload is counted, not carried.
    type Packet: Copy;

    /// Memory for the parts of packets in transit that a [`Self::Packet`] cannot hold, shared by all endpoints of a
    /// simulation; `()` if packets hold everything.
    type Arena: Default;

    /// Opens the connection actively. The passive end waits for its peer and does not need this call.
    fn open(&mut self, now: Instant);

    /// Handles a packet that arrived with the codepoint `ecn` in its ECN field.
    fn handle_packet(&mut self, now: Instant, packet: &Self::Packet, ecn: Codepoint, arena: &mut Self::Arena);

    /// Handles the timers that are due. Call it when the clock reaches [`Self::poll_timeout`].
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next packet to send now, if there is one.
    fn poll_packet(&mut self, now: Instant, arena: &mut Self::Arena) -> Option<Self::Packet>;

    /// Returns when [`Self::handle_timeout`] must be called next; `None` if no timer runs.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Aborts the connection: the peer is notified, and data that waits to be sent is lost.
    fn abort(&mut self);

    /// Simulates a crash of the host: the connection and its data are lost, and the peer is not notified.
    fn crash(&mut self);

    /// Prefetches the memory that handling a packet typically needs in addition to the endpoint itself.
    fn prefetch(&self) {}

    /// Prefetches the memory that handling an acknowledgement needs.
    fn prefetch_sender(&self) {}
}

/// Stage of a connection, as seen by one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not opened, or closed.
    Closed,
    /// Waiting for a peer to open the connection.
    Listening,
    /// The handshake is in progress.
    Opening,
    /// Both ends may send.
    Open,
    /// The peer has finished its stream; this end may still send.
    PeerClosed,
    /// This end has finished its stream. The peer has not acknowledged that, or has not finished its own stream.
    Closing,
    /// Both streams are finished, but old packets may still arrive (TIME-WAIT in TCP).
    Lingering,
}

/// Read access to the state of an endpoint, for applications, records and results.
pub trait Inspect {
    /// Returns the stage of the connection.
    fn status(&self) -> Status;

    /// Returns the reason why the connection was aborted; `None` if it was not.
    fn failure(&self) -> Option<Failure>;

    /// Returns the failure of a custom congestion control, if it has failed.
    fn fault(&self) -> Option<&Fault>;

    /// Returns the name of the congestion control.
    fn congestion(&self) -> &'static str;

    /// Returns the state of the sending half.
    fn snapshot(&self) -> Snapshot;

    /// Returns the parts of the snapshot that a trace records at each change: window, slow-start threshold and phase.
    fn course(&self) -> (u64, u64, Phase);

    /// Returns true if acknowledgements report data that arrived out of order, but no loss repair has started.
    fn is_disordered(&self) -> bool;

    /// Returns the counters.
    fn statistics(&self) -> Statistics;

    /// Returns the values for time averages and limits, which are valid until the next event of the connection.
    fn standing(&self) -> Standing;

    /// Returns the minimum round-trip sample, if there is one.
    fn min_rtt(&self) -> Option<Duration>;
}
