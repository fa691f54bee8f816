//! Differences between the candidates of a comparison, for the tables beside its conclusion.

use crate::answer::{by_how_much, seeds_clause};
use crate::comparison::{Candidates, Comparison};
use crate::measures::MEASURES;
use crate::ranking::{Gap, comparisons};
use serde::{Deserialize, Serialize};

/// Request for the differences of candidates from one of them.
#[derive(Clone, Debug, Deserialize)]
pub struct DifferencesInput {
    comparison: Comparison,
    /// Column of the metric.
    measure: String,
    /// Index of the point; by default the only one, or, if there is a single algorithm, its points are the candidates.
    #[serde(default)]
    point: Option<usize>,
    /// Name of the candidate with which the others are compared; by default the best.
    #[serde(default)]
    base: Option<String>,
}

/// The candidates of a comparison, compared with one of them.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// Name of the candidate with which the others are compared.
    pub base: String,
    /// Mean of its metric.
    pub mean: f64,
    /// Number of intervals that hold jointly: all pairs of candidates.
    pub comparisons: usize,
    /// The other candidates; those of a ranking best first, otherwise in their order.
    pub rows: Vec<Difference>,
}

/// A candidate compared with another one.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// Name of the candidate.
    pub name: String,
    /// Mean of its metric.
    pub mean: f64,
    /// The gap; `None` without a common seed.
    pub gap: Option<Gap>,
    /// Whether the difference is significant, or exact because nothing is random.
    pub is_clear: bool,
    /// The gap in words, with the number of seeds that would probably decide.
    pub words: String,
}

impl DifferencesInput {
    /// Returns the differences; `None` if no candidate has a value.
    ///
    /// # Errors
    /// If the metric, the point or the candidate does not exist, or the confidence is not between 0 and 1.
    pub fn differences(&self) -> Result<Option<Differences>, String> {
        let Self { comparison, measure, point, base } = self;
        comparison.check()?;
        let known = MEASURES.iter().find(|known| known.column == measure);
        let measure = known.ok_or_else(|| format!("measure: there is no metric {measure}"))?;
        let candidates = match point {
            Some(point) if *point >= comparison.points.len() => {
                return Err(format!("point: there is no point {point}"));
            }
            Some(point) => Candidates::Algorithms(*point),
            None => comparison.candidates().first().copied().unwrap_or(Candidates::Algorithms(0)),
        };
        let Some(ranking) = comparison.ranking(candidates, measure)? else { return Ok(None) };
        let mut others = comparison.rivals(candidates, measure);
        others.retain(|rival| !rival.values.is_empty());
        let family = comparisons(&others);
        let name = base.as_ref().unwrap_or(&ranking.best().name);
        let Some(at) = others.iter().position(|rival| rival.name == *name) else {
            return if comparison.rivals(candidates, measure).iter().any(|rival| rival.name == *name) {
                Ok(None)
            } else {
                Err(format!("base: there is no candidate {name}"))
            };
        };
        let own = others.remove(at);
        if base.is_none() {
            let place = |name: &str| ranking.rivals.iter().position(|rival| rival.name == name);
            others.sort_by_key(|rival| place(&rival.name).unwrap_or(usize::MAX));
        }
        let row = |rival: &crate::ranking::Rival| -> Result<Difference, String> {
            let gap = if rival.meets(&own) { Some(ranking.gap(rival, &own)?) } else { None };
            Ok(Difference {
                name: rival.name.clone(),
                mean: rival.mean(),
                is_clear: gap.as_ref().is_some_and(Gap::is_clear),
                words: gap.as_ref().map_or_else(|| crate::numbers::NONE.to_owned(), words),
                gap,
            })
        };
        let rows = others.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Some(Differences { base: own.name.clone(), mean: own.mean(), comparisons: family, rows }))
    }
}

/// Returns a gap in words: `4 % less than hybla (95 %: −2 to 10 %), not significant; about 40 seeds would probably tell`.
fn words(gap: &Gap) -> String {
    let words = by_how_much(gap, &gap.other, "");
    if gap.is_clear() || gap.is_fixed {
        words
    } else if gap.is_equal() {
        format!("{words}, with each seed")
    } else if gap.pairs < 2 {
        format!("{words}, in one run of each")
    } else {
        let seeds = seeds_clause(gap).map_or_else(String::new, |clause| format!("; {clause}"));
        format!("{words}, not significant{seeds}")
    }
}
