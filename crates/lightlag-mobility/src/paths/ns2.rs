//! Movement scripts of ns-2, as written by `setdest` and other programs (*The ns Manual*, "Mobile Networking in ns").
//!
//! `$node_(3) set X_ 12.5` places a node (`Y_` and `Z_` likewise), and `$ns_ at 2.0 "$node_(3) setdest 90 44 5.0"`
//! sends it to (90, 44) at 5 m/s, until it is there or sent elsewhere. Speed 0 stops it. The height stays the same. The
//! commands of a node are applied in order of time, whatever their order in the file.
//!
//! The reader supports only the Tcl that occurs in such files: any name for the simulator and for the array of nodes,
//! quotes and braces around commands and numbers, variables that are set to numbers, and comments. Lines that move no
//! node (`$god_`, the start of agents, other Tcl) are left out and counted. A line with `setdest`, `X_`, `Y_` or `Z_`
//! that cannot be read is an error. So is such a line within a block of Tcl, which might be executed any number of
//! times.

use super::{Draft, LONGEST, PathError, Paths, append, finish, lines, metres, number, time};
use crate::{Fix, Vector};
use lightlag_core::{Duration, Instant};
use std::collections::BTreeMap;

const AXES: [char; 3] = ['X', 'Y', 'Z'];
const INSTANT: Duration = Duration::from_nanos(1);

/// A command that moves a node.
#[derive(Clone, Copy, Debug)]
enum Move {
    Set { axis: usize, value: f64 },
    Go { x: f64, y: f64, speed: f64 },
}

/// The commands of a node.
struct Mover {
    /// Line where the node first appears.
    line: usize,
    start: [Option<f64>; 3],
    /// Commands with their times and lines.
    moves: Vec<(Instant, usize, Move)>,
}

/// A script while it is being read.
#[derive(Default)]
struct Script {
    /// Variables that are set to a number, stored as text.
    variables: BTreeMap<String, String>,
    /// The name of the array of nodes.
    array: Option<String>,
    movers: BTreeMap<u32, Mover>,
    /// Number of open braces in the lines that were left out.
    depth: usize,
    left_out: usize,
}

pub(super) fn read(bytes: &[u8]) -> Result<Paths, PathError> {
    let mut script = Script::default();
    for (line, text) in lines(bytes)? {
        script.line(line, text).map_err(|message| PathError { line, message })?;
    }
    if script.movers.is_empty() {
        let message = "the script places no node; write lines such as $node_(0) set X_ 12.5".to_owned();
        return Err(PathError { line: 1, message });
    }
    let left_out = script.left_out;
    let drafts = script.movers.into_iter().map(|(node, mover)| mover.flown(node));
    Ok(Paths { left_out, ..finish(drafts.collect::<Result<_, PathError>>()?)? })
}

impl Script {
    fn line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let text = without_comment(text.trim()).trim_end_matches([';', ' ', '\t']);
        if text.is_empty() {
            return Ok(());
        }
        if !text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_motion) {
            self.left_out += 1;
            self.assign(text);
            let opened = text.matches('{').count() + self.depth;
            self.depth = opened.saturating_sub(text.matches('}').count());
            return Ok(());
        }
        if self.depth > 0 {
            return Err(format!("{text:?} is in a block of Tcl, which is not run; write movements outside of blocks"));
        }
        let unknown = || {
            format!(
                "{text:?} is not a valid line of a movement script, such as $ns_ at 2.0 \"$node_(0) setdest 90 44 5.0\""
            )
        };
        let words = words(text).ok_or_else(unknown)?;
        let (instant, command) = match words.as_slice() {
            [simulator, "at", time_text, command] if is_variable(simulator) => {
                let words = self::words(command).ok_or_else(unknown)?;
                if !words.iter().any(|word| is_motion(word)) {
                    return Err(unknown());
                }
                (Some(time("time", self.value(time_text)?)?), words)
            }
            _ => (None, words),
        };
        let [node, command @ ..] = command.as_slice() else { return Err(unknown()) };
        let (array, node) = node_of(node).ok_or_else(unknown)?;
        let array = array.to_owned();
        let done = match command {
            ["set", axis, value] => {
                let axis = ["X_", "Y_", "Z_"].iter().position(|name| name == axis).ok_or_else(unknown)?;
                Move::Set { axis, value: metres(&format!("{}_", AXES[axis]), self.value(value)?)? }
            }
            ["setdest", x, y, speed] => {
                let text = self.value(speed)?;
                let speed = number("speed", text)?;
                if speed < 0.0 {
                    return Err(format!("speed: {text} is negative"));
                }
                Move::Go { x: metres("x", self.value(x)?)?, y: metres("y", self.value(y)?)?, speed }
            }
            _ => return Err(unknown()),
        };
        self.join(array)?;
        let mover = self.movers.entry(node).or_insert_with(|| Mover { line, start: [None; 3], moves: Vec::new() });
        mover.add(node, line, instant, done)
    }

    /// Stores a variable that is set to a number, or removes it if it is set to anything else.
    fn assign(&mut self, text: &str) {
        let Some(words) = words(text) else { return };
        match words.as_slice() {
            ["set", name, value] if self.depth == 0 && value.parse::<f64>().is_ok() => {
                self.variables.insert((*name).to_owned(), (*value).to_owned());
            }
            ["set" | "incr" | "append" | "unset", name, ..] => {
                self.variables.remove(*name);
            }
            _ => {}
        }
    }

    /// Resolves a token: returns the number itself, or the value of a variable, as text.
    fn value<'a>(&'a self, word: &'a str) -> Result<&'a str, String> {
        let Some(name) = word.strip_prefix('$') else { return Ok(word) };
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        let value = self.variables.get(name).map(String::as_str);
        value.ok_or_else(|| format!("{word} is not a variable that is set to a number; write the number"))
    }

    /// Checks that all nodes are in one array; two arrays would have two nodes with the same number.
    fn join(&mut self, array: String) -> Result<(), String> {
        match self.array.get_or_insert_with(|| array.clone()) {
            known if *known == array => Ok(()),
            known => Err(format!("${array} and ${known} are different arrays of nodes; write one file for each")),
        }
    }
}

/// Returns true if a token belongs to a command that moves a node.
fn is_motion(word: &str) -> bool {
    matches!(word, "setdest" | "X_" | "Y_" | "Z_")
}

/// Returns a line without its comment, at the start of the line or after a semicolon.
fn without_comment(line: &str) -> &str {
    if line.starts_with('#') {
        return "";
    }
    let comment = line.match_indices(';').find(|(at, _)| line[at + 1..].trim_start().starts_with('#'));
    comment.map_or(line, |(at, _)| line[..at].trim_end())
}

/// Splits a command into words. Quotes and braces group words that contain spaces, and are removed. `None` if they are
/// not balanced.
fn words(text: &str) -> Option<Vec<&str>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => rest[1..].find('"')? + 1,
            '{' => closing(rest)?,
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                tokens.push(&rest[..end]);
                rest = rest[end..].trim_start();
                continue;
            }
        };
        tokens.push(rest[1..end].trim());
        rest = rest[end + 1..].trim_start();
    }
    Some(tokens)
}

/// Returns the position of the brace that closes the first brace.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index);
        }
    }
    None
}

/// Returns true if a token is a plain variable, such as `$ns_`.
fn is_variable(word: &str) -> bool {
    word.strip_prefix('$').is_some_and(|name| !name.is_empty() && name.bytes().all(is_of_name))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the array name and the node number of `$node_(3)` or `${node_(3)}`.
fn node_of(word: &str) -> Option<(&str, u32)> {
    let word = word.strip_prefix('$')?;
    let word = word.strip_prefix('{').map_or(Some(word), |word| word.strip_suffix('}'))?;
    let (array, number) = word.strip_suffix(')')?.split_once('(')?;
    let is_name = !array.is_empty() && array.bytes().all(is_of_name);
    is_name.then_some((array, number.trim_matches(['"', ' ']).parse().ok()?))
}

impl Mover {
    fn add(&mut self, node: u32, line: usize, time: Option<Instant>, command: Move) -> Result<(), String> {
        let Move::Set { axis, value } = command else {
            let at = time.ok_or_else(|| format!("node {node} has no time for setdest; write $ns_ at 0.0 before it"))?;
            self.moves.push((at, line, command));
            return Ok(());
        };
        if let Some(at) = time.filter(|at| *at > Instant::ZERO) {
            self.moves.push((at, line, command));
            return Ok(());
        }
        match self.start[axis].replace(value) {
            Some(before) if before != value => Err(format!("{}_ of node {node} is set twice", AXES[axis])),
            _ => Ok(()),
        }
    }

    /// Returns the path that results from the commands.
    fn flown(mut self, node: u32) -> Result<Draft, PathError> {
        let missing = |axis: usize| PathError {
            line: self.line,
            message: format!("node {node} has no {0}_; add $node_({node}) set {0}_", AXES[axis]),
        };
        let [x, y, z] = self.start;
        let start = Vector::new(x.ok_or_else(|| missing(0))?, y.ok_or_else(|| missing(1))?, z.unwrap_or(0.0));
        self.moves.sort_by_key(|(at, ..)| *at);
        let mut course = NodePath { fixes: vec![Fix { at: Instant::ZERO, place: start }], leg: None };
        for (at, line, command) in self.moves {
            course.command(at, command, node).map_err(|message| PathError { line, message })?;
        }
        course.arrive_by(Instant::ZERO + LONGEST);
        Ok(Draft { node: node.to_string(), fixes: course.fixes, line: self.line })
    }
}

/// The path of a node while its commands are applied.
struct NodePath {
    fixes: Vec<Fix>,
    /// The destination and the arrival time of the current flight.
    leg: Option<Fix>,
}

impl NodePath {
    fn command(&mut self, time: Instant, command: Move, node: u32) -> Result<(), String> {
        let leg = self.leg;
        self.arrive_by(time);
        let last = self.fixes[self.fixes.len() - 1];
        match command {
            Move::Go { x, y, speed } => {
                if time > last.at {
                    append(&mut self.fixes, Fix { at: time, place: last.place }, &node.to_string())?;
                }
                let goal = Vector::new(x, y, last.place.z);
                let distance = last.place.distance(goal);
                let needed = Duration::from_secs_f64(distance / speed).max(INSTANT);
                self.leg = (speed > 0.0 && distance > 0.0).then(|| Fix { at: time + needed, place: goal });
            }
            Move::Set { axis, value } => {
                let mut position = last.place;
                match axis {
                    0 => position.x = value,
                    1 => position.y = value,
                    _ => position.z = value,
                }
                self.jump(time, last, position, node)?;
                self.leg = leg.filter(|goal| goal.at > time && axis == 2).map(|goal| {
                    let Vector { x, y, .. } = goal.place;
                    Fix { at: goal.at, place: Vector::new(x, y, position.z) }
                });
            }
        }
        Ok(())
    }

    /// Moves the node instantly. It stays at its last position until just before `time`.
    fn jump(&mut self, time: Instant, last: Fix, position: Vector, node: u32) -> Result<(), String> {
        if position == last.place {
            return Ok(());
        }
        if last.at == time {
            self.fixes.pop();
        }
        let before = Instant::ZERO + (time.since(Instant::ZERO) - INSTANT);
        if self.fixes.last().is_some_and(|fix| fix.at < before) {
            self.fixes.push(Fix { at: before, place: last.place });
        }
        append(&mut self.fixes, Fix { at: time, place: position }, &node.to_string())
    }

    /// Advances the current flight to this time, or to its end if that is earlier.
    fn arrive_by(&mut self, time: Instant) {
        let Some(goal) = self.leg.take() else { return };
        let last = self.fixes[self.fixes.len() - 1];
        if goal.at <= time {
            self.fixes.push(goal);
        } else if time > last.at {
            let share = time.since(last.at).as_secs_f64() / goal.at.since(last.at).as_secs_f64();
            self.fixes.push(Fix { at: time, place: last.place + (goal.place - last.place) * share });
        }
    }
}
