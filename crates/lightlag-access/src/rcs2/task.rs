//! The events of a beam that are still to come.

use super::ncc::Category;
use super::terminal::{CapacityRequest, Waiting};
use crate::contention::Contender;
use lightlag_core::Instant;
use lightlag_net::medium::Outgoing;

/// An event of the beam.
#[derive(Clone, Debug)]
pub(super) enum Task<P> {
    /// A packet on the forward carrier arrives.
    Delivery { packet: Outgoing<P> },
    /// A terminal may send a burst in an assigned slot, which the gateway has received at `end`.
    Slot { terminal: u32, category: Category, end: Instant },
    /// A terminal may send a burst in the slot with this index of its constant assignment.
    Constant { terminal: u32, frame: u64, index: u32 },
    /// A terminal may send a request in its control slot, which the gateway has received at `end`.
    Control { terminal: u32, end: Instant },
    /// The gateway has received a burst.
    Burst { terminal: u32, request: Option<(CapacityRequest, Instant)>, packets: Vec<Outgoing<P>> },
    /// The gateway could not decode a burst (`is_gap`), or the last fragment of packets with a lost one has arrived.
    Lost { terminal: u32, is_gap: bool, request: Option<CapacityRequest>, packets: Vec<Outgoing<P>> },
    /// A terminal learns that a request in an assigned slot was lost.
    Unheard { terminal: u32, request: CapacityRequest },
    /// A terminal checks whether its outage has ended.
    Resume(u32),
    /// The NCC assigns a frame.
    Assign(u64),
    /// A terminal sends a burst by random access in a frame.
    Attempt { terminal: u32, frame: u64 },
    /// The gateway decodes the random access bursts of a frame.
    Decode(u64),
    /// A terminal learns the outcome of its random access.
    Outcome(Box<Attempt<P>>, bool),
    /// A terminal is logged on.
    LoggedOn(u32),
    /// The rate that a terminal requested has expired.
    Expired(u32),
}

/// A burst sent by random access.
#[derive(Clone, Debug)]
pub(super) struct Attempt<P> {
    pub(super) terminal: u32,
    pub(super) contender: Contender,
    pub(super) content: Content<P>,
}

/// Content of such a burst.
#[derive(Clone, Debug)]
pub(super) enum Content<P> {
    Logon,
    Request(CapacityRequest, Instant),
    /// Complete packets that fit into the burst.
    Packets(Vec<Waiting<P>>),
}
