//! Recording of samples and drops in tables during a run.

use crate::body::{Packet, PacketBody};
use crate::hosts::Addressees;
use crate::ids::{FlowIndex, SenderIndex};
use crate::table::{ColumnEntry, Data, HashedColumns, MISSING, NameTable, Packed, entries, recorded};
use lightlag_control::congestion::{PathState, Phase};
use lightlag_core::{Duration, Instant, Rate};
use lightlag_net::queue::{Backlog, DropCause, Dropped};
use lightlag_net::{Exit, LinkId};
use lightlag_scenario::{Record, TraceMode};
use lightlag_transport::{Inspect, Snapshot, Stream};

/// Names of the values of [`Phase`], in the order of their numbers.
const PHASES: [&str; 3] = ["open", "recovery", "loss"];

/// Names of the states of a sender, in the order of their numbers.
const STATES: [&str; 4] = ["open", "disorder", "recovery", "loss"];

/// Names of the values of [`DropCause`], in the order of their numbers.
const CAUSES: [&str; DropCause::ALL.len()] = {
    let mut names = [""; DropCause::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = DropCause::ALL[index].name();
        index += 1;
    }
    names
};

entries! {
    DropCause: Text, |cause| cause as u64, |causes| Data::Bytes(causes.into_iter().map(|cause| cause as u8).collect());
}

recorded! {
    /// The state of senders over time, with one row per flow and time. Unknown values are NaN here and null in files.
    pub struct Trace, hashed by
        time_s, cwnd_segments, ssthresh_segments, w_max_segments, k_s, srtt_s, rtt_s, inflight_bytes, sent_bytes,
        acked_bytes, delivered_bytes, arrived_bytes
    {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Flow of the sender.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Congestion window in segments, including the inflation in fast recovery.
        cwnd_segments: Vec<f64> ["segments"],
        /// Slow-start threshold in segments; NaN while it is unlimited.
        ssthresh_segments: Vec<f64> ["segments"],
        /// Wmax of the current CUBIC epoch in segments.
        w_max_segments: Vec<f64> ["segments"],
        /// K of the current CUBIC epoch in seconds: the time from the start of the epoch to the plateau.
        k_s: Vec<f64> ["s"],
        /// SRTT in seconds.
        srtt_s: Vec<f64> ["s"],
        /// The last round-trip sample in seconds.
        rtt_s: Vec<f64> ["s"],
        /// Outstanding data in bytes.
        inflight_bytes: Vec<u64> ["B"],
        /// Payload sent for the first time, in bytes.
        sent_bytes: Vec<u64> ["B"],
        /// Payload acknowledged cumulatively, in bytes.
        acked_bytes: Vec<u64> ["B"],
        /// Payload delivered in order at the receiver, excluding holes, in bytes.
        delivered_bytes: Vec<u64> ["B"],
        /// Payload that has arrived at the receiver, in order or not; each byte counts once.
        arrived_bytes: Vec<u64> ["B"],
        /// Phase of the sender: no losses (open), repair of reported losses (recovery), or repair after a timeout
        /// (loss).
        phase: Vec<u8> ["", named(NameTable::These(&PHASES))],
        /// State of the path model: `startup`, `drain`, `probe_bw` or `probe_rtt` for BBR; also `probe_bw_down`,
        /// `probe_bw_cruise`, `probe_bw_refill` or `probe_bw_up` for BBRv3. This column and the ones below exist only
        /// with `internals` in `[record]`; they are null if the algorithm of the flow has no such value.
        state: Vec<u8> ["", optional_named(NameTable::These(PathState::NAMES))],
        /// Estimated rate of the bottleneck (BtlBw in BBR).
        bottleneck_rate_bps: Vec<f64> ["bit/s", optional],
        /// Estimated round-trip time without queueing (RTprop in BBR).
        rtprop_s: Vec<f64> ["s", optional],
        /// Pacing rate of the congestion control.
        pacing_rate_bps: Vec<f64> ["bit/s", optional],
        /// Pacing rate divided by the estimated rate of the bottleneck.
        pacing_gain: Vec<f64> ["", optional],
        /// Window divided by the estimated bandwidth-delay product.
        cwnd_gain: Vec<f64> ["", optional],
        /// ρ of Hybla: the round-trip time divided by the reference round-trip time, at least 1.
        rho: Vec<f64> ["", optional],
        /// Index of the sender on the path of the flow: 1 is the flow's own sender, 2 the first proxy, and so on. Only
        /// in runs with proxies.
        leg: Vec<u8> ["", optional],
    }

    /// Number of packets that wait at links, over time. For links of a constellation, rows start with the first packet.
    pub struct QueueSamples {
        /// Seconds since the start of the run.
        time_s: Packed<f64> ["s"],
        /// Link direction whose queue is sampled.
        link: Packed<u32> ["", named(NameTable::Links)],
        /// Number of waiting packets, excluding the packet in transmission.
        packets: Packed<u64> ["packets"],
        /// Size of these packets at the network layer.
        bytes: Packed<u64> ["B"],
    }

    /// Every ACK that a sender processed, and the state of the sender after the ACK and the segments that it released.
    pub struct Acks, hashed by
        time_s, snd_una, snd_nxt, cwnd_bytes, inflight_bytes, ssthresh_bytes, srtt_s, flow, state
    {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Flow of the sender.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Payload acknowledged cumulatively, in bytes.
        snd_una: Vec<u64> ["B"],
        /// Payload sent for the first time, in bytes.
        snd_nxt: Vec<u64> ["B"],
        /// Congestion window in bytes, including the inflation in fast recovery.
        cwnd_bytes: Vec<u64> ["B"],
        /// Slow-start threshold in bytes; NaN while it is unlimited.
        ssthresh_bytes: Vec<f64> ["B"],
        /// SRTT in seconds; NaN before the first sample.
        srtt_s: Vec<f64> ["s"],
        /// Outstanding data in bytes.
        inflight_bytes: Vec<u64> ["B"],
        /// State of the sender, with the names of Linux: open, disorder, recovery or loss.
        state: Vec<u8> ["", named(NameTable::These(&STATES))],
    }

    /// Every dropped packet.
    pub struct Drops, hashed by time_s, link, flow, bytes, backward, cause {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Link direction or interface that dropped the packet.
        link: Vec<u32> ["", named(NameTable::Links)],
        /// Flow that the packet belongs to.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Whether the packet travelled towards the sender of the flow, as an ACK or a station's notification does.
        backward: Vec<bool> [""],
        /// Size of the packet at the network layer.
        bytes: Vec<u32> ["B"],
        /// Cause of the drop.
        cause: Vec<DropCause> ["", named(NameTable::These(&CAUSES))],
    }
}

/// A flow and the sender whose state is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderSample {
    pub(crate) flow: FlowIndex,
    pub(crate) sender: SenderIndex,
}

/// Progress of a flow's data at its receiver, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryProgress {
    pub(crate) delivered: u64,
    pub(crate) arrived: u64,
}

impl DeliveryProgress {
    pub(crate) fn of(receiver: &dyn Stream) -> Self {
        let delivered = receiver.delivered();
        Self { delivered, arrived: delivered + receiver.held() - receiver.received() }
    }
}

/// Writes the tables that the scenario records.
pub(crate) struct Recorder {
    /// Number of links. In tables the indices of interfaces follow the indices of links.
    links: u32,
    mode: TraceMode,
    queues: bool,
    record_drops: bool,
    interval: Duration,
    /// State of each sender in its last row of the trace, as returned by [`Inspect::course`].
    last: Vec<(u64, u64, Phase)>,
    /// Index of each sender on the path of its flow, starting at 1. Empty if no flow has more than one sender.
    legs: Vec<u8>,
    record_acks: bool,
    /// Whether the trace includes the internal state of the congestion control.
    internals: bool,
    /// Whether senders are inspected after each of their events.
    follows: bool,
    /// Whether any table is written.
    writes: bool,
    pub(crate) acks: Acks,
    pub(crate) trace: Trace,
    pub(crate) queue: QueueSamples,
    pub(crate) drops: Drops,
    /// Number of dropped datagrams for each UDP flow.
    pub(crate) lost_datagrams: Vec<u64>,
    /// Number of dropped notifications for each flow.
    pub(crate) lost_signals: Vec<u64>,
}

impl Recorder {
    /// Returns a recorder. `links` is the number of links, `senders` the number of senders of connections, `datagrams`
    /// the number of UDP flows, and `signals` the number of flows with notifications. `legs` is the index of each
    /// sender on the path of its flow; empty if no flow has several senders.
    pub(crate) fn new(
        record: &Record,
        links: usize,
        senders: usize,
        legs: Vec<u8>,
        datagrams: usize,
        signals: usize,
    ) -> Self {
        Self {
            links: links as u32,
            mode: record.trace,
            queues: record.queue.is_on(),
            record_drops: record.drops,
            interval: record.interval,
            last: if record.trace == TraceMode::Change { vec![(0, 0, Phase::Open); senders] } else { Vec::new() },
            legs,
            record_acks: record.acks,
            internals: record.internals,
            follows: record.acks || record.trace == TraceMode::Change,
            writes: record.trace != TraceMode::Off || record.queue.is_on() || record.drops || record.acks,
            acks: Acks::default(),
            trace: Trace::default(),
            queue: QueueSamples::default(),
            drops: Drops::default(),
            lost_datagrams: vec![0; datagrams],
            lost_signals: vec![0; signals],
        }
    }

    /// Stops recording.
    pub(crate) fn end(&mut self) {
        self.mode = TraceMode::Off;
        (self.queues, self.record_drops, self.record_acks, self.follows) = (false, false, false, false);
    }

    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns true if any table is sampled at intervals.
    pub(crate) fn samples(&self) -> bool {
        self.mode != TraceMode::Off || self.queues
    }

    /// Returns true if queues are sampled at intervals.
    pub(crate) fn samples_queues(&self) -> bool {
        self.queues
    }

    /// Returns true if the trace is recorded.
    #[inline]
    pub(crate) fn traces(&self) -> bool {
        self.mode != TraceMode::Off
    }

    /// Returns true if any table is written.
    #[inline]
    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Returns the numbers of rows of the trace, the queues, the drops and the ACKs.
    #[inline]
    pub(crate) fn rows(&self) -> [usize; 4] {
        [self.trace.rows(), self.queue.rows(), self.drops.rows(), self.acks.rows()]
    }

    /// Takes the state of these senders from another recorder, and adds its counts.
    pub(crate) fn join(&mut self, other: &Self, senders: impl Iterator<Item = SenderIndex>) {
        if !self.last.is_empty() {
            senders.for_each(|sender| self.last[sender.index()] = other.last[sender.index()]);
        }
        for (ours, theirs) in
            [(&mut self.lost_datagrams, &other.lost_datagrams), (&mut self.lost_signals, &other.lost_signals)]
        {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
        }
    }

    /// Returns true if senders are inspected after each of their events.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// Inspects a sender after an event. Writes a row of the trace if the window, the slow-start threshold or the phase
    /// differs from the last row. `an_ack`: the sender received a segment, so that a row of ACKs is written if these
    /// are recorded.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        now: Instant,
        sender_sample: SenderSample,
        sender: &impl Inspect,
        progress: impl FnOnce() -> DeliveryProgress,
        an_ack: bool,
    ) {
        if self.mode == TraceMode::Change {
            let course = sender.course();
            if self.last[sender_sample.sender.index()] != course {
                self.last[sender_sample.sender.index()] = course;
                self.row(now, sender_sample, &sender.snapshot(), progress());
            }
        }
        // A proxy is not a sender of the scenario.
        if an_ack && self.record_acks && self.legs.get(sender_sample.sender.index()).is_none_or(|leg| *leg == 1) {
            self.ack(now, sender_sample.flow, &sender.snapshot(), sender.is_disordered());
        }
    }

    #[inline(never)]
    fn ack(&mut self, now: Instant, flow: FlowIndex, snapshot: &Snapshot, disordered: bool) {
        let acks = &mut self.acks;
        acks.time_s.push(now.as_secs_f64());
        acks.flow.push(flow.0);
        acks.snd_una.push(snapshot.snd_una);
        acks.snd_nxt.push(snapshot.snd_nxt);
        acks.cwnd_bytes.push(snapshot.cwnd);
        acks.ssthresh_bytes.push(if snapshot.ssthresh == u64::MAX { f64::NAN } else { snapshot.ssthresh as f64 });
        acks.srtt_s.push(if snapshot.srtt.is_zero() { f64::NAN } else { snapshot.srtt.as_secs_f64() });
        acks.inflight_bytes.push(snapshot.inflight);
        acks.state.push(match snapshot.phase {
            Phase::Open => u8::from(disordered),
            Phase::Recovery => 2,
            Phase::Loss => 3,
        });
    }

    pub(crate) fn trace_sample(
        &mut self,
        now: Instant,
        sender_sample: SenderSample,
        snapshot: &Snapshot,
        progress: DeliveryProgress,
    ) {
        if self.mode != TraceMode::Off {
            self.row(now, sender_sample, snapshot, progress);
        }
    }

    #[inline(never)]
    fn row(&mut self, now: Instant, sender_sample: SenderSample, snapshot: &Snapshot, progress: DeliveryProgress) {
        let trace = &mut self.trace;
        let segments = |bytes: u64| bytes as f64 / snapshot.segment_size as f64;
        let seconds = |time: Duration| if time.is_zero() { f64::NAN } else { time.as_secs_f64() };
        trace.time_s.push(now.as_secs_f64());
        trace.flow.push(sender_sample.flow.0);
        trace.cwnd_segments.push(segments(snapshot.cwnd));
        trace.ssthresh_segments.push(if snapshot.ssthresh == u64::MAX {
            f64::NAN
        } else {
            segments(snapshot.ssthresh)
        });
        trace.w_max_segments.push(snapshot.epoch.map_or(f64::NAN, |epoch| epoch.w_max));
        trace.k_s.push(snapshot.epoch.map_or(f64::NAN, |epoch| epoch.k.as_secs_f64()));
        trace.srtt_s.push(seconds(snapshot.srtt));
        trace.rtt_s.push(seconds(snapshot.rtt));
        trace.inflight_bytes.push(snapshot.inflight);
        trace.sent_bytes.push(snapshot.snd_nxt);
        trace.acked_bytes.push(snapshot.snd_una);
        trace.delivered_bytes.push(progress.delivered);
        trace.arrived_bytes.push(progress.arrived);
        trace.phase.push(snapshot.phase as u8);
        if self.internals {
            let internals = &snapshot.internals;
            let bps = |rate: Option<Rate>| rate.map_or(f64::NAN, |rate| rate.as_bps() as f64);
            trace.state.push(internals.state.map_or(MISSING, |state| state as u8));
            trace.bottleneck_rate_bps.push(bps(internals.bottleneck_rate));
            trace.rtprop_s.push(internals.propagation.map_or(f64::NAN, Duration::as_secs_f64));
            trace.pacing_rate_bps.push(bps(snapshot.pacing_rate));
            trace.pacing_gain.push(internals.pacing_gain.unwrap_or(f64::NAN));
            trace.cwnd_gain.push(internals.window_gain.unwrap_or(f64::NAN));
            trace.rho.push(internals.rho.unwrap_or(f64::NAN));
        }
        if let Some(leg) = self.legs.get(sender_sample.sender.index()) {
            trace.leg.push(*leg);
        }
    }

    pub(crate) fn queue_sample(&mut self, now: Instant, link: LinkId, backlog: impl FnOnce() -> Backlog) {
        if self.queues {
            let backlog = backlog();
            self.queue.time_s.push(now.as_secs_f64());
            self.queue.link.push(link.0);
            self.queue.packets.push(backlog.packets);
            self.queue.bytes.push(backlog.bytes);
        }
    }

    /// Counts a packet that was lost in a tunnel. The table of drops lists drops at links.
    #[cold]
    pub(crate) fn lost_in_tunnel(&mut self, packet: &Packet, addressees: Addressees<'_>) {
        if let Some(of_udp) = addressees.datagrams.of_endpoint(packet.to) {
            self.lost_datagrams[of_udp.index()] += 1;
        }
    }

    /// Counts a packet that leaves a tunnel although it was counted as lost.
    #[cold]
    pub(crate) fn found_in_tunnel(&mut self, packet: &Packet, addressees: Addressees<'_>) {
        if let Some(of_udp) = addressees.datagrams.of_endpoint(packet.to) {
            self.lost_datagrams[of_udp.index()] -= 1;
        }
    }

    /// Records a packet that a link or an interface has dropped, possibly in the past.
    #[cold]
    pub(crate) fn dropped(&mut self, on: Exit, dropped: &Dropped<PacketBody>, addressees: Addressees<'_>) {
        let Dropped { at: time, packet, cause } = dropped;
        let (flow, backward) = addressees.of(packet);
        if packet.body.is_signal() {
            self.lost_signals[flow.index()] += 1;
        } else if let Some(of_udp) = addressees.datagrams.of_endpoint(packet.to) {
            self.lost_datagrams[of_udp.index()] += 1;
        }
        if self.record_drops {
            self.drops.time_s.push(time.as_secs_f64());
            self.drops.link.push(on.number(self.links));
            self.drops.flow.push(flow.0);
            self.drops.backward.push(backward);
            self.drops.bytes.push(u32::from(packet.size));
            self.drops.cause.push(*cause);
        }
    }

    /// Sorts the drops by time, because queue disciplines may have reported some of them late.
    pub(crate) fn sort_drops(&mut self) {
        let drops = &mut self.drops;
        if drops.time_s.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..drops.rows()).collect();
        order.sort_by(|a, b| drops.time_s[*a].total_cmp(&drops.time_s[*b]));
        drops.reorder(&order);
    }
}
