//! Warnings of valid settings that affect the result more than a user may expect.
//!
//! Each rule compares a flow or a queue with its path: the round-trip time without queueing, and the bandwidth-delay
//! product at the slowest link. Flows that share a bottleneck are compared with their fair share.

mod access;
mod idle;
mod kind;
mod mtu;
mod netem;
mod outage;
mod phase;
mod prefetch;
mod quic;
mod routers;
mod scps;
mod signals;
mod sky;
mod start;
mod tunnels;
mod wifi;

pub use kind::{Kind, Warning};

use crate::expand::{ConnectionPath, Sizes, flow_path};
use crate::network::{Flow, FlowRole, LinkDirection, Network};
use crate::spec::{Scenario, Transport};
use lightlag_core::{Bytes, Duration, Rate};
use lightlag_net::QueueLimit;
use lightlag_net::queue::{CoDelConfig, DisciplineConfig, FqCoDelConfig, StepConfig};
use lightlag_tcp::Scheme;
use lightlag_tcp::ecn::EcnMode;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum window without window scaling, in bytes (RFC 9293 §3.1: 16 bits).
const UNSCALED: u64 = 65_535;
/// Minimum number of segments in flight for the warning that repairing one loss per round trip takes long.
const MANY_SEGMENTS: u64 = 20;
/// Size of a full packet in bytes.
const FULL_PACKET: u64 = 1500;
/// Minimum useful length of a queue, as a fraction of the bandwidth-delay product.
const SMALL_QUEUE: f64 = 0.1;

/// Warnings found so far: the first warning of each kind, and the number of further flows that it applies to.
#[derive(Default)]
struct Found {
    warnings: Vec<(Warning, u64)>,
    kinds: BTreeMap<Kind, usize>,
}

impl Found {
    fn flow(&mut self, kind: Kind, path: &str, key: &str, message: impl FnOnce() -> String) {
        match self.kinds.get(&kind) {
            Some(at) => self.warnings[*at].1 += 1,
            None => {
                self.kinds.insert(kind, self.warnings.len());
                self.warnings.push((Warning { kind, path: format!("{path}{key}"), message: message() }, 0));
            }
        }
    }

    fn finish(self) -> Vec<Warning> {
        let counted = |(mut warning, more): (Warning, u64)| {
            match more {
                0 => {}
                1 => warning.message.push_str(" (and one more flow)"),
                _ => warning.message.push_str(&format!(" (and {more} more flows)")),
            }
            warning
        };
        self.warnings.into_iter().map(counted).collect()
    }
}

impl Scenario {
    /// Returns a warning for each valid setting with a surprising effect, with its numbers and its effect on the
    /// result.
    pub fn warnings(&self, network: &Network) -> Vec<Warning> {
        let mut findings = Found::default();
        let ways = ways(network);
        let mut sharing = vec![0_u64; network.links.len()];
        let own = network.own_flows().len();
        for way in ways[..own].iter().flatten() {
            sharing[way.bottleneck.0 as usize] += 1;
        }
        for (flow, way) in network.flows.iter().zip(&ways) {
            let Some(way) = way else { continue };
            let path = flow_path(flow);
            let share = Bytes((way.rate * way.round_trip).0 / sharing[way.bottleneck.0 as usize].max(1));
            self.time(network, flow, way, &path, &mut findings);
            mtu::warn(network, flow, way, &path, &mut findings);
            if let Some(ends) = &flow.quic {
                quic::warn(flow, ends, way, share, &path, &mut findings);
            }
            if flow.transport != Transport::Tcp || !flow.traffic.is_bulk() {
                // The application limits it, not the window.
                continue;
            }
            window(flow, way, share, &path, &mut findings);
            start::receive_window(flow, way, share, &path, &mut findings);
            timers(flow, way, &path, &mut findings);
            sack(flow, way, share, &path, &mut findings);
            acks(network, flow, way, &path, &mut findings);
            routers::warn(network, flow, way, &path, &mut findings);
            scps::warn(network, flow, way, &path, &mut findings);
        }
        scps::warn_together(network, &ways, &mut findings);
        self.outages(network, &ways, &mut findings);
        self.stations(network, &mut findings);
        self.queues(network, &ways, &mut findings);
        self.netem(network, &mut findings);
        prefetch::warn(network, &mut findings);
        quic::warn_of_proxies(network, &mut findings);
        tunnels::warn(network, &mut findings);
        self.phases(network, &ways, &mut findings);
        self.idle_keys(network, &mut findings);
        self.airs(network, &mut findings);
        self.accesses(network, &mut findings);
        self.skies(network, &mut findings);
        findings.finish()
    }

    /// Warns of a flow that starts too late, or that cannot finish.
    fn time(&self, network: &Network, flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
        let left = (lightlag_core::Instant::ZERO + self.duration).since(flow.start);
        if left.is_zero() {
            findings.flow(Kind::LateStart, path, ".start", || {
                format!("{} is not before the end of the run at {}: the flow sends nothing", flow.start, self.duration)
            });
            return;
        }
        // A rate that changes may rise.
        let bottleneck = &network.links[way.bottleneck.0 as usize];
        let is_steady = bottleneck.timetable.is_none() && bottleneck.fade.is_none();
        let is_one = !matches!(flow.part, FlowRole::Arrival(_));
        let Some(transfer) = flow.transfer.filter(|_| is_steady && is_one) else { return };
        let min_time = way.rate.time_to_send(transfer) + way.round_trip;
        if min_time > left {
            findings.flow(Kind::UnfinishedTransfer, path, ".transfer", || {
                format!(
                    "{transfer} take at least {} at the {} of the slowest link, and the run ends {} after the flow \
                     starts: it stays unfinished",
                    seconds(min_time),
                    way.rate,
                    seconds(left)
                )
            });
        }
    }

    /// Warns of queues that are too small for the bursts of a window-based sender.
    fn queues(&self, network: &Network, ways: &[Option<ConnectionPath>], findings: &mut Found) {
        let mut crossing: BTreeMap<u32, (Duration, u64)> = BTreeMap::new();
        let mut markable = BTreeSet::new();
        for (flow, way) in network.flows.iter().zip(ways) {
            if let Some(way) = way.as_ref().filter(|_| flow.transport.has_connections()) {
                let (round_trip, packet) = crossing.entry(way.bottleneck.0).or_default();
                *round_trip = way.round_trip.max(*round_trip);
                *packet = Sizes::of_flow(flow, network.ip).segment.0.max(*packet);
                let marks = match &flow.quic {
                    Some(ends) => ends.sender.ecn.is_capable(),
                    None => flow.tcp.ecn != EcnMode::Off,
                };
                if marks {
                    markable.insert(way.bottleneck.0);
                }
            }
        }
        let mut warned = BTreeSet::new();
        for (direction, (round_trip, packet)) in crossing {
            let link = &network.links[direction as usize];
            let path = self.queue_path(direction as usize);
            let unmarked = never_marks(link, markable.contains(&direction));
            for (kind, key, message) in disciplines(link, round_trip).into_iter().chain(unmarked) {
                let path = format!("{path}.{key}");
                if warned.insert(path.clone()) {
                    findings.warnings.push((Warning { kind, path, message }, 0));
                }
            }
            let bdp = link.rate * round_trip;
            let (held, text) = match link.queue {
                QueueLimit::Packets(packets) => (packets.saturating_mul(packet), format!("{packets} packets")),
                QueueLimit::Bytes(bytes) => (bytes, Bytes(bytes).to_string()),
            };
            let share = held as f64 / bdp.0.max(1) as f64;
            if share >= SMALL_QUEUE || !warned.insert(path.clone()) {
                continue;
            }
            let message = format!(
                "{text} on {} hold {} of the bandwidth-delay product of {} ({} × {}): a window that is reduced on a \
                 loss falls far below what the link carries, so one NewReno flow averages about 75 % of the rate and \
                 one CUBIC flow about 92 %, less when slow start bursts overflow it; try \"1 bdp\"",
                link.name,
                percent(share),
                bytes(bdp),
                link.rate,
                seconds(round_trip)
            );
            findings.warnings.push((Warning { kind: Kind::SmallQueue, path, message }, 0));
        }
    }
}

/// Warns of step marking on a link whose flows do not support marks.
fn never_marks(link: &LinkDirection, markable: bool) -> Option<(Kind, &'static str, String)> {
    let is_step = matches!(link.discipline, DisciplineConfig::Step(StepConfig { drop_not_ect: false, .. }));
    (is_step && !markable).then(|| {
        let message = format!(
            "no flow whose slowest link is {} supports marks, so the step never marks and the queue acts as drop-tail; \
             set congestion = \"dctcp\" or tcp = {{ ecn = \"classic\" }}",
            link.name
        );
        (Kind::UnmarkedStep, "discipline", message)
    })
}

/// Warns of parameters of a queue discipline that do not suit the round-trip time. Returns the kind, the key and the
/// message.
fn disciplines(link: &LinkDirection, round_trip: Duration) -> Vec<(Kind, &'static str, String)> {
    let time = seconds(round_trip);
    let name = &link.name;
    let codel = |config: &CoDelConfig| {
        (config.interval < round_trip).then(|| {
            let message = format!(
                "{} on {name} is below the round trip of {time}: CoDel drops again before the sender can react to the \
                 last drop, and the link runs empty; RFC 8289 §4.3 recommends an interval of about the maximum round \
                 trip",
                config.interval
            );
            (Kind::CodelIntervalBelowRtt, "interval", message)
        })
    };
    let finding = match &link.discipline {
        DisciplineConfig::CoDel(config) | DisciplineConfig::FqCoDel(FqCoDelConfig { codel: config, .. }) => {
            codel(config)
        }
        DisciplineConfig::DualPi2(config) if config.max_rtt < round_trip => {
            let message = format!(
                "{} on {name} is below the round trip of {time}: the controller reacts faster than the senders can, \
                 and the queue oscillates; raise it to the maximum round trip",
                config.max_rtt
            );
            Some((Kind::MaxRttBelowRtt, "max_rtt", message))
        }
        DisciplineConfig::Red(config) => {
            let threshold = match config.max_threshold {
                QueueLimit::Packets(packets) => Bytes(packets.saturating_mul(FULL_PACKET)),
                QueueLimit::Bytes(bytes) => Bytes(bytes),
            };
            let bdp = link.rate * round_trip;
            let share = threshold.0 as f64 / bdp.0.max(1) as f64;
            (share < SMALL_QUEUE).then(|| {
                let message = format!(
                    "{} on {name} are {} of the bandwidth-delay product of {} ({} × {time}): RED keeps the average \
                     queue below that, so a window that is reduced falls far below what the link carries; try \
                     max_threshold = \"0.5 bdp\" and a third of it as min_threshold",
                    bytes(threshold),
                    percent(share),
                    bytes(bdp),
                    link.rate
                );
                (Kind::RedBelowBdp, "max_threshold", message)
            })
        }
        _ => None,
    };
    finding.into_iter().collect()
}

/// Returns the path of every flow, computed once for each pair of nodes.
fn ways(network: &Network) -> Vec<Option<ConnectionPath>> {
    let mut known: BTreeMap<(u32, u32, u64), Option<ConnectionPath>> = BTreeMap::new();
    let way = |flow: &Flow| {
        let sizes = Sizes::of_flow(flow, network.ip);
        let key = (flow.from.0, flow.to.0, sizes.segment.0);
        *known.entry(key).or_insert_with(|| ConnectionPath::between(network, flow.from, flow.to, sizes))
    };
    network.flows.iter().map(way).collect()
}

/// Warns of a receive window that is too small for the path, because of its size or for lack of window scaling.
fn window(flow: &Flow, way: &ConnectionPath, share: Bytes, path: &str, findings: &mut Found) {
    let ceiling = |window: u64| {
        let goodput = window as f64 * 8.0 / way.round_trip.as_secs_f64().max(1e-9);
        let rate = Rate::from_bps(goodput as u64).map_or("0 bit/s".to_owned(), |rate| three_digits(rate.as_bps()));
        format!("{rate}, {} of the {} of the slowest link", percent(goodput / way.rate.as_bps() as f64), way.rate)
    };
    let bdp = format!(
        "the bandwidth-delay product{} of {} ({} × {})",
        if share < way.rate * way.round_trip { " (the flow's share)" } else { "" },
        bytes(share),
        way.rate,
        seconds(way.round_trip)
    );
    let (buffer, table) = (flow.receiver_tcp.receive_buffer.0, flow.receiver_table());
    let is_scaled = flow.configs().all(|tcp| tcp.window_scaling);
    if buffer < share.0 {
        findings.flow(Kind::SmallReceiveBuffer, path, &format!(".{table}.receive_buffer"), || {
            let text = Bytes(buffer);
            let reached = if is_scaled { buffer } else { buffer.min(UNSCALED) };
            let reached = ceiling(reached);
            format!("{text} are below {bdp}: goodput cannot exceed window / RTT = {reached}; raise it to the product")
        });
    }
    if !is_scaled && share.0 > UNSCALED {
        let table = if flow.tcp.window_scaling { table } else { "tcp" };
        findings.flow(Kind::NoWindowScaling, path, &format!(".{table}.window_scaling"), || {
            let reached = ceiling(UNSCALED.min(buffer));
            format!(
                "it is off, so the receiver cannot advertise more than 65535 B, below {bdp}: goodput cannot exceed \
                 window / RTT = {reached}; set window_scaling = true"
            )
        });
    }
}

/// Warns of timers that fire before a reply can arrive.
fn timers(flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
    let (rto, round_trip) = (&flow.tcp.rto, way.round_trip);
    if rto.max < round_trip {
        findings.flow(Kind::RtoMaxBelowRtt, path, ".tcp.rto.max", || {
            format!(
                "{} is below the round trip of {}: every segment times out before its ACK can arrive, so the flow \
                 sends everything several times with a window of one segment; raise it well above the round trip",
                rto.max,
                seconds(round_trip)
            )
        });
    } else if rto.syn < round_trip {
        let of_route = flow.tcp.route.is_some_and(|route| route.rto == Some(rto.syn));
        let key = match rto.syn == rto.initial {
            true if of_route => ".tcp.route",
            true => ".tcp.rto.initial",
            false => ".tcp.rto.syn",
        };
        findings.flow(Kind::RtoSynBelowRtt, path, key, || {
            format!(
                "{} is below the round trip of {}: the SYN times out before its reply can arrive and is retransmitted \
                 unnecessarily; after two such retransmissions the flow starts with a window of one segment (RFC 6928 \
                 §2); raise it above the round trip",
                rto.syn,
                seconds(round_trip)
            )
        });
    } else if rto.initial < round_trip {
        findings.flow(Kind::RtoInitialBelowRtt, path, ".tcp.rto.initial", || {
            format!(
                "{} is below the round trip of {}: data sent before the first sample times out before its ACK can \
                 arrive and is retransmitted unnecessarily; raise it above the round trip",
                rto.initial,
                seconds(round_trip)
            )
        });
    }
}

/// Warns of a flow without SACK that has many segments in flight.
fn sack(flow: &Flow, way: &ConnectionPath, share: Bytes, path: &str, findings: &mut Found) {
    let agree_on_sack = flow.configs().all(|tcp| tcp.sack);
    let uses_sack = match flow.tcp.recovery {
        Scheme::Sack | Scheme::Rack | Scheme::Fack => agree_on_sack,
        Scheme::Snack => true,
        Scheme::Reno | Scheme::NewReno => false,
    };
    let buffer = flow.receiver_tcp.receive_buffer.0;
    let window = if flow.configs().all(|tcp| tcp.window_scaling) { buffer } else { UNSCALED.min(buffer) };
    let segments = share.0.min(window) / u64::from(flow.tcp.usual_payload());
    if uses_sack || segments < MANY_SEGMENTS {
        return;
    }
    let key = match (agree_on_sack, flow.tcp.sack) {
        (true, _) => ".tcp.recovery",
        (false, true) => &format!(".{}.sack", flow.receiver_table()),
        (false, false) => ".tcp.sack",
    };
    if start::sack(flow, way, segments, key, path, findings) {
        return;
    }
    findings.flow(Kind::NoSack, path, key, || {
        let repair = way.round_trip * (segments / 2);
        format!(
            "without SACK one lost segment is repaired per round trip of {}, and up to {segments} segments are in \
             flight: when slow start overflows the queue and loses half of them, the repair takes {}; set sack = true \
             and recovery = \"sack\"",
            seconds(way.round_trip),
            seconds(repair)
        )
    });
}

/// Warns of a return path that is too slow for the ACKs.
fn acks(network: &Network, flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
    if flow.receiver_tcp.ack_interval.is_some() {
        return;
    }
    let sizes = Sizes::of(&flow.tcp, network.ip);
    let header = network.links[way.return_bottleneck.0 as usize].header.0;
    let per_ack = flow.receiver_tcp.delayed_ack.map_or(1, |delayed| u64::from(delayed.segments));
    let acks_per_second = way.return_rate.as_bps() as f64 / ((sizes.ack.0 + header) * 8) as f64;
    let ceiling = acks_per_second * (per_ack * sizes.payload * 8) as f64;
    let useful = way.rate.as_bps() as f64 * sizes.payload as f64 / sizes.segment.0 as f64;
    if ceiling < 0.95 * useful {
        let counted = if per_ack == 1 { "each segment".to_owned() } else { format!("every {per_ack} segments") };
        findings.flow(Kind::SlowReturnPath, path, "", || {
            format!(
                "{} carries {:.0} ACKs per second; with one ACK for {counted} they clock out at most {} of data, {} of \
                 the {} of the slowest link, and a queue of ACKs adds its delay to the RTT",
                network.links[way.return_bottleneck.0 as usize].name,
                acks_per_second,
                three_digits(ceiling as u64),
                percent(ceiling / way.rate.as_bps() as f64),
                way.rate
            )
        });
    }
}

/// Formats a time with up to three digits.
fn seconds(time: Duration) -> String {
    let nanos = time.as_nanos();
    Duration::from_nanos(rounded(nanos)).to_string()
}

/// Formats a size with up to three digits.
fn bytes(size: Bytes) -> String {
    Bytes(rounded(size.0)).to_string()
}

/// Formats a rate with up to three digits.
fn three_digits(bps: u64) -> String {
    Rate::from_bps(rounded(bps)).map_or("0 bit/s".to_owned(), |rate| rate.to_string())
}

/// Returns the three leading digits of a number.
fn rounded(number: u64) -> u64 {
    let mut scale = 1;
    while number / scale >= 1000 {
        scale *= 10;
    }
    number.saturating_add(scale / 2) / scale * scale
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        few if few < 1.0 => format!("{few:.2} %"),
        many => format!("{many:.0} %"),
    }
}
