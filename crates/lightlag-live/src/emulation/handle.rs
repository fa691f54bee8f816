//! The handle of a running emulation: its owner stops it, and reads statistics and the events of hosts.

use crate::serve::Event;
use crate::statistics::Snapshot;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum number of events that wait for the owner; the oldest are dropped first.
const MAX_EVENTS: usize = 100_000;

/// The handle by which the owner of a running emulation talks to it.
#[derive(Debug, Default)]
pub struct Handle {
    stop: AtomicBool,
    snapshot: Mutex<Snapshot>,
    events: Mutex<VecDeque<Event>>,
}

impl Handle {
    /// Asks the emulation to end, which takes at most 50 ms.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the latest statistics: at most 50 ms old while it runs, final at its end.
    ///
    /// # Panics
    /// Never: no thread panics while holding the lock.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().expect("nobody panics while holding it").clone()
    }

    /// Takes the events since the last call, at most the newest 100,000.
    ///
    /// # Panics
    /// Never: no thread panics while holding the lock.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().expect("nobody panics while holding it")).into()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn push(&self, event: Event) {
        let mut events = self.events.lock().expect("nobody panics while holding it");
        if events.len() >= MAX_EVENTS {
            events.pop_front();
        }
        events.push_back(event);
    }

    pub(super) fn set_snapshot(&self, snapshot: Snapshot) {
        *self.snapshot.lock().expect("nobody panics while holding it") = snapshot;
    }

    /// Publishes a snapshot, unless the owner is reading the last one.
    pub(super) fn offer_snapshot(&self, snapshot: impl FnOnce() -> Snapshot) {
        if let Ok(mut published) = self.snapshot.try_lock() {
            *published = snapshot();
        }
    }
}
