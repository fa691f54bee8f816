//! Conclusion of a comparison in sentences: the best candidate, its lead over the others, and the confidence.

mod gaps;
mod many;
mod one;
mod shares;

use crate::comparison::Comparison;
use crate::measures::{MEASURES, Measure};
use crate::ranking::{Ranking, Rival};
use crate::statistics::CONFIDENCE;
pub use gaps::by_how_much;
use serde::Serialize;

/// The conclusion of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Conclusion {
    /// Sentence that names the best candidate.
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
}

/// Ranking by goodput at a point.
struct AtPoint {
    /// Index of the point; `None` if the candidates are the points of one algorithm.
    point: Option<usize>,
    ranking: Ranking,
}

impl AtPoint {
    fn best(&self) -> Best {
        let level = self.ranking.level();
        let lead = match self.ranking.behind().first() {
            Some(nearest) if level.len() == 1 => gaps::to_other(nearest),
            _ if level.len() > 1 => "cannot be distinguished".to_owned(),
            _ => crate::numbers::NONE.to_owned(),
        };
        Best { point: self.point, level: level.into_iter().map(str::to_owned).collect(), lead }
    }
}

/// Returns the conclusion of a comparison; `None` if no run has finished.
///
/// # Errors
/// If an algorithm or a point has an invalid index, or the confidence is not between 0 and 1.
pub fn answer(comparison: &Comparison) -> Result<Option<Conclusion>, String> {
    comparison.check()?;
    let goodput = &MEASURES[0];
    let points = comparison.points.len();
    let mut rankings = Vec::new();
    if comparison.algorithms.len() == 1 && points > 1 {
        let rivals = (0..points).map(|at| comparison.rival(0, at, goodput, comparison.described(at))).collect();
        rankings.extend(comparison.ranking(rivals, goodput)?.map(|ranking| AtPoint { point: None, ranking }));
    } else {
        for point in 0..points {
            let ranking = comparison.ranking(comparison.rivals(point, goodput), goodput)?;
            rankings.extend(ranking.map(|ranking| AtPoint { point: Some(point), ranking }));
        }
    }
    let (headline, mut sentences) = match &rankings[..] {
        [] => return Ok(None),
        [only] => one::of_one(&only.ranking, goodput),
        _ => many::of_many(comparison, &rankings),
    };
    if points == 1 {
        for measure in comparison.others() {
            let rivals = comparison.rivals(0, measure);
            if rivals.iter().filter(|rival| !rival.values.is_empty()).count() > 1 {
                let ranking = comparison.ranking(rivals, measure)?;
                sentences.extend(ranking.map(|ranking| one::of_measure(&ranking, measure)));
            }
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

    /// Returns the algorithms as candidates at a point, with their values of a metric.
    fn rivals(&self, point: usize, measure: &Measure) -> Vec<Rival> {
        let name = |at: usize| self.algorithms[at].clone();
        (0..self.algorithms.len()).map(|at| self.rival(at, point, measure, name(at))).collect()
    }

    fn rival(&self, algorithm: usize, point: usize, measure: &Measure, name: String) -> Rival {
        let cell = self.cells.iter().find(|cell| cell.algorithm == algorithm && cell.point == point);
        let values = cell.and_then(|cell| cell.values.get(measure.column)).cloned().unwrap_or_default();
        Rival { name, values, is_fixed: cell.is_some_and(|cell| cell.is_fixed) }
    }

    fn ranking(&self, rivals: Vec<Rival>, measure: &Measure) -> Result<Option<Ranking>, String> {
        // A study with a target has a higher confidence, so that the interval holds at each interim analysis.
        Ranking::of(rivals, measure.more_is_better, self.confidence(measure).max(CONFIDENCE))
    }
}
