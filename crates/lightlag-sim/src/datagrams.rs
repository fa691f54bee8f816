//! The ends of flows of UDP: datagrams leave when the application has a message, and nobody answers.
//!
//! There may be ten thousand that each send now and then, and then none of them is found in any cache: an end holds all
//! that a datagram needs there, in few cache lines, and no connection is looked at.

use crate::body::Datagram;
use crate::delays::Delays;
use crate::ends;
use crate::source::Source;
use lightlag_core::Instant;
use lightlag_net::{LinkId, NodeId};

/// The place of a flow that is none of UDP.
const NONE: u32 = u32::MAX;

/// Both ends of all flows of UDP.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    /// The place of every flow in the lists of ends; empty if there is none of UDP.
    places: Vec<u32>,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    /// Where the datagrams of senders go. Close together, so that a link is known before its sender.
    headings: Vec<Heading>,
}

impl Datagrams {
    /// Adds the ends of the next flow, whose data has this heading; `None`: it is one of TCP.
    pub(crate) fn add(&mut self, sender: Option<Sender>, heading: Heading) {
        self.places.push(if sender.is_some() { self.senders.len() as u32 } else { NONE });
        self.receivers.extend(sender.is_some().then(Receiver::default));
        self.headings.extend(sender.is_some().then_some(heading));
        self.senders.extend(sender);
    }

    /// The place of a flow, if it is one of UDP.
    #[inline]
    pub(crate) fn of_flow(&self, flow: usize) -> Option<usize> {
        self.places.get(flow).filter(|place| **place != NONE).map(|place| *place as usize)
    }

    /// The same of the flow to which an endpoint belongs.
    #[inline]
    pub(crate) fn of_endpoint(&self, endpoint: usize) -> Option<usize> {
        self.of_flow(ends::flow(endpoint))
    }

    /// Where the datagrams of the flow at this place go.
    #[inline]
    pub(crate) fn heading(&self, place: usize) -> Heading {
        self.headings[place]
    }
}

/// The end that sends.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Sender {
    source: Source,
    sent: u64,
    /// What is left of the message that is leaving.
    left: u32,
    /// Most payload of a datagram in bytes: longer messages become several.
    most: u16,
}

/// Where a sender's datagrams go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    /// The link on which they leave.
    pub(crate) out: LinkId,
    /// Where they go: the node, and the endpoint there.
    pub(crate) peer_node: NodeId,
    pub(crate) peer: u32,
}

impl Sender {
    pub(crate) fn new(source: Source, most: u16) -> Self {
        Self { source, sent: 0, left: 0, most }
    }

    /// When the next message is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.source.next()
    }

    /// The next datagram to send now, until there is none.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.left == 0 {
            self.source.next().filter(|due| *due <= now)?;
            self.left = self.source.take() as u32;
        }
        let len = self.left.min(u32::from(self.most)) as u16;
        self.left -= u32::from(len);
        let datagram = Datagram::new(self.sent, now, len);
        self.sent += 1;
        Some(datagram)
    }

    /// Datagrams sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

/// The end that receives.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Receiver {
    delays: Delays,
    bytes: u64,
    /// The collector to whom it hands what arrives, if there is one: its number and 1.
    collector: u32,
}

impl Receiver {
    /// A datagram arrived.
    pub(crate) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        self.bytes += u64::from(datagram.len);
        self.delays.add(now.since(datagram.sent()));
    }

    /// Hands what arrives to this collector.
    pub(crate) fn hand_to(&mut self, collector: u32) {
        self.collector = collector + 1;
    }

    /// The collector to whom it hands what arrives.
    pub(crate) fn collector(&self) -> Option<u32> {
        self.collector.checked_sub(1)
    }

    /// Payload received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From leaving to arriving, of each datagram.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::world::Hop;

    #[test]
    fn what_a_datagram_needs_is_short() {
        assert_eq!((size_of::<Sender>(), size_of::<Receiver>()), (64, 64));
        assert_eq!(size_of::<Hop<Body>>(), 192);
    }
}
