//! A sink: writes every message that arrives at its node by UDP into a connection.
//!
//! A sink with `contacts`, or one that drops its oldest messages, stores messages and forwards them: it writes a
//! message only during a contact, and only while the connection holds less than `socket` bytes.

use crate::kind::TrafficKind;
use lightlag_core::params::Declared;
use lightlag_core::{Bytes, Duration, Windows, settings, words};

words! {
    /// Message that a sink drops if its memory is full.
    pub enum Overflow {
        /// The message that arrives.
        Newest = "newest",
        /// The messages that have been stored longest and are not yet written to the connection.
        Oldest = "oldest",
    }
}

settings! {
    /// Settings of a sink.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Collect {
        about "Messages that arrive at the node over UDP.";

        /// Maximum number of bytes that are stored until the receiver has acknowledged them. A message that does not
        /// fit is dropped.
        buffer: Bytes = Bytes(65_536) => size();
        /// Message that is dropped when the memory is full: the one that arrives, or the oldest ones that are not yet
        /// written to the connection.
        overflow: Overflow = Overflow::default() => choice("a message to drop").quiet();
        /// Times when the node has contact with the receiver; by default always. The sink writes during contacts.
        contacts: Windows = Windows::default() => table(Windows::settings, Windows::parameters, Windows::EXAMPLE)
            .quiet().checked(|c| c.contacts.refusal());
        /// Time before the end of a contact when the sink stops writing, so that the last acknowledgements arrive.
        contact_guard: Duration = Duration::from_secs(1) => time_or_zero().quiet().checked(|c| {
            (!c.contacts.is_empty() && c.contact_guard >= c.contacts.shortest())
                .then_some("is not shorter than the shortest contact, in which nothing is sent; reduce it")
        });
        /// Maximum number of bytes that the sink writes before the receiver has acknowledged them. Only with contacts,
        /// or with overflow = "oldest".
        socket: Bytes = Bytes(65_536) => size().quiet();
    }
}

impl Collect {
    /// Returns true if the sink stores messages before it writes them to its connection.
    pub fn stores(&self) -> bool {
        !self.contacts.is_empty() || self.overflow == Overflow::Oldest
    }
}

impl TrafficKind for Collect {
    fn is_random(&self) -> bool {
        false
    }

    fn ends(&self) -> bool {
        false
    }
}
