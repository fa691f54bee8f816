//! Sentences about the ranking at one point.

use super::AtPoint;
use super::gaps::{NAMED, by, some, to_other};
use super::seeds;
use crate::measures::{Measure, amount};
use crate::ranking::{Gap, Ranking};
use crate::words::listed;

/// Returns the headline, with the costs of the best, and the sentences that follow it.
pub(super) fn of_one(at: &AtPoint, measure: &Measure) -> (String, Vec<String>) {
    let (lead, mut sentences) = of_goodput(&at.ranking, measure);
    let headline = [lead].into_iter().chain(at.costs.sentence()).collect::<Vec<_>>().join(" ");
    sentences.splice(0..0, at.costs.alternative());
    (headline, sentences)
}

/// Returns the lead of the best, and the sentences that follow it, for a ranking by goodput.
fn of_goodput(ranking: &Ranking, measure: &Measure) -> (String, Vec<String>) {
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
            let mut sentences: Vec<String> = seeds::sentence(ranking).into_iter().collect();
            sentences.extend(those_behind(&best.name, &behind));
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
    let best = &ranking.best().name;
    let names = |gaps: &[&Gap]| gaps.iter().map(|gap| gap.other.clone()).collect::<Vec<_>>();
    let (level, ahead) = (ranking.undistinguished(), names(&ranking.ahead()));
    let level_names = names(&level);
    let others: Vec<&str> = level_names.iter().map(String::as_str).collect();
    if !ahead.is_empty() {
        let more = if ahead.len() == 1 { "has" } else { "have" };
        let also = if others.is_empty() {
            String::new()
        } else {
            format!("; {} cannot be distinguished from it", some(&others))
        };
        let ahead: Vec<&str> = ahead.iter().map(String::as_str).collect();
        return format!(
            "{best} has the highest mean goodput, {mean}, but {} {more} more over the seeds that both have{also}.",
            some(&ahead)
        );
    }
    match &level[..] {
        [only] if only.is_equal() => {
            format!("{best} and {} have the highest goodput, {mean}, the same with each seed.", only.other)
        }
        [only] => {
            let lead = to_other(only);
            format!("{best} and {} cannot be distinguished by goodput: {best} has {lead}.", only.other)
        }
        _ => {
            format!(
                "{best} has the highest mean goodput, {mean}, but {} cannot be distinguished from it.",
                some(&others)
            )
        }
    }
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
    let behind = ranking.behind();
    let level: Vec<&str> = ranking.undistinguished().iter().map(|gap| gap.other.as_str()).collect();
    let ahead: Vec<&str> = ranking.ahead().iter().map(|gap| gap.other.as_str()).collect();
    match behind.first() {
        Some(nearest) if level.is_empty() && ahead.is_empty() => {
            if nearest.ratio > 0.0 {
                format!("{title}: {name} is best with {mean}, {}.", to_other(nearest))
            } else {
                let next = amount(measure, ranking.rivals[1].mean());
                format!("{title}: {name} is best with {mean}, against {next} with {}.", nearest.other)
            }
        }
        _ => {
            let verb = |names: &[&str]| if names.len() == 1 { "is" } else { "are" };
            let mut parts = vec![format!("{name} has the best mean, {mean}")];
            if !ahead.is_empty() {
                parts.push(format!("{} {} better over the seeds that both have", some(&ahead), verb(&ahead)));
            }
            if !level.is_empty() {
                parts.push(format!("{} cannot be distinguished from it", some(&level)));
            }
            if !behind.is_empty() {
                let names: Vec<&str> = behind.iter().map(|gap| gap.other.as_str()).collect();
                parts.push(format!("{} {} worse", some(&names), verb(&names)));
            }
            format!("{title}: {}.", parts.join("; "))
        }
    }
}
