//! Parts of a summary as tables of text for people.

mod flows;
mod links;
mod proxies;
mod radios;
mod ways;

pub use flows::{flow_table, hidden_flows, shown_flows};
pub use links::{heaviest_links, link_table};
pub use proxies::proxy_table;
pub use radios::{medium_table, radio_table};
pub use ways::way_table;

use crate::summary::{Flow, Link, Proxy, Radio};
use serde::{Deserialize, Serialize};

/// Flows and proxies that a table shows.
const FLOWS: usize = 20;
/// Links, radios and ways that a table shows.
const LINKS: usize = 8;

/// A table of text. Every row has a text for each column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it is about.
    pub title: &'static str,
    /// The heads of its columns.
    pub columns: Vec<&'static str>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table whose rows are texts with the heads of their columns, which are the same in each row.
    fn of(title: &'static str, rows: Vec<Vec<(&'static str, String)>>) -> Self {
        let columns = rows.first().map_or(Vec::new(), |row| row.iter().map(|(head, _)| *head).collect());
        let rows = rows.into_iter().map(|row| row.into_iter().map(|(_, text)| text).collect()).collect();
        Self { title, columns, rows }
    }
}

/// The lists of a summary.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lists {
    flows: Vec<Flow>,
    legs: Vec<Flow>,
    links: Vec<Link>,
    proxies: Vec<Proxy>,
    interfaces: Vec<Radio>,
}

/// The tables of a summary that have rows.
pub fn tables(lists: &Lists) -> Vec<Table> {
    let Lists { flows, legs, links, proxies, interfaces } = lists;
    let tables = [
        flow_table(flows, legs),
        link_table(links),
        proxy_table(proxies),
        medium_table(interfaces),
        radio_table(interfaces),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}
