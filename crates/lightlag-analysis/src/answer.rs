//! Conclusion of a comparison in sentences: the best candidate, its lead over the others, and the confidence.

mod costs;
mod gaps;
mod many;
mod one;
mod seeds;
mod shares;

use crate::comparison::{Candidates, Comparison};
use crate::measures::{MEASURES, Measure};
use crate::ranking::{Gap, Ranking};
use costs::Costs;
pub use gaps::by_how_much;
use serde::Serialize;

/// The conclusion of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Conclusion {
    /// Sentences that name the best candidate and its material costs.
    pub headline: String,
    /// Further sentences: about the other candidates, other metrics, and algorithms that compete in one run.
    pub sentences: Vec<String>,
    /// Best candidates by goodput at each point. If one algorithm was run at several points, there is a single entry,
    /// in which these points are the candidates.
    pub points: Vec<Best>,
}

/// The best candidates by goodput at one point.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// Index of the point; `None` if the candidates are the points of one algorithm.
    pub point: Option<usize>,
    /// Names of the best candidate and of those that do not differ from it significantly.
    pub level: Vec<String>,
    /// Lead over the second best candidate, in words.
    pub lead: String,
    /// Material costs of the best candidate in a sentence; empty if there are none.
    pub costs: String,
}

/// Ranking by goodput at a point.
struct AtPoint {
    /// Index of the point; `None` if the candidates are the points of one algorithm.
    point: Option<usize>,
    ranking: Ranking,
    costs: Costs,
}

impl AtPoint {
    fn best(&self) -> Best {
        let level = self.ranking.level();
        let lead = match self.ranking.behind().first() {
            Some(nearest) if level.len() == 1 => gaps::to_other(nearest),
            _ if !self.ranking.ahead().is_empty() => "different seeds".to_owned(),
            _ if level.len() > 1 => match seeds::at_points(std::iter::once(&self.ranking)) {
                Some(clause) => format!("cannot be distinguished; {clause}"),
                None => "cannot be distinguished".to_owned(),
            },
            _ => crate::numbers::NONE.to_owned(),
        };
        let costs = self.costs.sentence().unwrap_or_default();
        Best { point: self.point, level: level.into_iter().map(str::to_owned).collect(), lead, costs }
    }
}

/// Returns the conclusion of a comparison; `None` if no run has finished.
///
/// # Errors
/// If an algorithm or a point has an invalid index, or the confidence is not between 0 and 1.
pub fn answer(comparison: &Comparison) -> Result<Option<Conclusion>, String> {
    comparison.check()?;
    let goodput = &MEASURES[0];
    let mut rankings = Vec::new();
    for candidates in comparison.candidates() {
        let Some(ranking) = comparison.ranking(candidates, goodput)? else { continue };
        let costs = Costs::of(comparison, candidates, &ranking)?;
        let point = if let Candidates::Algorithms(point) = candidates { Some(point) } else { None };
        rankings.push(AtPoint { point, ranking, costs });
    }
    let (headline, mut sentences) = match &rankings[..] {
        [] => return Ok(None),
        [only] => one::of_one(only, goodput),
        _ => many::of_many(comparison, &rankings),
    };
    if comparison.points.len() == 1 {
        for measure in comparison.others() {
            let ranking = comparison.ranking(Candidates::Algorithms(0), measure)?;
            let ranking = ranking.filter(|ranking| !ranking.gaps.is_empty());
            sentences.extend(ranking.map(|ranking| one::of_measure(&ranking, measure)));
        }
    }
    sentences.extend(shares::in_one_run(comparison)?);
    Ok(Some(Conclusion { headline, sentences, points: rankings.iter().map(AtPoint::best).collect() }))
}

impl Comparison {
    /// Returns the metrics that the conclusion covers besides goodput, and for which the runs have values.
    fn others(&self) -> impl Iterator<Item = &'static Measure> {
        let has =
            |measure: &&Measure| measure.is_answered && self.measures.iter().any(|column| column == measure.column);
        MEASURES[1..].iter().filter(has)
    }
}

/// Returns the number of seeds that would probably make a gap significant, in words; `None` if it is significant, or if
/// nothing is known.
pub fn seeds_clause(gap: &Gap) -> Option<String> {
    seeds::Seeds::of(gap).map(seeds::Seeds::clause)
}
