//! Parts of a summary as tables of text.

mod flows;
mod links;
mod proxies;
mod radios;
mod tunnels;
mod ways;

pub use flows::{flow_table, hidden_flows, shown_flows};
pub use links::{heaviest_links, link_table};
pub use proxies::proxy_table;
pub use radios::{medium_table, radio_table};
pub use tunnels::tunnel_table;
pub use ways::way_table;

use crate::summary::{Flow, Link, Proxy, Radio, Tunnel};
use serde::{Deserialize, Serialize};

/// Maximum number of flows, proxies or tunnels in a table.
const FLOWS: usize = 20;
/// Maximum number of links, radios or satellite paths in a table.
const LINKS: usize = 8;

/// A table of text. Every row has one cell per column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextTable {
    /// Title of the table.
    pub title: &'static str,
    /// Headings of the columns.
    pub columns: Vec<&'static str>,
    /// Cells of each row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Creates a table from rows of (heading, cell) pairs. All rows have the same headings.
    pub(crate) fn of(title: &'static str, rows: Vec<Vec<(&'static str, String)>>) -> Self {
        let columns = rows.first().map_or(Vec::new(), |row| row.iter().map(|(head, _)| *head).collect());
        let rows = rows.into_iter().map(|row| row.into_iter().map(|(_, text)| text).collect()).collect();
        Self { title, columns, rows }
    }
}

/// The lists of a summary that the tables show.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lists {
    flows: Vec<Flow>,
    legs: Vec<Flow>,
    links: Vec<Link>,
    proxies: Vec<Proxy>,
    tunnels: Vec<Tunnel>,
    interfaces: Vec<Radio>,
}

/// Returns the tables of a summary that have rows.
pub fn tables(lists: &Lists) -> Vec<TextTable> {
    let Lists { flows, legs, links, proxies, tunnels, interfaces } = lists;
    let tables = [
        flow_table(flows, legs),
        link_table(links),
        proxy_table(proxies),
        tunnel_table(tunnels),
        medium_table(interfaces),
        radio_table(interfaces),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}
