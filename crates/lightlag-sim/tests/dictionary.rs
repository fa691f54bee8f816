//! Tests that `docs/results.md` lists every column of every table. The page is generated from the declarations of the
//! columns.

use lightlag_sim::results::dictionary;
use lightlag_sim::table::{About, ColumnType, TableSpec};
use std::fmt::Write;
use std::path::Path;

/// The text of the page before the tables.
const HEAD: &str = "\
# Results

A result directory holds `run.json`, with the scenario as run, the seed, the version, counts and the hash, and one
Parquet file for each table below. `acks` exists if the run recorded ACKs, `responses` if a flow has requests or pages,
`objects` if a flow loads a page from a file, `proxies` and `legs` if a proxy splits a flow, and `tunnels` if there are
tunnels. Names of flows and link directions are dictionaries. A missing value is null. Optional columns belong to a group, such as datagrams, and are present if some row has the group.

`origin` in `run.json` describes the program that computed the results: `version` of lightlag, `engine` with the hash of
its sources, `commit` and whether files differed from it (`modified`), `python`, `platform`, `packages` and `command`.
`repeat` is the command that computes the results again in their directory; `lightlag run DIRECTORY` does so from
elsewhere, and fails if the hash differs. The hash covers all results in these tables except `acks_received`,
`first_byte_s` and `byte_index_s` of responses, with their means, and the requests at proxies; it does not cover the
origin.

`lightlag run --json` and `Result.summary` hold the rows of `flows`, `links`, `proxies`, `legs` and `tunnels` as objects
with the same keys. If an object nests its values, its keys follow the name of the column. An object omits a group that it does
not have.

This page is generated from the declarations of the columns:
`LIGHTLAG_UPDATE_RESULTS=1 cargo test -p lightlag-sim --test dictionary`.
";

fn kind(about: &About) -> &'static str {
    match about.kind {
        ColumnType::Text => "text",
        ColumnType::Count => "whole number",
        ColumnType::Number => "number",
        ColumnType::Flag => "true or false",
    }
}

/// Returns the name of a column as shown on the page, with its keys in an object if these differ from the name.
fn name(about: &About) -> String {
    match &about.keys[..] {
        [outer, inner] => format!("`{}` (`{outer}.{inner}`)", about.name),
        _ => format!("`{}`", about.name),
    }
}

fn page(tables: &[TableSpec]) -> String {
    let mut page = HEAD.to_owned();
    for TableSpec { name: title, meaning, columns, .. } in tables {
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
    assert_eq!(
        std::fs::read_to_string(&file).unwrap_or_default(),
        page,
        "update the page with the command in its introduction"
    );
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
