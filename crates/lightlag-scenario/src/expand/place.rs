//! The places of a network's parts in the file.

use crate::network::Flow;
use crate::spec::{Line, Scenario, Topology};

impl Scenario {
    /// The place of a network's link in the file, with its description.
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

    /// The table of a network's link in the file.
    pub(crate) fn table_of(&self, link: usize) -> String {
        self.line_of(link).map_or("links".to_owned(), |(table, _)| table)
    }

    /// The place of a link direction's queue in the file.
    pub(crate) fn queue_path(&self, direction: usize) -> String {
        let Some((table, line)) = self.line_of(direction / 2) else { return "links".to_owned() };
        match (line.forward.queue == line.backward.queue, direction % 2) {
            (true, _) => format!("{table}.queue"),
            (false, 0) => format!("{table}.queue.forward"),
            (false, _) => format!("{table}.queue.backward"),
        }
    }
}

/// The place of a network's flow in the file.
pub(crate) fn flow_path(flow: &Flow) -> String {
    flow.listed.map_or("topology.flow".to_owned(), |index| format!("flows[{index}]"))
}
