//! Warnings of router features that an algorithm requires and the network does not have.

use super::{Found, Kind};
use crate::expand::ConnectionPath;
use crate::network::{Flow, Network};
use lightlag_tcp::ecn::EcnMode;

/// Fix that lets routers send congestion warnings.
const REMEDY: &str = "set queue = { discipline = \"step\", threshold = \"50 packets\", weight = 0.02 } there and tcp = \
                      { ecn = \"classic\" }";

/// Warns of TCP-Jersey in a network whose routers send no congestion warnings.
pub(super) fn warn(network: &Network, flow: &Flow, way: &ConnectionPath, path: &str, findings: &mut Found) {
    if flow.tcp.congestion.name() != "jersey" {
        return;
    }
    let link = &network.links[way.bottleneck.0 as usize];
    let slowest = &link.name;
    if flow.tcp.ecn == EcnMode::Off {
        findings.flow(Kind::JerseyWithoutMarks, path, ".tcp.congestion", || {
            format!(
                "without ecn no router can notify jersey of congestion, and it reacts to each loss as westwood does; \
                 {REMEDY}"
            )
        });
    } else if !link.discipline.marks() {
        findings.flow(Kind::JerseyWithoutMarks, path, ".tcp.congestion", || {
            format!(
                "the queue of {slowest} marks nothing, so jersey treats each loss as an error and keeps the queue \
                 full; {REMEDY}"
            )
        });
    }
}
