//! The order of what happens in all partitions.

use lightlag_core::Instant;

/// An event of a run: its time and the number of the part of the world that was due. Events have this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment {
    pub(crate) time: Instant,
    pub(crate) entity: u32,
    /// Packets that the event has offered to links in other partitions before.
    pub(crate) step: u32,
}

/// Partitions that have a turn at the same moment, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Turn {
    /// A queue that leads out drops before its far half delivers.
    Near,
    /// The part that is due.
    Due,
    /// The link in another partition to which a packet was offered.
    Link,
    /// All sample.
    Sample,
}
