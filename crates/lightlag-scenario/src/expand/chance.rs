//! Determines whether a scenario is random. If not, runs with other seeds have the same results.

use crate::network::{Flow, Network};
use crate::spec::{FlowTemplate, Scenario};
use lightlag_control::congestion::{Choice, response};
use lightlag_core::{Duration, RandomStream, Varied};
use lightlag_net::queue::custom::CustomDiscipline;
use lightlag_orbit::satellite_routing;
use lightlag_routing::Router;
use lightlag_tcp::Config;
use lightlag_tcp::config::LossAssumption;
use lightlag_traffic::{Traffic, custom as custom_traffic};

impl Scenario {
    /// Returns true if any random draw can change a result: radio media, losses, queues, delays, rain, arrivals, sizes,
    /// start times, or an algorithm that makes random decisions. `network` is the expanded scenario. Random initial
    /// sequence numbers do not count.
    pub fn is_random(&self, network: &Network) -> bool {
        let starts = self.flows.iter().any(|flow| flow.start.is_random());
        starts || self.templates().any(|template| template.start.is_random()) || network.is_random()
    }

    /// Returns the templates of all generated flows.
    fn templates(&self) -> impl Iterator<Item = &FlowTemplate> {
        self.generated_flows(self.seed).into_iter().map(|generated| generated.template)
    }
}

impl Network {
    /// Returns true if anything in the network is random. It lists every field explicitly, so that a new field does not
    /// compile until it is considered here.
    fn is_random(&self) -> bool {
        let Self {
            nodes: _,
            links,
            media,
            space,
            doubts: _,
            flows,
            proxies: _,
            splits: _,
            opaque: _,
            tunnels: _,
            routes: _,
            ttl: _,
            ip: _,
            captures: _,
        } = self;
        let several = flows.len() > 1;
        // Stations of a medium draw their backoff. All other draws there (positions, movements, fading, routing
        // messages, rate selection) also need a medium.
        !media.is_empty()
            || links.iter().any(|link| link.draws(several))
            || space.as_ref().is_some_and(|space| space.handover.draws() || space.routing.is_some())
            || flows.iter().any(|flow| flow.part.is_arrival() || flow.traffic.is_random())
            || self.algorithms().any(Choice::draws)
            || self.custom_responses().next().is_some()
    }

    /// Returns true if an algorithm, a loss response, a queue discipline, traffic or a router is custom.
    pub fn has_custom_algorithms(&self) -> bool {
        self.algorithms().any(|choice| matches!(choice, Choice::Custom(_)))
            || self.custom_responses().next().is_some()
            || self.custom_disciplines().next().is_some()
            || self.custom_traffic().next().is_some()
            || self.custom_routers().next().is_some()
            || self.satellite_routing().is_some()
    }

    /// Returns true if a custom algorithm runs in the Python interpreter.
    pub fn holds_interpreter(&self) -> bool {
        self.algorithms().any(|choice| matches!(choice, Choice::Custom(custom) if custom.holds_interpreter()))
            || self.custom_responses().any(response::CustomResponse::holds_interpreter)
            || self.custom_disciplines().any(CustomDiscipline::holds_interpreter)
            || self.custom_traffic().any(custom_traffic::CustomApplication::holds_interpreter)
            || self.custom_routers().any(lightlag_routing::custom::CustomRouter::holds_interpreter)
            || self.satellite_routing().is_some_and(satellite_routing::CustomSatelliteRouter::holds_interpreter)
    }

    /// Returns the names of the connections with this congestion control, in the order of the flows.
    pub fn flows_with(&self, congestion: &str) -> Vec<&str> {
        let has = |flow: &&Flow| flow.congestion().is_some_and(|choice| choice.name() == congestion);
        self.flows.iter().filter(has).map(|flow| flow.name.as_str()).collect()
    }

    fn custom_traffic(&self) -> impl Iterator<Item = &custom_traffic::CustomApplication> {
        self.flows
            .iter()
            .filter_map(|flow| if let Traffic::Custom(given) = &*flow.traffic { Some(&given.custom) } else { None })
    }

    fn satellite_routing(&self) -> Option<&satellite_routing::CustomSatelliteRouter> {
        self.space.as_ref()?.routing.as_ref()
    }

    fn custom_routers(&self) -> impl Iterator<Item = &lightlag_routing::custom::CustomRouter> {
        self.media
            .iter()
            .filter_map(|medium| if let Router::Custom(custom) = &medium.routing { Some(custom) } else { None })
    }

    /// Returns the congestion controls of all senders.
    fn algorithms(&self) -> impl Iterator<Item = &Choice> {
        let of_quic = self.flows.iter().filter_map(|flow| flow.quic.as_deref());
        let of_quic = of_quic.flat_map(|ends| [&ends.sender.congestion, &ends.receiver.congestion]);
        let of_proxies = self.proxies.iter().filter_map(|proxy| proxy.quic.as_deref());
        let of_proxies = of_proxies.flat_map(|ends| [&ends.client.congestion, &ends.server.congestion]);
        self.senders().map(|tcp| &tcp.congestion).chain(of_quic).chain(of_proxies)
    }

    fn custom_responses(&self) -> impl Iterator<Item = &response::CustomResponse> {
        let of_quic = self.flows.iter().filter_map(|flow| flow.quic.as_deref());
        let of_quic = of_quic.flat_map(|ends| [&ends.sender, &ends.receiver]);
        let of_proxies = self.proxies.iter().filter_map(|proxy| proxy.quic.as_deref());
        let of_proxies = of_proxies.flat_map(|ends| [&ends.client, &ends.server]);
        let of_quic = of_quic.chain(of_proxies).map(|quic| &quic.loss_assumption);
        self.senders()
            .map(|tcp| &tcp.loss_assumption)
            .chain(of_quic)
            .filter_map(|assumption| if let LossAssumption::Custom(custom) = assumption { Some(custom) } else { None })
    }

    fn senders(&self) -> impl Iterator<Item = &Config> {
        let of_flows = self.flows.iter().flat_map(|flow| flow.configs().map(|tcp| &**tcp));
        of_flows.chain(self.proxies.iter().map(|proxy| &*proxy.server))
    }
}

/// Returns a start time drawn from the flow's own random stream, plus `later`.
pub(crate) fn start(law: &Varied<Duration>, name: &str, later: Duration, seed: u64) -> Duration {
    law.draw(&mut RandomStream::new(seed, &format!("flow {name} start"))) + later
}
