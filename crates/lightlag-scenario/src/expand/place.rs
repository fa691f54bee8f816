//! The paths in the scenario file where the parts of a network are described.

use crate::network::{Flow, FlowRole};
use crate::spec::{Line, Scenario, Topology};

impl Scenario {
    /// Returns the path in the file where a link is described, and the description.
    pub(crate) fn line_of(&self, link: usize) -> Option<(String, &Line)> {
        Some(match (self.links.get(link), &self.topology) {
            (Some(listed), _) => (format!("links[{link}]"), &listed.line),
            (None, Some(Topology::Dumbbell(dumbbell))) if link > self.links.len() => {
                ("topology.access".to_owned(), &dumbbell.access.line)
            }
            (None, Some(Topology::Dumbbell(dumbbell))) => ("topology".to_owned(), &dumbbell.line),
            (None, Some(Topology::PointToPoint(generated))) => ("topology".to_owned(), &generated.line),
            (None, Some(Topology::Chain(generated))) => ("topology".to_owned(), &generated.line),
            (None, Some(Topology::Star(generated))) => ("topology".to_owned(), &generated.line),
            (None, Some(Topology::Satellite(satellite))) => {
                let (table, line) = satellite.place(link - self.links.len());
                (table.to_owned(), line)
            }
            (None, Some(Topology::Iot(iot))) => {
                let (table, line) = iot.place(link - self.links.len());
                (table.to_owned(), line)
            }
            (None, Some(Topology::Swarm(_)) | None) => return None,
        })
    }

    /// Returns the path in the file of the table that describes a link.
    pub(crate) fn table_of(&self, link: usize) -> String {
        self.line_of(link).map_or("links".to_owned(), |(table, _)| table)
    }

    /// Returns the path in the file of the queue of a link direction.
    pub(crate) fn queue_path(&self, direction: usize) -> String {
        let Some((table, line)) = self.line_of(direction / 2) else { return "links".to_owned() };
        match (line.forward.queue == line.backward.queue, direction % 2) {
            (true, _) => format!("{table}.queue"),
            (false, 0) => format!("{table}.queue.forward"),
            (false, _) => format!("{table}.queue.backward"),
        }
    }
}

/// Returns the path in the file of a flow.
pub(crate) fn flow_path(flow: &Flow) -> String {
    match (flow.listed, flow.part) {
        (Some(index), _) => format!("flows[{index}]"),
        (None, FlowRole::Tunnel(index)) => format!("tunnels[{index}]"),
        (None, _) => "topology.flow".to_owned(),
    }
}
