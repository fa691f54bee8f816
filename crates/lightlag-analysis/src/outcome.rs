//! The outcome of a run, which a comparison stores. UDP flows are cross traffic: the metrics of a run exclude them,
//! unless there are no other flows.

use crate::curves::{decimate_rows, levels_at};
use crate::statistics::{jain, mean};
use crate::summary::{Flow, Link, UDP, legs_of, longest_leg, retransmitted_share};
use crate::table::{RecordedColumns, Texts};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of equal time steps for which the arrived payload is stored.
const STEPS: usize = 1200;
/// Total number of stored points of all windows of a run, and the minimum per flow.
const POINTS: usize = 1600;
const FEWEST: usize = 200;
/// Maximum number of flows whose windows are stored.
const WINDOWS: usize = 12;

/// Parts of a summary that an outcome uses.
#[derive(Clone, Debug, Deserialize)]
pub struct OutcomeInput {
    flows: Vec<Flow>,
    #[serde(default)]
    legs: Vec<Flow>,
    links: Vec<Link>,
    simulated_s: f64,
}

/// Metrics of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Payload of all flows, divided by the time from the first start to the last finish (or the end of the run), in
    /// bit/s.
    pub goodput_bps: f64,
    /// Time in seconds from the first start to the last finish; `None` if a transfer is unfinished or there is no
    /// transfer.
    pub completion_s: Option<f64>,
    /// Jain's index of the goodputs of the flows; NaN if all are 0.
    pub jain: f64,
    /// Retransmitted segments as a fraction of all segments sent.
    pub retransmitted_share: f64,
    /// Mean wait of data packets at the bottleneck in seconds.
    pub queueing_mean_s: Option<f64>,
    /// 95th percentile of the wait of data packets at the bottleneck in seconds.
    pub queueing_p95_s: Option<f64>,
    /// Name of the bottleneck, the link direction with the largest total wait.
    pub bottleneck: Option<String>,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Mean of the flows' mean round-trip times in seconds.
    pub mean_rtt_s: Option<f64>,
    /// Rate in bit/s of the slowest link direction on the path of the flows, if they share it and its rate does not
    /// change.
    pub capacity_bps: Option<f64>,
    /// Name of the link direction with the rate `capacity_bps`.
    pub capacity_link: Option<String>,
    /// Metrics of each flow.
    pub flows: Vec<FlowOutcome>,
}

/// Curves of a run that a comparison stores.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// Total arrived payload of all flows in whole bytes, at equal steps from 0 to the end of the run; `None` without a
    /// trace.
    pub arrived: Option<Vec<f64>>,
    /// Congestion windows of the first flows: name of the flow, times in seconds, and windows in segments. If proxies
    /// split a flow, it is the window of the longest leg.
    pub windows: Vec<(String, Vec<f64>, Vec<f64>)>,
}

/// Metrics of a flow.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FlowOutcome {
    /// Name of the flow.
    pub name: String,
    /// Congestion control of the flow.
    pub congestion: String,
    /// Goodput in bit/s.
    pub goodput_bps: f64,
    /// Time in seconds from the start of the flow to its last byte; `None` if it did not finish.
    pub completion_s: Option<f64>,
    /// Minimum round-trip sample in seconds; if proxies split the flow, the sum over its legs.
    pub min_rtt_s: Option<f64>,
    /// Leg whose segments, timeouts and window are counted: the longest one. `None` if the flow has no legs.
    pub leg: Option<Leg>,
}

/// Metrics of a flow, for the comparison of two runs. Datagrams are never retransmitted and have no timer.
#[derive(Clone, Debug, Serialize)]
pub struct FlowMeasures {
    goodput_bps: f64,
    completion_s: Option<f64>,
    /// Mean round-trip sample in seconds; if proxies split the flow, the sum over its legs.
    mean_rtt_s: Option<f64>,
    /// Retransmitted fraction of the segments of its longest leg.
    retransmitted_share: Option<f64>,
    timeouts: Option<u64>,
    /// Mean queue length at its bottleneck, in packets.
    queue_packets: Option<f64>,
    /// Mean wait of data packets at its bottleneck, in seconds.
    queueing_s: Option<f64>,
}

/// A leg of a flow.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Leg {
    /// Index of the leg, starting at 1.
    pub number: u32,
    /// Names of the leg's two nodes.
    pub name: String,
}

impl OutcomeInput {
    /// Returns the outcome of the run.
    pub fn outcome(&self) -> Outcome {
        let legs = legs_of(&self.legs);
        let own = |flow: &Flow| legs.get(flow.name.as_str()).map(Vec::as_slice);
        let connections: Vec<&Flow> = self.flows.iter().filter(|flow| flow.congestion != UDP).collect();
        let flows = if connections.is_empty() { self.flows.iter().collect() } else { connections };
        let sender = |flow: &&Flow| own(flow).and_then(longest_leg).map_or_else(|| (*flow).clone(), Flow::clone);
        let senders: Vec<Flow> = flows.iter().map(sender).collect();
        let parts = flows.iter().map(|flow| (flow.start(), flow.finish_s.unwrap_or(self.simulated_s)));
        let seconds = seconds_together(parts);
        let delivered = flows.iter().map(|flow| flow.delivered_bytes).sum();
        let is_finished = flows.iter().all(|flow| flow.finish_s.is_some());
        let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
        let trips: Vec<f64> = senders.iter().filter_map(|sender| sender.mean_rtt_s).collect();
        let (bottleneck, capacity) = (self.bottleneck(), self.capacity());
        Outcome {
            goodput_bps: goodput_bps(delivered, seconds),
            completion_s: is_finished.then_some(seconds),
            jain: jain(&goodputs),
            retransmitted_share: retransmitted_share(&senders).unwrap_or(0.0),
            queueing_mean_s: bottleneck.and_then(|link| link.mean_wait_s),
            queueing_p95_s: bottleneck.and_then(|link| link.p95_wait_s),
            bottleneck: bottleneck.map(|link| link.name.clone()),
            timeouts: senders.iter().map(|sender| sender.timeouts).sum(),
            mean_rtt_s: (!trips.is_empty()).then(|| mean(&trips)),
            capacity_bps: capacity.and_then(|link| link.rate_bps),
            capacity_link: capacity.map(|link| link.name.clone()),
            flows: self.flows.iter().map(|flow| FlowOutcome::of(flow, own(flow))).collect(),
        }
    }

    /// Returns the curves of the run. `read` returns columns of its recorded tables, as it does for a timeline.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn curves<E>(
        &self,
        mut read: impl FnMut(&str, &[&str], &[&str]) -> Result<RecordedColumns, E>,
    ) -> Result<Curves, E> {
        let trace = read("trace", &["time_s", "flow", "leg", "arrived_bytes", "cwnd_segments"], &[])?;
        let flows = trace.texts.get("flow").map_or_else(Vec::new, Texts::parts);
        let of_leg = |rows: &[usize], leg: u32| -> Vec<usize> {
            let legs = trace.numbers.get("leg");
            rows.iter().copied().filter(|row| legs.is_none_or(|legs| legs[*row] == f64::from(leg))).collect()
        };
        let step = self.simulated_s / STEPS as f64;
        let times = || (0..STEPS).map(|at| at as f64 * step).chain([self.simulated_s]);
        let mut arrived = vec![0.0; STEPS + 1];
        for (_, rows) in &flows {
            // The rows of every leg refer to the same receiver.
            let own = of_leg(rows, 1);
            let levels = levels_at(times(), &trace.values("time_s", &own), &trace.values("arrived_bytes", &own));
            arrived.iter_mut().zip(levels).for_each(|(sum, level)| *sum += level);
        }
        arrived.iter_mut().for_each(|level| *level = level.floor());
        let legs = legs_of(&self.legs);
        let max_points = FEWEST.max(POINTS.div_ceil(flows.len().max(1)));
        let window = |(name, rows): &(&str, Vec<usize>)| {
            let own = of_leg(rows, legs.get(name).and_then(|legs| longest_leg(legs)?.leg).unwrap_or(1));
            let (times, windows) = (trace.values("time_s", &own), trace.values("cwnd_segments", &own));
            let kept = decimate_rows(&times, &windows, max_points);
            let short = |values: &[f64], unit: f64| {
                kept.iter().map(|row| (values[*row] * unit).round_ties_even() / unit).collect()
            };
            ((*name).to_owned(), short(&times, 1e6), short(&windows, 1e3))
        };
        let windows = flows.iter().take(WINDOWS).map(window).collect();
        Ok(Curves { arrived: (!flows.is_empty()).then_some(arrived), windows })
    }

    /// Returns the link direction with the maximum total wait of data packets.
    fn bottleneck(&self) -> Option<&Link> {
        let wait = |link: &Link| link.mean_wait_s.unwrap_or(0.0) * link.data_packets as f64;
        let waits = self.links.iter().filter(|link| link.data_packets > 0);
        waits.reduce(|longest, link| if wait(link) > wait(longest) { link } else { longest })
    }

    /// Returns the slowest link direction on the path of every TCP flow, if its rate does not change.
    fn capacity(&self) -> Option<&Link> {
        let names: BTreeSet<&str> = self.flows.iter().filter_map(|flow| flow.bottleneck.as_deref()).collect();
        let name = names.first().filter(|_| names.len() == 1)?;
        self.links.iter().find(|link| link.name == **name && link.rate_bps.is_some())
    }

    /// Returns the metrics of each flow by name, for the comparison of two runs.
    pub fn measures_of_flows(&self) -> BTreeMap<&str, FlowMeasures> {
        let legs = legs_of(&self.legs);
        let links: BTreeMap<&str, &Link> = self.links.iter().map(|link| (link.name.as_str(), link)).collect();
        let measures = |flow: &Flow| {
            let own = legs.get(flow.name.as_str()).map(Vec::as_slice);
            let sender = own.and_then(longest_leg).unwrap_or(flow);
            let rtts: Option<Vec<f64>> = own.unwrap_or(&[flow]).iter().map(|leg| leg.mean_rtt_s).collect();
            let bottleneck = flow.bottleneck.as_deref().and_then(|name| links.get(name));
            let is_connection = !flow.is_datagrams();
            FlowMeasures {
                goodput_bps: flow.goodput_bps,
                completion_s: flow.completion_s(),
                mean_rtt_s: rtts.map(|rtts| rtts.iter().sum()),
                retransmitted_share: retransmitted_share([sender]).filter(|_| is_connection),
                timeouts: is_connection.then_some(sender.timeouts),
                queue_packets: bottleneck.map(|link| link.mean_queue_packets),
                queueing_s: bottleneck.and_then(|link| link.mean_wait_s),
            }
        };
        self.flows.iter().map(|flow| (flow.name.as_str(), measures(flow))).collect()
    }
}

/// Returns the time from the first start to the last end, from the start and end of each flow in seconds.
pub fn seconds_together(flows: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let together = |(first, last): (f64, f64), (start, end): (f64, f64)| (first.min(start), last.max(end));
    flows.into_iter().reduce(together).map_or(0.0, |(first, last)| last - first)
}

/// Returns the goodput in bit/s, or 0 if `seconds` is 0.
pub fn goodput_bps(delivered_bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { (delivered_bytes * 8) as f64 / seconds } else { 0.0 }
}

impl FlowOutcome {
    fn of(flow: &Flow, legs: Option<&[&Flow]>) -> Self {
        let add = |sum: f64, leg: &&Flow| leg.min_rtt_s.map(|rtt| sum + rtt);
        let leg = legs.and_then(longest_leg);
        Self {
            name: flow.name.clone(),
            congestion: flow.congestion.clone(),
            goodput_bps: flow.goodput_bps,
            completion_s: flow.completion_s(),
            min_rtt_s: legs.map_or(flow.min_rtt_s, |legs| legs.iter().try_fold(0.0, add)),
            leg: leg.map(|leg| Leg { number: leg.leg.unwrap_or(1), name: leg.ends() }),
        }
    }
}
