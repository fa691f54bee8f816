//! Files of paths: CSV, BonnMotion and scripts of `setdest`.
//!
//! Reading is pure: it takes the bytes of a file, uncompressed. A last line without its newline is refused, because a
//! file that was cut off would look complete.

mod bonnmotion;
mod csv;
pub mod geodesy;
mod ns2;
#[cfg(test)]
mod tests;

use crate::models::trace::TraceFormat;
use crate::{Fix, Track, Vector};
use lightlag_core::{Duration, Instant};
use std::fmt;

/// The longest time of a path.
pub(crate) const LONGEST: Duration = Duration::from_secs(20 * 24 * 3600);
/// The farthest coordinate, in metres.
const FARTHEST: f64 = 1e9;

/// An error of a file of paths, with its line, counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathError {
    /// The line.
    pub line: usize,
    /// The field, the value and the remedy.
    pub message: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for PathError {}

/// The path of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// The name of the node in the file, or its number.
    pub node: String,
    /// Its places.
    pub track: Track,
}

/// The paths of a file: in the order of their numbers, or in that in which their names appear.
#[derive(Clone, PartialEq, Debug)]
pub struct Paths {
    nodes: Vec<Path>,
    /// Lines of a script that move no node.
    left_out: usize,
}

/// A doubt about a path.
#[derive(Clone, PartialEq, Debug)]
pub enum Doubt {
    /// The node is faster somewhere than it should be.
    Fast {
        /// The node.
        node: String,
        /// Its greatest speed, in metres per second.
        speed: f64,
        /// Where it starts to have it.
        from: Instant,
        /// The speed that it should not exceed, in metres per second.
        fastest: f64,
    },
    /// The path ends before the run.
    Short {
        /// The node.
        node: String,
        /// The end of its path.
        end: Instant,
        /// The length of the run.
        run: Duration,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fast { node, speed, from, fastest } => {
                write!(f, "node {node} flies at {speed:.1} m/s from {from} on, faster than {fastest} m/s")
            }
            Self::Short { node, end, run } => {
                write!(f, "the path of node {node} ends at {end}, before the run of {run}; it stays at its last place")
            }
        }
    }
}

impl Paths {
    /// The paths of a file with these bytes; a file by BonnMotion has this dimension, 2 or 3.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn read(format: TraceFormat, dimension: u32, bytes: &[u8]) -> Result<Self, PathError> {
        match format {
            TraceFormat::Csv => csv::read(bytes),
            TraceFormat::BonnMotion => bonnmotion::read(bytes, dimension),
            TraceFormat::Ns2 => ns2::read(bytes),
        }
    }

    /// The path of each node.
    pub fn nodes(&self) -> &[Path] {
        &self.nodes
    }

    /// Number of lines of a script that move no node and were left out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The path of the node with this name.
    pub fn named(&self, node: &str) -> Option<&Track> {
        self.nodes.iter().find(|path| path.node == node).map(|path| &path.track)
    }

    /// The least and the largest coordinates.
    pub fn bounds(&self) -> (Vector, Vector) {
        let places = self.nodes.iter().flat_map(|path| path.track.fixes()).map(|fix| fix.place);
        let infinite = Vector::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        places.fold((infinite, -infinite), |(least, most), place| {
            let least = Vector::new(least.x.min(place.x), least.y.min(place.y), least.z.min(place.z));
            (least, Vector::new(most.x.max(place.x), most.y.max(place.y), most.z.max(place.z)))
        })
    }

    /// Doubts about nodes faster than `fastest` metres per second, and about paths shorter than the run.
    pub fn doubts(&self, run: Duration, fastest: Option<f64>) -> Vec<Doubt> {
        self.nodes.iter().flat_map(|path| path.doubts(run, fastest)).collect()
    }

    /// The paths as CSV, which reads back as they are.
    pub fn to_csv(&self) -> String {
        let mut text = String::from("time,node,x,y,z\n");
        for Path { node, track } in &self.nodes {
            for Fix { at, place: Vector { x, y, z } } in track.fixes() {
                text.push_str(&format!("{},{node},{x},{y},{z}\n", at.as_secs_f64()));
            }
        }
        text
    }
}

impl Path {
    /// The same about one path. A node with a single place is one that stays.
    pub fn doubts(&self, run: Duration, fastest: Option<f64>) -> Vec<Doubt> {
        let Self { node, track } = self;
        let mut doubts = Vec::new();
        let (speed, from) = track.max_speed();
        if let Some(fastest) = fastest.filter(|fastest| speed > *fastest) {
            doubts.push(Doubt::Fast { node: node.clone(), speed, from, fastest });
        }
        let fixes = track.fixes();
        let end = fixes[fixes.len() - 1].at;
        if fixes.len() > 1 && end < Instant::ZERO + run {
            doubts.push(Doubt::Short { node: node.clone(), end, run });
        }
        doubts
    }
}

/// The lines of a file with their numbers, without their ends.
fn lines(bytes: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, PathError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        PathError { line, message: "is not text in UTF-8".to_owned() }
    })?;
    if !text.is_empty() && !text.ends_with('\n') {
        let message = "the last line has no newline: the file is cut off; if the line is whole, add a newline";
        return Err(PathError { line: 1 + text.matches('\n').count(), message: message.to_owned() });
    }
    Ok(text.lines().enumerate().map(|(index, line)| (index + 1, line)))
}

/// A finite number in a field.
fn number(name: &str, field: &str) -> Result<f64, String> {
    let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{name}: {field:?} is not a number"))
}

fn time(name: &str, field: &str) -> Result<Instant, String> {
    let seconds = number(name, field)?;
    if seconds < 0.0 {
        return Err(format!("{name}: {field} is negative; time 0 is the start of the run"));
    }
    let time = Duration::from_secs_f64(seconds);
    if time > LONGEST {
        return Err(format!("{name}: {field} is above 1728000 s (20 days); count from the start of the run"));
    }
    Ok(Instant::ZERO + time)
}

fn metres(name: &str, field: &str) -> Result<f64, String> {
    let metres = number(name, field)?;
    if metres.abs() > FARTHEST {
        return Err(format!("{name}: {field} is farther than {FARTHEST} m"));
    }
    Ok(metres)
}

/// Adds a place to the path of `node`.
fn append(fixes: &mut Vec<Fix>, fix: Fix, node: &str) -> Result<(), String> {
    if let Some(last) = fixes.last() {
        if fix.at < last.at {
            return Err(format!(
                "the time of node {node} goes back from {} to {}; its places come in the order of time",
                last.at, fix.at
            ));
        }
        if fix.at == last.at {
            return Err(format!("node {node} has two places at {}; leave one of them out", fix.at));
        }
    }
    fixes.push(fix);
    Ok(())
}

/// A node of a file that is being read: its name, its places, and the line on which it appears first.
struct Draft {
    node: String,
    fixes: Vec<Fix>,
    line: usize,
}

/// The paths of these nodes. If all names are numbers, the nodes are in their order, from 0 or 1 on without a gap.
fn finish(mut drafts: Vec<Draft>) -> Result<Paths, PathError> {
    let number = |draft: &Draft| draft.node.parse::<u32>().ok();
    if drafts.iter().all(|draft| number(draft).is_some()) {
        drafts.sort_by_key(number);
        let first = drafts.first().and_then(number).map_or(0, |first| first.min(1));
        for (expected, draft) in (first..).zip(&drafts) {
            if number(draft) != Some(expected) {
                let message =
                    format!("there is a node {} but no node {expected}; number them without a gap", draft.node);
                return Err(PathError { line: draft.line, message });
            }
        }
    }
    let path = |draft: Draft| {
        let track = Track::new(draft.fixes);
        let message = || format!("node {} has no place", draft.node);
        let track = track.ok_or_else(|| PathError { line: draft.line, message: message() })?;
        Ok(Path { node: draft.node, track })
    };
    let nodes = drafts.into_iter().map(path).collect::<Result<_, PathError>>()?;
    Ok(Paths { nodes, left_out: 0 })
}
