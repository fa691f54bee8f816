//! Warnings of 802.11 media whose nodes reach each other less well than expected.
//!
//! - `sight`: which nodes are connected, at the start and at several times during the run.

mod sight;

use super::{Found, Kind, Warning, percent, seconds};
use crate::expand::flow_path;
use crate::network::{Crossing, Flow, Hop, Medium, Network, WifiPlan};
use crate::spec::{Scenario, Topology, Transport, WifiSpec};
use lightlag_core::params::{Registered, Value};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_mobility::Doubt;
use lightlag_net::StationId;
use lightlag_routing::{Protocol, Router};
use lightlag_traffic::{Constant, Traffic};
use lightlag_wifi::phy::timing::ACK_SIZE;
use lightlag_wifi::phy::{BasicRates, ErrorCurves, PhyMode, Standard, Timing, check, error_model, noise_floor};
use lightlag_wifi::propagation::decibels::{decibels, ratio};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{Class, Radio, Wifi};
use sight::{LinkSnapshot, air, position, spacing};
use std::collections::BTreeMap;

/// Size in bytes of a full frame, for which the range of a station is computed.
const FULL_FRAME: u32 = 1536;
/// Maximum number of path losses to compute. More would take too long for a warning.
const MOST_LOSSES: u64 = 4_000_000;
/// Number of times during the run when links are examined.
const TIMES: u64 = 50;
/// Minimum fraction of connected pairs without a warning. If fewer are connected, the results mainly show that nothing
/// arrives.
const FEW_PAIRS: f64 = 0.5;
/// Minimum fraction of neighbours that only broadcasts reach, for a warning that routes may use links that carry no
/// data.
const GREY: f64 = 0.25;
/// Minimum fraction of lost frames for a warning: such a hop retransmits often, and breaks.
const LOSSY: f64 = 0.1;
/// Size in bytes of the headers around a packet: LLC and SNAP, MAC with QoS and checksum, and UDP.
const HEADERS: u64 = 38;
const UDP_HEADER: u64 = 8;

/// Returns the channel and the stations of a medium of this kind.
fn wifi(medium: &Medium) -> &WifiPlan {
    medium.plan.wifi().expect("warnings cover only channels of 802.11")
}

impl Scenario {
    /// Warns about media and the paths over them.
    pub(super) fn airs(&self, network: &Network, findings: &mut Found) {
        doubts(network, findings);
        let crossings = |flow: &Flow| {
            let way = network.way(flow.from, flow.to).unwrap_or_default();
            way.into_iter().filter_map(|hop| if let Hop::Air(crossing) = hop { Some(crossing) } else { None }).collect()
        };
        let legs: Vec<Vec<Crossing>> = network.flows.iter().map(crossings).collect();
        for (number, medium) in network.media.iter().enumerate() {
            let stations = medium.members.len() as u64;
            if medium.plan.wifi().is_none() || stations < 2 || stations * stations > MOST_LOSSES {
                continue;
            }
            let path = self.medium_path(number);
            let mut sight = LinkSnapshot::at(&mut air(medium, self.seed, false), medium, Instant::ZERO);
            self.never_aggregates(medium, number, &path, findings);
            self.few_pairs(medium, &sight, &path, findings);
            self.grey_zone(medium, &sight, &path, findings);
            offered(network, medium, number, &mut sight, &legs, &path, findings);
            self.meetings(network, medium, number, &legs, findings);
        }
    }

    /// Returns the path in the file of a medium.
    pub(super) fn medium_path(&self, number: usize) -> String {
        match (&self.topology, self.media.get(number)) {
            (_, Some(_)) => format!("media[{number}]"),
            (Some(Topology::Swarm(_)), None) => "topology.medium".to_owned(),
            (_, None) => "media".to_owned(),
        }
    }

    /// Warns of nodes that are too far from each other.
    fn few_pairs(&self, medium: &Medium, sight: &LinkSnapshot, path: &str, findings: &mut Found) {
        let share = sight.joined_share();
        if share >= FEW_PAIRS {
            return;
        }
        let stations = medium.members.len();
        let apart = spacing(&mut air(medium, self.seed, false), stations, Instant::ZERO);
        let message = format!(
            "{} of the pairs of its {stations} nodes are connected at the start over any number of hops: frames of \
             data at {} reach {}, and the nearest neighbour is {} away on average; raise power, use a lower rate, or \
             place more nodes in less space",
            if share > 0.0 { percent(share) } else { "none".to_owned() },
            rate(medium, Pace::Slowest),
            metres(range(medium, Pace::Slowest)),
            metres(apart)
        );
        findings.warnings.push((Warning { kind: Kind::FewConnectedPairs, path: path.to_owned(), message }, 0));
    }

    /// Warns about neighbours that routing finds by broadcasts but that data does not reach.
    fn grey_zone(&self, medium: &Medium, data: &LinkSnapshot, path: &str, findings: &mut Found) {
        let Some(known_snr) = medium.routing.protocol().and_then(least_snr) else { return };
        let broadcast_rate = &wifi(medium).stations[0].radio.broadcast_rate;
        let needed = needed_snr(medium, Pace::Slowest);
        if mode(medium, Pace::Slowest) == mode(medium, Pace::Broadcast) || known_snr >= needed - 1.0 {
            return;
        }
        let heard = LinkSnapshot::at(&mut air(medium, self.seed, true), medium, Instant::ZERO).hops();
        let share = 1.0 - data.hops() as f64 / heard.max(1) as f64;
        if heard == 0 || share < GREY {
            return;
        }
        let message = format!(
            "messages of {} at {} reach {}, frames of data at {} only {}: {} of the neighbours that a node detects \
             cannot receive data at the start, and routes over them break; set min_snr = \"{needed:.0} dB\" in its \
             routing, or broadcast_rate = {:?}",
            medium.routing.name(),
            broadcast_rate,
            metres(range(medium, Pace::Broadcast)),
            rate(medium, Pace::Slowest),
            metres(range(medium, Pace::Slowest)),
            percent(share),
            mode_name(medium, Pace::Slowest)
        );
        findings.warnings.push((Warning { kind: Kind::GreyZone, path: format!("{path}.routing"), message }, 0));
    }

    /// Warns of a configured length of aggregates, or of a standard with aggregates, if the data rate does not support
    /// aggregation.
    fn never_aggregates(&self, medium: &Medium, number: usize, path: &str, findings: &mut Found) {
        let configured = wifi(medium).stations[0].radio.aggregation;
        let spec = self.wifi_spec(number);
        let is_set = configured != Radio::default().aggregation || spec.is_some_and(|spec| spec.names_aggregation);
        let named = spec.is_some_and(|spec| spec.names_standard);
        let is_high = matches!(wifi(medium).config.standard, Standard::N | Standard::Ac);
        if configured == 0.0 || !(is_set || (named && is_high)) {
            return;
        }
        let Some(mut message) = mode(medium, Pace::Slowest).and_then(check::aggregation) else { return };
        let key = if is_set { "aggregation" } else { "rate" };
        if !is_set {
            message.push_str("; set aggregation = 0 if this is intended");
        }
        findings.warnings.push((Warning { kind: Kind::NoAggregates, path: format!("{path}.{key}"), message }, 0));
    }

    /// Returns the settings of a medium in the scenario. Listed media come first.
    fn wifi_spec(&self, number: usize) -> Option<&WifiSpec> {
        let spec = match (&self.topology, self.media.get(number)) {
            (_, Some(listed)) => Some(listed),
            (Some(Topology::Swarm(swarm)), None) => Some(&swarm.medium),
            (_, None) => None,
        };
        spec?.kind.wifi()
    }

    /// Warns of flows whose endpoints are never connected, and of static routes over hops that break.
    fn meetings(
        &self,
        network: &Network,
        medium: &Medium,
        number: usize,
        legs: &[Vec<Crossing>],
        findings: &mut Found,
    ) {
        let stations = medium.members.len();
        let is_still = medium.motions().all(|motion| motion.max_speed() == 0.0);
        let most = (MOST_LOSSES / (stations * stations) as u64).min(TIMES);
        let times = if is_still { 1 } else { most.max(1) };
        let mut air = air(medium, self.seed, false);
        let mut watched: Vec<Watched> = network
            .flows
            .iter()
            .zip(legs)
            .flat_map(|(flow, legs)| legs.iter().filter(|leg| leg.medium == number).map(move |leg| (flow, leg)))
            .map(|(flow, leg)| Watched { flow, from: leg.from, to: leg.to, meets: false, way: None, closest: None })
            .collect();
        let is_static = matches!(medium.routing, Router::Protocol(Protocol::Static(_)));
        for time in 0..times {
            let now = Instant::ZERO + Duration::from_nanos(self.duration.as_nanos() / times * time);
            let mut sight = LinkSnapshot::at(&mut air, medium, now);
            for pair in &mut watched {
                pair.meets |= sight.joins(pair.from, pair.to);
                let distance = position(&mut air, pair.from, now).distance(position(&mut air, pair.to, now));
                if pair.closest.is_none_or(|(least, _)| distance < least) {
                    pair.closest = Some((distance, now));
                }
                if is_static {
                    pair.follow(now, &mut sight, &mut air);
                }
            }
        }
        for of in &watched {
            of.tell(medium, network, times, is_static, findings);
        }
    }
}

/// Warns of the first implausible trace of each kind, with the number of further nodes that it applies to.
fn doubts(network: &Network, findings: &mut Found) {
    let (fast, short): (Vec<_>, Vec<_>) =
        network.doubts.iter().partition(|(doubt, _)| matches!(doubt, Doubt::Fast { .. }));
    for (kind, doubts) in [(Kind::FastNode, fast), (Kind::ShortPath, short)] {
        let Some(((first, path), more)) = doubts.split_first() else { continue };
        let more = match more.len() {
            0 => String::new(),
            1 => " (and one more node)".to_owned(),
            count => format!(" (and {count} more nodes)"),
        };
        findings.warnings.push((Warning { kind, path: path.clone(), message: format!("{first}{more}") }, 0));
    }
}

/// A flow on a medium, which is examined at several times during the run.
struct Watched<'a> {
    flow: &'a Flow,
    from: u32,
    to: u32,
    /// Whether the endpoints were connected at any of these times.
    meets: bool,
    /// Static route of the flow, with its weakest hop, and the first hop that breaks.
    way: Option<StaticRoute>,
    /// Minimum distance between the endpoints in metres, and its time.
    closest: Option<(f64, Instant)>,
}

struct StaticRoute {
    stations: Vec<u32>,
    /// Hop with the minimum signal-to-noise ratio, and that ratio in dB.
    weakest: ([u32; 2], f64),
    /// First hop that goes out of range, and the time when it does.
    broken: Option<([u32; 2], Instant)>,
}

impl Watched<'_> {
    /// Examines the static route of the flow at one time. The route is determined at the start of the run.
    fn follow(&mut self, now: Instant, sight: &mut LinkSnapshot, air: &mut Wifi<()>) {
        if now == Instant::ZERO {
            let Some(stations) = sight.way(self.from, self.to) else { return };
            let mut ratio = |hop: &[u32]| air.snr_db(StationId(hop[0]), StationId(hop[1]), now);
            let hops = stations.windows(2).map(|hop| ([hop[0], hop[1]], ratio(hop)));
            let Some(weakest) = hops.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
            self.way = Some(StaticRoute { stations, weakest, broken: None });
        }
        let Some(way) = self.way.as_mut().filter(|way| way.broken.is_none()) else { return };
        let lost = way.stations.windows(2).find(|hop| !sight.is_hop(hop[0], hop[1]));
        way.broken = lost.map(|hop| ([hop[0], hop[1]], now));
    }

    /// Adds the warnings about the flow.
    fn tell(&self, medium: &Medium, network: &Network, times: u64, is_static: bool, findings: &mut Found) {
        let path = flow_path(self.flow);
        let name = |station: u32| &network.nodes[medium.members[station as usize].node.0 as usize];
        let rate = rate(medium, Pace::Slowest);
        if !self.meets {
            let Some((distance, closest_time)) = self.closest else { return };
            findings.flow(Kind::NeverConnected, &path, "", || {
                let when =
                    if times == 1 { "at the start".to_owned() } else { format!("at none of {times} times of the run") };
                format!(
                    "{} and {} are {}connected{}, over any number of hops: {rate} reaches {}, and they come no nearer \
                     to each other than {}{}; no data of the flow can arrive",
                    name(self.from),
                    name(self.to),
                    if times == 1 { "not " } else { "" },
                    format_args!(" {when}"),
                    metres(range(medium, Pace::Slowest)),
                    metres(distance),
                    if times == 1 {
                        String::new()
                    } else {
                        format!(", at {}", seconds(closest_time.since(Instant::ZERO)))
                    }
                )
            });
            return;
        }
        if !is_static {
            return;
        }
        let Some(StaticRoute { weakest: ([from, to], snr), broken, .. }) = &self.way else {
            findings.flow(Kind::BrokenStaticRoute, &path, "", || {
                format!(
                    "there is no path from {} to {} at the start, when static routes are computed: no data of the flow \
                     can arrive, although they are connected later; use another routing protocol",
                    name(self.from),
                    name(self.to)
                )
            });
            return;
        };
        let lost = 1.0 - success(medium, *snr);
        if lost > LOSSY {
            findings.flow(Kind::LossyStaticHop, &path, "", || {
                format!(
                    "its static route has the hop {}->{} with {snr:.1} dB, where {} of the full frames at {rate} are \
                     lost: 90 % arrive with {:.1} dB or more; use a lower rate, or move the nodes",
                    name(*from),
                    name(*to),
                    percent(lost),
                    needed_for(medium, 1.0 - LOSSY)
                )
            });
        } else if let Some(([from, to], broken_at)) = broken {
            findings.flow(Kind::BrokenStaticRoute, &path, "", || {
                format!(
                    "its static route breaks: {} is out of the range of {} at {}, and the route is not updated; use \
                     another routing protocol",
                    name(*to),
                    name(*from),
                    seconds(broken_at.since(Instant::ZERO))
                )
            });
        }
    }
}

/// Choice of one of the rates of a radio. The slowest and the fastest data rate differ if the rate adapts.
#[derive(Clone, Copy)]
enum Pace {
    Slowest,
    Fastest,
    Broadcast,
}

fn mode(medium: &Medium, pace: Pace) -> Option<PhyMode> {
    let radio = &wifi(medium).stations[0].radio;
    let data = || radio.data_modes(&wifi(medium).config).ok();
    match pace {
        Pace::Slowest => data().map(|[slowest, _]| slowest),
        Pace::Fastest => data().map(|[_, fastest]| fastest),
        Pace::Broadcast => wifi(medium).config.capabilities().mode(&radio.broadcast_rate).ok(),
    }
}

/// Returns the name of a mode as it is written in a scenario.
fn mode_name(medium: &Medium, pace: Pace) -> String {
    let radio = &wifi(medium).stations[0].radio;
    match pace {
        Pace::Broadcast => radio.broadcast_rate.clone(),
        _ if matches!(radio.rate_control, RateControl::Fixed(_)) => radio.rate.clone(),
        _ => mode(medium, pace).map_or_else(String::new, |mode| mode.to_string()),
    }
}

/// Describes the data rate, and how it is selected.
fn rate(medium: &Medium, pace: Pace) -> String {
    let control = &wifi(medium).stations[0].radio.rate_control;
    let name = mode_name(medium, pace);
    match (control, pace) {
        (RateControl::Fixed(_), _) | (_, Pace::Broadcast) => name,
        (_, Pace::Slowest) => format!("{name} (the slowest rate of {})", control.name()),
        (_, Pace::Fastest) => format!("{name} (the fastest rate of {})", control.name()),
    }
}

/// Returns the minimum signal-to-noise ratio in dB for receiving full data frames with this probability.
fn needed_for(medium: &Medium, probability: f64) -> f64 {
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    let needed = |mode| decibels(curves.needed_sinr(mode, 8 * FULL_FRAME, probability));
    mode(medium, Pace::Slowest).map_or(f64::NEG_INFINITY, needed)
}

/// Returns the minimum signal-to-noise ratio in dB for receiving half of the full frames.
fn needed_snr(medium: &Medium, pace: Pace) -> f64 {
    let radio = &wifi(medium).stations[0].radio;
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    let decoded =
        mode(medium, pace).map_or(f64::NEG_INFINITY, |mode| decibels(curves.needed_sinr(mode, 8 * FULL_FRAME, 0.5)));
    let detected = radio.detection - decibels(noise_floor(wifi(medium).config.width, radio.noise_figure));
    decoded.max(detected).max(radio.detection_snr)
}

/// Returns the fraction of full data frames that are received at this signal-to-noise ratio in dB.
fn success(medium: &Medium, snr: f64) -> f64 {
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    mode(medium, Pace::Slowest)
        .map_or(0.0, |mode| error_model::success(curves.ln_success(mode, ratio(snr), 8 * FULL_FRAME)))
}

/// Returns the range in metres of frames of the first node, without shadowing and fading, at the height of the node.
fn range(medium: &Medium, pace: Pace) -> f64 {
    let WifiPlan { config, stations } = wifi(medium);
    let first = &stations[0];
    let radio = &first.radio;
    let noise = decibels(noise_floor(config.width, radio.noise_figure));
    let max_loss = radio.power + 2.0 * radio.gain - noise - needed_snr(medium, pace);
    let here = first.motion.clone().position(Instant::ZERO);
    let loss = |metres: f64| {
        let mut there = here;
        there.x += metres;
        config.propagation.loss.decibels(here, there, config.frequency)
    };
    let (mut near, mut far) = (0.0, config.propagation.loss.reach(max_loss, config.frequency));
    // Each step halves what is left: a metre of a million kilometres.
    for _ in 0..60 {
        let middle = f64::midpoint(near, far);
        if loss(middle) <= max_loss { near = middle } else { far = middle }
    }
    near
}

fn metres(distance: f64) -> String {
    if distance < 10.0 { format!("{distance:.1} m") } else { format!("{distance:.0} m") }
}

/// Returns the minimum signal-to-noise ratio in dB with which a protocol accepts a neighbour; `None` if the protocol
/// has no such limit.
fn least_snr(protocol: &Protocol) -> Option<f64> {
    let parameters = protocol.parameters();
    let index = parameters.iter().position(|parameter| parameter.key == "min_snr")?;
    if let Value::Number(least) = protocol.get(index) { Some(least) } else { None }
}

/// Warns of datagrams that need more airtime than there is.
fn offered(
    network: &Network,
    medium: &Medium,
    number: usize,
    sight: &mut LinkSnapshot,
    legs: &[Vec<Crossing>],
    path: &str,
    findings: &mut Found,
) {
    let Some(mode) = mode(medium, Pace::Fastest) else { return };
    let timing = Timing::new(wifi(medium).config.band());
    let radio = &wifi(medium).stations[0].radio;
    let answer = timing.sifs + BasicRates::MANDATORY.answer(mode).duration(ACK_SIZE);
    let together = mode.aggregates() && radio.aggregation > 0.0;
    // The time around the frames of a flow, with the mean backoff: half of the minimum window. Frames sent together
    // share it and their headers, so neither is certain.
    let around = |flow: &Flow| {
        let class = flow.dscp.map_or(radio.access_class, Class::of_dscp);
        let (space, window) = match wifi(medium).config.standard {
            _ if together => return 0.0,
            Standard::A | Standard::G => (timing.difs(), 15),
            Standard::N | Standard::Ac => (timing.aifs(radio.edca.of(class).aifsn), radio.edca.of(class).cw_min),
        };
        (space + answer).as_secs_f64() + f64::from(window) / 2.0 * timing.slot.as_secs_f64()
    };
    let header = u64::from(network.ip.header()) + UDP_HEADER + HEADERS;
    let mut ways: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let (mut airtime, mut hops, mut requested) = (0.0, 0, 0);
    for (flow, legs) in network.flows.iter().zip(legs) {
        let (Traffic::Constant(Constant { stream, .. }), Transport::Udp) = (&*flow.traffic, flow.transport) else {
            continue;
        };
        for leg in legs.iter().filter(|leg| leg.medium == number) {
            let way = || sight.way(leg.from, leg.to).map_or(1, |way| way.len() - 1);
            let way = *ways.entry((leg.from, leg.to)).or_insert_with(way);
            let frame = Bytes(stream.size.0 + header);
            let data = if together { mode.rate().time_to_send(frame) } else { mode.duration(frame) };
            let each = data.as_secs_f64() + around(flow);
            let packets = stream.rate.as_bps() as f64 / (8 * stream.size.0) as f64;
            airtime += packets * each * way as f64;
            hops = hops.max(way);
            requested += stream.rate.as_bps();
        }
    }
    if airtime <= 1.0 {
        return;
    }
    let message = format!(
        "datagrams need {airtime:.1} s of airtime per second, including ACKs and backoffs and over up to {} at {}: \
         nodes in range of each other share one second, so queues fill and no more than {} of {} arrive; send less, or \
         raise the rate",
        if hops == 1 { "one hop".to_owned() } else { format!("{hops} hops") },
        rate(medium, Pace::Fastest),
        percent(1.0 / airtime),
        super::three_digits(requested)
    );
    findings.warnings.push((Warning { kind: Kind::AirtimeAboveOne, path: path.to_owned(), message }, 0));
}
