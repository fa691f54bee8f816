//! Files that contain paths: CSV, BonnMotion and `setdest` scripts.
//!
//! The functions here do no input or output: they take the bytes of a file, uncompressed. A last line without a newline
//! is rejected, because otherwise a truncated file would look complete.

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

/// Maximum duration of a path.
pub(crate) const LONGEST: Duration = Duration::from_secs(20 * 24 * 3600);
/// Maximum absolute coordinate, in metres.
const FARTHEST: f64 = 1e9;

/// An error in a file of paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathError {
    /// Line number, from 1.
    pub line: usize,
    /// The field, the value and the fix.
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
    /// The positions of the node with their times.
    pub track: Track,
}

/// The paths in a file, sorted by node number or, for names, by first appearance.
#[derive(Clone, PartialEq, Debug)]
pub struct Paths {
    nodes: Vec<Path>,
    /// Number of lines of a script that move no node.
    left_out: usize,
}

/// A warning about a path.
#[derive(Clone, PartialEq, Debug)]
pub enum Doubt {
    /// The node is somewhere faster than expected.
    Fast {
        /// The node.
        node: String,
        /// Maximum speed of the node, in metres per second.
        speed: f64,
        /// Start time of the leg with that speed.
        from: Instant,
        /// The expected maximum speed, in metres per second.
        fastest: f64,
    },
    /// The path ends before the end of the run.
    Short {
        /// The node.
        node: String,
        /// The end time of the path.
        end: Instant,
        /// The duration of the run.
        run: Duration,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fast { node, speed, from, fastest } => {
                write!(f, "node {node} flies at {speed:.1} m/s starting at {from}, faster than {fastest} m/s")
            }
            Self::Short { node, end, run } => {
                write!(
                    f,
                    "the path of node {node} ends at {end}, before the run of {run}; it stays at its last position"
                )
            }
        }
    }
}

impl Paths {
    /// Reads the paths from the bytes of a file. `dimension`, 2 or 3, applies to BonnMotion files.
    ///
    /// # Errors
    /// An error of the first invalid line.
    pub fn read(format: TraceFormat, dimension: u32, bytes: &[u8]) -> Result<Self, PathError> {
        match format {
            TraceFormat::Csv => csv::read(bytes),
            TraceFormat::BonnMotion => bonnmotion::read(bytes, dimension),
            TraceFormat::Ns2 => ns2::read(bytes),
        }
    }

    /// Returns the path of each node.
    pub fn nodes(&self) -> &[Path] {
        &self.nodes
    }

    /// Returns the number of lines in a script that were left out because they move no node.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns the path of the node with this name, if there is one.
    pub fn named(&self, node: &str) -> Option<&Track> {
        self.nodes.iter().find(|path| path.node == node).map(|path| &path.track)
    }

    /// Returns the minimum and the maximum of each coordinate.
    pub fn bounds(&self) -> (Vector, Vector) {
        let positions = self.nodes.iter().flat_map(|path| path.track.fixes()).map(|fix| fix.place);
        let infinite = Vector::new(f64::INFINITY, f64::INFINITY, f64::INFINITY);
        positions.fold((infinite, -infinite), |(min, max), position| {
            let min = Vector::new(min.x.min(position.x), min.y.min(position.y), min.z.min(position.z));
            (min, Vector::new(max.x.max(position.x), max.y.max(position.y), max.z.max(position.z)))
        })
    }

    /// Returns warnings about nodes faster than `fastest` metres per second, and about paths shorter than the run.
    pub fn doubts(&self, run: Duration, fastest: Option<f64>) -> Vec<Doubt> {
        self.nodes.iter().flat_map(|path| path.doubts(run, fastest)).collect()
    }

    /// Returns the paths as CSV. Reading it gives exactly the same paths.
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
    /// Returns the warnings about this path. A node with a single position is stationary, so its path is never too
    /// short.
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

/// Returns the lines of a file, numbered and without line breaks.
fn lines(bytes: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, PathError> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        PathError { line, message: "is not text in UTF-8".to_owned() }
    })?;
    if !text.is_empty() && !text.ends_with('\n') {
        let message = "the last line has no newline, so the file may be truncated; if the line is complete, add a \
                       newline";
        return Err(PathError { line: 1 + text.matches('\n').count(), message: message.to_owned() });
    }
    Ok(text.lines().enumerate().map(|(index, line)| (index + 1, line)))
}

/// Returns a finite number in a field.
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

/// Adds a position to the path of `node`.
fn append(fixes: &mut Vec<Fix>, fix: Fix, node: &str) -> Result<(), String> {
    if let Some(last) = fixes.last() {
        if fix.at < last.at {
            return Err(format!(
                "the time of node {node} decreases from {} to {}; its positions must be in ascending order of time",
                last.at, fix.at
            ));
        }
        if fix.at == last.at {
            return Err(format!("node {node} has two positions at {}; remove one of them", fix.at));
        }
    }
    fixes.push(fix);
    Ok(())
}

/// A node while the file is being read: its name, its positions, and the line of its first appearance.
struct Draft {
    node: String,
    fixes: Vec<Fix>,
    line: usize,
}

/// Returns the paths of these nodes. If all names are numbers, they must be consecutive, from 0 or 1, and the paths are
/// sorted by number.
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
        let message = || format!("node {} has no position", draft.node);
        let track = track.ok_or_else(|| PathError { line: draft.line, message: message() })?;
        Ok(Path { node: draft.node, track })
    };
    let nodes = drafts.into_iter().map(path).collect::<Result<_, PathError>>()?;
    Ok(Paths { nodes, left_out: 0 })
}
