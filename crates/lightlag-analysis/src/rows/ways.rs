//! Table of the paths of flows over a constellation.

use super::{LINKS, TextTable};
use crate::numbers::{NONE, milliseconds, number};
use crate::summary::SatellitePath;
use std::collections::BTreeSet;

/// Returns the table of the first 8 flows with satellite paths. Round-trip times are the senders' samples.
pub fn way_table(ways: &[SatellitePath]) -> TextTable {
    let row = |way: &SatellitePath| {
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
            ("path of", way.flow.clone()),
            ("min RTT", milliseconds(way.least_rtt_s)),
            ("max RTT", milliseconds(way.greatest_rtt_s)),
            ("links", links),
            ("changes", way.times_s.len().saturating_sub(1).to_string()),
            ("without a path", format!("{} s", number(out, 4))),
        ]
    };
    TextTable::of("Paths", ways.iter().take(LINKS).map(row).collect())
}
