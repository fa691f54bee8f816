//! `docs/results.md` lists every column of every table, from the declarations of the columns themselves.

use lightlag_sim::results::dictionary;
use lightlag_sim::table::{About, Kind, Table};
use std::fmt::Write;
use std::path::Path;

/// The text above the tables.
const HEAD: &str = "\
# Results

A result folder holds `run.json`, which names the scenario as run, the seed, the version, counts and the hash, and one
Parquet file for each table below. `acks` is there if the run recorded ACKs, `responses` if a flow has requests or pages,
`proxies` and `legs` if a proxy splits a flow. Names of flows and link directions are dictionaries. A value that is missing
is null. Optional columns belong to a group, such as that of datagrams, and are there if some row has the group.

`origin` in `run.json` says what computed the results: `version` of lightlag, `engine` with the hash of its sources, `commit`
and whether files differed from it (`modified`), `python`, `platform`, `packages` and `command`. `repeat` is the command
that computes them again, typed in their folder; `lightlag run FOLDER` does so from elsewhere, and fails if the hash is
another one. The hash covers all results in these tables except `acks_received`; it does not cover the origin.

`lightlag run --json` and `Result.summary` hold the rows of `flows`, `links`, `proxies` and `legs` as objects with the same
keys. Where an object nests its values, its keys stand behind the name of the column. An object leaves out a group that it
does not have.

The declarations of the columns write this page: `LIGHTLAG_UPDATE_RESULTS=1 cargo test -p lightlag-sim --test dictionary`.
";

fn kind(about: &About) -> &'static str {
    match about.kind {
        Kind::Text => "text",
        Kind::Count => "whole number",
        Kind::Number => "number",
        Kind::Flag => "true or false",
    }
}

/// The name of a column, and its keys in an object where these differ from it.
fn name(about: &About) -> String {
    match &about.keys[..] {
        [outer, inner] => format!("`{}` (`{outer}.{inner}`)", about.name),
        _ => format!("`{}`", about.name),
    }
}

fn page(tables: &[Table]) -> String {
    let mut page = HEAD.to_owned();
    for Table { name: title, meaning, columns } in tables {
        write!(page, "\n## {title}\n\n{meaning}\n\n| column | type | unit | meaning |\n|---|---|---|---|\n").unwrap();
        for about in columns {
            let optional = if about.optional { ", optional" } else { "" };
            let (name, kind, unit, meaning) = (name(about), kind(about), about.unit, &about.meaning);
            writeln!(page, "| {name} | {kind}{optional} | {unit} | {meaning} |").unwrap();
        }
    }
    page
}

#[test]
fn the_page_lists_every_column() {
    let page = page(&dictionary());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    if std::env::var_os("LIGHTLAG_UPDATE_RESULTS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), page, "update the page as its last line says");
}

#[test]
fn every_column_has_a_name_of_its_own_and_a_meaning() {
    for table in dictionary() {
        let mut names: Vec<&str> = table.columns.iter().map(|about| about.name.as_str()).collect();
        assert!(table.columns.iter().all(|about| about.meaning.ends_with('.')), "{}", table.name);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{}", table.name);
    }
}
