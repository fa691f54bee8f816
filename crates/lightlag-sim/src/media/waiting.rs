//! Packets that wait at a node for a route.

use super::Parcel;
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use std::collections::VecDeque;

/// The most packets that wait, and the longest wait (ns-3's `RequestQueue` of AODV; RFC 3561 leaves both open).
const MOST: usize = 64;
const LONGEST: Duration = Duration::from_secs(30);

/// The packets that wait for routes at one interface, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    packets: VecDeque<(Instant, Box<Parcel>)>,
}

impl Waiting {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Keeps a packet, and returns the oldest one if there are too many.
    pub(crate) fn keep(&mut self, now: Instant, parcel: Box<Parcel>) -> Option<Box<Parcel>> {
        self.packets.push_back((now + LONGEST, parcel));
        if self.packets.len() > MOST { self.packets.pop_front().map(|(_, parcel)| parcel) } else { None }
    }

    /// The packets for a destination, which no longer wait.
    pub(crate) fn take(&mut self, destination: NodeId) -> impl Iterator<Item = Box<Parcel>> + use<> {
        let packets = std::mem::take(&mut self.packets).into_iter();
        let (taken, stay): (Vec<_>, Vec<_>) = packets.partition(|(_, parcel)| parcel.toward == destination);
        self.packets = stay.into();
        taken.into_iter().map(|(_, parcel)| parcel)
    }

    /// When the oldest packet has waited for too long.
    pub(crate) fn expiry(&self) -> Option<Instant> {
        self.packets.front().map(|(expiry, _)| *expiry)
    }

    /// The oldest packet, if it has waited for too long.
    pub(crate) fn expired(&mut self, now: Instant) -> Option<Box<Parcel>> {
        let is_old = self.expiry().is_some_and(|expiry| expiry <= now);
        if is_old { self.packets.pop_front().map(|(_, parcel)| parcel) } else { None }
    }
}
