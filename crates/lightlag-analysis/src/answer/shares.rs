//! Goodput of algorithms that compete in one run.

use super::gaps::{NAMED, by_how_much};
use crate::comparison::{Cell, Comparison};
use crate::measures::MEASURES;
use crate::ranking::{Gap, Rival, confidence_of_each};
use crate::statistics::{CONFIDENCE, mean};

/// Returns a sentence about the two competing algorithms of each mix at each point; only the first few, and then the
/// number of the others.
pub(super) fn in_one_run(comparison: &Comparison) -> Result<Vec<String>, String> {
    let pairs: Vec<(&Cell, [Rival; 2])> =
        comparison.cells.iter().filter_map(|cell| rivals(cell).map(|rivals| (cell, rivals))).collect();
    let mut sentences = Vec::new();
    for (cell, [strong, weak]) in &pairs {
        let at_point = pairs.iter().filter(|(other, _)| other.point == cell.point).count();
        let confidence = confidence_of_each(at_point, comparison.confidence(&MEASURES[0]).max(CONFIDENCE));
        if !strong.meets(weak) {
            continue;
        }
        let gap = Gap::between(strong, weak, confidence)?;
        let name = &comparison.algorithms[cell.algorithm];
        let condition = if comparison.points.len() > 1 {
            format!(" at {}", comparison.described(cell.point))
        } else {
            String::new()
        };
        if gap.is_clear() {
            let more = by_how_much(&gap, &format!("one of {}", weak.name), " goodput");
            sentences.push(format!("In {name}{condition} a flow of {} gets {more}.", strong.name));
        } else if gap.pairs > 1 {
            let (strong, weak) = (&strong.name, &weak.name);
            sentences
                .push(format!("In {name}{condition} the goodputs of {strong} and {weak} cannot be distinguished."));
        }
    }
    let rest = sentences.len().saturating_sub(NAMED);
    sentences.truncate(NAMED);
    sentences.extend((rest > 0).then(|| format!("The table of competing algorithms has {rest} more.")));
    Ok(sentences)
}

/// Returns two competing algorithms, the one with more goodput first, each with the mean goodput of its flows by seed;
/// `None` unless exactly two compete.
fn rivals(cell: &Cell) -> Option<[Rival; 2]> {
    let mut rivals: Vec<Rival> = Vec::new();
    for run in &cell.runs {
        for name in run.algorithms() {
            let value = (run.seed, mean(&run.goodputs(name)));
            match rivals.iter_mut().find(|rival| rival.name == name) {
                Some(rival) => rival.values.push(value),
                None => rivals.push(Rival { name: name.to_owned(), values: vec![value], is_fixed: cell.is_fixed }),
            }
        }
    }
    rivals.sort_by(|a, b| b.mean().total_cmp(&a.mean()));
    rivals.try_into().ok()
}
