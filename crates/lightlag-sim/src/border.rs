//! The border of a partition: packets and records for other partitions, and which parts of the network belong to this
//! one.

pub(crate) mod event_key;
pub(crate) mod mailbox;
pub(crate) mod partitioning;

use crate::body::Packet;
use crate::hosts::{Ending, Hosts};
use crate::ids::FlowIndex;
use crate::scheduler::{Agenda, ScheduledEvent};
use crate::tap::record::{DeliveryProgress, Recorder};
use event_key::{EventKey, PartitionTurn};
use lightlag_core::{Duration, Instant};
use lightlag_net::{EndpointId, LinkId};
use lightlag_transport::{Failure, Standing};
use mailbox::{Arrival, LinkOffer, Mailbox, PacketBatch};
use partitioning::Partitioning;
use std::sync::Arc;

/// The border of a world. A network that is not partitioned has no border, and the code of its world contains none of
/// the border code.
pub(crate) trait Border {
    /// Returns the partition that this world simulates; `None` if it simulates the entire network.
    fn part(&mut self) -> Option<&mut BorderSide>;

    /// Returns a shared reference to the partition that this world simulates.
    fn of(&self) -> Option<&BorderSide>;
}

/// The border of a world that simulates the entire network.
pub(crate) struct WholeNetwork;

impl Border for WholeNetwork {
    #[inline(always)]
    fn part(&mut self) -> Option<&mut BorderSide> {
        None
    }

    #[inline(always)]
    fn of(&self) -> Option<&BorderSide> {
        None
    }
}

impl Border for BorderSide {
    #[inline(always)]
    fn part(&mut self) -> Option<&mut BorderSide> {
        Some(self)
    }

    #[inline(always)]
    fn of(&self) -> Option<&BorderSide> {
        Some(self)
    }
}

/// Another partition with links into this one.
pub(crate) struct NeighbourPartition {
    pub(crate) from: u16,
    /// Minimum time that a packet spends on the links from the neighbour.
    pub(crate) least: Duration,
    /// Whether the neighbour posts its packets only once per round.
    pub(crate) is_far: bool,
    /// Links from the neighbour that are simulated here; then the time of their next sample, if they are sampled.
    pub(crate) links: Vec<LinkId>,
    pub(crate) next_sample: Option<Instant>,
    /// Latest time that the neighbour is known to have reached.
    reached: Instant,
}

/// A queued link to another partition, and the number of packets in transit on it that were already handed over.
pub(crate) struct Outlet {
    pub(crate) on: LinkId,
    pub(crate) handed: usize,
}

/// An event that ends a flow or a part of it. It may affect both endpoints.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// The last byte of a flow that the run waits for has arrived.
    TransferArrives { flow: FlowIndex },
    /// The last byte of a flow has arrived.
    FlowArrives { flow: FlowIndex },
    /// The run no longer waits for a flow.
    Closes { flow: FlowIndex },
    /// All data of the sender at this endpoint has arrived at the other endpoint of its connection.
    SenderEnds { sender: EndpointId },
    /// A flow fails.
    Fails { flow: FlowIndex, failure: Failure },
}

/// The end of a flow or a part of it, with the accounts of the senders in this partition.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) at: EventKey,
    pub(crate) what: What,
    pub(crate) accounts: Vec<(EndpointId, Ending)>,
}

/// Numbers of rows of the tables (trace, queues, drops and ACKs) at the end of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: EventKey,
    pub(crate) turn: PartitionTurn,
    pub(crate) rows: [usize; 4],
}

/// The state that a partition needs for its border to other partitions.
pub(crate) struct BorderSide {
    pub(crate) number: u16,
    pub(crate) cut: Arc<Partitioning>,
    pub(crate) now: EventKey,
    pub(crate) mail: Arc<Mailbox>,
    pub(crate) sources: Vec<NeighbourPartition>,
    /// Packets that have not been posted yet, for each partition.
    outboxes: Vec<PacketBatch>,
    /// For each partition, whether it receives packets from this one only once per round.
    far: Vec<bool>,
    /// Reusable buffer for packets from other partitions.
    pub(crate) room: PacketBatch,
    /// This partition has handled all events before this time.
    pub(crate) reached: Instant,
    /// For each link that starts here and is simulated by another partition, the index of that partition.
    exits: Vec<Option<u16>>,
    /// Queued links to other partitions.
    pub(crate) outlets: Vec<Outlet>,
    pub(crate) happened: Vec<Happened>,
    /// Accounts of senders whose data may be received in another partition, as they were before each event of the
    /// sender.
    pub(crate) standings: Vec<(EventKey, EndpointId, Standing)>,
    /// Progress of flows whose senders are in other partitions, after each event of the receiver.
    pub(crate) progress: Vec<(EventKey, FlowIndex, DeliveryProgress)>,
    pub(crate) marks: Vec<Mark>,
    /// Entity number of the event that samples the queues.
    pub(crate) sampler: u32,
    pub(crate) events: u64,
    /// Number of events in each window of the current round.
    pub(crate) turns: Vec<u64>,
    /// Number of packets that have crossed the border.
    pub(crate) crossings: u64,
    /// Whether the current event is not counted, because all partitions handle it and another one counts it.
    pub(crate) is_uncounted: bool,
}

impl BorderSide {
    pub(crate) fn new(
        number: u16,
        cut: Arc<Partitioning>,
        mail: Arc<Mailbox>,
        (sampler, next_sample): (u32, Option<Instant>),
    ) -> Self {
        let round = cut.round();
        let source = |(from, least)| NeighbourPartition {
            from,
            least,
            is_far: least >= round,
            links: cut.links().filter(|on| cut.link(*on) == [from, number] && cut.stands(*on) == number).collect(),
            next_sample,
            reached: Instant::ZERO,
        };
        let min_delay = |to| cut.sources(to).find(|(from, _)| *from == number).map(|(_, least)| least);
        Self {
            number,
            now: EventKey { time: Instant::ZERO, entity: 0, step: 0 },
            sources: cut.sources(number).map(source).collect(),
            outboxes: (0..cut.partitions()).map(|_| PacketBatch::default()).collect(),
            far: (0..cut.partitions() as u16).map(|to| min_delay(to).is_none_or(|least| least >= round)).collect(),
            mail,
            room: PacketBatch::default(),
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

    /// Returns true if a link leads to another partition.
    #[inline]
    pub(crate) fn leaves(&self, on: LinkId) -> bool {
        let [from, to] = self.cut.link(on);
        from == self.number && to != from
    }

    /// Returns true if a link leads from another partition into this one.
    pub(crate) fn enters(&self, on: LinkId) -> bool {
        let [from, to] = self.cut.link(on);
        to == self.number && to != from
    }

    /// Returns true if a link starts in this partition and is simulated by it.
    pub(crate) fn has_link(&self, on: LinkId) -> bool {
        self.cut.stands(on) == self.number && self.cut.link(on)[0] == self.number
    }

    /// Returns true if an endpoint of a connection is in this partition.
    #[inline]
    pub(crate) fn has_endpoint(&self, endpoint_id: EndpointId) -> bool {
        self.cut.endpoint(endpoint_id) == self.number
    }

    /// Returns the partition that simulates a link, if the link starts here and another partition simulates it.
    #[inline(always)]
    pub(crate) fn exit(&self, on: LinkId) -> Option<u16> {
        self.exits[on.0 as usize]
    }

    /// Queues a packet that is offered to a link in another partition, to be posted.
    #[inline(never)]
    pub(crate) fn offer(&mut self, to: u16, on: LinkId, packet: &Packet, hosts: &mut Hosts, recorder: &Recorder) {
        if recorder.writes() {
            self.mark(self.now, self.turn(), recorder);
        }
        let contents = hosts.detach(packet);
        self.outboxes[usize::from(to)].offers.push(LinkOffer { at: self.now, on, packet: *packet, contents });
        self.now.step += 1;
    }

    /// Queues a packet that has left the queue of an outgoing link and is in transit, to be posted. The link keeps it,
    /// with its contents, until it arrives.
    pub(crate) fn send(&mut self, on: LinkId, time: Instant, packet: Packet, hosts: &Hosts) {
        let [_, to] = self.cut.link(on);
        let contents = hosts.copy_contents(&packet);
        self.outboxes[usize::from(to)].arrivals.push(Arrival { at: time, on, packet, contents });
    }

    /// Posts the outgoing packets, and publishes the time that this partition has reached. Partitions that are far away
    /// receive packets only at the end of a round (`is_last`).
    pub(crate) fn post(&mut self, is_last: bool) {
        let outboxes = (0..).zip(&mut self.outboxes).zip(&self.far);
        for ((to, letters), _) in outboxes.filter(|((_, letters), is_far)| letters.len() > 0 && (is_last || !**is_far))
        {
            self.crossings += letters.len() as u64;
            self.mail.post(self.number, to, letters);
        }
        self.mail.reach(self.number, self.reached);
    }

    /// Returns the end of the next window, at most `end`. `None` if `end` is reached, or if packets that arrive in the
    /// window may not have been posted yet.
    #[inline]
    pub(crate) fn next_window(&mut self, end: Instant) -> Option<Instant> {
        let until = end.min(self.reached + self.cut.window());
        (self.reached < end && self.is_told_until(until)).then_some(until)
    }

    /// Returns true if all packets that arrive here before `time` have been posted.
    #[inline]
    fn is_told_until(&mut self, time: Instant) -> bool {
        let Self { sources, mail, .. } = self;
        sources.iter_mut().all(|NeighbourPartition { from, least, reached, .. }| {
            *reached + *least >= time || {
                *reached = mail.reached(*from);
                *reached + *least >= time
            }
        })
    }

    /// Removes a packet from the count of packets in transit on an outgoing link: it has reached the far end of the link,
    /// and the other partition delivers it.
    pub(crate) fn is_gone(&mut self, on: LinkId) {
        let outlet = self.outlets.binary_search_by_key(&on, |outlet| outlet.on).expect("every outlet is in the list");
        let handed = &mut self.outlets[outlet].handed;
        *handed = handed.checked_sub(1).expect("a packet is handed over before it arrives");
    }

    /// Records the account of the sender at an endpoint before an event.
    #[inline]
    pub(crate) fn before(&mut self, hosts: &Hosts, endpoint: EndpointId) {
        if self.cut.ends_elsewhere(endpoint) && hosts.socket(endpoint).stream().has_sent_everything() {
            self.standings.push((self.now, endpoint, hosts.socket(endpoint).inspect().standing()));
        }
    }

    /// Records the progress of the data at an endpoint after an event.
    #[inline]
    pub(crate) fn after(&mut self, hosts: &Hosts, recorder: &Recorder, endpoint: EndpointId) {
        if self.cut.is_followed(endpoint) && recorder.traces() {
            let socket = hosts.socket(endpoint);
            self.progress.push((self.now, socket.port().flow, DeliveryProgress::of(socket.stream())));
        }
    }

    /// Records that a flow or a part of it has ended.
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

    /// Called before an event is handled.
    #[inline]
    pub(crate) fn begin(&mut self, time: Instant, agenda: &Agenda, due: ScheduledEvent) {
        self.now = EventKey { time, entity: agenda.number(due), step: 0 };
        // All partitions have a sampler and apply the routes.
        self.is_uncounted = matches!(due, ScheduledEvent::Sampler | ScheduledEvent::Epoch) && self.number > 0;
    }

    /// Called after an event has been handled.
    #[inline]
    pub(crate) fn end(&mut self, recorder: &Recorder) {
        self.events += u64::from(!self.is_uncounted);
        if recorder.writes() {
            self.mark(self.now, self.turn(), recorder);
        }
    }

    /// Returns the position of the current event in the order of partitions.
    fn turn(&self) -> PartitionTurn {
        let [from, to] = self.cut.link_at(self.now.entity).unwrap_or([self.number; 2]);
        if self.now.entity == self.sampler {
            PartitionTurn::Sample
        } else if from == self.number && to != from {
            PartitionTurn::Near
        } else {
            PartitionTurn::Due
        }
    }

    /// Assigns the rows that were recorded since the last mark to this event.
    pub(crate) fn mark(&mut self, key: EventKey, turn: PartitionTurn, recorder: &Recorder) {
        let rows = recorder.rows();
        if self.marks.last().map_or([0; 4], |mark| mark.rows) != rows {
            self.marks.push(Mark { at: key, turn, rows });
        }
    }
}
