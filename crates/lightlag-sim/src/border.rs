//! The border of a partition: packets and notes for the others, and the parts of the network inside.

pub(crate) mod cut;
pub(crate) mod mail;
pub(crate) mod moment;

use crate::agenda::{Agenda, Due};
use crate::body::Packet;
use crate::hosts::{Ending, Hosts};
use crate::ids::FlowIndex;
use crate::tap::record::{Progress, Recorder};
use cut::Cut;
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, LinkId};
use lightlag_transport::{Failure, Standing};
use mail::{Arrival, Letters, Mail, Offer};
use moment::{Moment, Turn};
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

/// Another partition from which links lead here.
pub(crate) struct Source {
    pub(crate) from: u16,
    /// The least time that a packet spends on these links.
    pub(crate) least: Duration,
    /// Its packets come once a round.
    pub(crate) is_far: bool,
    /// Those of the links that stand here, and when they are sampled next, if they are.
    pub(crate) links: Vec<LinkId>,
    pub(crate) next_sample: Option<Instant>,
    /// How far it has come, as far as is known here.
    reached: Instant,
}

/// A link with a queue that leads out, and how many of the packets on its way were handed over already.
pub(crate) struct Outlet {
    pub(crate) on: LinkId,
    pub(crate) handed: usize,
}

/// Something that ends a flow, or part of it. It may concern both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// The last byte of a flow for which the run waits has arrived.
    TransferArrives { flow: FlowIndex },
    /// The last byte of a flow has arrived.
    FlowArrives { flow: FlowIndex },
    /// The run waits for a flow no more.
    Closes { flow: FlowIndex },
    /// The data of the sender at this endpoint has arrived at the other end of its connection.
    SenderEnds { sender: EndpointId },
    /// A flow fails.
    Fails { flow: FlowIndex, failure: Failure },
}

/// An end of a flow, with the accounts of those of its senders that are in the partition.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) at: Moment,
    pub(crate) what: What,
    pub(crate) accounts: Vec<(EndpointId, Ending)>,
}

/// Up to where the tables of the trace, the queues, the drops and the ACKs were written at the end of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: Moment,
    pub(crate) turn: Turn,
    pub(crate) rows: [usize; 4],
}

/// A partition's side of the border.
pub(crate) struct Part {
    pub(crate) number: u16,
    pub(crate) cut: Arc<Cut>,
    pub(crate) now: Moment,
    pub(crate) mail: Arc<Mail>,
    pub(crate) sources: Vec<Source>,
    /// Packets to each partition that are not posted yet.
    outboxes: Vec<Letters>,
    /// Those that hear of this one once a round.
    far: Vec<bool>,
    /// Room for packets that are taken in.
    pub(crate) room: Letters,
    /// Everything before has happened here.
    pub(crate) reached: Instant,
    /// Of each link, the partition in which it stands, if it begins here and stands elsewhere.
    exits: Vec<Option<u16>>,
    /// Links with queues that lead out.
    pub(crate) outlets: Vec<Outlet>,
    pub(crate) happened: Vec<Happened>,
    /// Accounts of senders whose data may end elsewhere, before each thing that happened to them.
    pub(crate) standings: Vec<(Moment, EndpointId, Standing)>,
    /// Progress of the data of flows with senders elsewhere, after each thing that happened to their receivers.
    pub(crate) progress: Vec<(Moment, FlowIndex, Progress)>,
    pub(crate) marks: Vec<Mark>,
    /// The number of the sampler among the parts of the world.
    pub(crate) sampler: u32,
    pub(crate) events: u64,
    /// Events of each window since the partitions last met.
    pub(crate) turns: Vec<u64>,
    /// Packets that have left.
    pub(crate) crossings: u64,
    /// The present event does not count: another partition has counted it.
    pub(crate) is_uncounted: bool,
}

impl Part {
    pub(crate) fn new(
        number: u16,
        cut: Arc<Cut>,
        mail: Arc<Mail>,
        (sampler, next_sample): (u32, Option<Instant>),
    ) -> Self {
        let round = cut.round();
        let source = |(from, least)| Source {
            from,
            least,
            is_far: least >= round,
            links: cut.links().filter(|on| cut.link(*on) == [from, number] && cut.stands(*on) == number).collect(),
            next_sample,
            reached: Instant::ZERO,
        };
        let least = |to| cut.sources(to).find(|(from, _)| *from == number).map(|(_, least)| least);
        Self {
            number,
            now: Moment { time: Instant::ZERO, entity: 0, step: 0 },
            sources: cut.sources(number).map(source).collect(),
            outboxes: (0..cut.partitions()).map(|_| Letters::default()).collect(),
            far: (0..cut.partitions() as u16).map(|to| least(to).is_none_or(|least| least >= round)).collect(),
            mail,
            room: Letters::default(),
            reached: Instant::ZERO,
            exits: cut.exits(number),
            outlets: Vec::new(),
            happened: Vec::new(),
            standings: Vec::new(),
            progress: Vec::new(),
            marks: Vec::new(),
            sampler,
            events: 0,
            turns: Vec::new(),
            crossings: 0,
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

    /// Whether a link begins and stands in the partition.
    pub(crate) fn has_link(&self, on: LinkId) -> bool {
        self.cut.stands(on) == self.number && self.cut.link(on)[0] == self.number
    }

    /// Whether an end of a connection is in the partition.
    #[inline]
    pub(crate) fn has_endpoint(&self, at: EndpointId) -> bool {
        self.cut.endpoint(at) == self.number
    }

    /// The partition in which a link stands, if it begins here and stands elsewhere.
    #[inline(always)]
    pub(crate) fn exit(&self, on: LinkId) -> Option<u16> {
        self.exits[on.0 as usize]
    }

    /// A packet is offered to a link in another partition.
    #[inline(never)]
    pub(crate) fn offer(&mut self, to: u16, on: LinkId, packet: &Packet, recorder: &Recorder) {
        if recorder.writes() {
            self.mark(self.now, self.turn(), recorder);
        }
        self.outboxes[usize::from(to)].offers.push(Offer { at: self.now, on, packet: *packet });
        self.now.step += 1;
    }

    /// A packet of a queue that leads out is on its way.
    pub(crate) fn send(&mut self, on: LinkId, at: Instant, packet: Packet) {
        let [_, to] = self.cut.link(on);
        self.outboxes[usize::from(to)].arrivals.push(Arrival { at, on, packet });
    }

    /// Posts what has left, at the end of a round to all, and says how far the partition has come.
    pub(crate) fn post(&mut self, is_last: bool) {
        let outboxes = (0..).zip(&mut self.outboxes).zip(&self.far);
        for ((to, letters), _) in outboxes.filter(|((_, letters), is_far)| letters.len() > 0 && (is_last || !**is_far))
        {
            self.crossings += letters.len() as u64;
            self.mail.post(self.number, to, letters);
        }
        self.mail.reach(self.number, self.reached);
    }

    /// The end of the next window before `end`, if there is one and everything that arrives in it has been posted.
    #[inline]
    pub(crate) fn next_window(&mut self, end: Instant) -> Option<Instant> {
        let until = end.min(self.reached + self.cut.window());
        (self.reached < end && self.is_told_until(until)).then_some(until)
    }

    /// Whether everything that arrives here before `time` has been posted.
    #[inline]
    fn is_told_until(&mut self, time: Instant) -> bool {
        let Self { sources, mail, .. } = self;
        sources.iter_mut().all(|Source { from, least, reached, .. }| {
            *reached + *least >= time || {
                *reached = mail.reached(*from);
                *reached + *least >= time
            }
        })
    }

    /// A packet has left a queue that leads out, and has arrived by now: the far half of the link delivers it.
    pub(crate) fn is_gone(&mut self, on: LinkId) {
        let outlet = self.outlets.binary_search_by_key(&on, |outlet| outlet.on).expect("every outlet is listed");
        let handed = &mut self.outlets[outlet].handed;
        *handed = handed.checked_sub(1).expect("a packet is handed over before it arrives");
    }

    /// Something is about to happen to the connection at an endpoint.
    #[inline]
    pub(crate) fn before(&mut self, hosts: &Hosts, at: EndpointId) {
        if self.cut.ends_elsewhere(at) && hosts.socket(at).stream().has_sent_everything() {
            self.standings.push((self.now, at, hosts.socket(at).inspect().standing()));
        }
    }

    /// Something has happened to the connection at an endpoint.
    #[inline]
    pub(crate) fn after(&mut self, hosts: &Hosts, recorder: &Recorder, at: EndpointId) {
        if self.cut.is_followed(at) && recorder.traces() {
            let socket = hosts.socket(at);
            self.progress.push((self.now, socket.port().flow, Progress::of(socket.stream())));
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
        self.now = Moment { time, entity: agenda.number(due), step: 0 };
        // All partitions sample, and follow the routes.
        self.is_uncounted = matches!(due, Due::Sampler | Due::Epoch) && self.number > 0;
    }

    /// The event is over.
    #[inline]
    pub(crate) fn end(&mut self, recorder: &Recorder) {
        self.events += u64::from(!self.is_uncounted);
        if recorder.writes() {
            self.mark(self.now, self.turn(), recorder);
        }
    }

    /// The turn of the present event.
    fn turn(&self) -> Turn {
        let [from, to] = self.cut.link_at(self.now.entity).unwrap_or([self.number; 2]);
        if self.now.entity == self.sampler {
            Turn::Sample
        } else if from == self.number && to != from {
            Turn::Near
        } else {
            Turn::Due
        }
    }

    /// The rows since the last mark belong to this moment.
    pub(crate) fn mark(&mut self, at: Moment, turn: Turn, recorder: &Recorder) {
        let rows = recorder.rows();
        if self.marks.last().map_or([0; 4], |mark| mark.rows) != rows {
            self.marks.push(Mark { at, turn, rows });
        }
    }
}
