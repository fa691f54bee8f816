//! The border of a partition: packets and notes for the others, and the parts of the network inside.

use crate::agenda::{Agenda, Due};
use crate::body::Packet;
use crate::hosts::{Ending, Hosts};
use crate::partition::plan::Cut;
use crate::tap::record::{Progress, Recorder};
use lightlag_core::Instant;
use lightlag_net::{ComputedLink, LinkId};
use lightlag_tcp::{Failure, Standing};
use std::sync::Arc;

/// The border of a world. A whole network has none, and its world has no code for one.
pub(crate) trait Border {
    /// The partition that this world is, if it is one.
    fn part(&mut self) -> Option<&mut Part>;

    /// The same, to look at.
    fn of(&self) -> Option<&Part>;
}

/// The world is the whole network.
pub(crate) struct Whole;

impl Border for Whole {
    #[inline(always)]
    fn part(&mut self) -> Option<&mut Part> {
        None
    }

    #[inline(always)]
    fn of(&self) -> Option<&Part> {
        None
    }
}

impl Border for Part {
    #[inline(always)]
    fn part(&mut self) -> Option<&mut Part> {
        Some(self)
    }

    #[inline(always)]
    fn of(&self) -> Option<&Part> {
        Some(self)
    }
}

/// An event of a run: its time and the number of the part of the world that was due. Events have this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment {
    pub(crate) time: Instant,
    pub(crate) entity: u32,
}

/// A packet that leaves the partition.
pub(crate) struct Crossing {
    pub(crate) on: LinkId,
    pub(crate) arrival: Instant,
    pub(crate) packet: Packet,
}

/// Packets on their way to another partition.
pub(crate) struct Outbox {
    pub(crate) packets: Vec<Crossing>,
    /// When the first of them arrives; [`Instant::MAX`] if there are none.
    pub(crate) earliest: Instant,
}

impl Outbox {
    fn new() -> Self {
        Self { packets: Vec::new(), earliest: Instant::MAX }
    }

    pub(crate) fn push(&mut self, crossing: Crossing) {
        self.earliest = self.earliest.min(crossing.arrival);
        self.packets.push(crossing);
    }
}

/// A link with a queue that leads out, and how many of the packets on its way were handed over already.
pub(crate) struct Outlet {
    pub(crate) on: LinkId,
    pub(crate) handed: usize,
}

/// The near half of a link that leads out and computes its departures.
pub(crate) struct Near {
    pub(crate) on: LinkId,
    pub(crate) link: ComputedLink<()>,
}

/// Something that ends a flow, or part of it. It may concern both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// The last byte of a flow for which the run waits has arrived.
    TransferArrives { flow: usize },
    /// The last byte of a flow has arrived.
    FlowArrives { flow: usize },
    /// The run waits for a flow no more.
    Closes { flow: usize },
    /// The data of the sender at this endpoint has arrived at the other end of its connection.
    SenderEnds { sender: usize },
    /// A flow fails.
    Fails { flow: usize, failure: Failure },
}

/// An end of a flow, with the accounts of those of its senders that are in the partition.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) at: Moment,
    pub(crate) what: What,
    pub(crate) accounts: Vec<(usize, Ending)>,
}

/// Up to where the tables of the trace, the queues, the drops and the ACKs were written at the end of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: Moment,
    pub(crate) rows: [usize; 4],
}

/// A partition's side of the border.
pub(crate) struct Part {
    pub(crate) number: u16,
    pub(crate) cut: Arc<Cut>,
    pub(crate) now: Moment,
    pub(crate) outboxes: Vec<Outbox>,
    pub(crate) inboxes: Vec<Outbox>,
    /// Links that lead out: those with queues, and those that compute their departures.
    pub(crate) outlets: Vec<Outlet>,
    pub(crate) near: Vec<Near>,
    pub(crate) happened: Vec<Happened>,
    /// Accounts of senders whose data may end elsewhere, before each thing that happened to them.
    pub(crate) standings: Vec<(Moment, u32, Standing)>,
    /// Progress of the data of flows with senders elsewhere, after each thing that happened to their receivers.
    pub(crate) progress: Vec<(Moment, u32, Progress)>,
    pub(crate) marks: Vec<Mark>,
    pub(crate) events: u64,
    /// The present event does not count: another partition has counted it.
    pub(crate) is_uncounted: bool,
}

impl Part {
    pub(crate) fn new(number: u16, cut: Arc<Cut>) -> Self {
        let boxes = || (0..cut.partitions()).map(|_| Outbox::new()).collect();
        Self {
            number,
            now: Moment { time: Instant::ZERO, entity: 0 },
            outboxes: boxes(),
            inboxes: boxes(),
            outlets: Vec::new(),
            near: Vec::new(),
            happened: Vec::new(),
            standings: Vec::new(),
            progress: Vec::new(),
            marks: Vec::new(),
            events: 0,
            is_uncounted: false,
            cut,
        }
    }

    /// Whether a link leads out of the partition.
    #[inline]
    pub(crate) fn leaves(&self, on: LinkId) -> bool {
        let [from, to] = self.cut.link(on);
        from == self.number && to != from
    }

    /// Whether a link leads into the partition.
    pub(crate) fn enters(&self, on: LinkId) -> bool {
        let [from, to] = self.cut.link(on);
        to == self.number && to != from
    }

    /// Whether the near end of a link is in the partition.
    pub(crate) fn has_link(&self, on: LinkId) -> bool {
        self.cut.link(on)[0] == self.number
    }

    /// Whether an end of a connection is in the partition.
    #[inline]
    pub(crate) fn has_endpoint(&self, at: usize) -> bool {
        self.cut.endpoint(at) == self.number
    }

    /// The near half of a link that leads out and computes its departures.
    #[inline]
    pub(crate) fn near(&mut self, on: LinkId) -> Option<&mut ComputedLink<()>> {
        let place = self.near.binary_search_by_key(&on, |near| near.on).ok()?;
        Some(&mut self.near[place].link)
    }

    /// Packets of a link that leads out are on their way.
    pub(crate) fn send(&mut self, on: LinkId, arrival: Instant, packet: Packet) {
        let to = self.cut.link(on)[1];
        self.outboxes[usize::from(to)].push(Crossing { on, arrival, packet });
    }

    /// A packet has left a queue that leads out, and has arrived by now: the far half of the link delivers it.
    pub(crate) fn is_gone(&mut self, on: LinkId) {
        let outlet = self.outlets.binary_search_by_key(&on, |outlet| outlet.on).expect("every outlet is listed");
        let handed = &mut self.outlets[outlet].handed;
        *handed = handed.checked_sub(1).expect("a packet is handed over before it arrives");
    }

    /// Something is about to happen to the connection at an endpoint.
    #[inline]
    pub(crate) fn before(&mut self, hosts: &Hosts, at: usize) {
        if self.cut.ends_elsewhere(at) && hosts.endpoints[at].connection.has_sent_everything() {
            self.standings.push((self.now, at as u32, hosts.endpoints[at].connection.standing()));
        }
    }

    /// Something has happened to the connection at an endpoint.
    #[inline]
    pub(crate) fn after(&mut self, hosts: &Hosts, recorder: &Recorder, at: usize) {
        if self.cut.is_followed(at) && recorder.traces() {
            let endpoint = &hosts.endpoints[at];
            self.progress.push((self.now, endpoint.flow, Progress::of(&endpoint.connection)));
        }
    }

    /// A flow ends, or part of it.
    pub(crate) fn tell(&mut self, hosts: &Hosts, what: What) {
        let senders = match what {
            What::TransferArrives { flow } | What::FlowArrives { flow } => vec![hosts.last_sender(flow)],
            What::SenderEnds { sender } => vec![sender],
            What::Fails { flow, .. } => hosts.senders_of(flow),
            What::Closes { .. } => Vec::new(),
        };
        let here = senders.into_iter().filter(|sender| self.has_endpoint(*sender));
        let accounts = here.map(|sender| (sender, hosts.account_now(sender, self.now.time))).collect();
        self.happened.push(Happened { at: self.now, what, accounts });
    }

    /// An event begins.
    #[inline]
    pub(crate) fn begin(&mut self, time: Instant, agenda: &Agenda, due: Due) {
        self.now = Moment { time, entity: agenda.number(due) };
        // All partitions sample, and follow the routes.
        self.is_uncounted = matches!(due, Due::Sampler | Due::Epoch) && self.number > 0;
    }

    /// The event is over.
    #[inline]
    pub(crate) fn end(&mut self, recorder: &Recorder) {
        self.events += u64::from(!self.is_uncounted);
        if !recorder.writes() {
            return;
        }
        let rows = recorder.rows();
        if self.marks.last().map_or([0; 4], |mark| mark.rows) != rows {
            self.marks.push(Mark { at: self.now, rows });
        }
    }
}
