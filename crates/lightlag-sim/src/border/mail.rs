//! The mail between partitions while they run: how far each has come, and the packets on their way.

use crate::body::Packet;
use crate::border::moment::Moment;
use lightlag_core::{Duration, Instant, Patience};
use lightlag_net::LinkId;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A packet that is offered to a link in another partition.
pub(crate) struct Offer {
    pub(crate) at: Moment,
    pub(crate) on: LinkId,
    pub(crate) packet: Packet,
}

/// A packet that has left a link with a queue, which leads to another partition.
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) on: LinkId,
    pub(crate) packet: Packet,
}

/// Packets on their way to another partition.
#[derive(Default)]
pub(crate) struct Letters {
    /// In the order in which they are offered.
    pub(crate) offers: Vec<Offer>,
    /// Those of each link in the order of their arrival.
    pub(crate) arrivals: Vec<Arrival>,
}

impl Letters {
    pub(crate) fn len(&self) -> usize {
        self.offers.len() + self.arrivals.len()
    }

    fn append(&mut self, other: &mut Self) {
        self.offers.append(&mut other.offers);
        self.arrivals.append(&mut other.arrivals);
    }
}

/// How far a partition has come. Each has a pair of cache lines: what one core writes does not take another's from the cores that
/// look at it.
#[repr(align(128))]
struct Clock(AtomicU64);

/// Packets from one partition to another.
#[repr(align(128))]
struct Letterbox {
    is_full: AtomicBool,
    letters: Mutex<Letters>,
}

impl Letterbox {
    fn letters(&self) -> MutexGuard<'_, Letters> {
        // Nobody panics while it moves letters.
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The mail between the partitions of a run.
pub(crate) struct Mail {
    clocks: Vec<Clock>,
    /// By sender and receiver.
    boxes: Vec<Letterbox>,
    /// A thread has panicked: nobody may wait for its partitions.
    is_abandoned: AtomicBool,
}

impl Mail {
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

    /// Everything that a partition does before this time is done, and posted, except to those that hear of it once a round.
    #[inline]
    pub(crate) fn reached(&self, partition: u16) -> Instant {
        // Whoever sees the time sees the packets posted before it.
        Instant::from_nanos(self.clocks[usize::from(partition)].0.load(Ordering::Acquire))
    }

    /// A partition has come so far.
    #[inline]
    pub(crate) fn reach(&self, partition: u16, time: Instant) {
        self.clocks[usize::from(partition)].0.store(time.as_nanos(), Ordering::Release);
    }

    /// Posts letters.
    pub(crate) fn post(&self, from: u16, to: u16, letters: &mut Letters) {
        let letterbox = self.letterbox(from, to);
        let mut posted = letterbox.letters();
        if posted.len() == 0 {
            std::mem::swap(&mut *posted, letters);
        } else {
            posted.append(letters);
        }
        letterbox.is_full.store(true, Ordering::Release);
    }

    /// Takes what was posted into `letters`, which are empty.
    #[inline]
    pub(crate) fn take(&self, from: u16, to: u16, letters: &mut Letters) {
        let letterbox = self.letterbox(from, to);
        if letterbox.is_full.load(Ordering::Acquire) {
            let mut posted = letterbox.letters();
            letterbox.is_full.store(false, Ordering::Release);
            std::mem::swap(&mut *posted, letters);
        }
    }

    /// A time before which no packet arrives that was posted from one partition to another, if there are any. On links that stand
    /// there packets spend `least` or longer.
    pub(crate) fn earliest(&self, from: u16, to: u16, least: Duration) -> Option<Instant> {
        let letters = self.letterbox(from, to).letters();
        let offered = letters.offers.first().map(|offer| offer.at.time + least);
        letters.arrivals.iter().map(|arrival| arrival.at).chain(offered).min()
    }

    /// Waits a little for another partition. Returns whether it is worth it.
    pub(crate) fn wait(&self, patience: &mut Patience) -> bool {
        patience.pause();
        !self.is_abandoned.load(Ordering::Relaxed)
    }

    /// Watches over a thread: should it panic, the others do not wait for it.
    pub(crate) fn watch(&self) -> Watch<'_> {
        Watch(self)
    }
}

/// See [`Mail::watch`].
pub(crate) struct Watch<'a>(&'a Mail);

impl Drop for Watch<'_> {
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
        Packet::new(NodeId(0), EndpointId(to), 1500, PacketFlags::new(true), crate::body::Body::default())
    }

    fn offer(nanos: u64, to: u32) -> Offer {
        let at = Moment { time: Instant::from_nanos(nanos), entity: 0, step: 0 };
        Offer { at, on: LinkId(0), packet: packet(to) }
    }

    #[test]
    fn letters_arrive_once_and_in_order() {
        let mail = Mail::new(3);
        let least = Duration::from_nanos(100);
        let mut letters = Letters { offers: vec![offer(5, 1)], arrivals: Vec::new() };
        mail.post(0, 2, &mut letters);
        assert_eq!(letters.len(), 0);
        letters.offers.extend([offer(7, 2), offer(9, 3)]);
        letters.arrivals.push(Arrival { at: Instant::from_nanos(90), on: LinkId(1), packet: packet(4) });
        mail.post(0, 2, &mut letters);
        assert_eq!(mail.earliest(0, 2, least), Some(Instant::from_nanos(90)));
        assert_eq!(mail.earliest(2, 0, least), None);
        mail.take(1, 2, &mut letters);
        assert_eq!(letters.len(), 0, "the second has sent nothing");
        mail.take(0, 2, &mut letters);
        assert_eq!(letters.offers.iter().map(|offer| offer.packet.to.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(letters.arrivals.len(), 1);
        letters = Letters::default();
        mail.take(0, 2, &mut letters);
        assert_eq!(letters.len(), 0);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_panicked() {
        let mail = Arc::new(Mail::new(2));
        mail.reach(1, Instant::from_nanos(3));
        assert_eq!(mail.reached(1), Instant::from_nanos(3));
        let mut patience = Patience::default();
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
