//! Router features that an algorithm needs and the network lacks.

use super::{Found, Kind};
use crate::expand::Way;
use crate::network::{Flow, Network};
use lightlag_tcp::ecn::Mode;

/// The remedy that makes routers warn.
const REMEDY: &str = "take queue = { discipline = \"step\", threshold = \"50 packets\", weight = 0.02 } there and tcp = { ecn = \"classic\" }";

/// Jersey in a network without congestion warnings.
pub(super) fn warn(network: &Network, flow: &Flow, way: &Way, path: &str, found: &mut Found) {
    if flow.tcp.congestion.name() != "jersey" {
        return;
    }
    let link = &network.links[way.bottleneck.0 as usize];
    let slowest = &link.name;
    if flow.tcp.ecn == Mode::Off {
        found.flow(Kind::JerseyWithoutMarks, path, ".tcp.congestion", || {
            format!(
                "without ecn nobody can warn jersey of congestion, and it takes each loss as westwood does; {REMEDY}"
            )
        });
    } else if !link.discipline.marks() {
        found.flow(Kind::JerseyWithoutMarks, path, ".tcp.congestion", || {
            format!("the queue of {slowest} marks nothing, so jersey takes each loss for an error and keeps it full; {REMEDY}")
        });
    }
}
