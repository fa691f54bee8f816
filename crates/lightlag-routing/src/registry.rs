//! The protocols by name: their settings, and their agents.

use crate::model::Model;
use crate::{Agent, Identity, aodv, dsdv, fixed, gpsr, olsr, oracle, own};
use lightlag_core::Probability;
use lightlag_core::params::Registered;
use std::sync::Arc;

/// Makes the enum of protocols from a line for each.
macro_rules! protocols {
    ($($variant:ident, $name:literal, $config:ty;)*) => {
        lightlag_core::registry! {
            /// A routing protocol and its parameters.
            #[derive(Clone, PartialEq, Debug)]
            pub enum Protocol {
                $($variant, $name, $config;)*
            }
        }

        impl Protocol {
            /// The agent of a node.
            pub fn build(&self, identity: &Identity) -> Box<dyn Agent> {
                match self {
                    $(Self::$variant(config) => Model::build(config, identity),)*
                }
            }
        }
    };
}

// One line per protocol: its variant, its name in a scenario, its parameters.
protocols! {
    Aodv, "aodv", aodv::Config;
    Olsr, "olsr", olsr::Config;
    Dsdv, "dsdv", dsdv::Config;
    Gpsr, "gpsr", gpsr::Config;
    Static, "static", fixed::Config;
    Oracle, "oracle", oracle::Config;
}

/// The way in which the nodes of a medium find their routes.
#[derive(Clone, PartialEq, Debug)]
pub enum Router {
    /// By a protocol of lightlag.
    Protocol(Protocol),
    /// By a router from outside.
    Own(own::Own),
}

impl Router {
    /// The agent of a node.
    pub fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        match self {
            Self::Protocol(protocol) => protocol.build(identity),
            Self::Own(own) => own::build(own, identity),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Protocol(protocol) => protocol.name(),
            Self::Own(own) => own.name(),
        }
    }

    /// The delivery ratio above which a link is expected to carry data.
    pub fn min_delivery(&self) -> Probability {
        match self {
            Self::Protocol(Protocol::Static(config)) => config.min_delivery,
            Self::Protocol(Protocol::Oracle(config)) => config.min_delivery,
            _ => Probability::HALF,
        }
    }

    /// The protocol of lightlag, if it is one.
    pub fn protocol(&self) -> Option<&Protocol> {
        if let Self::Protocol(protocol) = self { Some(protocol) } else { None }
    }
}

/// Makes a router from outside known by its name, in place of an earlier one with that name.
///
/// # Errors
/// If one of lightlag's own protocols has the name.
pub fn register(maker: Arc<dyn own::Maker>) -> Result<(), String> {
    let name = maker.facts().name;
    if Protocol::NAMES.contains(&name) {
        return Err(format!("{name:?} is the name of a routing protocol of lightlag; choose another"));
    }
    own::OUTSIDE.add(maker);
    Ok(())
}

impl Default for Router {
    fn default() -> Self {
        Self::Protocol(Protocol::Aodv(aodv::Config::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::{Bed, End, Graph, at, wifi};
    use lightlag_core::params::Value;
    use lightlag_net::NodeId;

    #[test]
    fn every_setting_keeps_its_default() {
        for name in Protocol::NAMES {
            let mut protocol = Protocol::named(name).unwrap();
            for (index, parameter) in protocol.parameters().into_iter().enumerate() {
                assert_eq!(protocol.get(index), parameter.default, "{name}.{}", parameter.key);
                protocol.set(index, parameter.default);
                assert_eq!(protocol.check(index), None, "{name}.{}", parameter.key);
            }
            assert_eq!((protocol.name(), &protocol), (*name, &Protocol::named(name).unwrap()));
            let agent = protocol.build(&Identity { node: NodeId(0), name: "a", seed: 1 });
            assert_eq!(agent.changes(), 0);
        }
        assert_eq!(Protocol::named("rip"), None);
    }

    fn grid(name: &str, seed: u64) -> Bed {
        let protocol = Protocol::named(name).unwrap();
        let agent = |node| protocol.build(&Identity { node: NodeId(node), name: &format!("n{node}"), seed });
        Bed::new(Graph::grid(4), (0..16).map(agent).collect(), wifi)
    }

    #[test]
    fn every_protocol_crosses_a_grid_by_a_shortest_way() {
        for name in Protocol::NAMES {
            let mut bed = grid(name, 3);
            bed.run(at(60.0));
            let packets: Vec<usize> = [(0, 15), (12, 3), (5, 6)].map(|(a, b)| bed.send(a, b)).into();
            bed.run(at(62.0));
            for (packet, hops) in packets.into_iter().zip([6, 6, 1]) {
                let End::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{name}: {:?}", bed.ends) };
                assert_eq!(path.len(), hops, "{name}");
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_messages() {
        for name in Protocol::NAMES {
            let run = |seed| {
                let mut bed = grid(name, seed);
                bed.send(0, 15);
                bed.run(at(20.0));
                bed.sent
            };
            let first = run(1);
            assert_eq!(first, run(1), "{name}");
            assert_eq!(first == run(2), first.is_empty(), "{name}");
        }
    }

    #[test]
    fn parameters_that_do_not_go_together_are_refused() {
        use lightlag_core::Duration;
        let seconds = |seconds| Value::Time(Duration::from_secs_f64(seconds));
        let cases = [
            ("aodv", "net_diameter", Value::Count(6), "ttl_threshold"),
            ("aodv", "jitter", seconds(0.0015), "jitter"),
            ("olsr", "hello_interval", seconds(0.9), "jitter"),
            ("gpsr", "beacon_interval", seconds(3.1), "neighbour_timeout"),
        ];
        for (name, changed, value, refused) in cases {
            let mut protocol = Protocol::named(name).unwrap();
            let parameters = protocol.parameters();
            let place = |key| parameters.iter().position(|parameter| parameter.key == key).unwrap();
            protocol.set(place(changed), value);
            let reasons: Vec<_> = (0..parameters.len()).filter(|index| protocol.check(*index).is_some()).collect();
            assert_eq!(reasons, [place(refused)], "{name}.{changed}");
        }
    }
}
