//! Stations at the ends of links: they tell the ends of flows about outages and corruption (SCPS-TP).
//!
//! A link is out while one of its directions is. The station in front of each direction then tells every recent sender
//! of data over it, and every sender of data into the outage, that the link is out; it tells all of these when the link
//! is restored. The station behind a direction on which packets are corrupted tells their receivers, their senders or
//! both. These are readings of ours: the sources say that such messages exist, not when they leave.
//!
//! This module knows the addressees of each message; the world sends it.

use crate::body::{SeqNumber, Signal};
use crate::fabric::Hop;
use crate::ids::FlowIndex;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, Link, LinkId, NodeId};
use lightlag_scenario::{LinkDirection, SignalPlan};
use lightlag_wire::signal::News;
use std::collections::{BTreeMap, VecDeque};

/// The stations of a run.
#[derive(Debug)]
pub(crate) struct Stations {
    /// The stations of each link, in the order of the network, if there are any.
    watches: Vec<Option<Box<Watch>>>,
    /// Starts and ends of outages to come, the next one last.
    changes: Vec<Change>,
    /// Messages that are due now.
    pending: VecDeque<Tell>,
    /// Fate of the messages about each flow.
    counts: Vec<Counts>,
}

/// A message, and the endpoint to which it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tell {
    pub(crate) endpoint: EndpointId,
    pub(crate) signal: Signal,
}

/// The fate of the messages about a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts {
    /// Sent as packets.
    pub(crate) sent: u64,
    /// Those that arrived and were heeded.
    pub(crate) received: u64,
    /// Those about links that arrived at an end that does not speak SCPS-TP.
    pub(crate) ignored: u64,
    /// News that an end heeded at its own node, without a packet.
    pub(crate) local: u64,
}

/// A direction goes down or comes up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Change {
    at: Instant,
    direction: u32,
    is_down: bool,
}

/// The knowledge of the stations at both ends of a link.
#[derive(Debug)]
struct Watch {
    plan: SignalPlan,
    /// Whether each direction is down.
    is_down: [bool; 2],
    /// Node at which each direction starts.
    begins: [NodeId; 2],
    /// Senders of data over each direction, by endpoint.
    users: [BTreeMap<EndpointId, User>; 2],
    /// Instant at which an end of a flow was last told of corruption, by the endpoint that the packet was for.
    told_of_corruption: BTreeMap<EndpointId, Instant>,
}

/// A sender of data over a link or a medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    last: Instant,
    /// The sequence number of its last packet.
    seq: SeqNumber,
    /// Instant at which it was last told of the outage, while that lasts.
    told: Option<Instant>,
}

impl User {
    /// A user with its first data.
    pub(super) fn new(now: Instant, seq: SeqNumber) -> Self {
        Self { last: now, seq, told: None }
    }

    /// It sends data.
    pub(super) fn note(&mut self, now: Instant, seq: SeqNumber) {
        (self.last, self.seq) = (now, seq);
    }

    /// Whether its last data is no older than this.
    pub(super) fn is_recent(&self, now: Instant, recent: Duration) -> bool {
        now.since(self.last) <= recent
    }

    /// The message that an outage starts.
    pub(super) fn tell_outage(&mut self, now: Instant, endpoint: EndpointId, news: News, station: NodeId) -> Tell {
        self.told = Some(now);
        self.tell(endpoint, news, station)
    }

    /// The message that it is over, to one that was told of its start.
    pub(super) fn tell_end(&mut self, endpoint: EndpointId, news: News, station: NodeId) -> Option<Tell> {
        self.told.take().map(|_| self.tell(endpoint, news, station))
    }

    fn tell(&self, endpoint: EndpointId, news: News, station: NodeId) -> Tell {
        Tell { endpoint, signal: Signal { news, to_sender: true, station, seq: self.seq } }
    }
}

impl Watch {
    fn is_out(&self) -> bool {
        self.is_down.contains(&true)
    }

    /// The link goes out: its recent users are told.
    fn begin_outage(&mut self, now: Instant, pending: &mut VecDeque<Tell>) {
        for (users, station) in self.users.iter_mut().zip(self.begins) {
            users.retain(|_, user| user.is_recent(now, self.plan.recent));
            let told =
                |(endpoint, user): (&EndpointId, &mut User)| user.tell_outage(now, *endpoint, News::LinkOut, station);
            pending.extend(users.iter_mut().map(told));
        }
    }

    /// The link is restored: the users that were told of the outage are told of its end.
    fn end_outage(&mut self, pending: &mut VecDeque<Tell>) {
        for (users, station) in self.users.iter_mut().zip(self.begins) {
            let told =
                |(endpoint, user): (&EndpointId, &mut User)| user.tell_end(*endpoint, News::LinkRestored, station);
            pending.extend(users.iter_mut().filter_map(told));
        }
    }
}

impl Stations {
    /// The stations that a network asks for, if any; `counts`: also where others tell the ends of flows something.
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
            Some(Box::new(Watch {
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
            counts: vec![Counts::default(); flows],
        }))
    }

    /// Instant at which the next outage starts or ends.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.changes.last().map(|change| change.at)
    }

    /// The next message that is due now, until there is none.
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

    /// A segment with data comes to a link direction. Returns whether there is a message to send.
    pub(crate) fn offered(&mut self, now: Instant, on: LinkId, sender: EndpointId, seq: SeqNumber) -> bool {
        let Some(watch) = &mut self.watches[on.0 as usize / 2] else { return false };
        if !watch.plan.outage {
            return false;
        }
        let (side, is_out) = (on.0 as usize % 2, watch.is_out());
        let user = watch.users[side].entry(sender).or_insert_with(|| User::new(now, seq));
        user.note(now, seq);
        // A sender that goes on may have missed the message.
        let is_due = is_out && user.told.is_none_or(|told| now.since(told) >= watch.plan.interval);
        if is_due {
            user.told = Some(now);
            self.pending.push_back(user.tell(sender, News::LinkOut, watch.begins[side]));
        }
        is_due
    }

    /// A segment with data arrives damaged at the end of a link direction. Returns whether there is a message to send.
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
        let told = &mut watch.told_of_corruption;
        if told.get(&receiver).is_some_and(|told| now.since(*told) < interval) {
            return false;
        }
        told.insert(receiver, now);
        // The direction ends where the other one starts.
        let station = watch.begins[1 - on.0 as usize % 2];
        let ends = [(receiver, false, to_receiver), (sender, true, to_sender)];
        for (endpoint, to_sender, _) in ends.into_iter().filter(|(_, _, is_told)| *is_told) {
            self.pending
                .push_back(Tell { endpoint, signal: Signal { news: News::Corruption, to_sender, station, seq } });
        }
        true
    }

    /// The fate of the messages about a flow.
    pub(crate) fn counts(&mut self, flow: FlowIndex) -> &mut Counts {
        &mut self.counts[flow.index()]
    }

    /// The same, when the run is over.
    pub(crate) fn counted(&self, flow: FlowIndex) -> Counts {
        self.counts[flow.index()]
    }
}

/// Starts and ends of the outages of a link direction.
fn outages<B: Clone + Default>(direction: u32, link: &Link<B>) -> impl Iterator<Item = Change> + use<'_, B> {
    let timetable = match link {
        Link::Queued(link) => link.timetable(),
        Link::Computed(_) => None,
    };
    let phases = timetable.map_or(&[][..], |timetable| timetable.phases());
    let mut was_up = true;
    phases.iter().filter_map(move |phase| {
        let changes = std::mem::replace(&mut was_up, phase.is_up) != phase.is_up;
        changes.then_some(Change { at: phase.from, direction, is_down: !phase.is_up })
    })
}
