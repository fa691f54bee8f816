//! Memories that expire: requests already seen, neighbours in range, blacklisted neighbours, and messages sent in the
//! current second.

use crate::PrefetchStep;
use crate::by_node::ByNode;
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, VecDeque};

/// The requests seen within PATH_DISCOVERY_TIME (RFC 3561 §6.5).
#[derive(Clone, Debug, Default)]
pub(super) struct SeenRequests {
    requests: ByNode<RequestIds>,
    /// Time when the oldest request is forgotten, if there is one.
    first_end: Option<Instant>,
    oldest_first: VecDeque<(Instant, (NodeId, u32))>,
}

/// The IDs of the requests of one origin.
#[derive(Clone, Debug, Default)]
struct RequestIds {
    /// The latest ID: it arrives again most often.
    last: Option<u32>,
    others: VecDeque<u32>,
}

impl RequestIds {
    /// Adds an ID. Returns true if it is new.
    fn add(&mut self, id: u32) -> bool {
        let is_new = self.last != Some(id) && !self.others.iter().rev().any(|other| *other == id);
        if is_new {
            self.others.extend(self.last.replace(id));
        }
        is_new
    }

    fn remove(&mut self, id: u32) {
        if self.last.take_if(|last| *last == id).is_none() {
            self.others.retain(|other| *other != id);
        }
    }
}

impl SeenRequests {
    /// Prefetches the requests of an origin from memory.
    pub(super) fn prefetch(&self, origin: NodeId, step: PrefetchStep) {
        self.requests.prefetch(origin, step);
    }

    /// Remembers a request until the time `until`. Returns true if the request is new.
    pub(super) fn note(&mut self, now: Instant, origin: NodeId, id: u32, until: Instant) -> bool {
        if self.first_end.is_some_and(|end| end <= now) {
            self.forget(now);
        }
        let is_new = self.requests.get_or_insert_with(origin, RequestIds::default).add(id);
        if is_new {
            self.oldest_first.push_back((until, (origin, id)));
            self.first_end = self.first_end.or(Some(until));
        }
        is_new
    }

    fn forget(&mut self, now: Instant) {
        while let Some(&(end, (origin, id))) = self.oldest_first.front()
            && end <= now
        {
            self.oldest_first.pop_front();
            if let Some(numbers) = self.requests.get_mut(origin) {
                numbers.remove(id);
            }
        }
        self.first_end = self.oldest_first.front().map(|(end, _)| *end);
    }
}

/// Nodes, each with an expiry time.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    ends: BTreeMap<NodeId, Instant>,
    /// A time that is not later than the first expiry.
    check: Option<Instant>,
}

impl Terms {
    /// Adds a node, or extends its lifetime, until at least this time.
    pub(super) fn extend(&mut self, node: NodeId, until: Instant) {
        let end = self.ends.entry(node).or_insert(until);
        *end = until.max(*end);
        self.check = Some(self.check.map_or(until, |check| check.min(until)));
    }

    /// Extends the lifetime of a node until at least this time, if the node is present.
    pub(super) fn extend_known(&mut self, node: NodeId, until: Instant) {
        if let Some(end) = self.ends.get_mut(&node) {
            *end = until.max(*end);
        }
    }

    pub(super) fn remove(&mut self, node: NodeId) -> bool {
        self.ends.remove(&node).is_some()
    }

    pub(super) fn contains(&self, now: Instant, node: NodeId) -> bool {
        self.ends.get(&node).is_some_and(|end| *end > now)
    }

    /// Returns a time that is not later than the first expiry.
    pub(super) fn next(&self) -> Option<Instant> {
        self.check
    }

    /// Removes and returns the nodes that have expired.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<NodeId> {
        if self.check.is_none_or(|check| check > now) {
            return Vec::new();
        }
        let over: Vec<NodeId> = self.ends.iter().filter(|(_, end)| **end <= now).map(|(node, _)| *node).collect();
        self.ends.retain(|_, end| *end > now);
        self.check = self.ends.values().min().copied();
        over
    }
}

/// A limit on the number of messages per second. The count is reset at each full second since the node's start, as in
/// ns-3.
#[derive(Clone, Debug)]
pub(super) struct RateLimit {
    most: u32,
    sent: u32,
    second: Instant,
}

impl RateLimit {
    const SECOND: Duration = Duration::from_secs(1);

    pub(super) fn new(max: u32) -> Self {
        Self { most: max, sent: 0, second: Instant::ZERO }
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.second = now;
    }

    /// Counts a message. If the limit has been reached, returns the start of the next second as an error instead.
    pub(super) fn count(&mut self, now: Instant) -> Result<(), Instant> {
        self.check(now)?;
        self.sent += 1;
        Ok(())
    }

    /// Returns the start of the next second as an error if no more messages are allowed in this one.
    pub(super) fn check(&mut self, now: Instant) -> Result<(), Instant> {
        let seconds = now.since(self.second).as_nanos() / Self::SECOND.as_nanos();
        if seconds > 0 {
            self.second += Self::SECOND * seconds;
            self.sent = 0;
        }
        if self.sent == self.most { Err(self.second + Self::SECOND) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn a_request_is_remembered_for_its_time() {
        let mut seen = SeenRequests::default();
        assert!(seen.note(at(0), NodeId(1), 7, at(5_600)));
        assert!(!seen.note(at(5_599), NodeId(1), 7, at(9_000)));
        assert!(seen.note(at(5_599), NodeId(2), 7, at(9_000)));
        assert!(seen.note(at(5_600), NodeId(1), 7, at(9_000)));
    }

    #[test]
    fn a_node_leaves_at_the_end_of_its_term() {
        let mut terms = Terms::default();
        terms.extend(NodeId(1), at(2_000));
        terms.extend(NodeId(2), at(3_000));
        terms.extend(NodeId(1), at(4_000));
        terms.extend_known(NodeId(9), at(4_000));
        assert_eq!(terms.next(), Some(at(2_000)));
        assert_eq!(terms.expire(at(2_000)), []);
        assert_eq!(terms.next(), Some(at(3_000)));
        assert_eq!(terms.expire(at(3_500)), [NodeId(2)]);
        assert!(terms.contains(at(3_999), NodeId(1)) && !terms.contains(at(4_000), NodeId(1)));
        assert_eq!(terms.expire(at(4_000)), [NodeId(1)]);
        assert_eq!(terms.next(), None);
    }

    #[test]
    fn a_limit_counts_from_zero_each_second() {
        let mut limit = RateLimit::new(2);
        limit.start(at(500));
        assert_eq!(
            [limit.count(at(500)), limit.count(at(600)), limit.count(at(700))],
            [Ok(()), Ok(()), Err(at(1_500))]
        );
        assert_eq!(limit.count(at(1_500)), Ok(()));
        assert_eq!(limit.count(at(9_700)), Ok(()));
    }
}
