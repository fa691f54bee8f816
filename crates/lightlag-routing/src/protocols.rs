//! The registry of protocols: their names, settings and agents.

pub mod aodv;
pub mod dsdv;
pub mod fixed;
pub mod gpsr;
pub mod olsr;
pub mod oracle;

use crate::model::Model;
use crate::{Agent, Identity, custom};
use lightlag_core::Probability;
use lightlag_core::params::Registered;
use std::sync::Arc;

/// Generates the enum of protocols from one line per protocol.
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
            /// Returns the agent of a node.
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

/// The routing of the nodes of a medium.
#[derive(Clone, PartialEq, Debug)]
pub enum Router {
    /// A built-in protocol.
    Protocol(Protocol),
    /// A custom router.
    Custom(custom::CustomRouter),
    /// No protocol: nodes send to the hub of a star, which sends to the destination.
    Star,
}

impl Router {
    /// Returns the agent of a node.
    pub fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        match self {
            Self::Protocol(protocol) => protocol.build(identity),
            Self::Custom(custom) => custom::build(custom, identity),
            Self::Star => Box::new(crate::star::Star::new(identity.node)),
        }
    }

    /// Returns the name of the protocol or router.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Protocol(protocol) => protocol.name(),
            Self::Custom(custom) => custom.name(),
            Self::Star => "star",
        }
    }

    /// Returns the minimum delivery probability of a link that is expected to carry data.
    pub fn min_delivery(&self) -> Probability {
        match self {
            Self::Protocol(Protocol::Static(config)) => config.min_delivery,
            Self::Protocol(Protocol::Oracle(config)) => config.min_delivery,
            _ => Probability::HALF,
        }
    }

    /// Returns the built-in protocol, if it is one.
    pub fn protocol(&self) -> Option<&Protocol> {
        if let Self::Protocol(protocol) = self { Some(protocol) } else { None }
    }
}

/// Registers a custom router, and replaces any custom router of the same name.
///
/// # Errors
/// If a built-in protocol has the same name.
pub fn register(maker: Arc<dyn custom::RouterFactory>) -> Result<(), String> {
    let name = maker.facts().name;
    if Protocol::NAMES.contains(&name) {
        return Err(format!("{name:?} is the name of a routing protocol of lightlag; choose another"));
    }
    custom::CUSTOM.add(maker);
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
    use crate::testbed::{Bed, Graph, PacketEnd, at, wifi};
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
    fn every_protocol_crosses_a_grid_by_a_shortest_path() {
        for name in Protocol::NAMES {
            let mut bed = grid(name, 3);
            bed.run(at(60.0));
            let packets: Vec<usize> = [(0, 15), (12, 3), (5, 6)].map(|(a, b)| bed.send(a, b)).into();
            bed.run(at(62.0));
            for (packet, hops) in packets.into_iter().zip([6, 6, 1]) {
                let PacketEnd::Delivered { path, .. } = &bed.ends[&packet] else { panic!("{name}: {:?}", bed.ends) };
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
    fn contradictory_parameters_are_rejected() {
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
            let index_of = |key| parameters.iter().position(|parameter| parameter.key == key).unwrap();
            protocol.set(index_of(changed), value);
            let reasons: Vec<_> = (0..parameters.len()).filter(|index| protocol.check(*index).is_some()).collect();
            assert_eq!(reasons, [index_of(refused)], "{name}.{changed}");
        }
    }
}
