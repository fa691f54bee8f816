//! Why a run was as fast as it was, in sentences: where the time of each sender went, losses, queues, window and BDP.

mod sentences;

use crate::numbers::{count, percent, rate};
use crate::summary::{Flow, Link, UDP};
use crate::words::listed;
use sentences::{held, of_flow, of_its_path};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Flows that have an account of their own.
const FLOWS: usize = 6;
/// The share of the time from which on a link is called full.
const FULL: f64 = 0.9;

/// The account of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// The run in a sentence.
    pub headline: String,
    /// The names of flows, the slowest first, each with its sentences.
    pub flows: Vec<(String, Vec<String>)>,
}

/// The parts of a summary that an account reads.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    flows: Vec<Flow>,
    #[serde(default)]
    legs: Vec<Flow>,
    links: Vec<Link>,
    simulated_s: f64,
}

/// What was recorded of a sender.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Recorded {
    /// Its trace; `None` if there is none.
    trace: Option<Trace>,
    /// Dropped packets on their way to the receiver by link and cause, the most frequent kind first; `None` if drops were
    /// not recorded.
    drops: Option<Vec<(String, String, u64)>>,
}

/// The trace of a sender.
#[derive(Clone, Debug, Deserialize)]
pub struct Trace {
    /// Payload sent for the first time by its last row.
    sent_bytes: f64,
    /// Rows in which the window was larger than ever before: time in seconds, payload that had arrived, segments.
    highest: Vec<(f64, f64, f64)>,
}

/// A sender that an account tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sender {
    /// Name of its flow.
    pub flow: String,
    /// Number of its leg, if proxies split the flow.
    pub leg: Option<u32>,
}

/// The senders that the account of a run tells of, of which it needs what was recorded: those of the slowest flows of TCP.
pub fn told_senders(run: &Run) -> Vec<Sender> {
    let facts = Facts::of(run);
    let slowest = facts.slowest();
    slowest.iter().map(|flow| Sender { flow: flow.name.clone(), leg: facts.sender(flow).leg }).collect()
}

/// Why a run was as fast as it was. `recorded` is in the order of [`told_senders`]; what is missing there was not recorded.
pub fn account(run: &Run, recorded: &[Recorded]) -> Account {
    let facts = Facts::of(run);
    if facts.flows.is_empty() {
        return Account { headline: format!("No flow of TCP; {} flows of datagrams.", run.flows.len()), flows: vec![] };
    }
    let nothing = Recorded::default();
    let of_flow =
        |(at, flow): (usize, &&Flow)| (flow.name.clone(), of_flow(flow, recorded.get(at).unwrap_or(&nothing), &facts));
    Account { headline: facts.headline(), flows: facts.slowest().iter().enumerate().map(of_flow).collect() }
}

/// What held a flow back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// Its slowest link was full.
    Path,
    /// It was given up.
    Failure,
    /// It did not start.
    Nothing,
    /// A limit of its sender.
    Limit(&'static str),
}

impl Reason {
    /// What is said of many flows.
    fn of_many(self) -> &'static str {
        match self {
            Self::Path => "met a slowest link that was full",
            Self::Failure => "were given up",
            Self::Limit("cwnd") => "were held back most by the congestion window",
            Self::Limit("rwnd") => "were held back most by the receiver's window",
            Self::Limit("application") => "waited most for their application",
            Self::Limit("pacing") => "were held back most by pacing",
            Self::Limit("recovery") => "spent most of their time on repairs",
            Self::Limit("timeout") => "spent most of their time on timeouts",
            Self::Nothing | Self::Limit(_) => "did not start",
        }
    }
}

/// The facts that the sentences look up.
struct Facts<'a> {
    run: &'a Run,
    /// The flows of TCP.
    flows: Vec<&'a Flow>,
    links: BTreeMap<&'a str, &'a Link>,
    legs: BTreeMap<&'a str, Vec<&'a Flow>>,
}

impl<'a> Facts<'a> {
    fn of(run: &'a Run) -> Self {
        Self {
            run,
            flows: run.flows.iter().filter(|flow| flow.congestion != UDP).collect(),
            links: run.links.iter().map(|link| (link.name.as_str(), link)).collect(),
            legs: crate::summary::legs_of(&run.legs),
        }
    }

    fn slowest(&self) -> Vec<&'a Flow> {
        let mut flows = self.flows.clone();
        flows.sort_by(|a, b| a.goodput_bps.total_cmp(&b.goodput_bps));
        flows.truncate(FLOWS);
        flows
    }

    /// The sender whose account counts: that of the longest leg where proxies split a flow.
    fn sender(&self, flow: &'a Flow) -> &'a Flow {
        self.legs.get(flow.name.as_str()).and_then(|legs| crate::summary::longest_leg(legs)).unwrap_or(flow)
    }

    fn is_split(&self, flow: &Flow) -> bool {
        self.legs.contains_key(flow.name.as_str())
    }

    /// The slowest link on the way of a flow.
    fn link(&self, flow: &Flow) -> Option<&'a Link> {
        self.links.get(flow.bottleneck.as_deref()?).copied()
    }

    /// Rate of the slowest link on the way, if it has a constant one.
    fn capacity_bps(&self, flow: &Flow) -> Option<f64> {
        self.link(flow)?.rate_bps.filter(|rate| *rate != 0.0)
    }

    /// Whether the slowest link on the way transmitted nearly all of the time.
    fn is_full(&self, flow: &Flow) -> bool {
        self.utilisation(flow) >= FULL
    }

    fn utilisation(&self, flow: &Flow) -> f64 {
        self.link(flow).map_or(0.0, |link| link.utilisation)
    }

    fn reason(&self, flow: &'a Flow) -> Reason {
        let limited = &self.sender(flow).limited_s;
        if flow.failure().is_some() {
            Reason::Failure
        } else if self.is_full(flow) {
            Reason::Path
        } else if limited.total() > 0.0 {
            Reason::Limit(limited.longest_first()[0].0)
        } else {
            Reason::Nothing
        }
    }

    fn headline(&self) -> String {
        if let [flow] = self.flows[..] {
            return format!("{} reached {}: {}.", flow.name, of_its_path(flow, self), self.main_reason(flow));
        }
        let mut counts: Vec<(Reason, u64)> = Vec::new();
        for reason in self.flows.iter().map(|flow| self.reason(flow)) {
            match counts.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, count)) => *count += 1,
                None => counts.push((reason, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let all = counts.len() == 1;
        let part = |(reason, count): &(Reason, u64)| {
            format!("{} {}", if all { "all".to_owned() } else { count.to_string() }, reason.of_many())
        };
        let parts: Vec<String> = counts.iter().map(part).collect();
        let rates = || self.flows.iter().map(|flow| flow.goodput_bps);
        format!(
            "{} flows reached {} to {}: {}.",
            count(self.flows.len() as u64),
            rate(rates().fold(f64::INFINITY, f64::min)),
            rate(rates().fold(f64::NEG_INFINITY, f64::max)),
            listed(&parts)
        )
    }

    fn main_reason(&self, flow: &'a Flow) -> String {
        match self.reason(flow) {
            Reason::Failure => format!("it was given up ({})", flow.failure().unwrap_or_default()),
            Reason::Path => {
                let utilisation = percent(self.utilisation(flow), 0);
                format!("the path was the limit, the link transmitted {utilisation} of the time")
            }
            Reason::Nothing => "it did not start".to_owned(),
            Reason::Limit(limit) => {
                let limited = &self.sender(flow).limited_s;
                let share = limited.share_of(limit);
                format!("for {} of its time {}", percent(share, 0), held(limit))
            }
        }
    }
}
