//! The charts and the curves of a run, computed from its tables.

use lightlag_analysis::outcome::{Curves, Outcome, OutcomeInput};
use lightlag_analysis::table::RecordedColumns;
use lightlag_sim::RunResult;
use lightlag_sim::table::{Data, Filled, GrowingTable, NameTable};
use serde_json::{Value, json};
use std::convert::Infallible;

/// Returns the charts of a run over time.
///
/// # Errors
/// If the summary lacks keys that the charts need; this does not happen for the summary of a run.
pub(crate) fn timeline(result: &RunResult) -> Result<Value, String> {
    let run = serde_json::from_value(json!(result.summary)).map_err(|error| error.to_string())?;
    let Ok(charts) = lightlag_analysis::timeline::timeline(&run, read(result));
    Ok(json!(charts))
}

/// Returns the data of a run for a comparison: its outcome and its curves.
///
/// # Errors
/// If the summary lacks keys that the outcome needs; this does not happen for the summary of a run.
pub(crate) fn outcome(result: &RunResult) -> Result<(Outcome, Curves), String> {
    let run: OutcomeInput = serde_json::from_value(json!(result.summary)).map_err(|error| error.to_string())?;
    let Ok(curves) = run.curves(read(result));
    Ok((run.outcome(), curves))
}

fn read(result: &RunResult) -> impl Fn(&str, &[&str], &[&str]) -> Result<RecordedColumns, Infallible> {
    |table, columns, only| {
        let table: &dyn GrowingTable = match table {
            "trace" => &result.trace,
            "queue" => &result.queue,
            _ => &result.drops,
        };
        Ok(rows(result, &table.copied(0..table.count()), columns, only))
    }
}

/// Returns the given columns of a table. It includes only the rows whose second column is one of the names `only`, or
/// all rows if `only` is empty.
fn rows(result: &RunResult, filled: &[Filled], columns: &[&str], only: &[&str]) -> RecordedColumns {
    let named = |name: &&str| filled.iter().find(|column| column.name == *name);
    let is_named = named(&columns[1]).filter(|_| !only.is_empty()).map(|key| {
        let is_wanted: Vec<bool> = names(result, key.names).iter().map(|name| only.contains(name)).collect();
        numbers(&key.data).into_iter().map(|number| is_wanted[number as usize]).collect::<Vec<_>>()
    });
    let mut table = RecordedColumns::default();
    for column in columns.iter().filter_map(named) {
        let all = numbers(&column.data).into_iter().enumerate();
        let values = all.filter(|(row, _)| is_named.as_ref().is_none_or(|named| named[*row])).map(|(_, value)| value);
        if column.names == NameTable::None {
            table.numbers.insert(column.name.to_owned(), values.collect());
        } else {
            let (texts, names) = (table.texts.entry(column.name.to_owned()).or_default(), names(result, column.names));
            values.for_each(|number| texts.push(names[number as usize]));
        }
    }
    table
}

fn numbers(data: &Data) -> Vec<f64> {
    match data {
        Data::Numbers(values) => values.clone(),
        Data::Counts(values) => values.iter().map(|value| *value as f64).collect(),
        Data::Words(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Data::Bytes(values) => values.iter().map(|value| f64::from(*value)).collect(),
        Data::Flags(values) => values.iter().map(|value| f64::from(*value)).collect(),
    }
}

fn names(result: &RunResult, names: NameTable) -> Vec<&str> {
    match names {
        NameTable::None => Vec::new(),
        NameTable::Flows => result.flow_names(),
        NameTable::Links => result.link_names(),
        NameTable::Nodes => result.node_names(),
        NameTable::Objects => result.object_names(),
        NameTable::These(names) => names.to_vec(),
    }
}
