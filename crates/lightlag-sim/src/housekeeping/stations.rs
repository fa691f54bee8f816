//! Stations at both ends of a link, which notify endpoints of outages and corruption (SCPS-TP).
//!
//! A link is out while either of its directions is. The station upstream of each direction then notifies every recent
//! sender of data over that direction, and every sender of data during the outage, that the link is out. It notifies
//! all of them again when the link is restored. The station downstream of a direction that corrupts packets notifies
//! their receivers, their senders or both. These rules are our interpretation: the sources specify that such messages
//! exist, not when they are sent.
//!
//! This module determines the addressees of each message; the world sends it.

use crate::body::{SeqNumber, Signal};
use crate::fabric::Hop;
use crate::ids::FlowIndex;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, Link, LinkId, NodeId};
use lightlag_scenario::{LinkDirection, SignalPlan};
use lightlag_wire::signal::NotificationKind;
use std::collections::{BTreeMap, VecDeque};

/// The stations of a run.
#[derive(Debug)]
pub(crate) struct Stations {
    /// For each link, the state of its stations, if it has any.
    watches: Vec<Option<Box<StationState>>>,
    /// Future starts and ends of outages, in reverse order: the next one is last.
    changes: Vec<Change>,
    /// Messages that are due now.
    pending: VecDeque<Tell>,
    /// Counts of the messages about each flow.
    counts: Vec<NotificationCounts>,
}

/// A message and its destination endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tell {
    pub(crate) endpoint: EndpointId,
    pub(crate) signal: Signal,
}

/// Counts of the messages about a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NotificationCounts {
    /// Messages that were sent as packets.
    pub(crate) sent: u64,
    /// Messages that arrived and were acted on.
    pub(crate) received: u64,
    /// Messages about links that arrived at an endpoint without SCPS-TP.
    pub(crate) ignored: u64,
    /// Notifications that were acted on at the endpoint's own node, without a packet.
    pub(crate) local: u64,
}

/// Start or end of an outage of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Change {
    at: Instant,
    direction: u32,
    is_down: bool,
}

/// State of the stations at both ends of a link.
#[derive(Debug)]
struct StationState {
    plan: SignalPlan,
    /// Whether each direction is down.
    is_down: [bool; 2],
    /// Node at the start of each direction.
    begins: [NodeId; 2],
    /// Senders of data over each direction, by endpoint.
    users: [BTreeMap<EndpointId, User>; 2],
    /// Time of the last corruption notification to an endpoint of a flow, by the destination endpoint of the packet.
    told_of_corruption: BTreeMap<EndpointId, Instant>,
}

/// A sender of data over a link or a medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    last: Instant,
    /// Sequence number of the sender's last packet.
    seq: SeqNumber,
    /// Time when the sender was last notified of the current outage; `None` if it was not, or if there is no outage.
    told: Option<Instant>,
}

impl User {
    /// Returns a sender that has just sent its first data.
    pub(super) fn new(now: Instant, seq: SeqNumber) -> Self {
        Self { last: now, seq, told: None }
    }

    /// Records that the sender sends data.
    pub(super) fn note(&mut self, now: Instant, seq: SeqNumber) {
        (self.last, self.seq) = (now, seq);
    }

    /// Returns true if the sender has sent data within the time `recent`.
    pub(super) fn is_recent(&self, now: Instant, recent: Duration) -> bool {
        now.since(self.last) <= recent
    }

    /// Returns the message that an outage has started.
    pub(super) fn tell_outage(
        &mut self,
        now: Instant,
        endpoint: EndpointId,
        news: NotificationKind,
        station: NodeId,
    ) -> Tell {
        self.told = Some(now);
        self.tell(endpoint, news, station)
    }

    /// Returns the message that the outage is over; `None` if the sender was not notified of its start.
    pub(super) fn tell_end(&mut self, endpoint: EndpointId, news: NotificationKind, station: NodeId) -> Option<Tell> {
        self.told.take().map(|_| self.tell(endpoint, news, station))
    }

    fn tell(&self, endpoint: EndpointId, news: NotificationKind, station: NodeId) -> Tell {
        Tell { endpoint, signal: Signal { news, to_sender: true, station, seq: self.seq } }
    }
}

impl StationState {
    fn is_out(&self) -> bool {
        self.is_down.contains(&true)
    }

    /// Notifies recent senders that the link is out.
    fn begin_outage(&mut self, now: Instant, pending: &mut VecDeque<Tell>) {
        for (users, station) in self.users.iter_mut().zip(self.begins) {
            users.retain(|_, user| user.is_recent(now, self.plan.recent));
            let notify = |(endpoint, user): (&EndpointId, &mut User)| {
                user.tell_outage(now, *endpoint, NotificationKind::LinkOut, station)
            };
            pending.extend(users.iter_mut().map(notify));
        }
    }

    /// Notifies the senders that were notified of the outage that the link is restored.
    fn end_outage(&mut self, pending: &mut VecDeque<Tell>) {
        for (users, station) in self.users.iter_mut().zip(self.begins) {
            let notify = |(endpoint, user): (&EndpointId, &mut User)| {
                user.tell_end(*endpoint, NotificationKind::LinkRestored, station)
            };
            pending.extend(users.iter_mut().filter_map(notify));
        }
    }
}

impl Stations {
    /// Returns the stations that a network configures; `None` if there are none. With `counts` there are always
    /// stations, because other parts also notify endpoints and use the counters.
    pub(crate) fn new<B: Clone + Default>(
        links: &[LinkDirection],
        hops: &[Hop<B>],
        flows: usize,
        counts: bool,
    ) -> Option<Box<Self>> {
        if !counts && links.iter().all(|link| link.signals.is_none()) {
            return None;
        }
        let watch = |ends: &[LinkDirection]| {
            Some(Box::new(StationState {
                plan: ends[0].signals?,
                is_down: [false; 2],
                begins: [ends[0].from, ends[1].from],
                users: [BTreeMap::new(), BTreeMap::new()],
                told_of_corruption: BTreeMap::new(),
            }))
        };
        let mut changes = Vec::new();
        for (direction, (link, hop)) in (0..).zip(links.iter().zip(hops)) {
            if link.signals.is_some_and(|plan| plan.outage) {
                changes.extend(outages(direction, &hop.link));
            }
        }
        changes.sort_unstable_by(|a, b| b.cmp(a));
        Some(Box::new(Self {
            watches: links.chunks_exact(2).map(watch).collect(),
            changes,
            pending: VecDeque::new(),
            counts: vec![NotificationCounts::default(); flows],
        }))
    }

    /// Returns the time of the next start or end of an outage.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.changes.last().map(|change| change.at)
    }

    /// Returns the next message that is due now, or `None`.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Tell> {
        while let Some(Change { direction, is_down, .. }) = self.changes.pop_if(|change| change.at <= now) {
            let Some(watch) = &mut self.watches[direction as usize / 2] else { continue };
            let was_out = watch.is_out();
            watch.is_down[direction as usize % 2] = is_down;
            match (was_out, watch.is_out()) {
                (false, true) => watch.begin_outage(now, &mut self.pending),
                (true, false) => watch.end_outage(&mut self.pending),
                _ => {}
            }
        }
        self.pending.pop_front()
    }

    /// Records that a segment with data is offered to a link direction. Returns true if a message must be sent.
    pub(crate) fn offered(&mut self, now: Instant, on: LinkId, sender: EndpointId, seq: SeqNumber) -> bool {
        let Some(watch) = &mut self.watches[on.0 as usize / 2] else { return false };
        if !watch.plan.outage {
            return false;
        }
        let (side, is_out) = (on.0 as usize % 2, watch.is_out());
        let user = watch.users[side].entry(sender).or_insert_with(|| User::new(now, seq));
        user.note(now, seq);
        // A sender that continues may have missed the message.
        let is_due = is_out && user.told.is_none_or(|told| now.since(told) >= watch.plan.interval);
        if is_due {
            user.told = Some(now);
            self.pending.push_back(user.tell(sender, NotificationKind::LinkOut, watch.begins[side]));
        }
        is_due
    }

    /// Records that a segment with data arrived damaged at the end of a link direction. Returns true if a message must
    /// be sent.
    pub(crate) fn damaged(
        &mut self,
        now: Instant,
        on: LinkId,
        [sender, receiver]: [EndpointId; 2],
        seq: SeqNumber,
    ) -> bool {
        let Some(watch) = &mut self.watches[on.0 as usize / 2] else { return false };
        let SignalPlan { to_sender, to_receiver, interval, .. } = watch.plan;
        if !to_sender && !to_receiver {
            return false;
        }
        let last_notified = &mut watch.told_of_corruption;
        if last_notified.get(&receiver).is_some_and(|told| now.since(*told) < interval) {
            return false;
        }
        last_notified.insert(receiver, now);
        // The direction ends where the other one starts.
        let station = watch.begins[1 - on.0 as usize % 2];
        let ends = [(receiver, false, to_receiver), (sender, true, to_sender)];
        for (endpoint, to_sender, _) in ends.into_iter().filter(|(_, _, is_told)| *is_told) {
            self.pending.push_back(Tell {
                endpoint,
                signal: Signal { news: NotificationKind::Corruption, to_sender, station, seq },
            });
        }
        true
    }

    /// Returns the counts of the messages about a flow.
    pub(crate) fn counts(&mut self, flow: FlowIndex) -> &mut NotificationCounts {
        &mut self.counts[flow.index()]
    }

    /// Returns the counts of the messages about a flow, for the results.
    pub(crate) fn counted(&self, flow: FlowIndex) -> NotificationCounts {
        self.counts[flow.index()]
    }
}

/// Returns the starts and ends of the outages of a link direction.
fn outages<B: Clone + Default>(direction: u32, link: &Link<B>) -> impl Iterator<Item = Change> + use<'_, B> {
    let timetable = link.queued().and_then(|link| link.timetable());
    let phases = timetable.map_or(&[][..], |timetable| timetable.phases());
    let mut was_up = true;
    phases.iter().filter_map(move |phase| {
        let changes = std::mem::replace(&mut was_up, phase.is_up) != phase.is_up;
        changes.then_some(Change { at: phase.from, direction, is_down: !phase.is_up })
    })
}
