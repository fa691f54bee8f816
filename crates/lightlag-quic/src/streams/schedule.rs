//! Order in which streams send: repairs first, then new data by priority.

use super::send::SendStream;
use crate::config::Fairness;
use std::collections::VecDeque;

/// Streams of one priority that have new data.
#[derive(Debug)]
struct Class {
    priority: i32,
    queue: VecDeque<u64>,
}

/// The queues of streams that can send.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Classes in descending order of priority. An empty class stays, so that its memory is reused.
    classes: Vec<Class>,
    repairs: VecDeque<u64>,
    /// Number of streams in all classes, and the first one.
    queued: usize,
    front: Option<u64>,
    /// Number of streams that wait for credit of their own.
    pub(super) blocked: usize,
    fairness: Fairness,
}

impl Schedule {
    pub(super) fn new(fairness: Fairness) -> Self {
        Self { classes: Vec::new(), repairs: VecDeque::new(), queued: 0, front: None, blocked: 0, fairness }
    }

    #[inline(always)]
    pub(super) fn has_repairs(&self) -> bool {
        !self.repairs.is_empty()
    }

    /// Returns true if no stream has new data or repairs, or waits for credit.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.queued == 0 && self.blocked == 0 && self.repairs.is_empty()
    }

    #[inline(always)]
    pub(super) fn has_new(&self) -> bool {
        self.queued > 0
    }

    pub(super) fn front_repair(&self) -> Option<u64> {
        self.repairs.front().copied()
    }

    #[inline(always)]
    pub(super) fn front_new(&self) -> Option<u64> {
        self.front
    }

    fn find_front(&mut self) {
        self.front = self.classes.iter().find_map(|class| class.queue.front().copied());
    }

    /// Returns the streams with new data.
    pub(super) fn queued(&self) -> impl Iterator<Item = u64> {
        self.classes.iter().flat_map(|class| class.queue.iter().copied())
    }

    fn class(&mut self, priority: i32) -> &mut VecDeque<u64> {
        let index = match self.classes.binary_search_by(|class| priority.cmp(&class.priority)) {
            Ok(index) => index,
            Err(index) => {
                if self.classes.is_empty() {
                    // Most connections have one class.
                    self.classes.reserve_exact(1);
                }
                self.classes.insert(index, Class { priority, queue: VecDeque::new() });
                index
            }
        };
        &mut self.classes[index].queue
    }

    /// Adds a stream with new data.
    pub(super) fn add(&mut self, id: u64, stream: &mut SendStream) {
        if !stream.is_queued && !stream.is_blocked {
            stream.is_queued = true;
            self.queued += 1;
            self.class(stream.priority).push_back(id);
            self.find_front();
        }
    }

    /// Removes a stream from the queues of new data.
    pub(super) fn remove(&mut self, id: u64, stream: &mut SendStream) {
        if std::mem::take(&mut stream.is_queued) {
            self.queued -= 1;
            self.classes.iter_mut().for_each(|class| class.queue.retain(|queued| *queued != id));
            self.find_front();
        }
    }

    /// Notes that the front stream `id` has sent a chunk. `goes_on`: whether it has more new data.
    #[inline(always)]
    pub(super) fn sent(&mut self, id: u64, stream: &mut SendStream, goes_on: bool) {
        if !goes_on || self.queued > 1 {
            self.take_turns(id, stream, goes_on);
        }
    }

    fn take_turns(&mut self, id: u64, stream: &mut SendStream, goes_on: bool) {
        let turns = stream.incremental.unwrap_or(self.fairness == Fairness::RoundRobin);
        if goes_on && !turns {
            return;
        }
        let queue = self.class(stream.priority);
        if goes_on {
            if queue.len() > 1 {
                queue.rotate_left(1);
            }
        } else {
            queue.pop_front();
            self.queued -= 1;
            stream.is_queued = false;
        }
        debug_assert!(stream.is_queued == goes_on, "stream {id}");
        self.find_front();
    }

    /// Removes the front stream, which waits for credit.
    pub(super) fn block(&mut self, id: u64, stream: &mut SendStream) {
        self.remove(id, stream);
        if !std::mem::replace(&mut stream.is_blocked, true) {
            self.blocked += 1;
        }
    }

    /// Notes that a stream no longer waits for credit.
    pub(super) fn unblock(&mut self, stream: &mut SendStream) {
        if std::mem::take(&mut stream.is_blocked) {
            self.blocked -= 1;
        }
    }

    pub(super) fn add_repair(&mut self, id: u64, stream: &mut SendStream) {
        if !std::mem::replace(&mut stream.is_repairing, true) {
            self.repairs.push_back(id);
        }
    }

    pub(super) fn remove_repair(&mut self, id: u64, stream: &mut SendStream) {
        if std::mem::take(&mut stream.is_repairing) {
            self.repairs.retain(|queued| *queued != id);
        }
    }
}
