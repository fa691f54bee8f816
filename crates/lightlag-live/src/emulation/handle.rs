//! The handle of a running emulation, with which its owner stops it and reads its statistics and the events of its
//! hosts.

use crate::serve::Event;
use crate::statistics::Snapshot;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of events that the owner has not taken yet. Beyond it, the oldest are dropped.
const MAX_EVENTS: usize = 100_000;

/// The handle with which the owner of an emulation controls it while it runs.
#[derive(Debug, Default)]
pub struct Handle {
    stop: AtomicBool,
    snapshot: Mutex<Snapshot>,
    events: Mutex<VecDeque<Event>>,
}

impl Handle {
    /// Requests that the emulation stop, which takes up to 50 ms.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the latest statistics: at most 50 ms old while the emulation runs, and final once it has ended.
    ///
    /// # Panics
    /// Never: no thread panics while holding the lock.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().expect("no thread panics while it holds the lock").clone()
    }

    /// Takes the events since the last call, or the newest 100,000 if there are more.
    ///
    /// # Panics
    /// Never: no thread panics while holding the lock.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().expect("no thread panics while it holds the lock")).into()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn push(&self, event: Event) {
        let mut events = self.events.lock().expect("no thread panics while it holds the lock");
        if events.len() >= MAX_EVENTS {
            events.pop_front();
        }
        events.push_back(event);
    }

    pub(super) fn set_snapshot(&self, snapshot: Snapshot) {
        *self.snapshot.lock().expect("no thread panics while it holds the lock") = snapshot;
    }

    /// Publishes a snapshot, unless the owner is reading the previous one at this moment.
    pub(super) fn offer_snapshot(&self, snapshot: impl FnOnce() -> Snapshot) {
        if let Ok(mut published) = self.snapshot.try_lock() {
            *published = snapshot();
        }
    }
}
