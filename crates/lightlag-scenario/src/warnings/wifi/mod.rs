//! Media of 802.11 whose nodes do not reach each other as one may expect.
//!
//! - `sight`: who reaches whom, at the start and at times of the run.

mod sight;

use super::{Found, Kind, Warning, percent, seconds};
use crate::expand::flow_path;
use crate::network::{Crossing, Flow, Hop, Medium, Network, WifiPlan};
use crate::spec::{MediumSpec, Scenario, Topology, Traffic, Transport, WifiSpec};
use lightlag_core::params::{Registered, Value};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_mobility::Doubt;
use lightlag_net::StationId;
use lightlag_routing::{Protocol, Router};
use lightlag_wifi::phy::timing::ACK_SIZE;
use lightlag_wifi::phy::{BasicRates, ErrorCurves, Mode, Standard, Timing, check, error_model, noise_floor};
use lightlag_wifi::propagation::decibels::{decibels, ratio};
use lightlag_wifi::rate::RateControl;
use lightlag_wifi::{Class, Radio, Wifi};
use sight::{Sight, air, position, spacing};
use std::collections::BTreeMap;

/// Bytes of a full frame, by which a medium tells who is in range.
const FULL_FRAME: u32 = 1536;
/// Losses of power that are worked out at most: more take longer than a warning is worth.
const MOST_LOSSES: u64 = 4_000_000;
/// Times of the run at which links are looked at.
const TIMES: u64 = 50;
/// Below this share of connected pairs most of what happens is that nothing arrives.
const FEW_PAIRS: f64 = 0.5;
/// From this share on of neighbours that only broadcasts reach, routes lead over links that carry no data.
const GREY: f64 = 0.25;
/// A hop that loses more frames than this repeats often, and breaks.
const LOSSY: f64 = 0.1;
/// Bytes of headers around a packet: LLC and SNAP, MAC with QoS and check sum; UDP.
const HEADERS: u64 = 38;
const UDP_HEADER: u64 = 8;

/// The channel and the stations of a medium of this kind.
fn wifi(medium: &Medium) -> &WifiPlan {
    medium.wifi().expect("warnings look at channels of 802.11 alone")
}

impl Scenario {
    /// Warnings about media and the ways over them.
    pub(super) fn airs(&self, network: &Network, found: &mut Found) {
        doubts(network, found);
        let crossings = |flow: &Flow| {
            let way = network.way(flow.from, flow.to).unwrap_or_default();
            way.into_iter().filter_map(|hop| if let Hop::Air(crossing) = hop { Some(crossing) } else { None }).collect()
        };
        let legs: Vec<Vec<Crossing>> = network.flows.iter().map(crossings).collect();
        for (number, medium) in network.media.iter().enumerate() {
            let stations = medium.members.len() as u64;
            if medium.wifi().is_none() || stations < 2 || stations * stations > MOST_LOSSES {
                continue;
            }
            let path = self.medium_path(number);
            let mut sight = Sight::at(&mut air(medium, self.seed, false), medium, Instant::ZERO);
            self.never_aggregates(medium, number, &path, found);
            self.few_pairs(medium, &sight, &path, found);
            self.grey_zone(medium, &sight, &path, found);
            offered(network, medium, number, &mut sight, &legs, &path, found);
            self.meetings(network, medium, number, &legs, found);
        }
    }

    /// The place of a medium in the file.
    fn medium_path(&self, number: usize) -> String {
        match (&self.topology, self.media.get(number)) {
            (_, Some(_)) => format!("media[{number}]"),
            (Some(Topology::Swarm(_)), None) => "topology.medium".to_owned(),
            (_, None) => "media".to_owned(),
        }
    }

    /// Nodes that are too far from each other.
    fn few_pairs(&self, medium: &Medium, sight: &Sight, path: &str, found: &mut Found) {
        let share = sight.joined_share();
        if share >= FEW_PAIRS {
            return;
        }
        let stations = medium.members.len();
        let apart = spacing(&mut air(medium, self.seed, false), stations, Instant::ZERO);
        let message = format!(
            "{} of the pairs of its {stations} nodes are connected at the start over any number of hops: frames of data at \
             {} reach {}, and the nearest neighbour is {} away on average; raise power or take a lower rate, or put more \
             nodes into less space",
            if share > 0.0 { percent(share) } else { "none".to_owned() },
            rate(medium, Pace::Slowest),
            metres(range(medium, Pace::Slowest)),
            metres(apart)
        );
        found.warnings.push((Warning { kind: Kind::FewConnectedPairs, path: path.to_owned(), message }, 0));
    }

    /// Neighbours of whom routing knows by broadcasts, and whom data does not reach.
    fn grey_zone(&self, medium: &Medium, data: &Sight, path: &str, found: &mut Found) {
        let Some(known_snr) = medium.routing.protocol().and_then(least_snr) else { return };
        let broadcast_rate = &wifi(medium).stations[0].radio.broadcast_rate;
        let needed = needed_snr(medium, Pace::Slowest);
        if mode(medium, Pace::Slowest) == mode(medium, Pace::Broadcast) || known_snr >= needed - 1.0 {
            return;
        }
        let heard = Sight::at(&mut air(medium, self.seed, true), medium, Instant::ZERO).hops();
        let share = 1.0 - data.hops() as f64 / heard.max(1) as f64;
        if heard == 0 || share < GREY {
            return;
        }
        let message = format!(
            "messages of {} at {} reach {}, frames of data at {} only {}: {} of the neighbours of which a node knows cannot \
             be sent data at the start, and routes over them break; set min_snr = \"{needed:.0} dB\" in its routing, or \
             broadcast_rate = {:?}",
            medium.routing.name(),
            broadcast_rate,
            metres(range(medium, Pace::Broadcast)),
            rate(medium, Pace::Slowest),
            metres(range(medium, Pace::Slowest)),
            percent(share),
            mode_name(medium, Pace::Slowest)
        );
        found.warnings.push((Warning { kind: Kind::GreyZone, path: format!("{path}.routing"), message }, 0));
    }

    /// A length of aggregates that was set, or a standard with aggregates, at a rate that has none.
    fn never_aggregates(&self, medium: &Medium, number: usize, path: &str, found: &mut Found) {
        let asked = wifi(medium).stations[0].radio.aggregation;
        let spec = self.wifi_spec(number);
        let is_set = asked != Radio::default().aggregation || spec.is_some_and(|spec| spec.names_aggregation);
        let named = spec.is_some_and(|spec| spec.names_standard);
        let is_high = matches!(wifi(medium).config.standard, Standard::N | Standard::Ac);
        if asked == 0.0 || !(is_set || (named && is_high)) {
            return;
        }
        let Some(mut message) = mode(medium, Pace::Slowest).and_then(check::aggregation) else { return };
        let key = if is_set { "aggregation" } else { "rate" };
        if !is_set {
            message.push_str("; aggregation = 0 says that this is meant");
        }
        found.warnings.push((Warning { kind: Kind::NoAggregates, path: format!("{path}.{key}"), message }, 0));
    }

    /// The medium as the scenario says it: those of the list come first.
    fn wifi_spec(&self, number: usize) -> Option<&WifiSpec> {
        let spec = match (&self.topology, self.media.get(number)) {
            (_, Some(listed)) => Some(listed),
            (Some(Topology::Swarm(swarm)), None) => Some(&swarm.medium),
            (_, None) => None,
        };
        spec.and_then(MediumSpec::wifi)
    }

    /// Flows whose ends are never connected, and static routes over hops that do not last.
    fn meetings(&self, network: &Network, medium: &Medium, number: usize, legs: &[Vec<Crossing>], found: &mut Found) {
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
            let mut sight = Sight::at(&mut air, medium, now);
            for of in &mut watched {
                of.meets |= sight.joins(of.from, of.to);
                let distance = position(&mut air, of.from, now).distance(position(&mut air, of.to, now));
                if of.closest.is_none_or(|(least, _)| distance < least) {
                    of.closest = Some((distance, now));
                }
                if is_static {
                    of.follow(now, &mut sight, &mut air);
                }
            }
        }
        for of in &watched {
            of.tell(medium, network, times, is_static, found);
        }
    }
}

/// The first doubt of each kind about paths from files, and the number of further nodes that it applies to.
fn doubts(network: &Network, found: &mut Found) {
    let (fast, short): (Vec<_>, Vec<_>) =
        network.doubts.iter().partition(|(doubt, _)| matches!(doubt, Doubt::Fast { .. }));
    for (kind, doubts) in [(Kind::FastNode, fast), (Kind::ShortPath, short)] {
        let Some(((first, path), more)) = doubts.split_first() else { continue };
        let more = match more.len() {
            0 => String::new(),
            1 => " (and one more node)".to_owned(),
            count => format!(" (and {count} more nodes)"),
        };
        found.warnings.push((Warning { kind, path: path.clone(), message: format!("{first}{more}") }, 0));
    }
}

/// A flow on a medium while the run is looked at.
struct Watched<'a> {
    flow: &'a Flow,
    from: u32,
    to: u32,
    /// Whether its ends were connected at any time.
    meets: bool,
    /// Its static route: the stations, and its weakest hop or the first that breaks.
    way: Option<StaticRoute>,
    /// The least distance of its ends, and when.
    closest: Option<(f64, Instant)>,
}

struct StaticRoute {
    stations: Vec<u32>,
    /// The hop with the least ratio of signal to noise, and that ratio.
    weakest: ([u32; 2], f64),
    /// The first hop that is out of range, and when it is.
    broken: Option<([u32; 2], Instant)>,
}

impl Watched<'_> {
    /// Looks at the static route of the flow at a time; at the start it is found.
    fn follow(&mut self, now: Instant, sight: &mut Sight, air: &mut Wifi<()>) {
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

    /// Warns of what was found.
    fn tell(&self, medium: &Medium, network: &Network, times: u64, is_static: bool, found: &mut Found) {
        let path = flow_path(self.flow);
        let name = |station: u32| &network.nodes[medium.members[station as usize].node.0 as usize];
        let rate = rate(medium, Pace::Slowest);
        if !self.meets {
            let Some((distance, at)) = self.closest else { return };
            found.flow(Kind::NeverConnected, &path, "", || {
                let when = if times == 1 { "at the start".to_owned() } else { format!("at none of {times} times of the run") };
                format!(
                    "{} and {} are {}connected{}, over any number of hops: {rate} reaches {}, and they come no nearer to each \
                     other than {}{}; nothing of the flow can arrive",
                    name(self.from),
                    name(self.to),
                    if times == 1 { "not " } else { "" },
                    format_args!(" {when}"),
                    metres(range(medium, Pace::Slowest)),
                    metres(distance),
                    if times == 1 { String::new() } else { format!(", at {}", seconds(at.since(Instant::ZERO))) }
                )
            });
            return;
        }
        if !is_static {
            return;
        }
        let Some(StaticRoute { weakest: ([from, to], snr), broken, .. }) = &self.way else {
            found.flow(Kind::BrokenStaticRoute, &path, "", || {
                format!(
                    "there is no way from {} to {} at the start, where static routes are made: nothing of the flow can \
                     arrive, though they are connected later; take another routing protocol",
                    name(self.from),
                    name(self.to)
                )
            });
            return;
        };
        let lost = 1.0 - success(medium, *snr);
        if lost > LOSSY {
            found.flow(Kind::LossyStaticHop, &path, "", || {
                format!(
                    "its static route has the hop {}->{} with {snr:.1} dB, at which {} of the full frames at {rate} are lost: \
                     90 % arrive from {:.1} dB on; take a lower rate, or move the nodes",
                    name(*from),
                    name(*to),
                    percent(lost),
                    needed_for(medium, 1.0 - LOSSY)
                )
            });
        } else if let Some(([from, to], at)) = broken {
            found.flow(Kind::BrokenStaticRoute, &path, "", || {
                format!(
                    "its static route breaks: {} is out of the range of {} at {}, and the route stays as it is; take another \
                     routing protocol",
                    name(*to),
                    name(*from),
                    seconds(at.since(Instant::ZERO))
                )
            });
        }
    }
}

/// The rate of a frame: of data the slowest or the fastest, which differ if radios choose it.
#[derive(Clone, Copy)]
enum Pace {
    Slowest,
    Fastest,
    Broadcast,
}

fn mode(medium: &Medium, pace: Pace) -> Option<Mode> {
    let radio = &wifi(medium).stations[0].radio;
    let data = || radio.data_modes(&wifi(medium).config).ok();
    match pace {
        Pace::Slowest => data().map(|[slowest, _]| slowest),
        Pace::Fastest => data().map(|[_, fastest]| fastest),
        Pace::Broadcast => wifi(medium).config.capabilities().mode(&radio.broadcast_rate).ok(),
    }
}

/// The name of a mode as a scenario gives it.
fn mode_name(medium: &Medium, pace: Pace) -> String {
    let radio = &wifi(medium).stations[0].radio;
    match pace {
        Pace::Broadcast => radio.broadcast_rate.clone(),
        _ if matches!(radio.rate_control, RateControl::Fixed(_)) => radio.rate.clone(),
        _ => mode(medium, pace).map_or_else(String::new, |mode| mode.to_string()),
    }
}

/// The same with the way in which it was chosen.
fn rate(medium: &Medium, pace: Pace) -> String {
    let control = &wifi(medium).stations[0].radio.rate_control;
    let name = mode_name(medium, pace);
    match (control, pace) {
        (RateControl::Fixed(_), _) | (_, Pace::Broadcast) => name,
        (_, Pace::Slowest) => format!("{name} (the slowest rate of {})", control.name()),
        (_, Pace::Fastest) => format!("{name} (the fastest rate of {})", control.name()),
    }
}

/// The ratio of signal to noise, in dB, at which full frames of data arrive with this probability.
fn needed_for(medium: &Medium, probability: f64) -> f64 {
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    let needed = |mode| decibels(curves.needed_sinr(mode, 8 * FULL_FRAME, probability));
    mode(medium, Pace::Slowest).map_or(f64::NEG_INFINITY, needed)
}

/// The ratio of signal to noise, in dB, that a radio needs for every other full frame.
fn needed_snr(medium: &Medium, pace: Pace) -> f64 {
    let radio = &wifi(medium).stations[0].radio;
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    let decoded =
        mode(medium, pace).map_or(f64::NEG_INFINITY, |mode| decibels(curves.needed_sinr(mode, 8 * FULL_FRAME, 0.5)));
    let detected = radio.detection - decibels(noise_floor(wifi(medium).config.width, radio.noise_figure));
    decoded.max(detected).max(radio.detection_snr)
}

/// The share of full frames of data that arrive with this ratio, in dB.
fn success(medium: &Medium, snr: f64) -> f64 {
    let curves = ErrorCurves::new(wifi(medium).config.errors);
    mode(medium, Pace::Slowest)
        .map_or(0.0, |mode| error_model::success(curves.ln_success(mode, ratio(snr), 8 * FULL_FRAME)))
}

/// The distance in metres that frames of the first node cross, without shadowing and fading, at its height.
fn range(medium: &Medium, pace: Pace) -> f64 {
    let WifiPlan { config, stations } = wifi(medium);
    let first = &stations[0];
    let radio = &first.radio;
    let noise = decibels(noise_floor(config.width, radio.noise_figure));
    let most = radio.power + 2.0 * radio.gain - noise - needed_snr(medium, pace);
    let here = first.motion.clone().position(Instant::ZERO);
    let loss = |metres: f64| {
        let mut there = here;
        there.x += metres;
        config.propagation.loss.decibels(here, there, config.frequency)
    };
    let (mut near, mut far) = (0.0, config.propagation.loss.reach(most, config.frequency));
    // Each step halves what is left: a metre of a million kilometres.
    for _ in 0..60 {
        let middle = f64::midpoint(near, far);
        if loss(middle) <= most { near = middle } else { far = middle }
    }
    near
}

fn metres(distance: f64) -> String {
    if distance < 10.0 { format!("{distance:.1} m") } else { format!("{distance:.0} m") }
}

/// The least ratio in dB at which a protocol takes up a neighbour, if it finds neighbours by broadcasts.
fn least_snr(protocol: &Protocol) -> Option<f64> {
    let parameters = protocol.parameters();
    let index = parameters.iter().position(|parameter| parameter.key == "min_snr")?;
    if let Value::Number(least) = protocol.get(index) { Some(least) } else { None }
}

/// Datagrams that ask for more time than there is.
fn offered(
    network: &Network,
    medium: &Medium,
    number: usize,
    sight: &mut Sight,
    legs: &[Vec<Crossing>],
    path: &str,
    found: &mut Found,
) {
    let Some(mode) = mode(medium, Pace::Fastest) else { return };
    let timing = Timing::new(wifi(medium).config.band());
    let radio = &wifi(medium).stations[0].radio;
    let answer = timing.sifs + BasicRates::MANDATORY.answer(mode).duration(ACK_SIZE);
    let together = mode.aggregates() && radio.aggregation > 0.0;
    // The time around the frames of a flow, with the mean backoff: half of the least window. Frames that leave together share
    // it and their headers, so nothing of either is sure.
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
    let (mut airtime, mut hops, mut asked) = (0.0, 0, 0);
    for (flow, legs) in network.flows.iter().zip(legs) {
        let (Traffic::Constant(constant), Transport::Udp) = (&*flow.traffic, flow.transport) else { continue };
        for leg in legs.iter().filter(|leg| leg.medium == number) {
            let way = || sight.way(leg.from, leg.to).map_or(1, |way| way.len() - 1);
            let way = *ways.entry((leg.from, leg.to)).or_insert_with(way);
            let frame = Bytes(constant.size.0 + header);
            let data = if together { mode.rate().time_to_send(frame) } else { mode.duration(frame) };
            let each = data.as_secs_f64() + around(flow);
            let packets = constant.rate.as_bps() as f64 / (8 * constant.size.0) as f64;
            airtime += packets * each * way as f64;
            hops = hops.max(way);
            asked += constant.rate.as_bps();
        }
    }
    if airtime <= 1.0 {
        return;
    }
    let message = format!(
        "datagrams offer {airtime:.1} s of airtime in each second, with their ACKs and backoffs and over up to {} at {}: where \
         nodes hear each other there is one, so queues fill and {} of {} at most arrive; send less, or raise the rate",
        if hops == 1 { "one hop".to_owned() } else { format!("{hops} hops") },
        rate(medium, Pace::Fastest),
        percent(1.0 / airtime),
        super::three_digits(asked)
    );
    found.warnings.push((Warning { kind: Kind::AirtimeAboveOne, path: path.to_owned(), message }, 0));
}
