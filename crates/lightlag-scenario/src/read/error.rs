//! Errors of a scenario, each with its place, its value and a remedy.

use serde::Serialize;
use std::fmt;

/// One error in a scenario.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ScenarioError {
    /// Its place: `links[2].loss`, or line and column if the text cannot be parsed.
    pub path: String,
    /// The value and the remedy.
    pub message: String,
}

/// A place in the tree of values. It stays on the stack until an error needs its text.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Path::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// The most errors that are listed.
const LISTED: usize = 50;

/// All errors found so far: the first ones, and the number of the rest.
#[derive(Default)]
pub(crate) struct Errors {
    listed: Vec<ScenarioError>,
    more: usize,
    misplaced: Vec<Misplaced>,
}

/// An unknown key that is no slip of one of its table: it may belong elsewhere.
struct Misplaced {
    /// The number of its error.
    error: usize,
    key: String,
    /// Whether its error names a key of the table that may be meant.
    has_guess: bool,
}

/// Words of other simulators and tools for keys of a scenario.
const ELSEWHERE: [(&str, &[&str]); 8] = [
    ("between", &["endpoints", "ends", "nodes"]),
    ("congestion", &["algorithm", "cc", "congestion_control", "tcp_variant"]),
    ("delay", &["latency", "propagation", "propagation_delay"]),
    ("from", &["client", "sender", "source", "src"]),
    ("loss", &["error_rate", "loss_rate", "packet_loss", "per", "plr"]),
    ("rate", &["bandwidth", "bitrate", "bw", "capacity", "data_rate", "datarate", "speed"]),
    ("to", &["destination", "dst", "receiver", "server", "sink"]),
    ("transfer", &["bytes", "file_size", "size", "volume"]),
];

impl Errors {
    pub(crate) fn push(&mut self, at: impl fmt::Display, message: impl Into<String>) {
        if self.listed.len() < LISTED {
            self.listed.push(ScenarioError { path: at.to_string(), message: message.into() });
        } else {
            self.more += 1;
        }
    }

    /// Moves the errors since `before` that are at one place to another: to what was written, where that is short for it.
    pub(crate) fn rename(&mut self, before: usize, from: &Path, to: &Path) {
        let from = from.to_string();
        for error in self.listed.iter_mut().skip(before).filter(|error| error.path == from) {
            error.path = to.to_string();
        }
    }

    /// An unknown key at `at`; `known` are those of its table.
    pub(crate) fn unknown_key(&mut self, at: impl fmt::Display, key: &str, known: &[&str]) {
        let near = nearest(key, known);
        let is_slip = near.is_some_and(|near| distance(&key.to_lowercase(), &near.to_lowercase()) < 2);
        let same = own_word(key).filter(|own| !is_slip && known.contains(own));
        if !is_slip && same.is_none() && self.listed.len() < LISTED {
            let misplaced = Misplaced { error: self.listed.len(), key: key.to_owned(), has_guess: near.is_some() };
            self.misplaced.push(misplaced);
        }
        self.push(at, refusal(key, "a key here", same.or(near), known));
    }

    /// Says of each key that is none of its table where it belongs. `place` knows it for the key and the place where it was
    /// found, and whether the scenario has such a table. One that it lacks is named only where nothing else is likely.
    pub(crate) fn say_where(&mut self, place: impl Fn(&str, &str) -> Option<(String, bool)>) {
        for Misplaced { error, key, has_guess } in std::mem::take(&mut self.misplaced) {
            let error = &mut self.listed[error];
            let own = own_word(&key);
            let Some((place, is_there)) = place(own.unwrap_or(&key), &error.path) else { continue };
            let key = shortened(&key);
            error.message = match own {
                Some(own) if is_there => {
                    format!("{key:?} is not a key here: it is called {own} and belongs to {place}")
                }
                None if is_there => format!("{key:?} is not a key here: {key} belongs to {place}"),
                None if !has_guess => format!(
                    "{key:?} is not a key here: {key} belongs to the table {place}, which this scenario does not have"
                ),
                _ => continue,
            };
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Whether an error at exactly this place is known.
    pub(crate) fn any_at(&self, at: &Path) -> bool {
        !self.listed.is_empty() && {
            let path = at.to_string();
            self.listed.iter().any(|error| error.path == path)
        }
    }

    /// The messages without their places.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(|error| error.message.as_str())
    }

    /// Returns `value` if there are no errors.
    pub(crate) fn or<T>(mut self, value: Option<T>) -> Result<T, Vec<ScenarioError>> {
        match value {
            Some(value) if self.listed.is_empty() => Ok(value),
            _ => {
                if self.more > 0 {
                    let message = format!("{} mistakes; these are the first {LISTED}", self.len());
                    self.listed.push(ScenarioError { path: "in all".to_owned(), message });
                }
                Err(self.listed)
            }
        }
    }
}

/// The candidate most likely meant by `word`.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '.'], "_");
    let word = plain(word);
    let allowed = 1 + word.chars().count() / 4;
    let distances = candidates.iter().map(|candidate| (distance(&word, &plain(candidate)), *candidate));
    let (best, candidate) = distances.min()?;
    (best <= allowed && best < candidate.chars().count()).then_some(candidate)
}

/// The key that other tools call by this word.
fn own_word(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase().replace('-', "_");
    ELSEWHERE.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(key, _)| *key)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other
/// (optimal string alignment). Words longer than any key differ by their length.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substituted = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swap = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                substituted.min(swap).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
}

/// `"raet" is not …; did you mean "rate"?`, with all candidates.
pub(crate) fn not_one_of(word: &str, what: &str, candidates: &[&str]) -> String {
    refusal(word, what, nearest(word, candidates), candidates)
}

fn refusal(word: &str, what: &str, meant: Option<&str>, candidates: &[&str]) -> String {
    let shown = shortened(word);
    let list = candidates.join(", ");
    match meant {
        Some(candidate) => format!("{shown:?} is not {what}; did you mean {candidate:?}? (one of {list})"),
        None => format!("{shown:?} is not {what}; write one of {list}"),
    }
}

/// A text that fits in a message.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_the_key_that_was_meant() {
        let keys = ["between", "rate", "delay", "queue", "loss", "header"];
        for (slip, meant) in [("raet", "rate"), ("Delay", "delay"), ("queu", "queue"), ("betwen", "between")] {
            assert_eq!(nearest(slip, &keys), Some(meant), "{slip}");
        }
        assert_eq!(nearest("colour", &keys), None);
        assert_eq!(nearest("", &keys), None);
        assert_eq!(nearest("window-scaling", &["window_scaling"]), Some("window_scaling"));
    }

    #[test]
    fn a_swap_of_neighbours_is_one_slip() {
        assert_eq!(distance("dealy", "delay"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn paths_read_like_the_file() {
        let (links, loss) = (Path::Key(&Path::Root, "links"), "loss");
        let second = Path::Index(&links, 2);
        assert_eq!(Path::Key(&second, loss).to_string(), "links[2].loss");
    }
}
