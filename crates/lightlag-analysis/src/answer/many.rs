//! Sentences about the rankings at several points.

use super::costs::Costs;
use super::gaps::NAMED;
use super::{AtPoint, Comparison, seeds};
use crate::words::listed_with;
use std::cmp::Reverse;

/// Returns the headline, and the sentences that follow it.
pub(super) fn of_many(comparison: &Comparison, rankings: &[AtPoint]) -> (String, Vec<String>) {
    let count = rankings.len();
    if !rankings.iter().any(|one| one.ranking.is_judged()) {
        let bests = grouped_by(rankings.iter(), |one| vec![one.ranking.best().name.as_str()]);
        let (best, places) = &bests[0];
        let headline = format!("{} has the highest goodput at {} of {count} points.", best[0], places.len());
        return (headline, vec!["One run of each does not show the effect of randomness.".to_owned()]);
    }
    let is_alone = |one: &&AtPoint| one.ranking.level().len() == 1;
    let alone = grouped_by(rankings.iter().filter(is_alone), |one| one.ranking.level());
    let level = grouped_by(rankings.iter().filter(|one| !is_alone(one)), |one| {
        let mut names = one.ranking.level();
        names.sort_unstable();
        names
    });
    let headline = match alone.first() {
        None => format!("At none of {count} points does one algorithm beat all others by goodput."),
        Some((best, points)) if points.len() == count => {
            format!("{} beats all others by goodput at each of {count} points.", best[0])
        }
        Some((best, points)) => format!(
            "{} beats all others by goodput at {} of {count} points: {}.",
            best[0],
            points.len(),
            told(comparison, points)
        ),
    };
    let others = alone.iter().skip(1).take(NAMED);
    let mut sentences: Vec<String> = others
        .map(|(name, places)| format!("{} does at {}: {}.", name[0], places.len(), told(comparison, places)))
        .collect();
    sentences.extend(level.iter().take(NAMED).map(|(names, points)| {
        let at = if points.len() > 1 { format!("At {} points", points.len()) } else { "At 1 point".to_owned() };
        let seeds = seeds::at_points(points.iter().map(|at| &at.ranking));
        let seeds = seeds.map_or_else(String::new, |clause| format!("; {clause}"));
        format!("{at} {} may be the best: {}{seeds}.", who(names, points), told(comparison, points))
    }));
    sentences.extend(alone.iter().take(NAMED).filter_map(|(_, points)| {
        let described = |at: &&AtPoint| at.point.map_or_else(String::new, |point| comparison.described(point));
        Costs::at_points(&points.iter().map(|at| (&at.costs, described(at))).collect::<Vec<_>>())
    }));
    (headline, sentences)
}

/// Groups points that have the same names; the largest group is first.
fn grouped_by<'a>(
    points: impl Iterator<Item = &'a AtPoint>,
    names: impl Fn(&'a AtPoint) -> Vec<&'a str>,
) -> Vec<(Vec<&'a str>, Vec<&'a AtPoint>)> {
    let mut groups: Vec<(Vec<&str>, Vec<&AtPoint>)> = Vec::new();
    for point in points {
        let names = names(point);
        match groups.iter_mut().find(|(other, _)| *other == names) {
            Some((_, own)) => own.push(point),
            None => groups.push((names, vec![point])),
        }
    }
    groups.sort_by_key(|(_, own)| Reverse(own.len()));
    groups
}

/// Returns the candidates that may be the best at these points, in words.
fn who(names: &[&str], points: &[&AtPoint]) -> String {
    match points {
        _ if names.len() <= NAMED => listed_with(names, "or"),
        [only] => {
            let best = &only.ranking.best().name;
            format!("{best}, which has the highest mean, or one of {} others", names.len() - 1)
        }
        _ => format!("one of {} algorithms", names.len()),
    }
}

/// Returns these points in words: by the values of one variable if possible, otherwise one by one.
fn told(comparison: &Comparison, rankings: &[&AtPoint]) -> String {
    let points: Vec<usize> = rankings.iter().filter_map(|one| one.point).collect();
    for (index, variable) in comparison.variables.iter().enumerate() {
        let value = |point: usize| &comparison.points[point][index];
        let is_there = |value: &String| points.iter().any(|point| comparison.points[*point][index] == *value);
        let whole = (0..comparison.points.len()).filter(|point| is_there(value(*point))).count();
        if points.len() > 1 && points.len() == whole {
            let values: Vec<&String> = variable.values.iter().filter(|value| is_there(value)).collect();
            if values.len() <= NAMED {
                return format!("where {} is {}", variable.label, listed_with(&values, "or"));
            }
        }
    }
    let parts: Vec<String> = points.iter().take(NAMED).map(|point| comparison.described(*point)).collect();
    let rest = rankings.len().saturating_sub(NAMED);
    let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
    format!("{}{more}", parts.join("; "))
}
