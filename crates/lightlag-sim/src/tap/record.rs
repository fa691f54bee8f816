//! Samples and drops as columns, while a run goes on.

use crate::body::Body;
use crate::hosts::Addressees;
use crate::ids::{FlowIndex, SenderIndex};
use crate::table::{Data, Entry, HashedColumns, MISSING, Names, Packed, entries, recorded};
use lightlag_control::congestion::{PathState, Phase};
use lightlag_core::{Duration, Instant, Rate};
use lightlag_net::queue::{Backlog, DropCause, Dropped};
use lightlag_net::{Exit, LinkId};
use lightlag_scenario::{Record, TraceMode};
use lightlag_transport::{Inspect, Snapshot, Stream};

/// Names of [`Phase`], by its number.
const PHASES: [&str; 3] = ["open", "recovery", "loss"];

/// Names of the states of a sender, by their numbers.
const STATES: [&str; 4] = ["open", "disorder", "recovery", "loss"];

/// Names of [`DropCause`], by its number.
const CAUSES: [&str; DropCause::ALL.len()] = {
    let mut names = [""; DropCause::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = DropCause::ALL[at].name();
        at += 1;
    }
    names
};

entries! {
    DropCause: Text, |cause| cause as u64, |causes| Data::Bytes(causes.into_iter().map(|cause| cause as u8).collect());
}

recorded! {
    /// The state of senders over time: a row is one flow at one time. An unknown number is NaN here and null in files.
    pub struct Trace, hashed by
        time_s, cwnd_segments, ssthresh_segments, w_max_segments, k_s, srtt_s, rtt_s, inflight_bytes, sent_bytes,
        acked_bytes, delivered_bytes, arrived_bytes
    {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Flow.
        flow: Vec<u32> ["", named(Names::Flows)],
        /// Congestion window in segments, with the inflation of fast recovery.
        cwnd_segments: Vec<f64> ["segments"],
        /// Slow-start threshold in segments; NaN while it is unlimited.
        ssthresh_segments: Vec<f64> ["segments"],
        /// Wmax of the current cubic epoch in segments.
        w_max_segments: Vec<f64> ["segments"],
        /// K of the current cubic epoch in seconds: from its start to the plateau.
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
        /// Payload in order at the end of the flow, holes not counted, in bytes.
        delivered_bytes: Vec<u64> ["B"],
        /// Payload that has arrived at the end of the flow, in order or not, each byte once.
        arrived_bytes: Vec<u64> ["B"],
        /// Losses that the sender repairs: none (open), reported ones (recovery), or those of a timeout (loss).
        phase: Vec<u8> ["", named(Names::These(&PHASES))],
        /// State of the model of the path: `startup`, `drain`, `probe_bw` or `probe_rtt` of BBR, and `probe_bw_down`,
        /// `probe_bw_cruise`, `probe_bw_refill` or `probe_bw_up` of its version 3. Only with `internals` in `[record]`, as
        /// the columns below; null where the algorithm of the flow has no such value.
        state: Vec<u8> ["", optional_named(Names::These(PathState::NAMES))],
        /// Estimated rate of the bottleneck: BtlBw of BBR.
        bottleneck_rate_bps: Vec<f64> ["bit/s", optional],
        /// Estimated round-trip time without queues: RTprop of BBR.
        rtprop_s: Vec<f64> ["s", optional],
        /// Rate at which the congestion control paces.
        pacing_rate_bps: Vec<f64> ["bit/s", optional],
        /// Factor between the bottleneck's rate and the pacing rate.
        pacing_gain: Vec<f64> ["", optional],
        /// Factor between the bandwidth-delay product of the estimates and the window.
        cwnd_gain: Vec<f64> ["", optional],
        /// ρ of Hybla: round-trip time over the reference round-trip time, at least 1.
        rho: Vec<f64> ["", optional],
        /// Sender on the way of the flow: 1 is its own, 2 that of the first proxy, and so on. Only in runs with proxies.
        leg: Vec<u8> ["", optional],
    }

    /// Packets that wait at links over time; at those of a constellation from the first packet on.
    pub struct QueueSamples {
        /// Seconds since the start of the run.
        time_s: Packed<f64> ["s"],
        /// Link direction.
        link: Packed<u32> ["", named(Names::Links)],
        /// Packets that wait, without the one in transmission.
        packets: Packed<u64> ["packets"],
        /// Their bytes at the network layer.
        bytes: Packed<u64> ["B"],
    }

    /// Each ACK that a sender took, and the state of the sender after it and after the segments that it released.
    pub struct Acks, hashed by
        time_s, snd_una, snd_nxt, cwnd_bytes, inflight_bytes, ssthresh_bytes, srtt_s, flow, state
    {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Flow.
        flow: Vec<u32> ["", named(Names::Flows)],
        /// Payload acknowledged cumulatively, in bytes.
        snd_una: Vec<u64> ["B"],
        /// Payload sent for the first time, in bytes.
        snd_nxt: Vec<u64> ["B"],
        /// Congestion window in bytes, with the inflation of fast recovery.
        cwnd_bytes: Vec<u64> ["B"],
        /// Slow-start threshold in bytes; NaN while it is unlimited.
        ssthresh_bytes: Vec<f64> ["B"],
        /// SRTT in seconds; NaN before the first sample.
        srtt_s: Vec<f64> ["s"],
        /// Outstanding data in bytes.
        inflight_bytes: Vec<u64> ["B"],
        /// State of the sender, named as in Linux: open, disorder, recovery or loss.
        state: Vec<u8> ["", named(Names::These(&STATES))],
    }

    /// Every dropped packet.
    pub struct Drops, hashed by time_s, link, flow, bytes, backward, cause {
        /// Seconds since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Link direction.
        link: Vec<u32> ["", named(Names::Links)],
        /// Flow.
        flow: Vec<u32> ["", named(Names::Flows)],
        /// Whether the packet went to the sender of the flow: an ACK, or the message of a station.
        backward: Vec<bool> [""],
        /// Bytes at the network layer.
        bytes: Vec<u32> ["B"],
        /// Cause of the drop.
        cause: Vec<DropCause> ["", named(Names::These(&CAUSES))],
    }
}

/// A sender that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) flow: FlowIndex,
    pub(crate) sender: SenderIndex,
}

/// Progress of the data of a flow at its end, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) delivered: u64,
    pub(crate) arrived: u64,
}

impl Progress {
    pub(crate) fn of(receiver: &dyn Stream) -> Self {
        let delivered = receiver.delivered();
        Self { delivered, arrived: delivered + receiver.held() - receiver.received() }
    }
}

/// Writes what the scenario asked for.
pub(crate) struct Recorder {
    /// Number of links, after which tables count interfaces.
    links: u32,
    mode: TraceMode,
    queues: bool,
    record_drops: bool,
    interval: Duration,
    /// State of each sender in its last row, as [`Inspect::course`] gives it.
    last: Vec<(u64, u64, Phase)>,
    /// The number of each sender on the way of its flow, from 1 on; empty where no flow has two.
    legs: Vec<u8>,
    record_acks: bool,
    /// Whether the trace holds the inner state of the congestion control.
    internals: bool,
    /// Whether a sender is looked at whenever something happened to it.
    follows: bool,
    /// Whether any table is written.
    writes: bool,
    pub(crate) acks: Acks,
    pub(crate) trace: Trace,
    pub(crate) queue: QueueSamples,
    pub(crate) drops: Drops,
    /// Datagrams of each flow of UDP that were dropped.
    pub(crate) lost_datagrams: Vec<u64>,
    /// Messages of stations about each flow that were dropped.
    pub(crate) lost_signals: Vec<u64>,
}

impl Recorder {
    /// `links`: of the network; `senders`: of connections; `legs`: of each its number on the way of its flow, if some flow has several; `datagrams`:
    /// flows of UDP; `signals`: flows of which stations tell something.
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

    /// Nothing is written down any more.
    pub(crate) fn end(&mut self) {
        self.mode = TraceMode::Off;
        (self.queues, self.record_drops, self.record_acks, self.follows) = (false, false, false, false);
    }

    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether anything is sampled at intervals.
    pub(crate) fn samples(&self) -> bool {
        self.mode != TraceMode::Off || self.queues
    }

    /// Whether queues are sampled.
    pub(crate) fn samples_queues(&self) -> bool {
        self.queues
    }

    /// Whether there is a trace.
    #[inline]
    pub(crate) fn traces(&self) -> bool {
        self.mode != TraceMode::Off
    }

    /// Whether any table is written.
    #[inline]
    pub(crate) fn writes(&self) -> bool {
        self.writes
    }

    /// Rows of the trace, the queues, the drops and the ACKs.
    #[inline]
    pub(crate) fn rows(&self) -> [usize; 4] {
        [self.trace.rows(), self.queue.rows(), self.drops.rows(), self.acks.rows()]
    }

    /// Takes over what another recorder kept of these senders, and all that it counted.
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

    /// Whether senders are looked at whenever something happened to them.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// Something happened to the sender of a flow; `an_ack`: it took a segment. A row is written if the window, the threshold
    /// or the phase is not what the last row says.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        now: Instant,
        at: Place,
        sender: &impl Inspect,
        progress: impl FnOnce() -> Progress,
        an_ack: bool,
    ) {
        if self.mode == TraceMode::Change {
            let course = sender.course();
            if self.last[at.sender.index()] != course {
                self.last[at.sender.index()] = course;
                self.row(now, at, &sender.snapshot(), progress());
            }
        }
        // A proxy is no sender of the scenario.
        if an_ack && self.record_acks && self.legs.get(at.sender.index()).is_none_or(|leg| *leg == 1) {
            self.ack(now, at.flow, &sender.snapshot(), sender.is_disordered());
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

    pub(crate) fn trace_sample(&mut self, now: Instant, at: Place, snapshot: &Snapshot, progress: Progress) {
        if self.mode != TraceMode::Off {
            self.row(now, at, snapshot, progress);
        }
    }

    #[inline(never)]
    fn row(&mut self, now: Instant, at: Place, snapshot: &Snapshot, progress: Progress) {
        let trace = &mut self.trace;
        let segments = |bytes: u64| bytes as f64 / snapshot.segment_size as f64;
        let seconds = |time: Duration| if time.is_zero() { f64::NAN } else { time.as_secs_f64() };
        trace.time_s.push(now.as_secs_f64());
        trace.flow.push(at.flow.0);
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
        if let Some(leg) = self.legs.get(at.sender.index()) {
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

    /// Writes down what a link or an interface has dropped, perhaps a while ago.
    #[cold]
    pub(crate) fn dropped(&mut self, on: Exit, dropped: &Dropped<Body>, addressees: Addressees<'_>) {
        let Dropped { at, packet, cause } = dropped;
        let (flow, backward) = addressees.of(packet);
        if packet.body.is_signal() {
            self.lost_signals[flow.index()] += 1;
        } else if let Some(of_udp) = addressees.datagrams.of_endpoint(packet.to) {
            self.lost_datagrams[of_udp.index()] += 1;
        }
        if self.record_drops {
            self.drops.time_s.push(at.as_secs_f64());
            self.drops.link.push(on.number(self.links));
            self.drops.flow.push(flow.0);
            self.drops.backward.push(backward);
            self.drops.bytes.push(u32::from(packet.size));
            self.drops.cause.push(*cause);
        }
    }

    /// Brings the drops into the order of time, which those of queue disciplines may have missed.
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
