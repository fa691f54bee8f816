//! A run with its agents, from one monitor interval to the next.

use crate::interval::{Feature, Interval};
use crate::reward::Reward;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_sim::{FlowIndex, Observed, RunResult, Simulation};

/// Limits of the window and the rate that an agent can set: at least two segments (RFC 5681 section 3.1), at most 10 GB
/// and 1 Tbit/s.
const LEAST_SEGMENTS: f64 = 2.0;
const LARGEST_WINDOW: f64 = 1e10;
const LARGEST_RATE: f64 = 1.25e11;

/// Window of a sender whose agent sets the rate, as a multiple of the rate times the round-trip time. With a factor of
/// 2, the rate limits the sender, unless no ACKs arrive for a round trip. BBR has the same factor (draft-ietf-ccwg-bbr
/// section 5.6.4.2).
const WINDOWS: f64 = 2.0;

/// Round-trip time in seconds that is assumed before the first measurement.
const UNKNOWN_RTT: f64 = 0.1;

/// Quantity that agents change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The congestion window; departures follow the ACK clock.
    Window,
    /// The pacing rate.
    Rate,
}

/// Length of a monitor interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum IntervalLength {
    /// Number of round trips. A round trip is the mean round-trip time of the last interval; with several agents, it is
    /// the minimum of their means.
    Rtts(f64),
    /// Fixed time.
    Time(Duration),
}

/// Actions, observations and rewards of agents.
#[derive(Clone, Debug)]
pub struct Task {
    /// Quantity that the agents change.
    pub action: Action,
    /// Length of a step.
    pub length: IntervalLength,
    /// Reward of an agent; if omitted, the reward is 0.
    pub reward: Option<Reward>,
    /// Number of steps in an episode.
    pub steps: u32,
    /// Features that an agent observes for each interval.
    pub features: Vec<&'static Feature>,
    /// Number of intervals in an observation; the newest comes last.
    pub history: usize,
}

impl Task {
    /// Returns the number of values in an observation.
    pub fn width(&self) -> usize {
        self.features.len() * self.history
    }
}

/// An episode: a run with its agents.
pub struct Episode {
    simulation: Simulation,
    agents: Vec<Agent>,
    taken: u32,
    /// Whether the run continues.
    goes_on: bool,
}

/// An agent, and the flow that it controls.
#[derive(Clone, Debug)]
pub struct Agent {
    flow: FlowIndex,
    /// Window in bytes and rate in bytes per second that the agent set last; `None` before the flow starts to send.
    set: Option<Set>,
    /// Data of the last interval.
    pub interval: Interval,
    /// Observation of the agent.
    pub observation: Vec<f32>,
    /// Reward for the last interval.
    pub reward: f64,
    /// Whether the transfer of the agent has been completed, or has failed.
    pub is_over: bool,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    window: f64,
    rate: f64,
    /// Mean round-trip time of the last interval in seconds.
    rtt: f64,
    /// End of the sent data, and number of retransmitted segments, at the start of the interval.
    sent: u64,
    retransmitted: u64,
}

impl Episode {
    /// Starts a run and advances it until the first agent starts to send.
    ///
    /// # Errors
    /// If a name in `flows` is not the name of a flow, or if the run ends before one of these flows starts to send.
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
                    "the run ends before a steered flow starts to send ({}); it must be a TCP flow with congestion = \
                     \"steered\" that starts within the duration",
                    flows.join(", ")
                ));
            }
        }
        Ok(Self { simulation, agents, taken: 0, goes_on: true })
    }

    /// Returns the agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Returns true if the episode ends although agents could continue: after its number of steps, or at the end of the
    /// run.
    pub fn is_truncated(&self, task: &Task) -> bool {
        self.taken >= task.steps || !self.goes_on
    }

    /// Returns true if no agent continues.
    pub fn has_ended(&self, task: &Task) -> bool {
        self.is_truncated(task) || self.agents.iter().all(|agent| agent.is_over)
    }

    /// Returns the results of the run so far.
    pub fn finish(self) -> RunResult {
        self.simulation.finish()
    }

    /// Multiplies the window or rate of each agent by its factor, and advances the run by an interval.
    pub fn step(&mut self, task: &Task, factors: &[f64]) {
        for (agent, factor) in self.agents.iter_mut().zip(factors) {
            agent.act(task, &mut self.simulation, *factor);
        }
        let length = match task.length {
            IntervalLength::Time(time) => time,
            IntervalLength::Rtts(count) => {
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
    /// Takes control of the agent's flow, if the flow has started to send. Returns true if it has.
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

    /// Appends the features of the last interval to the observation, which drops its oldest interval.
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

    /// Evaluates the interval that has just ended.
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

/// Returns the data of an interval that follows `last`.
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
