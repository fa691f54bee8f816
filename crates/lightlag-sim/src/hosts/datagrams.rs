//! The ends of flows of UDP: datagrams leave when the application has a message, and nothing answers.
//!
//! There may be ten thousand senders. When each of them sends rarely, nothing of them is left in any cache: an end
//! holds all that a datagram needs there, in few cache lines, and no connection is looked at.

use crate::body::Datagram;
use crate::hosts::delays::Delays;
use crate::hosts::source::Source;
use crate::ids::{FlowIndex, UdpIndex};
use lightlag_core::Instant;
use lightlag_core::own::Fault;
use lightlag_net::{EndpointId, NodeId, PackedExit};

/// Both ends of all flows of UDP, in the order of the flows.
#[derive(Debug)]
pub(crate) struct Datagrams {
    /// The first of their numbers among endpoints.
    first: EndpointId,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    /// The headings of the senders' datagrams. They lie close together, so that a link is known before its sender.
    headings: Vec<Heading>,
}

impl Datagrams {
    /// No flows yet. There will be `count`, numbered among endpoints from `first`.
    pub(crate) fn new(first: EndpointId, count: usize) -> Self {
        Self {
            first,
            senders: Vec::with_capacity(count),
            receivers: Vec::with_capacity(count),
            headings: Vec::with_capacity(count),
        }
    }

    /// Adds the ends of the next flow.
    pub(crate) fn add(&mut self, sender: Sender, heading: Heading) {
        self.senders.push(sender);
        self.receivers.push(Receiver::default());
        self.headings.push(heading);
    }

    /// Number of flows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.senders.len()
    }

    /// The flow whose receiver is this endpoint, if it is one of UDP.
    #[inline]
    pub(crate) fn of_endpoint(&self, endpoint: EndpointId) -> Option<UdpIndex> {
        endpoint.0.checked_sub(self.first.0).map(UdpIndex).filter(|flow| flow.index() < self.len())
    }

    /// The endpoint that receives the datagrams of a flow.
    #[inline]
    pub(crate) fn endpoint(&self, flow: UdpIndex) -> EndpointId {
        EndpointId(self.first.0 + flow.0)
    }

    /// Sends the datagrams of a flow over the exit of the new route, if there is one.
    pub(crate) fn reroute(&mut self, flow: UdpIndex, next: impl FnOnce(NodeId) -> Option<PackedExit>) {
        let heading = &mut self.headings[flow.index()];
        heading.out = next(heading.peer_node).unwrap_or(heading.out);
    }

    /// The flows among those of the network, in their order.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowIndex> {
        self.headings.iter().map(|heading| heading.flow)
    }

    /// The heading of the datagrams of a flow.
    #[inline]
    pub(crate) fn heading(&self, flow: UdpIndex) -> Heading {
        self.headings[flow.index()]
    }
}

/// The end that sends.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Sender {
    source: Source,
    sent: u64,
    /// Bytes left of the message that is leaving.
    left: u32,
    /// Largest payload of a datagram in bytes: longer messages become several.
    most: u16,
}

/// The destination of a sender's datagrams, and the way there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading {
    /// The link on which they leave.
    pub(crate) out: PackedExit,
    /// The node to which they go.
    pub(crate) peer_node: NodeId,
    /// Their flow.
    pub(crate) flow: FlowIndex,
}

impl Sender {
    pub(crate) fn new(source: Source, most: u16) -> Self {
        Self { source, sent: 0, left: 0, most }
    }

    /// Instant at which the next message is due.
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

    /// The failure of an application from outside.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.source.fault()
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
    /// The number of the collector to which it hands the datagrams, plus 1; 0 if there is none.
    collector: u32,
}

impl Receiver {
    /// A datagram arrived.
    pub(crate) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        self.bytes += u64::from(datagram.len);
        self.delays.add(now.since(datagram.sent()));
    }

    /// Hands all datagrams that arrive to this collector from now on.
    pub(crate) fn hand_to(&mut self, collector: u32) {
        self.collector = collector + 1;
    }

    /// The collector to which it hands the datagrams that arrive.
    pub(crate) fn collector(&self) -> Option<u32> {
        self.collector.checked_sub(1)
    }

    /// Payload received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Delays from leaving to arriving, of all datagrams.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::fabric::Hop;

    #[test]
    fn what_a_datagram_needs_is_short() {
        assert_eq!((size_of::<Sender>(), size_of::<Receiver>()), (64, 64));
        assert_eq!(size_of::<Hop<Body>>(), 96);
    }
}
