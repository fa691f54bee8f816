//! A run with its agents, from one monitor interval to the next.

use crate::interval::{Feature, Interval};
use crate::reward::Reward;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_sim::{FlowIndex, Observed, RunResult, Simulation};

/// The least and the largest window and rate that an agent can set: two segments (RFC 5681 section 3.1), 10 GB and 1 Tbit/s.
const LEAST_SEGMENTS: f64 = 2.0;
const LARGEST_WINDOW: f64 = 1e10;
const LARGEST_RATE: f64 = 1.25e11;

/// The window of a sender with a rate, in products of rate and round trip: the rate limits, until ACKs are missing for a round trip. BBR
/// has the same factor (draft-ietf-ccwg-bbr section 5.6.4.2).
const WINDOWS: f64 = 2.0;

/// The round trip that is assumed before one was measured.
const UNKNOWN_RTT: f64 = 0.1;

/// The quantity that agents change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The congestion window; the ACK clock paces.
    Window,
    /// The pacing rate.
    Rate,
}

/// The length of a monitor interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Length {
    /// So many round trips: the mean of the last interval, of several agents the shortest.
    Rtts(f64),
    /// A time.
    Time(Duration),
}

/// What agents do and see.
#[derive(Clone, Debug)]
pub struct Task {
    /// The quantity that they change.
    pub action: Action,
    /// The length of a step.
    pub length: Length,
    /// Their reward; without one it is 0.
    pub reward: Option<Reward>,
    /// Steps of an episode.
    pub steps: u32,
    /// Their observation of an interval.
    pub features: Vec<&'static Feature>,
    /// Intervals of an observation, the newest last.
    pub history: usize,
}

impl Task {
    /// Numbers of an observation.
    pub fn width(&self) -> usize {
        self.features.len() * self.history
    }
}

/// A run with its agents.
pub struct Episode {
    simulation: Simulation,
    agents: Vec<Agent>,
    taken: u32,
    /// Whether the run goes on.
    goes_on: bool,
}

/// An agent, which steers a flow.
#[derive(Clone, Debug)]
pub struct Agent {
    flow: FlowIndex,
    /// The window in bytes, and the rate in bytes a second, that it set last; None before the flow starts to send.
    set: Option<Set>,
    /// The last interval.
    pub interval: Interval,
    /// Its observation.
    pub observation: Vec<f32>,
    /// The reward for the last interval.
    pub reward: f64,
    /// Whether its transfer has arrived, or has failed.
    pub is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    window: f64,
    rate: f64,
    /// The mean round trip of the last interval in seconds.
    rtt: f64,
    /// The end of the data sent, and the segments sent again, before the interval.
    sent: u64,
    retransmitted: u64,
}

impl Episode {
    /// Starts a run, and lets it go on until the first agent starts to send.
    ///
    /// # Errors
    /// If the run ends before, or if a name is not that of a flow.
    pub fn start(task: &Task, mut simulation: Simulation, flows: &[String]) -> Result<Self, String> {
        let names = simulation.flow_names();
        let agent = |name: &String| {
            let flow = names.iter().position(|other| other == name);
            let flow = flow.ok_or_else(|| format!("no flow \"{name}\"; there are {}", names.join(", ")))?;
            let observation = vec![0.0; task.width()];
            let interval = Interval::default();
            Ok(Agent { flow: FlowIndex(flow as u32), set: None, interval, observation, reward: 0.0, is_over: false })
        };
        let mut agents: Vec<Agent> = flows.iter().map(agent).collect::<Result<_, String>>()?;
        let end = simulation.progress().end;
        while !agents.iter_mut().any(|agent| agent.meet(task, &mut simulation)) {
            if !simulation.step(end, 1) {
                return Err(format!(
                    "the run ends before a flow that is steered starts to send ({}); it must be a flow of TCP with \
                     congestion = \"steered\" that starts within the duration",
                    flows.join(", ")
                ));
            }
        }
        Ok(Self { simulation, agents, taken: 0, goes_on: true })
    }

    /// Its agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Whether it ends here although agents could go on: by its steps, or by the duration of the run.
    pub fn is_truncated(&self, task: &Task) -> bool {
        self.taken >= task.steps || !self.goes_on
    }

    /// Whether no agent goes on.
    pub fn has_ended(&self, task: &Task) -> bool {
        self.is_truncated(task) || self.agents.iter().all(|agent| agent.is_over)
    }

    /// The results of the run so far.
    pub fn finish(self) -> RunResult {
        self.simulation.finish()
    }

    /// Lets agents multiply their window or rate by `factors`, and time pass for an interval.
    pub fn step(&mut self, task: &Task, factors: &[f64]) {
        for (agent, factor) in self.agents.iter_mut().zip(factors) {
            agent.act(task, &mut self.simulation, *factor);
        }
        let length = match task.length {
            Length::Time(time) => time,
            Length::Rtts(count) => {
                let rtts = self.agents.iter().filter_map(|agent| agent.set.filter(|_| !agent.is_over));
                let shortest = rtts.map(|set| set.rtt).fold(f64::INFINITY, f64::min);
                Duration::from_secs_f64(count * if shortest.is_finite() { shortest } else { UNKNOWN_RTT })
            }
        };
        let start = self.simulation.progress().now;
        self.goes_on = self.simulation.step_until(start + length);
        let now = self.simulation.progress().now;
        self.taken += 1;
        for agent in &mut self.agents {
            agent.look(task, &mut self.simulation, start, now);
        }
    }
}

impl Agent {
    /// Takes over its flow, if that has started to send. Returns whether it has.
    fn meet(&mut self, task: &Task, simulation: &mut Simulation) -> bool {
        let Some(observed) = simulation.observe(self.flow) else { return false };
        let sender = &observed.sender;
        let rtt = Some(sender.srtt.as_secs_f64()).filter(|rtt| *rtt > 0.0).unwrap_or(UNKNOWN_RTT);
        let window = sender.cwnd as f64;
        let (sent, retransmitted) = (sender.snd_nxt, observed.retransmitted);
        self.set = Some(Set { window, rate: window / rtt, rtt, sent, retransmitted });
        self.interval = Interval {
            time: simulation.progress().now.as_secs_f64(),
            rtt,
            min_rtt: rtt,
            window,
            segment: sender.segment_size as f64,
            ..Interval::default()
        };
        self.act(task, simulation, 1.0);
        self.show(task);
        true
    }

    /// Appends the last interval to the observation.
    fn show(&mut self, task: &Task) {
        let count = task.features.len();
        self.observation.copy_within(count.., 0);
        let newest = self.observation.len() - count;
        for (place, feature) in self.observation[newest..].iter_mut().zip(&task.features) {
            *place = feature.of(&self.interval) as f32;
        }
    }

    fn act(&mut self, task: &Task, simulation: &mut Simulation, factor: f64) {
        let Some(set) = &mut self.set else { return };
        let segment = self.interval.segment;
        match task.action {
            Action::Window => {
                set.window = (set.window * factor).clamp(LEAST_SEGMENTS * segment, LARGEST_WINDOW);
                simulation.steer(self.flow, set.window as u64, None);
            }
            Action::Rate => {
                set.rate = (set.rate * factor).clamp(LEAST_SEGMENTS * segment / set.rtt, LARGEST_RATE);
                set.window = (WINDOWS * set.rate * set.rtt).max(2.0 * LEAST_SEGMENTS * segment);
                let rate = Rate::from_bps((8.0 * set.rate) as u64);
                simulation.steer(self.flow, set.window.min(LARGEST_WINDOW) as u64, rate);
            }
        }
    }

    /// Looks at the interval that has passed.
    fn look(&mut self, task: &Task, simulation: &mut Simulation, start: Instant, now: Instant) {
        if self.is_over || self.set.is_none() && !self.meet(task, simulation) {
            return;
        }
        let (Some(set), Some(observed)) = (&mut self.set, simulation.observe(self.flow)) else { return };
        let interval = &mut self.interval;
        *interval = of_interval(interval, set, &observed);
        (interval.time, interval.length) = (now.as_secs_f64(), now.since(start).as_secs_f64());
        interval.peak = interval.peak.max(interval.delivery_rate());
        if task.action == Action::Rate {
            interval.pacing_rate = set.rate;
        }
        (set.sent, set.retransmitted) = (observed.sender.snd_nxt, observed.retransmitted);
        set.rtt = interval.rtt;
        self.is_over = observed.is_over;
        self.reward = task.reward.map_or(0.0, |reward| reward.of(interval));
        self.show(task);
    }
}

/// The sums of an interval, after `last`.
fn of_interval(last: &Interval, set: &Set, observed: &Observed) -> Interval {
    let Observed { report, sender, retransmitted, .. } = observed;
    let segment = sender.segment_size as f64;
    let again = (retransmitted - set.retransmitted) as f64 * segment;
    let min_rtt = sender.min_rtt.as_secs_f64();
    Interval {
        sent: (sender.snd_nxt - set.sent) as f64 + again,
        delivered: report.delivered as f64,
        lost: report.lost as f64,
        marked: report.marked as f64,
        timeouts: report.timeouts as f64,
        rtt: report.mean_rtt().unwrap_or(last.rtt),
        min_rtt: if sender.srtt.is_zero() { 0.0 } else { min_rtt },
        rtt_gradient: report.rtt_gradient(),
        inflight: sender.inflight as f64,
        window: sender.cwnd as f64,
        segment,
        ..*last
    }
}
