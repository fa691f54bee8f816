//! Paths from files.

use crate::model::{Model, Refusal, extent, shown};
use crate::track::{Follower, Track};
use crate::walk::WalkStart;
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::words;

words! {
    /// The format of a file that contains paths.
    pub enum TraceFormat {
        /// CSV with the columns time, node and position.
        Csv = "csv",
        /// The BonnMotion format: one line per node.
        BonnMotion = "bonnmotion",
        /// A movement script for ns-2, as written by `setdest`.
        Ns2 = "ns2",
    }
}

/// The path of a node from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// Name of the file.
    pub file: String,
    /// Format of the file.
    pub format: TraceFormat,
    /// Number of coordinates per position in a BonnMotion file, 2 or 3.
    pub dimension: u32,
    /// Name of the node in the file, if it differs from the node's own name.
    pub node: String,
    /// The path of the node; filled in when the file is read.
    pub track: Option<Track>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { file: String::new(), format: TraceFormat::Csv, dimension: 2, node: String::new(), track: None }
    }
}

impl Described for Trace {
    const ABOUT: &'static str = "A node follows a path from a file: straight between two positions, at rest before the \
                                 first and after the last. Formats: csv (columns time, node and x, y, z or lat, lon, \
                                 alt), bonnmotion (a line for each node, also compressed; such a file does not contain \
                                 its dimension) and ns2 (scripts of setdest). A node follows the path of the node of \
                                 the file that `node` names, or of the node with its own name; if there is none, the \
                                 nodes of a swarm take the paths in the order of the file, and any other node the only \
                                 path.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::text("file", |c: &mut Self| &mut c.file, "the path of a file")
                .about("Path of the file, relative to the directory of the scenario.")
                .required("write the path of the file, such as \"flight.csv\""),
            Setting::choice("format", |c: &mut Self| &mut c.format, "a format of paths").about("Format of the file."),
            Setting::text("node", |c: &mut Self| &mut c.node, "the name of a node in the file")
                .about("Name of the node in the file, if it differs from the node's own name.")
                .quiet(),
            Setting::count("dimension", |c: &mut Self| &mut c.dimension, 3, "a number of dimensions", "; write 2 or 3")
                .about("Number of dimensions of a BonnMotion file, 2 or 3.")
                .quiet()
                .checked(|c| (c.dimension < 2).then_some("is neither 2 nor 3")),
        ]
    }
}

impl Model for Trace {
    type Walk = Follower;

    fn check(&self, area: &Area, position: Option<Vector>) -> Result<(), Refusal> {
        let Some(track) = &self.track else {
            return Err(Refusal::of("file", format!("{:?} has no path for this node", self.file)));
        };
        if position.is_some() {
            return Err(Refusal::place("a trace defines its own start; remove the position".to_owned()));
        }
        match track.fixes().iter().find(|fix| !area.contains(fix.place)) {
            None => Ok(()),
            Some(fix) => {
                let message = format!("{} at {} is outside {}", shown(fix.place), fix.at, extent(area));
                Err(Refusal::of("file", message))
            }
        }
    }

    fn start(&self, _: WalkStart<'_>) -> (Follower, Piece) {
        Follower::new(self.track.clone().expect("a checked trace has a track"), false)
    }
}
