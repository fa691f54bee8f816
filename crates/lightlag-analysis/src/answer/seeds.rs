//! Number of seeds that would distinguish candidates.

use super::gaps::{NAMED, some};
use crate::numbers::grouped;
use crate::ranking::{Gap, Ranking};
use crate::words::listed;
use std::cmp::Ordering;

/// Maximum estimated number of seeds that is stated. If more are needed, the difference hardly matters.
const MAX_SEEDS: f64 = 1000.0;

/// Estimated number of seeds, rounded up to two digits; infinite above the maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seeds(f64);

impl Seeds {
    /// Returns the seeds that would probably make a gap significant; `None` if it is, or if nothing is known.
    pub(super) fn of(gap: &Gap) -> Option<Self> {
        let needed = gap.seeds_needed().filter(|_| !gap.is_clear())?;
        let step = if needed < 100.0 { 1.0 } else { 10.0 };
        let rounded = step * libm::ceil(needed / step);
        Some(Self(if rounded > MAX_SEEDS { f64::INFINITY } else { rounded }))
    }

    fn order(self, other: Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }

    /// Returns the number in words: `about 40`, `more than 1,000`.
    fn words(self) -> String {
        if self.0.is_finite() { format!("about {}", grouped(self.0, 0)) } else { "more than 1,000".to_owned() }
    }

    /// Returns a clause: `about 40 seeds would probably tell`.
    pub(super) fn clause(self) -> String {
        format!("{} seeds would probably tell", self.words())
    }
}

/// Returns a sentence with the numbers of seeds that would probably distinguish the best from candidates that are level
/// with it; `None` if there are none, or nothing is known.
pub(super) fn sentence(ranking: &Ranking) -> Option<String> {
    let gaps = ranking.undistinguished();
    let mut needed: Vec<(Seeds, &str)> =
        gaps.iter().filter_map(|gap| Seeds::of(gap).map(|seeds| (seeds, gap.other.as_str()))).collect();
    needed.sort_by(|a, b| a.0.order(b.0));
    let (few, many): (Vec<_>, Vec<_>) = needed.into_iter().partition(|(seeds, _)| seeds.0.is_finite());
    let best = &ranking.best().name;
    if let ([(seeds, other)], true) = (&few[..], many.is_empty()) {
        return Some(capital(&format!("{} seeds would probably distinguish {best} from {other}.", seeds.words())));
    }
    let mut parts: Vec<String> =
        few.iter().take(NAMED).map(|(seeds, other)| format!("{} from {other}", seeds.words())).collect();
    if few.len() > NAMED {
        parts.push(format!("more from {} others", few.len() - NAMED));
    }
    if !many.is_empty() {
        let names: Vec<&str> = many.iter().map(|(_, other)| *other).collect();
        parts.push(format!("more than 1,000 from {}", some(&names).trim_end_matches(',')));
    }
    (!parts.is_empty()).then(|| format!("Seeds that would probably distinguish {best}: {}.", listed(&parts)))
}

/// Returns a clause with the seeds that would probably tell which candidate is the best, at each of several points;
/// `None` if nothing is known.
pub(super) fn at_points<'a>(rankings: impl Iterator<Item = &'a Ranking>) -> Option<String> {
    // At a point, the candidate that is hardest to distinguish decides.
    let last =
        |ranking: &Ranking| ranking.undistinguished().into_iter().filter_map(Seeds::of).max_by(|a, b| a.order(*b));
    let mut needed: Vec<Seeds> = rankings.filter_map(last).collect();
    needed.sort_by(|a, b| a.order(*b));
    match &needed[..] {
        [] => None,
        [least, .., most] if least != most && most.0.is_finite() => {
            Some(format!("{} to {} seeds would probably tell", least.words(), grouped(most.0, 0)))
        }
        [least, .., most] if least != most => {
            Some(format!("{} to {} seeds would probably tell", least.words(), most.words()))
        }
        [least, ..] => Some(least.clause()),
    }
}

/// Returns a text with a capital letter at the start.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
