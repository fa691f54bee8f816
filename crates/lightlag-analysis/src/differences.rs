//! Differences between the candidates of a comparison, for the tables next to its conclusion.

use crate::answer::{by_how_much, seeds_clause};
use crate::comparison::{Candidates, Comparison};
use crate::measures::MEASURES;
use crate::numbers::NONE;
use crate::ranking::{Gap, Ranking, Rival, comparisons};
use serde::{Deserialize, Serialize};

/// Request for the differences of candidates from one of them: of the algorithms at each point, or of the points of a
/// single algorithm.
#[derive(Clone, Debug, Deserialize)]
pub struct DifferencesInput {
    comparison: Comparison,
    /// Column of the metric.
    measure: String,
    /// Name of the candidate with which the others are compared; by default the best.
    #[serde(default)]
    base: Option<String>,
}

/// The candidates of a ranking, compared with one of them.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// Index of the point; `None` if the candidates are the points of one algorithm.
    pub point: Option<usize>,
    /// Name of the candidate with which the others are compared.
    pub base: String,
    /// Mean of its metric.
    pub mean: f64,
    /// Number of intervals that hold jointly: all pairs of candidates.
    pub comparisons: usize,
    /// The other candidates: best first if the base is the best, otherwise in their order.
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
    /// Returns the differences, without rankings in which the candidate has no value.
    ///
    /// # Errors
    /// If the metric or the candidate does not exist, or the confidence is not between 0 and 1.
    pub fn differences(&self) -> Result<Vec<Differences>, String> {
        let Self { comparison, measure, base } = self;
        comparison.check()?;
        let known = MEASURES.iter().find(|known| known.column == measure);
        let measure = known.ok_or_else(|| format!("measure: there is no metric {measure}"))?;
        let mut found = Vec::new();
        for candidates in comparison.candidates() {
            let mut rivals = comparison.rivals(candidates, measure);
            if let Some(name) = base.as_ref().filter(|name| rivals.iter().all(|rival| rival.name != **name)) {
                return Err(format!("base: there is no candidate {name}"));
            }
            rivals.retain(|rival| !rival.values.is_empty());
            let Some(ranking) = comparison.ranking(candidates, measure)? else { continue };
            let name = base.as_ref().unwrap_or(&ranking.best().name);
            let comparisons = comparisons(&rivals);
            let Some(at) = rivals.iter().position(|rival| rival.name == *name) else { continue };
            let own = rivals.remove(at);
            if base.is_none() {
                let place = |name: &str| ranking.rivals.iter().position(|rival| rival.name == name);
                rivals.sort_by_key(|rival| place(&rival.name).unwrap_or(usize::MAX));
            }
            let rows = rivals.iter().map(|rival| Difference::of(rival, &own, &ranking)).collect::<Result<_, _>>()?;
            let point = if let Candidates::Algorithms(point) = candidates { Some(point) } else { None };
            found.push(Differences { point, base: own.name.clone(), mean: own.mean(), comparisons, rows });
        }
        Ok(found)
    }
}

impl Difference {
    fn of(rival: &Rival, base: &Rival, ranking: &Ranking) -> Result<Self, String> {
        let gap = if rival.meets(base) { Some(ranking.gap(rival, base)?) } else { None };
        Ok(Self {
            name: rival.name.clone(),
            mean: rival.mean(),
            is_clear: gap.as_ref().is_some_and(Gap::is_clear),
            words: gap.as_ref().map_or_else(|| NONE.to_owned(), words),
            gap,
        })
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
