//! Errors of a scenario, each with its path, value and fix.

use serde::Serialize;
use std::fmt;

/// One error in a scenario.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ScenarioError {
    /// Path of the value, such as `links[2].loss`; line and column if the text cannot be parsed.
    pub path: String,
    /// The value and the fix.
    pub message: String,
}

/// A path in the tree of values. It stays on the stack, and is converted to text only for an error.
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
            Self::Key(Path::Root, key) => write_key(f, key),
            Self::Key(parent, key) => {
                write!(f, "{parent}.")?;
                write_key(f, key)
            }
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Writes a key. Control characters are escaped, because they could act on a terminal.
fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    for part in key.split_inclusive(char::is_control) {
        match part.char_indices().next_back().filter(|(_, last)| last.is_control()) {
            Some((at, last)) => write!(f, "{}{}", &part[..at], last.escape_default())?,
            None => f.write_str(part)?,
        }
    }
    Ok(())
}

/// Maximum number of errors that are reported individually.
const LISTED: usize = 50;

/// All errors found so far: the first ones are listed, and the others are counted.
#[derive(Default)]
pub(crate) struct Errors {
    listed: Vec<ScenarioError>,
    more: usize,
    misplaced: Vec<Misplaced>,
}

/// An unknown key that does not resemble any key of its table, so that it may belong elsewhere.
struct Misplaced {
    /// Index of its error.
    error: usize,
    key: String,
    /// Whether the error already suggests a key of the same table.
    has_guess: bool,
}

/// Keys of a scenario, with the names that other simulators and tools use for them.
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

/// Former names of keys, with their current names.
const RENAMED: [(&str, &str); 22] = [
    ("ack_patience", "timeout_grace"),
    ("direction_least", "direction_min"),
    ("direction_most", "direction_max"),
    ("largest_step", "max_step"),
    ("most", "max"),
    ("most", "max_rate"),
    ("patience", "receive_timeout"),
    ("pause_least", "pause_min"),
    ("pause_most", "pause_max"),
    ("pitch_least", "pitch_min"),
    ("pitch_most", "pitch_max"),
    ("radius_least", "radius_min"),
    ("radius_most", "radius_max"),
    ("revive_way_back", "revive_reverse_route"),
    ("sight", "line_of_sight"),
    ("smallest_step", "min_step"),
    ("speed_least", "speed_min"),
    ("speed_most", "speed_max"),
    ("stay_least", "stay_min"),
    ("stay_most", "stay_max"),
    ("transmissions", "max_transmissions"),
    ("tries", "max_attempts"),
];

impl Errors {
    pub(crate) fn push(&mut self, path: impl fmt::Display, message: impl Into<String>) {
        if self.listed.len() < LISTED {
            self.listed.push(ScenarioError { path: path.to_string(), message: message.into() });
        } else {
            self.more += 1;
        }
    }

    /// Changes the path of errors reported since `before` from `from` to `to`. Used for a shorthand, so that errors
    /// have the path of what was written.
    pub(crate) fn rename(&mut self, before: usize, from: &Path, to: &Path) {
        let from = from.to_string();
        for error in self.listed.iter_mut().skip(before).filter(|error| error.path == from) {
            error.path = to.to_string();
        }
    }

    /// Reports an unknown key at `path`. `known` are the keys of the table.
    pub(crate) fn unknown_key(&mut self, path: impl fmt::Display, key: &str, known: &[&str]) {
        let mut renamed = RENAMED.iter().filter(|(old, new)| *old == key && known.contains(new));
        if let Some((_, new)) = renamed.next() {
            return self.push(path, format!("is now {new}"));
        }
        let near = nearest(key, known);
        let is_slip = near.is_some_and(|near| distance(&key.to_lowercase(), &near.to_lowercase()) < 2);
        let same = own_word(key).filter(|own| !is_slip && known.contains(own));
        if !is_slip && same.is_none() && self.listed.len() < LISTED {
            let misplaced = Misplaced { error: self.listed.len(), key: key.to_owned(), has_guess: near.is_some() };
            self.misplaced.push(misplaced);
        }
        self.push(path, refusal(key, "a key here", same.or(near), known));
    }

    /// Completes the error of each misplaced key with the right table. `owner_of` returns the table that has the key,
    /// given the key and the path of the error, and whether the scenario contains that table. A table that the scenario
    /// does not have is mentioned only if the error suggests no other key.
    pub(crate) fn say_where(&mut self, owner_of: impl Fn(&str, &str) -> Option<(String, bool)>) {
        for Misplaced { error, key, has_guess } in std::mem::take(&mut self.misplaced) {
            let error = &mut self.listed[error];
            let own = own_word(&key);
            let Some((owner, is_there)) = owner_of(own.unwrap_or(&key), &error.path) else { continue };
            let key = shortened(&key);
            error.message = match own {
                Some(own) if is_there => {
                    format!("{key:?} is not a key here: it is called {own} and belongs to {owner}")
                }
                None if is_there => format!("{key:?} is not a key here: {key} belongs to {owner}"),
                None if !has_guess => format!(
                    "{key:?} is not a key here: {key} belongs to the table {owner}, which this scenario does not have"
                ),
                _ => continue,
            };
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Returns true if an error at exactly this path was reported.
    pub(crate) fn any_at(&self, key_path: &Path) -> bool {
        !self.listed.is_empty() && {
            let path = key_path.to_string();
            self.listed.iter().any(|error| error.path == path)
        }
    }

    /// Returns the messages of the errors without their paths.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().map(|error| error.message.as_str())
    }

    /// Returns `value` if there are no errors.
    pub(crate) fn or<T>(mut self, value: Option<T>) -> Result<T, Vec<ScenarioError>> {
        match value {
            Some(value) if self.listed.is_empty() => Ok(value),
            _ => {
                if self.more > 0 {
                    let message = format!("{} errors; these are the first {LISTED}", self.len());
                    self.listed.push(ScenarioError { path: "in total".to_owned(), message });
                }
                Err(self.listed)
            }
        }
    }
}

/// Returns the candidate that `word` most likely stands for, if any is similar.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '.'], "_");
    let word = plain(word);
    let allowed = 1 + word.chars().count() / 4;
    let distances = candidates.iter().map(|candidate| (distance(&word, &plain(candidate)), *candidate));
    let (best, candidate) = distances.min()?;
    (best <= allowed && best < candidate.chars().count()).then_some(candidate)
}

/// Returns the key for which other tools use this name.
fn own_word(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase().replace('-', "_");
    ELSEWHERE.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(key, _)| *key)
}

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn one string into the
/// other (optimal string alignment). For strings longer than any key, returns the longer length.
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

/// Returns a message such as `"raet" is not …; did you mean "rate"?`, or one with all candidates.
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

/// Returns a text shortened so that it fits in a message.
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
    fn control_characters_of_keys_are_escaped() {
        let path = Path::Key(&Path::Root, "links");
        let keys = [
            ("a\u{1b}[2Jb", r"links.a\u{1b}[2Jb"),
            ("\u{7f}", r"links.\u{7f}"),
            ("naïve", "links.naïve"),
            ("", "links."),
        ];
        for (key, shown) in keys {
            assert_eq!(Path::Key(&path, key).to_string(), shown);
        }
    }

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
