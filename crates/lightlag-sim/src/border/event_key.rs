//! The order of the events of all partitions.

use lightlag_core::Instant;

/// The key that orders the events of a run: the time, and the number of the part of the world with the event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EventKey {
    pub(crate) time: Instant,
    pub(crate) entity: u32,
    /// Number of packets that the event has offered to links in other partitions so far.
    pub(crate) step: u32,
}

/// Order in which partitions that handle the same event append their rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PartitionTurn {
    /// An outgoing queue drops packets, before the far end of its link delivers others.
    Near,
    /// The part of the world with the event.
    Due,
    /// A link in another partition, when the event has offered a packet to that link.
    Link,
    /// All partitions take a sample.
    Sample,
}
