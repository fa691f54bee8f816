//! UDP endpoints: they send datagrams when the application has a message, and receive no replies.
//!
//! There may be ten thousand senders. The state of a sender that rarely sends is in no CPU cache. An endpoint therefore
//! stores everything that a datagram needs in few cache lines.

use crate::body::Datagram;
use crate::hosts::delays::Delays;
use crate::hosts::source::TrafficSource;
use crate::ids::{FlowIndex, UdpIndex};
use lightlag_core::Instant;
use lightlag_core::custom::Fault;
use lightlag_net::{EndpointId, NodeId, PackedExit};

/// Both endpoints of all UDP flows, in the order of the flows.
#[derive(Debug)]
pub(crate) struct Datagrams {
    /// First endpoint ID of the UDP flows.
    first: EndpointId,
    pub(crate) senders: Vec<Sender>,
    pub(crate) receivers: Vec<Receiver>,
    /// Destinations of the senders' datagrams. They are stored close together, so that the link is found before the
    /// state of the sender is loaded.
    headings: Vec<DatagramTarget>,
}

impl Datagrams {
    /// Returns an empty list with capacity for `count` flows, whose endpoint IDs start at `first`.
    pub(crate) fn new(first: EndpointId, count: usize) -> Self {
        Self {
            first,
            senders: Vec::with_capacity(count),
            receivers: Vec::with_capacity(count),
            headings: Vec::with_capacity(count),
        }
    }

    /// Adds the endpoints of the next UDP flow.
    pub(crate) fn add(&mut self, sender: Sender, heading: DatagramTarget) {
        self.senders.push(sender);
        self.receivers.push(Receiver::default());
        self.headings.push(heading);
    }

    /// Returns the number of flows.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.senders.len()
    }

    /// Returns the UDP flow whose receiver is this endpoint, if there is one.
    #[inline]
    pub(crate) fn of_endpoint(&self, endpoint: EndpointId) -> Option<UdpIndex> {
        endpoint.0.checked_sub(self.first.0).map(UdpIndex).filter(|flow| flow.index() < self.len())
    }

    /// Returns the endpoint that receives the datagrams of a flow.
    #[inline]
    pub(crate) fn endpoint(&self, flow: UdpIndex) -> EndpointId {
        EndpointId(self.first.0 + flow.0)
    }

    /// Sets the first link of a flow's datagrams to the one that `next` returns for their destination, unless it
    /// returns `None`.
    pub(crate) fn reroute(&mut self, flow: UdpIndex, next: impl FnOnce(NodeId) -> Option<PackedExit>) {
        let heading = &mut self.headings[flow.index()];
        heading.out = next(heading.peer_node).unwrap_or(heading.out);
    }

    /// Returns the indices of the UDP flows among all flows, in order.
    pub(crate) fn flows(&self) -> impl Iterator<Item = FlowIndex> {
        self.headings.iter().map(|heading| heading.flow)
    }

    /// Returns the destination and first link of the datagrams of a flow.
    #[inline]
    pub(crate) fn heading(&self, flow: UdpIndex) -> DatagramTarget {
        self.headings[flow.index()]
    }
}

/// The sending endpoint of a UDP flow.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Sender {
    source: TrafficSource,
    sent: u64,
    /// Number of bytes of the current message that have not been sent.
    left: u32,
    /// Maximum payload of a datagram in bytes. Longer messages are split.
    most: u16,
}

/// Destination of a sender's datagrams, and the first link towards it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatagramTarget {
    /// First link of the route.
    pub(crate) out: PackedExit,
    /// Destination node.
    pub(crate) peer_node: NodeId,
    /// Index of the flow.
    pub(crate) flow: FlowIndex,
}

impl Sender {
    pub(crate) fn new(source: TrafficSource, max: u16) -> Self {
        Self { source, sent: 0, left: 0, most: max }
    }

    /// Returns the time of the next message.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.source.next()
    }

    /// Returns the next datagram to send now, or `None` if there is none.
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

    /// Returns the failure of the application, if it is custom and has failed.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.source.fault()
    }

    /// Returns the number of datagrams sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

/// The receiving endpoint of a UDP flow.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Receiver {
    delays: Delays,
    bytes: u64,
    /// Index of the collector that the datagrams are passed to, plus 1; 0 if there is none.
    collector: u32,
}

impl Receiver {
    /// Records a datagram that arrived.
    pub(crate) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        self.bytes += u64::from(datagram.len);
        self.delays.add(now.since(datagram.sent()));
    }

    /// Passes all later datagrams to this collector.
    pub(crate) fn hand_to(&mut self, collector: u32) {
        self.collector = collector + 1;
    }

    /// Returns the index of the collector that the datagrams are passed to, if there is one.
    pub(crate) fn collector(&self) -> Option<u32> {
        self.collector.checked_sub(1)
    }

    /// Returns the payload received in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the delays of all datagrams from sender to receiver.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::PacketBody;
    use crate::fabric::Hop;

    #[test]
    fn the_data_of_a_datagram_is_short() {
        assert_eq!((size_of::<Sender>(), size_of::<Receiver>()), (64, 64));
        assert_eq!(size_of::<Hop<PacketBody>>(), 96);
    }
}
