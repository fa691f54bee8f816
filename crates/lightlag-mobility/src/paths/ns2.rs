//! Movement scripts of ns-2, as its program setdest writes them (*The ns Manual*, "Mobile Networking in ns").
//!
//! `$node_(3) set X_ 12.5` places a node (`Y_` and `Z_` likewise), and `$ns_ at 2.0 "$node_(3) setdest 90 44 5.0"` sends it
//! to (90, 44) at 5 m/s, until it is there or sent elsewhere. Speed 0 stops it. Heights stay. Comments and the distances
//! that `$god_` is told are left out.

use super::{Draft, LONGEST, PathError, Paths, append, finish, lines, metres, number, time};
use crate::{Fix, Vector};
use lightlag_core::{Duration, Instant};
use std::collections::BTreeMap;

/// A node while the script is read.
struct Mover {
    line: usize,
    place: [Option<f64>; 3],
    /// The time of the last setdest.
    told: Option<Instant>,
    fixes: Vec<Fix>,
    /// The goal and the time at which it is reached.
    leg: Option<Fix>,
}

enum Command<'a> {
    Set { node: u32, axis: usize, value: f64 },
    Go { node: u32, at: Instant, x: f64, y: f64, speed: &'a str },
    Nothing,
}

pub(super) fn read(bytes: &[u8]) -> Result<Paths, PathError> {
    let mut movers: BTreeMap<u32, Mover> = BTreeMap::new();
    for (line, text) in lines(bytes)? {
        let new = || Mover { line, place: [None; 3], told: None, fixes: Vec::new(), leg: None };
        let done = command(text).and_then(|command| match command {
            Command::Nothing => Ok(()),
            Command::Set { node, axis, value } => movers.entry(node).or_insert_with(new).set(node, axis, value),
            Command::Go { node, at, x, y, speed } => movers.entry(node).or_insert_with(new).go(node, at, (x, y), speed),
        });
        done.map_err(|message| PathError { line, message })?;
    }
    if movers.is_empty() {
        let message = "the script places no node; it has lines such as $node_(0) set X_ 12.5".to_owned();
        return Err(PathError { line: 1, message });
    }
    let draft = |(node, mut mover): (u32, Mover)| {
        let line = mover.line;
        let start = mover.start(node).map_err(|message| PathError { line, message })?;
        if mover.fixes.is_empty() {
            mover.fixes.push(Fix { at: Instant::ZERO, place: start });
        }
        mover.arrive_by(Instant::ZERO + LONGEST);
        Ok(Draft { node: node.to_string(), fixes: mover.fixes, line })
    };
    finish(movers.into_iter().map(draft).collect::<Result<_, PathError>>()?)
}

impl Mover {
    fn set(&mut self, node: u32, axis: usize, value: f64) -> Result<(), String> {
        if self.told.is_some() {
            return Err(format!("node {node} is placed after its first setdest; place it before"));
        }
        if self.place[axis].replace(value).is_some() {
            return Err(format!("{}_ of node {node} is set twice", AXES[axis]));
        }
        Ok(())
    }

    fn start(&self, node: u32) -> Result<Vector, String> {
        let [x, y, z] = self.place;
        let missing = |axis: usize| format!("node {node} has no {0}_; add $node_({node}) set {0}_ before", AXES[axis]);
        Ok(Vector::new(x.ok_or_else(|| missing(0))?, y.ok_or_else(|| missing(1))?, z.unwrap_or(0.0)))
    }

    fn go(&mut self, node: u32, at: Instant, (x, y): (f64, f64), speed: &str) -> Result<(), String> {
        let metres_per_second = number("speed", speed)?;
        if metres_per_second < 0.0 {
            return Err(format!("speed: {speed} is negative"));
        }
        if let Some(told) = self.told.filter(|told| *told > at) {
            return Err(format!("the time of node {node} goes back from {told} to {at}; sort its lines"));
        }
        if self.fixes.is_empty() {
            self.fixes.push(Fix { at: Instant::ZERO, place: self.start(node)? });
        }
        self.told = Some(at);
        self.arrive_by(at);
        let last = self.fixes[self.fixes.len() - 1];
        if at > last.at {
            append(&mut self.fixes, Fix { at, place: last.place }, &node.to_string())?;
        }
        let goal = Vector::new(x, y, last.place.z);
        let distance = last.place.distance(goal);
        let time = Duration::from_secs_f64(distance / metres_per_second);
        self.leg = (metres_per_second > 0.0 && distance > 0.0)
            .then(|| Fix { at: at + time.max(Duration::from_nanos(1)), place: goal });
        Ok(())
    }

    /// Flies the leg up to this time, to its end if that is before.
    fn arrive_by(&mut self, at: Instant) {
        let Some(goal) = self.leg.take() else { return };
        let last = self.fixes[self.fixes.len() - 1];
        if goal.at <= at {
            self.fixes.push(goal);
        } else if at > last.at {
            let share = at.since(last.at).as_secs_f64() / goal.at.since(last.at).as_secs_f64();
            self.fixes.push(Fix { at, place: last.place + (goal.place - last.place) * share });
        }
    }
}

const AXES: [char; 3] = ['X', 'Y', 'Z'];

fn command(line: &str) -> Result<Command<'_>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') || line.starts_with("$god_") {
        return Ok(Command::Nothing);
    }
    let unknown =
        || format!("{line:?} is no line of a movement script, such as $ns_ at 2.0 \"$node_(0) setdest 90 44 5.0\"");
    if let Some(rest) = line.strip_prefix("$ns_ at ") {
        let (at, quoted) = rest.trim_start().split_once(char::is_whitespace).ok_or_else(unknown)?;
        let inner = quoted.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or_else(unknown)?.trim();
        let at = time("time", at)?;
        if inner.starts_with("$god_") {
            return Ok(Command::Nothing);
        }
        let (node, words) = node(inner).ok_or_else(unknown)?;
        let mut words = words.split_whitespace();
        let mut word = || words.next();
        let (Some("setdest"), Some(x), Some(y), Some(speed), None) = (word(), word(), word(), word(), word()) else {
            return Err(unknown());
        };
        return Ok(Command::Go { node, at, x: metres("x", x)?, y: metres("y", y)?, speed });
    }
    let (node, words) = node(line).ok_or_else(unknown)?;
    let mut words = words.split_whitespace();
    let mut word = || words.next();
    let (Some("set"), Some(axis), Some(value), None) = (word(), word(), word(), word()) else {
        return Err(unknown());
    };
    let axis = ["X_", "Y_", "Z_"].iter().position(|name| *name == axis).ok_or_else(unknown)?;
    Ok(Command::Set { node, axis, value: metres(&format!("{}_", AXES[axis]), value)? })
}

/// The number of `$node_(3)`, and the rest.
fn node(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.strip_prefix("$node_(")?.split_once(')')?;
    Some((number.trim().parse().ok()?, rest))
}
