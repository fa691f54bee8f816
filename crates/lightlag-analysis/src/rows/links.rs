//! The table of link directions.

use super::{LINKS, TextTable};
use crate::numbers::{number, percent, size_like};
use crate::summary::Link;
use std::cmp::Reverse;

/// Heading of a column, and the function that returns its count for a link.
type Count = (&'static str, fn(&Link) -> u64);

/// Columns that are zero for ordinary links. Each is shown only if at least one link has a count.
const RARE: [Count; 15] = [
    ("dropped (outage)", |link| link.dropped_outage),
    ("dropped (AQM)", |link| link.dropped_aqm),
    ("dropped (policer)", |link| link.dropped_police),
    ("dropped (MTU)", |link| link.dropped_mtu),
    ("filtered ACKs", |link| link.dropped_acks),
    ("dropped (no path)", |link| link.dropped_route),
    ("rerouted", |link| link.withdrawn),
    ("marked", |link| link.marked),
    ("duplicated", |link| link.duplicated),
    ("reordered", |link| link.reordered),
    ("repair packets", |link| link.repair_packets),
    ("repaired", |link| link.repaired),
    ("frames", |link| link.baseband_frames),
    ("dummy frames", |link| link.dummy_frames),
    ("padding/B", |link| link.padding_bytes),
];

/// Returns the indices of up to 8 link directions: those that dropped most packets or were busiest.
///
/// # Panics
/// If there are not as many utilisations as counts.
pub fn heaviest_links(dropped: &[u64], utilisation: &[f64]) -> Vec<usize> {
    assert_eq!(dropped.len(), utilisation.len(), "a link has a count and a utilisation");
    let mut indices: Vec<usize> = (0..dropped.len()).collect();
    indices.sort_by(|a, b| {
        let weight = |at: &usize| Reverse(dropped[*at]);
        weight(a).cmp(&weight(b)).then(utilisation[*b].total_cmp(&utilisation[*a]))
    });
    indices.truncate(LINKS);
    indices.sort_unstable();
    indices
}

/// Returns the table of the link directions that [`heaviest_links`] selects, without those that had no traffic.
pub fn link_table(links: &[Link]) -> TextTable {
    let dropped: Vec<u64> = links.iter().map(Link::dropped).collect();
    let utilisation: Vec<f64> = links.iter().map(|link| link.utilisation).collect();
    let heaviest = heaviest_links(&dropped, &utilisation);
    let shown: Vec<&Link> = heaviest.into_iter().map(|at| &links[at]).filter(|link| link.carried_bytes > 0).collect();
    let rare: Vec<&Count> = RARE.iter().filter(|(_, of)| shown.iter().any(|link| of(link) > 0)).collect();
    let max_bytes = shown.iter().map(|link| link.carried_bytes).max().unwrap_or(0) as f64;
    let row = |link: &&Link| {
        let mut row = vec![
            ("link", link.name.clone()),
            ("utilisation", percent(link.utilisation, 1)),
            ("carried", size_like(link.carried_bytes as f64, max_bytes)),
            ("dropped (queue)", link.dropped_queue.to_string()),
            ("dropped (error)", link.dropped_error.to_string()),
        ];
        row.extend(rare.iter().map(|(title, of)| (*title, of(link).to_string())));
        row.push(("mean queue", number(link.mean_queue_packets, 4)));
        row.push(("max queue", link.max_queue_packets.to_string()));
        row
    };
    TextTable::of("Links", shown.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_drop_come_before_busy_ones() {
        let mut dropped = [0; 10];
        dropped[9] = 1;
        let utilisation = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0];
        assert_eq!(heaviest_links(&dropped, &utilisation), [0, 1, 2, 3, 4, 5, 6, 9]);
    }

    #[test]
    fn rare_columns_are_shown_where_a_link_fills_them() {
        let plain = Link { name: "a->b".to_owned(), carried_bytes: 1_000_000, ..Link::default() };
        let marking = Link { name: "b->a".to_owned(), carried_bytes: 2_000, marked: 3, ..plain.clone() };
        assert!(!link_table(std::slice::from_ref(&plain)).columns.contains(&"marked"));
        let table = link_table(&[plain, marking]);
        let at = table.columns.iter().position(|column| *column == "marked").unwrap();
        assert_eq!([&table.rows[0][at], &table.rows[1][at]], ["0", "3"]);
        assert_eq!([&table.rows[0][2], &table.rows[1][2]], ["1 MB", "0.002 MB"]);
    }
}
