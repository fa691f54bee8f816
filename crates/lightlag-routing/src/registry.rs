//! The protocols by name: their settings, and their agents.

use crate::{Agent, Identity, aodv, dsdv, fixed, gpsr, olsr, oracle};
use lightlag_net::setting::Described;

/// The parameters of a protocol, from which agents are made.
pub trait Model: Described {
    /// The agent of a node.
    fn build(&self, identity: &Identity) -> Box<dyn Agent>;
}

/// Makes the enum of protocols from a line for each.
macro_rules! protocols {
    ($($variant:ident, $name:literal, $config:ty;)*) => {
        lightlag_net::registry! {
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

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_net::NodeId;
    use lightlag_net::setting::Registered;

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
}
