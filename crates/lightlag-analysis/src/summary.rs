//! Parts of a summary, as far as an analysis reads them. `docs/results.md` explains the keys.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The congestion control of flows of datagrams.
pub const UDP: &str = "udp";

/// A flow, or a leg of one that proxies split.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Flow {
    /// Its name; empty for a leg.
    #[serde(default)]
    pub name: String,
    /// The flow of which this is a leg.
    pub flow: Option<String>,
    /// Number of the leg, from 1 on.
    pub leg: Option<u32>,
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// Its congestion control.
    pub congestion: String,
    /// The slowest link direction on its way, if that stays the same.
    pub bottleneck: Option<String>,
    /// When it started; `None` for a leg that did not.
    pub start_s: Option<f64>,
    /// Why it was given up.
    failure: Option<String>,
    /// Its mean goodput.
    pub goodput_bps: f64,
    /// When it finished; `None` if it did not.
    pub finish_s: Option<f64>,
    /// Payload that arrived.
    #[serde(default)]
    pub delivered_bytes: u64,
    /// Segments or datagrams with payload that were sent, copies included.
    #[serde(default)]
    pub sent_segments: u64,
    /// Segments of them that had been sent before.
    #[serde(default)]
    pub retransmitted_segments: u64,
    /// Expirations of its retransmission timer.
    #[serde(default)]
    pub timeouts: u64,
    /// Fast recoveries.
    #[serde(default)]
    pub recoveries: u64,
    /// The smallest of its round-trip samples.
    min_rtt_s: Option<f64>,
    /// Mean of its round-trip samples.
    pub mean_rtt_s: Option<f64>,
    /// Mean congestion window over time.
    #[serde(default)]
    pub mean_cwnd_segments: f64,
    /// What limited its sender, and for how long.
    #[serde(default)]
    pub limited_s: Limited,
    /// What became of its datagrams, if it sends some.
    pub datagrams: Option<Datagrams>,
    /// What became of the messages of a sink.
    pub messages: Option<Messages>,
    /// Its responses.
    pub responses: Option<Pages>,
    /// Its pages.
    pub pages: Option<Pages>,
    /// Signals to its ends.
    pub signals: Option<Signals>,
}

impl Flow {
    /// Whether it sends datagrams without a connection.
    pub fn is_datagrams(&self) -> bool {
        self.datagrams.is_some()
    }

    /// When it started; a leg that did not starts with the run.
    pub fn start(&self) -> f64 {
        self.start_s.unwrap_or(0.0)
    }

    /// Why it was given up, if it was.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref().filter(|failure| !failure.is_empty())
    }

    /// The smallest of its round-trip samples, if it has some.
    pub fn min_rtt(&self) -> Option<f64> {
        self.min_rtt_s.filter(|rtt| *rtt != 0.0)
    }

    /// The nodes that it joins.
    pub fn ends(&self) -> String {
        format!("{}->{}", self.from, self.to)
    }
}

/// The legs of each flow that proxies split, by its name, in the order of the hops.
pub fn legs_of(legs: &[Flow]) -> BTreeMap<&str, Vec<&Flow>> {
    let mut found: BTreeMap<&str, Vec<&Flow>> = BTreeMap::new();
    for leg in legs {
        found.entry(leg.flow.as_deref().unwrap_or("")).or_default().push(leg);
    }
    found
}

/// The leg with the largest round trip, the first of equal ones: behind a proxy beside a satellite, that of the satellite.
pub fn longest_leg<'a>(legs: &[&'a Flow]) -> Option<&'a Flow> {
    let rtt = |leg: &Flow| leg.min_rtt_s.unwrap_or(0.0);
    legs.iter().copied().reduce(|longest, leg| if rtt(leg) > rtt(longest) { leg } else { longest })
}

/// The share of segments with payload that had been sent before; `None` if none were sent.
pub fn retransmitted_share<'a>(senders: impl IntoIterator<Item = &'a Flow>) -> Option<f64> {
    let (mut again, mut sent) = (0, 0);
    for sender in senders {
        again += sender.retransmitted_segments;
        sent += sender.sent_segments;
    }
    (sent > 0).then(|| again as f64 / sent as f64)
}

/// Seconds for which each cause limited a sender.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Limited {
    cwnd: f64,
    /// The receiver's window.
    pub rwnd: f64,
    /// The application.
    pub application: f64,
    pacing: f64,
    recovery: f64,
    timeout: f64,
}

impl Limited {
    /// Each cause with its seconds.
    pub fn parts(&self) -> [(&'static str, f64); 6] {
        [
            ("cwnd", self.cwnd),
            ("rwnd", self.rwnd),
            ("application", self.application),
            ("pacing", self.pacing),
            ("recovery", self.recovery),
            ("timeout", self.timeout),
        ]
    }

    /// Each cause with its seconds, the longest first; equal ones keep their order.
    pub fn longest_first(&self) -> [(&'static str, f64); 6] {
        let mut parts = self.parts();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts
    }

    /// The share of a cause in all of the time.
    pub fn share_of(&self, cause: &str) -> f64 {
        let seconds = self.parts().into_iter().find(|(name, _)| *name == cause).map_or(0.0, |(_, seconds)| seconds);
        seconds / self.total()
    }

    /// Seconds of all causes together.
    pub fn total(&self) -> f64 {
        self.parts().iter().fold(0.0, |sum, (_, seconds)| sum + seconds)
    }
}

/// Losses and delays of a flow's datagrams.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Datagrams {
    /// Datagrams that did not arrive.
    pub lost: u64,
    /// Mean delay of those that did.
    pub mean_delay_s: Option<f64>,
    /// The delay that 95 % of them stay below.
    pub p95_delay_s: Option<f64>,
}

/// Losses and delays of the messages of a sink.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Messages {
    /// Messages that were sent.
    pub sent: u64,
    /// Messages that the network lost.
    pub lost: u64,
    /// Messages that a full buffer dropped.
    pub dropped: u64,
    /// Mean delay of those that arrived.
    pub mean_delay_s: Option<f64>,
    /// The delay that 95 % of them stay below.
    pub p95_delay_s: Option<f64>,
}

/// Responses, or pages.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Pages {
    /// Those that were complete.
    pub count: u64,
    /// Their mean time.
    pub mean_s: Option<f64>,
    /// The time that 95 % of them stay below.
    pub p95_s: Option<f64>,
}

/// Signals to the ends of a flow.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Signals {
    /// Signals that were sent through the network.
    pub sent: u64,
    /// Signals of them that arrived and were heeded.
    pub received: u64,
    /// Signals from an end's own node.
    pub local: u64,
}

/// A direction of a link.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its rate, if that is constant.
    pub rate_bps: Option<f64>,
    /// Bytes that it transmitted.
    pub carried_bytes: u64,
    /// Share of the run in which it transmitted.
    pub utilisation: f64,
    /// Packets that its queue had no room for.
    pub dropped_queue: u64,
    /// Packets that errors destroyed.
    pub dropped_error: u64,
    /// Packets that its queue discipline dropped early.
    #[serde(default)]
    pub dropped_aqm: u64,
    /// Packets that an outage destroyed.
    #[serde(default)]
    pub dropped_outage: u64,
    /// ACKs that were thinned out.
    #[serde(default)]
    pub dropped_acks: u64,
    /// Packets for which there was no way.
    #[serde(default)]
    pub dropped_route: u64,
    /// Packets that were sent another way.
    #[serde(default)]
    pub withdrawn: u64,
    /// Packets with a congestion mark.
    #[serde(default)]
    pub marked: u64,
    /// Packets that arrived twice.
    #[serde(default)]
    pub duplicated: u64,
    /// Packets that were delayed beyond later ones.
    #[serde(default)]
    pub reordered: u64,
    /// Packets of forward error correction.
    #[serde(default)]
    pub repair_packets: u64,
    /// Packets that forward error correction restored.
    #[serde(default)]
    pub repaired: u64,
    /// Mean length of its queue over time.
    pub mean_queue_packets: f64,
    /// Maximum length of its queue.
    pub max_queue_packets: u64,
}

impl Link {
    /// Packets that it dropped, for any cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue
            + self.dropped_aqm
            + self.dropped_error
            + self.dropped_outage
            + self.dropped_acks
            + self.dropped_route
    }
}

/// A flow at a proxy.
#[derive(Clone, Debug, Deserialize)]
pub struct Proxy {
    /// Node of the proxy.
    pub node: String,
    /// Name of the flow.
    pub flow: String,
    /// Congestion control of the connection behind it.
    pub congestion: String,
    /// Payload that was acknowledged behind it.
    pub acknowledged_bytes: u64,
    /// Payload that was lost with its memory.
    pub lost_bytes: u64,
    /// Segments with payload that it sent.
    pub sent_segments: u64,
    /// Segments of them that had been sent before.
    pub retransmitted_segments: u64,
    /// Expirations of its retransmission timer.
    pub timeouts: u64,
    /// Its smallest round-trip sample.
    pub min_rtt_s: Option<f64>,
    /// Mean of what it keeps in its buffer.
    pub mean_buffer_bytes: f64,
    /// Most that it kept in its buffer.
    pub max_buffer_bytes: u64,
}

/// A radio interface.
#[derive(Clone, Debug, Deserialize)]
pub struct Radio {
    /// Its name.
    pub name: String,
    /// Name of its medium.
    pub medium: String,
    /// Share of the run in which it transmitted.
    pub utilisation: f64,
    /// Share of the run in which the medium was busy there.
    pub busy: f64,
    /// Frames that it sent.
    pub sent_frames: u64,
    /// A-MPDUs that it sent.
    pub aggregates: u64,
    /// Mean number of frames in them.
    pub mpdus_per_aggregate: Option<f64>,
    /// Mean length of its queue over time.
    pub mean_queue_packets: f64,
    /// Frames that it repeated.
    pub retries: u64,
    /// Frames that collided.
    pub collisions: u64,
    /// Packets that its queue had no room for.
    pub dropped_queue: u64,
    /// Packets that were repeated too often.
    pub dropped_retry: u64,
    /// Packets that waited too long.
    pub dropped_lifetime: u64,
    /// Packets without a route.
    pub dropped_no_route: u64,
    /// Bytes of routing messages that it sent.
    pub routing_bytes: u64,
    /// Links to neighbours that it found broken.
    pub broken_links: u64,
    /// Changes of its routes.
    pub route_changes: u64,
}

impl Radio {
    /// Packets that it dropped, for any cause.
    pub fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_retry + self.dropped_lifetime + self.dropped_no_route
    }
}

/// The way of a flow through a sky over time.
#[derive(Clone, Debug, Deserialize)]
pub struct Way {
    /// Name of the flow.
    pub flow: String,
    /// The smallest of its round-trip samples.
    pub least_rtt_s: Option<f64>,
    /// The largest of its round-trip samples that were recorded.
    pub greatest_rtt_s: Option<f64>,
    /// When its way changed, from the start on.
    pub times_s: Vec<f64>,
    /// Links of the way from each of these times on; 0 for none.
    pub links: Vec<u64>,
    /// When the run ended.
    pub end_s: f64,
}
