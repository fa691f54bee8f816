//! Warnings of links that have one rule of Linux's netem without the other.

use super::{Found, Kind, Warning};
use crate::network::{LinkDirection, Network};
use crate::spec::Scenario;
use lightlag_net::Loss;
use lightlag_net::queue::{DisciplineConfig, NetemCount};

impl Scenario {
    /// Warns of links with netem's limit and losses of single packets, and of links with losses of complete bursts and
    /// another queue.
    pub(super) fn netem(&self, network: &Network, findings: &mut Found) {
        for (link, directions) in network.links.chunks_exact(2).enumerate() {
            let Some((key, message)) = directions.iter().find_map(halved) else { continue };
            let path = format!("{}.{key}", self.table_of(link));
            if findings.warnings.iter().all(|(warning, _)| warning.path != path) {
                findings.warnings.push((Warning { kind: Kind::HalfNetem, path, message }, 0));
            }
        }
    }
}

/// Returns the key that differs from netem in this direction, and the message.
fn halved(direction: &LinkDirection) -> Option<(&'static str, String)> {
    let name = &direction.name;
    match (&direction.discipline, &direction.loss) {
        (DisciplineConfig::Netem(NetemCount::Bursts), Loss::Packet(rate)) => {
            let p = rate.value();
            let message = format!(
                "{name} has the queue of netem, but loses single packets; netem loses complete bursts (GSO), which for \
                 the same fraction are rarer loss events: CUBIC is about 1.4 times as fast; to compare with netem, \
                 write loss = {{ bursts = {p} }}"
            );
            Some(("loss", message))
        }
        (DisciplineConfig::Netem(NetemCount::Packets), _) => None,
        (discipline, Loss::Gso(_)) if !matches!(discipline, DisciplineConfig::Netem(_)) => {
            let message = format!(
                "{name} loses complete bursts like netem, but its queue does not count packets in propagation, as netem's \
                 limit does; to compare with netem, write queue = {{ discipline = \"netem\" }} with its limit, 1000 \
                 packets by default"
            );
            Some(("queue", message))
        }
        _ => None,
    }
}
