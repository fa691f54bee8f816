//! Explanations of a run's speed in sentences: how long each cause limited a sender, losses, queues, window and BDP.

mod sentences;

use crate::numbers::{count, percent, rate};
use crate::summary::{Flow, Link, UDP};
use crate::words::listed;
use sentences::{held, of_flow, of_its_path};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of flows with separate explanations.
const FLOWS: usize = 6;
/// Minimum utilisation of a link that counts as full.
const FULL: f64 = 0.9;

/// Explanation of a run's speed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Summary of the run in one sentence.
    pub headline: String,
    /// Names of the flows, slowest first, each with the sentences about it.
    pub flows: Vec<(String, Vec<String>)>,
}

/// The parts of a summary that an account and a timeline use.
#[derive(Clone, Debug, Deserialize)]
pub struct AccountInput {
    pub(crate) flows: Vec<Flow>,
    #[serde(default)]
    pub(crate) legs: Vec<Flow>,
    pub(crate) links: Vec<Link>,
    pub(crate) simulated_s: f64,
}

/// Recorded data of one sender.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct SenderRecords {
    /// Trace of the sender; `None` if there is none.
    trace: Option<Trace>,
    /// Number of packets dropped on their path to the receiver, by link and cause, the most frequent first; `None` if
    /// drops were not recorded.
    drops: Option<Vec<(String, String, u64)>>,
}

/// The trace of a sender.
#[derive(Clone, Debug, Deserialize)]
pub struct Trace {
    /// Payload sent for the first time, up to the last row of the trace, in bytes.
    sent_bytes: f64,
    /// Rows of the trace where the window reached a new maximum: time in seconds, arrived payload in bytes, window in
    /// segments.
    highest: Vec<(f64, f64, f64)>,
}

/// A sender that is explained in an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sender {
    /// Name of the flow.
    pub flow: String,
    /// Index of the leg if proxies split the flow, starting at 1.
    pub leg: Option<u32>,
}

/// Returns the senders of the slowest TCP flows: those that an account explains, and whose recorded data it requires.
pub fn told_senders(run: &AccountInput) -> Vec<Sender> {
    let facts = AccountFacts::of(run);
    let slowest = facts.slowest();
    slowest.iter().map(|flow| Sender { flow: flow.name.clone(), leg: facts.sender(flow).leg }).collect()
}

/// Returns the explanation of a run's speed. `recorded` has the data of each of [`told_senders`], in the same order;
/// parts that were not recorded are `None`.
pub fn account(run: &AccountInput, recorded: &[SenderRecords]) -> Account {
    let facts = AccountFacts::of(run);
    if facts.flows.is_empty() {
        return Account { headline: format!("No TCP flow; {} datagram flows.", run.flows.len()), flows: vec![] };
    }
    let nothing = SenderRecords::default();
    let of_flow =
        |(at, flow): (usize, &&Flow)| (flow.name.clone(), of_flow(flow, recorded.get(at).unwrap_or(&nothing), &facts));
    Account { headline: facts.headline(), flows: facts.slowest().iter().enumerate().map(of_flow).collect() }
}

/// Returns a sentence without a full stop about what limited the slowest flow; `None` if no flow started.
pub fn limit(run: &AccountInput) -> Option<String> {
    let facts = AccountFacts::of(run);
    let slowest = *facts.slowest().first()?;
    (facts.reason(slowest) != Reason::Nothing).then(|| format!("{}: {}", slowest.name, facts.main_reason(slowest)))
}

/// Reason for the speed of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// The slowest link was full.
    Path,
    /// The flow was aborted.
    Failure,
    /// The flow did not start, or no cause limited it.
    Nothing,
    /// The sender was limited longest by the cause with this name.
    Limit(&'static str),
}

impl Reason {
    /// Returns the predicate of a sentence about several flows, such as "were aborted".
    fn of_many(self) -> &'static str {
        match self {
            Self::Path => "met a slowest link that was full",
            Self::Failure => "were aborted",
            Self::Limit("cwnd") => "were limited most by the congestion window",
            Self::Limit("rwnd") => "were limited most by the receive window",
            Self::Limit("application") => "waited most for their application",
            Self::Limit("pacing") => "were limited most by pacing",
            Self::Limit("recovery") => "spent most of their time on repairs",
            Self::Limit("timeout") => "spent most of their time on timeouts",
            Self::Limit("handshake") => "waited most for their handshake",
            Self::Limit("amplification") => "were limited most by the anti-amplification limit",
            Self::Limit("stream limit") => "were limited most by the limit of open streams",
            Self::Limit("connection credit") => "were limited most by the credit of the connection",
            Self::Limit("stream credit") => "were limited most by the credit of streams",
            Self::Limit("send buffer") => "were limited most by the send buffer",
            Self::Limit("idle") => "were idle most of the time",
            Self::Nothing | Self::Limit(_) => "did not start",
        }
    }
}

/// Facts that the sentences look up.
struct AccountFacts<'a> {
    run: &'a AccountInput,
    /// TCP flows.
    flows: Vec<&'a Flow>,
    links: BTreeMap<&'a str, &'a Link>,
    legs: BTreeMap<&'a str, Vec<&'a Flow>>,
}

impl<'a> AccountFacts<'a> {
    fn of(run: &'a AccountInput) -> Self {
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

    /// Returns the sender to explain: the sender of the longest leg if proxies split the flow.
    fn sender(&self, flow: &'a Flow) -> &'a Flow {
        self.legs.get(flow.name.as_str()).and_then(|legs| crate::summary::longest_leg(legs)).unwrap_or(flow)
    }

    fn is_split(&self, flow: &Flow) -> bool {
        self.legs.contains_key(flow.name.as_str())
    }

    /// Returns the slowest link on the path of a flow.
    fn link(&self, flow: &Flow) -> Option<&'a Link> {
        self.links.get(flow.bottleneck.as_deref()?).copied()
    }

    /// Returns the rate of the slowest link on the path, if it is constant.
    fn capacity_bps(&self, flow: &Flow) -> Option<f64> {
        self.link(flow)?.rate_bps.filter(|rate| *rate != 0.0)
    }

    /// Returns true if the slowest link on the path transmitted nearly all of the time.
    fn is_full(&self, flow: &Flow) -> bool {
        self.utilisation(flow) >= FULL
    }

    fn utilisation(&self, flow: &Flow) -> f64 {
        self.link(flow).map_or(0.0, |link| link.utilisation)
    }

    fn reason(&self, flow: &'a Flow) -> Reason {
        let limited = self.sender(flow).limits();
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
            Reason::Failure => format!("it was aborted ({})", flow.failure().unwrap_or_default()),
            Reason::Path => {
                let utilisation = percent(self.utilisation(flow), 0);
                format!("the path limited it, and the link transmitted {utilisation} of the time")
            }
            Reason::Nothing => "it did not start".to_owned(),
            Reason::Limit(limit) => {
                let share = self.sender(flow).limits().share_of(limit);
                format!("for {} of its time {}", percent(share, 0), held(limit))
            }
        }
    }
}
