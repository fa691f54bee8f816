//! Exchange between running partitions: the time that each one has reached, and packets in transit.

use crate::body::Packet;
use crate::border::event_key::EventKey;
use lightlag_core::{Backoff, Duration, Instant};
use lightlag_net::LinkId;
use lightlag_quic::contents::Contents;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A packet that is offered to a link in another partition.
pub(crate) struct LinkOffer {
    pub(crate) at: EventKey,
    pub(crate) on: LinkId,
    pub(crate) packet: Packet,
    /// Contents that the packet cannot hold.
    pub(crate) contents: Option<Box<Contents>>,
}

/// A packet in transit to another partition, which has left the queue of its link.
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) on: LinkId,
    pub(crate) packet: Packet,
    /// Contents that the packet cannot hold.
    pub(crate) contents: Option<Box<Contents>>,
}

/// Packets to be posted to another partition.
#[derive(Default)]
pub(crate) struct PacketBatch {
    /// Packets that are offered to links, in the order of the offers.
    pub(crate) offers: Vec<LinkOffer>,
    /// Packets in transit; the packets of each link are in the order of arrival.
    pub(crate) arrivals: Vec<Arrival>,
}

impl PacketBatch {
    pub(crate) fn len(&self) -> usize {
        self.offers.len() + self.arrivals.len()
    }

    fn append(&mut self, other: &mut Self) {
        self.offers.append(&mut other.offers);
        self.arrivals.append(&mut other.arrivals);
    }
}

/// Time that a partition has reached. Each clock occupies a pair of cache lines, so that a write does not invalidate
/// the clock of another partition in the caches of other cores.
#[repr(align(128))]
struct Clock(AtomicU64);

/// Packets that one partition has posted to another one.
#[repr(align(128))]
struct Letterbox {
    is_full: AtomicBool,
    letters: Mutex<PacketBatch>,
}

impl Letterbox {
    fn letters(&self) -> MutexGuard<'_, PacketBatch> {
        // No thread panics while it moves letters.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The packets exchanged by the partitions of a run, and the time that each partition has reached.
pub(crate) struct Mailbox {
    clocks: Vec<Clock>,
    /// One letterbox for each pair of sender and receiver.
    boxes: Vec<Letterbox>,
    /// Whether a thread has panicked. Threads must then stop waiting for its partitions.
    is_abandoned: AtomicBool,
}

impl Mailbox {
    pub(crate) fn new(partitions: usize) -> Self {
        let letterbox = |_| Letterbox { is_full: AtomicBool::new(false), letters: Mutex::default() };
        Self {
            clocks: (0..partitions).map(|_| Clock(AtomicU64::new(0))).collect(),
            boxes: (0..partitions * partitions).map(letterbox).collect(),
            is_abandoned: AtomicBool::new(false),
        }
    }

    fn letterbox(&self, from: u16, to: u16) -> &Letterbox {
        &self.boxes[usize::from(from) * self.clocks.len() + usize::from(to)]
    }

    /// Returns the time that a partition has reached: it has handled all earlier events and published the resulting
    /// packets. Partitions that receive packets once per round may not have received all of them.
    #[inline]
    pub(crate) fn reached(&self, partition: u16) -> Instant {
        // A thread that reads the time can also read the packets posted before it.
        Instant::from_nanos(self.clocks[usize::from(partition)].0.load(Ordering::Acquire))
    }

    /// Publishes the time that a partition has reached.
    #[inline]
    pub(crate) fn reach(&self, partition: u16, time: Instant) {
        self.clocks[usize::from(partition)].0.store(time.as_nanos(), Ordering::Release);
    }

    /// Posts packets to another partition. `letters` is empty afterwards.
    pub(crate) fn post(&self, from: u16, to: u16, letters: &mut PacketBatch) {
        let letterbox = self.letterbox(from, to);
        let mut posted = letterbox.letters();
        if posted.len() == 0 {
            std::mem::swap(&mut *posted, letters);
        } else {
            posted.append(letters);
        }
        letterbox.is_full.store(true, Ordering::Release);
    }

    /// Moves the posted packets into `letters`, which must be empty.
    #[inline]
    pub(crate) fn take(&self, from: u16, to: u16, letters: &mut PacketBatch) {
        let letterbox = self.letterbox(from, to);
        if letterbox.is_full.load(Ordering::Acquire) {
            let mut posted = letterbox.letters();
            letterbox.is_full.store(false, Ordering::Release);
            std::mem::swap(&mut *posted, letters);
        }
    }

    /// Returns a lower bound for the arrival time of packets posted from one partition to another, if there are any.
    /// Packets spend at least `floor` on links that are simulated there.
    pub(crate) fn earliest(&self, from: u16, to: u16, floor: Duration) -> Option<Instant> {
        let letters = self.letterbox(from, to).letters();
        let offered = letters.offers.first().map(|offer| offer.at.time + floor);
        letters.arrivals.iter().map(|arrival| arrival.at).chain(offered).min()
    }

    /// Waits briefly for another partition. Returns false if a thread has panicked.
    pub(crate) fn wait(&self, patience: &mut Backoff) -> bool {
        patience.pause();
        !self.is_abandoned.load(Ordering::Relaxed)
    }

    /// Watches a thread: if it panics, the other threads stop waiting for it.
    pub(crate) fn watch(&self) -> MailWatch<'_> {
        MailWatch(self)
    }
}

/// Guard returned by [`Mailbox::watch`].
pub(crate) struct MailWatch<'a>(&'a Mailbox);

impl Drop for MailWatch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_abandoned.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_net::{EndpointId, NodeId, PacketFlags};
    use std::sync::Arc;

    fn packet(to: u32) -> Packet {
        Packet::new(NodeId(0), EndpointId(to), 1500, PacketFlags::new(true), crate::body::PacketBody::default())
    }

    fn offer(nanos: u64, to: u32) -> LinkOffer {
        let at = EventKey { time: Instant::from_nanos(nanos), entity: 0, step: 0 };
        LinkOffer { at, on: LinkId(0), packet: packet(to), contents: None }
    }

    #[test]
    fn letters_arrive_once_and_in_order() {
        let mail = Mailbox::new(3);
        let min_delay = Duration::from_nanos(100);
        let mut letters = PacketBatch { offers: vec![offer(5, 1)], arrivals: Vec::new() };
        mail.post(0, 2, &mut letters);
        assert_eq!(letters.len(), 0);
        letters.offers.extend([offer(7, 2), offer(9, 3)]);
        letters.arrivals.push(Arrival {
            at: Instant::from_nanos(90),
            on: LinkId(1),
            packet: packet(4),
            contents: None,
        });
        mail.post(0, 2, &mut letters);
        assert_eq!(mail.earliest(0, 2, min_delay), Some(Instant::from_nanos(90)));
        assert_eq!(mail.earliest(2, 0, min_delay), None);
        mail.take(1, 2, &mut letters);
        assert_eq!(letters.len(), 0, "the second has sent nothing");
        mail.take(0, 2, &mut letters);
        assert_eq!(letters.offers.iter().map(|offer| offer.packet.to.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(letters.arrivals.len(), 1);
        letters = PacketBatch::default();
        mail.take(0, 2, &mut letters);
        assert_eq!(letters.len(), 0);
    }

    #[test]
    fn no_thread_waits_for_one_that_has_panicked() {
        let mail = Arc::new(Mailbox::new(2));
        mail.reach(1, Instant::from_nanos(3));
        assert_eq!(mail.reached(1), Instant::from_nanos(3));
        let mut patience = Backoff::default();
        assert!(mail.wait(&mut patience));
        let other = mail.clone();
        let thread = std::thread::spawn(move || {
            let _watch = other.watch();
            panic!("a partition fails");
        });
        assert!(thread.join().is_err());
        assert!(!mail.wait(&mut patience));
    }
}
