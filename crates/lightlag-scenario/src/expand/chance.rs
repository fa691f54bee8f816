//! Whether a scenario is random: if not, runs with other seeds give the same results.

use crate::network::Network;
use crate::spec::{FlowTemplate, Quantity, Scenario, Traffic, Transport, Varied, own_traffic};
use lightlag_control::congestion::{Choice, response};
use lightlag_core::{Duration, RandomStream};
use lightlag_net::queue::own::Own;
use lightlag_orbit::own_ways;
use lightlag_routing::Router;
use lightlag_tcp::Config;
use lightlag_tcp::config::LossAssumption;

impl Scenario {
    /// Whether any random draw can change a result: radio media, losses, queues, delays, rain, arrivals, sizes, starts, or an
    /// algorithm that draws. `network` is the expanded scenario. Initial sequence numbers do not count.
    pub fn is_random(&self, network: &Network) -> bool {
        let starts = self.flows.iter().any(|flow| flow.start.is_random());
        starts || self.templates().any(|template| template.start.is_random()) || network.is_random()
    }

    /// Every template of a flow.
    fn templates(&self) -> impl Iterator<Item = &FlowTemplate> {
        self.generated_flows(self.seed).into_iter().map(|generated| generated.template)
    }
}

impl Network {
    /// Names every field, so that a new part of a network does not compile before someone decides whether it draws.
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
            routes: _,
            ttl: _,
            ip: _,
            captures: _,
        } = self;
        let several = flows.len() > 1;
        // Stations of a medium draw their backoff. Whatever else draws there (places, movements, fading, routing messages,
        // the choice of a rate) needs a medium, too.
        !media.is_empty()
            || links.iter().any(|link| link.draws(several))
            || space.as_ref().is_some_and(|space| space.handover.draws() || space.routing.is_some())
            || flows.iter().any(|flow| flow.part.is_arrival() || flow.traffic.is_random())
            || self.algorithms().any(Choice::draws)
            || self.own_responses().next().is_some()
    }

    /// Whether an algorithm, a loss response, a queue discipline, traffic or a router comes from outside.
    pub fn has_own_algorithms(&self) -> bool {
        self.algorithms().any(|choice| matches!(choice, Choice::Own(_)))
            || self.own_responses().next().is_some()
            || self.own_disciplines().next().is_some()
            || self.own_traffic().next().is_some()
            || self.own_routers().next().is_some()
            || self.own_ways().is_some()
    }

    /// Whether one of them runs in an interpreter.
    pub fn holds_interpreter(&self) -> bool {
        self.algorithms().any(|choice| matches!(choice, Choice::Own(own) if own.holds_interpreter()))
            || self.own_responses().any(response::Own::holds_interpreter)
            || self.own_disciplines().any(Own::holds_interpreter)
            || self.own_traffic().any(own_traffic::Own::holds_interpreter)
            || self.own_routers().any(lightlag_routing::own::Own::holds_interpreter)
            || self.own_ways().is_some_and(own_ways::Own::holds_interpreter)
    }

    /// The names of the flows of TCP with this congestion control, in their order.
    pub fn flows_with(&self, congestion: &str) -> Vec<&str> {
        let flows = self.flows.iter().filter(|flow| flow.transport == Transport::Tcp);
        flows.filter(|flow| flow.tcp.congestion.name() == congestion).map(|flow| flow.name.as_str()).collect()
    }

    fn own_traffic(&self) -> impl Iterator<Item = &own_traffic::Own> {
        self.flows
            .iter()
            .filter_map(|flow| if let Traffic::Own(given) = &*flow.traffic { Some(&given.own) } else { None })
    }

    fn own_ways(&self) -> Option<&own_ways::Own> {
        self.space.as_ref()?.routing.as_ref()
    }

    fn own_routers(&self) -> impl Iterator<Item = &lightlag_routing::own::Own> {
        self.media.iter().filter_map(|medium| if let Router::Own(own) = &medium.routing { Some(own) } else { None })
    }

    /// The congestion controls of all senders.
    fn algorithms(&self) -> impl Iterator<Item = &Choice> {
        self.senders().map(|tcp| &tcp.congestion)
    }

    fn own_responses(&self) -> impl Iterator<Item = &response::Own> {
        self.senders()
            .filter_map(|tcp| if let LossAssumption::Own(own) = &tcp.loss_assumption { Some(own) } else { None })
    }

    fn senders(&self) -> impl Iterator<Item = &Config> {
        let of_flows = self.flows.iter().flat_map(|flow| flow.configs().map(|tcp| &**tcp));
        of_flows.chain(self.proxies.iter().map(|proxy| &*proxy.server))
    }
}

fn varies<Q: Quantity>(quantity: Option<&Varied<Q>>) -> bool {
    quantity.is_some_and(Varied::is_random)
}

impl Traffic {
    /// Whether its application draws sizes or times.
    fn is_random(&self) -> bool {
        match self {
            Self::Bulk | Self::Constant(_) | Self::Collect(_) => false,
            // Nobody knows of one from outside.
            Self::Poisson(_) | Self::Transfers(_) | Self::Own(_) => true,
            Self::OnOff(traffic) => traffic.on.is_random() || traffic.off.is_random(),
            Self::Periodic(traffic) => traffic.size.is_random() || varies(traffic.first.as_ref()),
            Self::Burst(traffic) => {
                traffic.size.is_random() || varies(traffic.every.as_ref()) || varies(traffic.first.as_ref())
            }
            Self::Requests(traffic) => {
                traffic.response.is_random()
                    || traffic.request.is_random()
                    || varies(traffic.server_time.as_ref())
                    || varies(traffic.think.as_ref())
            }
            Self::Web(traffic) => {
                [&traffic.html, &traffic.object, &traffic.request].into_iter().any(Varied::is_random)
                    || traffic.objects.is_random()
                    || varies(traffic.server_time.as_ref())
                    || varies(traffic.think.as_ref())
            }
        }
    }
}

/// A start drawn from the flow's own stream, plus `later`.
pub(crate) fn start(law: &Varied<Duration>, name: &str, later: Duration, seed: u64) -> Duration {
    law.draw(&mut RandomStream::new(seed, &format!("flow {name} start"))) + later
}
