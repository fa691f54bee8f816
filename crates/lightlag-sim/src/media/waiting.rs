//! Packets that wait at a node until a route is found.

use super::MediumPacket;
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use std::collections::VecDeque;

/// Maximum number of packets that wait for a route, and their maximum waiting time (as in ns-3's `RequestQueue` of
/// AODV; RFC 3561 specifies neither).
const MOST: usize = 64;
const LONGEST: Duration = Duration::from_secs(30);

/// Packets that wait for a route at one interface, in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct AwaitingRoute {
    packets: VecDeque<(Instant, Box<MediumPacket>)>,
}

impl AwaitingRoute {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Adds a packet. Returns the oldest packet if there are too many.
    pub(crate) fn keep(&mut self, now: Instant, parcel: Box<MediumPacket>) -> Option<Box<MediumPacket>> {
        self.packets.push_back((now + LONGEST, parcel));
        if self.packets.len() > MOST { self.packets.pop_front().map(|(_, parcel)| parcel) } else { None }
    }

    /// Removes and returns the packets to a destination.
    pub(crate) fn take(&mut self, destination: NodeId) -> impl Iterator<Item = Box<MediumPacket>> + use<> {
        let packets = std::mem::take(&mut self.packets).into_iter();
        let (taken, stay): (Vec<_>, Vec<_>) = packets.partition(|(_, parcel)| parcel.toward == destination);
        self.packets = stay.into();
        taken.into_iter().map(|(_, parcel)| parcel)
    }

    /// Returns the time when the oldest packet will have waited for the maximum time.
    pub(crate) fn expiry(&self) -> Option<Instant> {
        self.packets.front().map(|(expiry, _)| *expiry)
    }

    /// Removes and returns the oldest packet, if it has waited for the maximum time.
    pub(crate) fn expired(&mut self, now: Instant) -> Option<Box<MediumPacket>> {
        let is_old = self.expiry().is_some_and(|expiry| expiry <= now);
        if is_old { self.packets.pop_front().map(|(_, parcel)| parcel) } else { None }
    }
}
