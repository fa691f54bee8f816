//! One end of a connection, without a network and without a clock.

use crate::{Failure, Snapshot, Standing, Statistics};
use lightlag_control::congestion::Phase;
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Codepoint, Duration, Instant};

/// One end of a connection. It takes packets and the time, and returns packets and a deadline.
///
/// After each call its owner polls packets until there are none, and sets a timer for [`Self::poll_timeout`].
pub trait Endpoint: Inspect {
    /// A packet without its envelope. Payload is counted, not carried.
    type Packet: Copy;

    /// Opens the connection. The end that does not open waits for its peer.
    fn open(&mut self, now: Instant);

    /// Takes a packet that arrived with this ECN field.
    fn handle_packet(&mut self, now: Instant, packet: &Self::Packet, ecn: Codepoint);

    /// Does what is due. The clock has reached [`Self::poll_timeout`].
    fn handle_timeout(&mut self, now: Instant);

    /// Returns the next packet to send now, if there is one.
    fn poll_packet(&mut self, now: Instant) -> Option<Self::Packet>;

    /// Returns the instant at which [`Self::handle_timeout`] must be called, if at all.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Aborts the connection: the peer is told, and waiting data is lost.
    fn abort(&mut self);

    /// Loses the connection and its data in a crash of the host, without a message to the peer.
    fn crash(&mut self);

    /// Fetches from memory what most packets need beside the endpoint itself.
    fn prefetch(&self) {}

    /// Fetches from memory what an acknowledgement needs.
    fn prefetch_sender(&self) {}
}

/// The stages of a connection at one of its ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Not opened, or over.
    Closed,
    /// Waiting for a peer that opens.
    Listening,
    /// The handshake is under way.
    Opening,
    /// Both ends may send.
    Open,
    /// The peer has finished its stream; this end may still send.
    PeerClosed,
    /// This end has finished its stream, and the peer has not confirmed that or not finished its own.
    Closing,
    /// Both streams are finished; old packets die out.
    Lingering,
}

/// The state of an endpoint, for applications, records and results.
pub trait Inspect {
    /// Returns the stage of the connection.
    fn status(&self) -> Status;

    /// Returns the reason for which the connection was given up, if it was.
    fn failure(&self) -> Option<Failure>;

    /// Returns the failure of a custom congestion control, if it has failed.
    fn fault(&self) -> Option<&Fault>;

    /// Returns the name of the congestion control.
    fn congestion(&self) -> &'static str;

    /// Returns the state of the sending half.
    fn snapshot(&self) -> Snapshot;

    /// Returns window, slow-start threshold and phase: a trace has a row for each change of these parts of the snapshot.
    fn course(&self) -> (u64, u64, Phase);

    /// Returns true if acknowledgements report reordered data although nothing is being repaired.
    fn is_disordered(&self) -> bool;

    /// Returns the counters.
    fn statistics(&self) -> Statistics;

    /// Returns the account as it stands until the next event of the connection.
    fn standing(&self) -> Standing;

    /// Returns the smallest round-trip sample, if there is one.
    fn min_rtt(&self) -> Option<Duration>;
}
