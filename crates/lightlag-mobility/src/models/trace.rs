//! Paths from files.

use crate::model::{Model, Refusal, extent, shown};
use crate::track::{Follower, Track};
use crate::walk::Start;
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};

/// The format of a file of paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceFormat {
    /// Rows of time, node and place.
    #[default]
    Csv,
    /// A line for each node, by BonnMotion.
    BonnMotion,
    /// A script of `setdest`.
    Ns2,
}

impl TraceFormat {
    /// The names of the formats.
    pub const NAMES: &'static [&'static str] = &["csv", "bonnmotion", "ns2"];
    const ALL: [Self; 3] = [Self::Csv, Self::BonnMotion, Self::Ns2];
}

/// The path of a node from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// Its path in the file system.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// The dimensions of a file by BonnMotion, 2 or 3.
    pub dimension: u32,
    /// The node of the file that it follows, if another than its own is named.
    pub node: String,
    /// The path of the node, which whoever reads the file fills in.
    pub track: Option<Track>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { file: String::new(), format: TraceFormat::Csv, dimension: 2, node: String::new(), track: None }
    }
}

impl Described for Trace {
    const ABOUT: &'static str = "A node follows a path from a file: straight between two places, at rest before the first and \
        after the last. Formats: csv (columns time, node and x, y, z or lat, lon, alt), bonnmotion (a line for each node, \
        also compressed; nothing in such a file tells its dimension) and ns2 (scripts of setdest). A node follows the path of \
        the node of the file that `node` names, or that has its own name; without one, the nodes of a swarm take the paths in \
        the order of the file, and any other node the only one.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::text("file", |c: &mut Self| &mut c.file, "the path of a file")
                .about("The path of the file, from the folder of the scenario.")
                .required("write the path of the file, such as \"flight.csv\""),
            Setting::word(
                "format",
                "a format of paths",
                TraceFormat::NAMES,
                |c: &Self| TraceFormat::ALL.iter().position(|format| *format == c.format).expect("all are listed"),
                |c: &mut Self, word| c.format = TraceFormat::ALL[word],
            )
            .about("The format of the file."),
            Setting::text("node", |c: &mut Self| &mut c.node, "the name of a node in the file")
                .about("The node of the file that it follows, if another than its own is named.")
                .quiet(),
            Setting::count("dimension", |c: &mut Self| &mut c.dimension, 3, "a number of dimensions", "; write 2 or 3")
                .about("The dimensions of a file by BonnMotion, 2 or 3.")
                .quiet()
                .checked(|c| (c.dimension < 2).then_some("is neither 2 nor 3")),
        ]
    }
}

impl Model for Trace {
    type Walk = Follower;

    fn check(&self, area: &Area, place: Option<Vector>) -> Result<(), Refusal> {
        let Some(track) = &self.track else {
            return Err(Refusal::of("file", format!("{:?} has no path for this node", self.file)));
        };
        if place.is_some() {
            return Err(Refusal::place("a trace has its own start; leave the place out".to_owned()));
        }
        match track.fixes().iter().find(|fix| !area.contains(fix.place)) {
            None => Ok(()),
            Some(fix) => {
                let message = format!("{} at {} is outside {}", shown(fix.place), fix.at, extent(area));
                Err(Refusal::of("file", message))
            }
        }
    }

    fn start(&self, _: Start<'_>) -> (Follower, Piece) {
        Follower::new(self.track.clone().expect("a checked trace has a track"), false)
    }
}
