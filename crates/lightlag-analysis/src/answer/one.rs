//! Sentences about the ranking at one point.

use super::gaps::{NAMED, by, some, to_other};
use crate::measures::{Measure, amount};
use crate::numbers::grouped;
use crate::ranking::{Gap, Ranking};
use crate::words::listed;

/// Maximum estimated number of seeds that is reported. If more are needed, the difference is too small to matter.
const MAX_SEEDS: f64 = 1000.0;

/// Returns the headline, and the sentences that follow it, for a ranking by goodput.
pub(super) fn of_one(ranking: &Ranking, measure: &Measure) -> (String, Vec<String>) {
    let best = ranking.best();
    let mean = amount(measure, best.mean());
    let Some(first) = ranking.gaps.first() else {
        let each = match best.values.len() {
            1 => "in its one run".to_owned(),
            _ if best.is_fixed => "in each of its runs".to_owned(),
            runs => format!("as the mean of {runs} runs"),
        };
        return (format!("{} reaches a goodput of {mean} {each}.", best.name), Vec::new());
    };
    if is_equal(ranking) {
        let names: Vec<&str> = ranking.rivals.iter().map(|rival| rival.name.as_str()).collect();
        return (format!("{} reach the same goodput, {mean}.", listed(&names)), Vec::new());
    }
    if !ranking.is_judged() {
        let headline = format!("{} reaches {mean}, {}, in one run of each.", best.name, to_other(first));
        return (headline, vec!["One run of each does not show the effect of randomness.".to_owned()]);
    }
    let behind = ranking.behind();
    let (headline, mut sentences) = match &behind[..] {
        [nearest] if ranking.level().len() == 1 => {
            let next = amount(measure, ranking.rivals[1].mean());
            let by = by(nearest);
            (format!("{} beats {}{by}: a goodput of {mean} against {next}.", best.name, nearest.other), Vec::new())
        }
        [nearest, rest @ ..] if ranking.level().len() == 1 => {
            let lead = to_other(nearest);
            let headline = format!("{} has the highest goodput, {mean}: {lead}, which comes next.", best.name);
            (headline, those_behind(&best.name, rest))
        }
        _ => {
            let mut sentences = those_behind(&best.name, &behind);
            sentences.extend(seeds_needed(ranking));
            (of_level(ranking, &mean), sentences)
        }
    };
    if ranking.gaps.iter().all(|gap| gap.is_fixed) {
        sentences.push("Nothing is random there: each seed gives the same result.".to_owned());
    }
    (headline, sentences)
}

/// Returns true if all candidates have the same mean.
fn is_equal(ranking: &Ranking) -> bool {
    ranking.gaps.iter().all(|gap| gap.difference == 0.0)
}

/// Returns the headline if several candidates may be the best.
fn of_level(ranking: &Ranking, mean: &str) -> String {
    let level = ranking.level();
    let (best, others) = (level[0], &level[1..]);
    match ranking.gaps.iter().find(|gap| others == [gap.other.as_str()]) {
        Some(nearest) => {
            let lead = to_other(nearest);
            format!("{best} and {} cannot be distinguished by goodput: {best} has {lead}.", nearest.other)
        }
        None => {
            format!(
                "{best} has the highest mean goodput, {mean}, but {} cannot be distinguished from it.",
                some(others)
            )
        }
    }
}

/// Returns a clause with the estimated number of seeds that would make the lead of the best over the candidates level
/// with it significant.
fn seeds_needed(ranking: &Ranking) -> Option<String> {
    let level = ranking.level();
    let gaps = ranking.gaps.iter().filter(|gap| level[1..].contains(&gap.other.as_str()));
    let mut needed: Vec<(f64, &str)> =
        gaps.filter_map(|gap| gap.seeds_needed().map(|count| (count, gap.other.as_str()))).collect();
    needed.retain(|(count, _)| *count <= MAX_SEEDS);
    needed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    let part = |(count, other): &(f64, &str)| format!("{} for {other}", grouped(*count, 0));
    let parts: Vec<String> = needed.iter().take(NAMED).map(part).collect();
    let best = &ranking.best().name;
    (!parts.is_empty()).then(|| {
        format!("Seeds needed to distinguish {best}, at the present spread of the runs: about {}.", listed(&parts))
    })
}

fn those_behind(best: &str, behind: &[&Gap]) -> Vec<String> {
    if behind.is_empty() {
        return Vec::new();
    }
    let parts: Vec<String> = behind.iter().take(NAMED).map(|gap| to_other(gap)).collect();
    let more = match behind.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => "; 1 more is also lower".to_owned(),
        rest => format!("; {rest} more are also lower"),
    };
    vec![format!("{best} has {}{more}.", listed(&parts))]
}

/// Returns a sentence about a metric other than goodput.
pub(super) fn of_measure(ranking: &Ranking, measure: &Measure) -> String {
    let (title, best) = (measure.title, ranking.best());
    let (name, mean) = (&best.name, amount(measure, best.mean()));
    if is_equal(ranking) {
        return format!("{title}: {mean} with each.");
    }
    if !ranking.is_judged() {
        return format!("{title}: {name} is best with {mean}.");
    }
    let (level, behind) = (ranking.level(), ranking.behind());
    match behind.first() {
        Some(nearest) if level.len() == 1 => {
            if nearest.ratio > 0.0 {
                format!("{title}: {name} is best with {mean}, {}.", to_other(nearest))
            } else {
                let next = amount(measure, ranking.rivals[1].mean());
                format!("{title}: {name} is best with {mean}, against {next} with {}.", nearest.other)
            }
        }
        _ => {
            let names: Vec<&str> = behind.iter().map(|gap| gap.other.as_str()).collect();
            let others = match names.len() {
                0 => String::new(),
                count => format!("; {} {} worse", some(&names), if count == 1 { "is" } else { "are" }),
            };
            let level = some(&level[1..]);
            format!("{title}: {name} has the best mean, {mean}; {level} cannot be distinguished from it{others}.")
        }
    }
}
