//! Warnings of satellite beams and of random access.

use super::{Found, Kind, Warning, seconds};
use crate::expand::flow_path;
use crate::network::{Flow, Hop, Medium, Network, RandomAccessPlan};
use crate::spec::{Scenario, Transport};
use lightlag_access::RandomAccessConfig;
use lightlag_access::random_access::Technique;
use lightlag_core::Duration;
use lightlag_net::StationId;
use lightlag_traffic::Traffic;
use std::collections::BTreeMap;

/// Size of a UDP header in bytes.
const UDP_HEADER: u32 = 8;

impl Scenario {
    /// Warns about satellite beams and random access.
    pub(super) fn accesses(&self, network: &Network, findings: &mut Found) {
        let is_star = |medium: &Medium| medium.plan.rcs2().is_some() || medium.plan.random_access().is_some();
        if !network.media.iter().any(is_star) {
            return;
        }
        let mut loads: BTreeMap<usize, f64> = BTreeMap::new();
        for flow in &network.flows {
            for (number, from, to) in crossings(network, flow) {
                let plan = &network.media[number].plan;
                if let Some(access) = plan.random_access().filter(|access| from != access.hub) {
                    *loads.entry(number).or_default() += load(network, access, flow);
                }
                if let Some(beam) = plan.rcs2().filter(|_| flow.transport == Transport::Tcp) {
                    let terminal = if from == beam.hub { to } else { from };
                    slow_first_burst(flow, beam.first_delay(terminal), beam.stations[terminal.index()].delay, findings);
                }
            }
        }
        for (number, load) in loads {
            if let Some(access) = network.media[number].plan.random_access() {
                let path = self.medium_path(number);
                overload(access, load, path, findings);
            }
        }
    }
}

/// Returns the media that a flow crosses, each with the stations where it enters and leaves them.
fn crossings(network: &Network, flow: &Flow) -> Vec<(usize, StationId, StationId)> {
    let way = network.way(flow.from, flow.to).unwrap_or_default();
    let crossing = |hop| match hop {
        Hop::Air(crossing) => Some((crossing.medium, StationId(crossing.from), StationId(crossing.to))),
        _ => None,
    };
    way.into_iter().filter_map(crossing).collect()
}

/// Returns the mean number of bursts of a flow that are sent at a time, per channel and spreading factor; with passes,
/// at the start of a pass.
fn load(network: &Network, access: &RandomAccessPlan, flow: &Flow) -> f64 {
    if flow.transport != Transport::Udp {
        return 0.0;
    }
    let (size, per_second) = match &*flow.traffic {
        Traffic::Poisson(of) => (of.size.law().mean(), 1.0 / of.every.as_secs_f64()),
        Traffic::Periodic(of) => (of.size.law().mean(), 1.0 / of.every.as_secs_f64()),
        Traffic::Constant(of) => {
            let size = of.stream.size.0 as f64;
            (size, of.stream.rate.as_bps() as f64 / 8.0 / size)
        }
        _ => return 0.0,
    };
    let config = &access.config;
    let size = size as u32 + UDP_HEADER + network.ip.header();
    let factors = match config.technique {
        Technique::Lora => config.spreading_min..=config.spreading_max,
        _ => 0..=0,
    };
    if config.technique == Technique::NbIot {
        // Sensors with a preamble per opportunity and subcarrier, over all classes.
        let subcarriers: f64 = config.nb_iot.coverage.iter().map(|class| class[1]).sum();
        let rate = per_second + spread_rate(config, per_second);
        return rate * config.nb_iot.nprach_period.as_secs_f64() / subcarriers;
    }
    let count = factors.clone().count() as f64;
    let airtime = factors.map(|factor| config.airtime(size, factor).as_secs_f64()).sum::<f64>() / count;
    let slots = if config.scheme().is_some() { config.slot().as_secs_f64() } else { airtime };
    (per_second + spread_rate(config, per_second)) * slots.max(airtime) / f64::from(config.channels) / count
}

/// Returns the number of packets per second that a sensor sends at the start of a pass, because they waited for it.
fn spread_rate(config: &RandomAccessConfig, per_second: f64) -> f64 {
    if config.passes.is_empty() {
        return 0.0;
    }
    let pass = config.passes.shortest();
    let gap = pass.as_secs_f64() * (config.passes.scarcity() - 1.0);
    let waiting = (per_second * gap).min(f64::from(config.sensor_queue));
    // Without a spread they are sent in the first millisecond.
    waiting / config.pass_backoff.min(pass).as_secs_f64().max(1e-3)
}

/// Warns of a load beyond the maximum of the throughput.
fn overload(access: &RandomAccessPlan, load: f64, path: String, findings: &mut Found) {
    // Loads of the maximum: theory of ALOHA; CRDSA of frames of 100 slots without differences of power.
    let (peak, name) = match access.config.technique {
        Technique::Aloha => (0.5, "pure ALOHA"),
        Technique::Lora => (0.5, "LoRa, which is pure ALOHA for each spreading factor,"),
        Technique::SlottedAloha => (1.0, "slotted ALOHA"),
        Technique::Crdsa2 => (0.65, "CRDSA with two replicas"),
        Technique::Crdsa3 => (0.7, "CRDSA with three replicas"),
        Technique::NbIot => (1.0, "the preambles of NB-IoT, which is slotted ALOHA on their subcarriers,"),
    };
    if load <= peak {
        return;
    }
    let capture = access.config.capture().map_or("", |_| " except for capture");
    let when = if access.config.passes.is_empty() { "on average" } else { "when a pass starts" };
    let message = format!(
        "the messages of its sensors occupy {load:.2} of a channel {when}, and the throughput of {name} falls when \
         they occupy more than {peak}{capture}: more sensors deliver less in total; send less often, or add channels"
    );
    findings.warnings.push((Warning { kind: Kind::RandomAccessOverload, path, message }, 0));
}

/// Warns of a first burst that arrives so late that the other end's reply follows after the first retransmission.
fn slow_first_burst(flow: &Flow, first: Duration, delay: Duration, findings: &mut Found) {
    let (round_trip, timeout) = (first + delay, flow.tcp.rto.syn);
    if round_trip <= timeout {
        return;
    }
    findings.flow(Kind::AccessAboveRto, &flow_path(flow), ".tcp.rto.initial", || {
        format!(
            "{timeout} is below the {} that the terminal's logon, its request and the reply take at least: the SYN is \
             retransmitted before its reply can arrive; raise it, or set logon = false",
            seconds(round_trip)
        )
    });
}
