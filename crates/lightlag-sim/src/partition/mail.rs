//! What partitions know of each other while they run: how far each has come, and the packets on their way.

use crate::body::Packet;
use crate::partition::border::Moment;
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

    /// Everything that a partition does before this time is done, and posted.
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
