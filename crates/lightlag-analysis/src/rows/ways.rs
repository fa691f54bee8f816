//! Ways of flows through a sky as a table.

use super::{LINKS, Table};
use crate::numbers::{NONE, milliseconds, number};
use crate::summary::Way;
use std::collections::BTreeSet;

/// The first 8 ways. Round trips are those that senders measured.
pub fn way_table(ways: &[Way]) -> Table {
    let row = |way: &Way| {
        let ends = way.times_s.iter().skip(1).chain([&way.end_s]);
        let parts = way.times_s.iter().zip(ends).zip(&way.links);
        let out = parts.filter(|(_, links)| **links == 0).fold(0.0, |sum, ((from, to), _)| sum + (to - from));
        let links: BTreeSet<u64> = way.links.iter().copied().filter(|links| *links > 0).collect();
        let links = match (links.first(), links.last()) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => NONE.to_owned(),
        };
        vec![
            ("way of", way.flow.clone()),
            ("least RTT", milliseconds(way.least_rtt_s)),
            ("greatest RTT", milliseconds(way.greatest_rtt_s)),
            ("links", links),
            ("changes", way.times_s.len().saturating_sub(1).to_string()),
            ("without a way", format!("{} s", number(out, 4))),
        ]
    };
    Table::of("Ways", ways.iter().take(LINKS).map(row).collect())
}
