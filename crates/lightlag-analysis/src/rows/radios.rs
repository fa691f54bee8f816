//! Tables of radios and of media.

use super::{LINKS, TextTable};
use crate::numbers::{NONE, count, number, percent, share, size, size_like};
use crate::summary::Radio;

/// Returns the table of up to 8 radios, the busiest ones.
pub fn radio_table(radios: &[Radio]) -> TextTable {
    let mut shown: Vec<&Radio> = radios.iter().collect();
    shown.sort_by(|a, b| b.utilisation.total_cmp(&a.utilisation));
    shown.truncate(LINKS);
    let is_aggregated = radios.iter().any(|radio| radio.aggregates > 0);
    let max_bytes = shown.iter().map(|radio| radio.routing_bytes).max().unwrap_or(0) as f64;
    let row = |radio: &&Radio| {
        let mut row = vec![
            ("radio", radio.name.clone()),
            ("sends", percent(radio.utilisation, 1)),
            ("busy", percent(radio.busy, 1)),
            ("frames", radio.sent_frames.to_string()),
        ];
        if is_aggregated {
            row.push(("frames/A-MPDU", radio.mpdus_per_aggregate.map_or(NONE.to_owned(), |mean| number(mean, 3))));
        }
        row.extend([
            ("mean queue", number(radio.mean_queue_packets, 3)),
            ("retries", share(radio.retries as f64, radio.sent_frames as f64)),
            ("collisions", radio.collisions.to_string()),
            ("dropped", radio.dropped().to_string()),
            ("routing", size_like(radio.routing_bytes as f64, max_bytes)),
            ("broken links", radio.broken_links.to_string()),
        ]);
        row
    };
    TextTable::of("Radios", shown.iter().map(row).collect())
}

/// Returns the table of the media, each with the sums over its radios.
pub fn medium_table(radios: &[Radio]) -> TextTable {
    let mut media: Vec<(&str, Vec<&Radio>)> = Vec::new();
    for radio in radios {
        match media.iter_mut().find(|(name, _)| *name == radio.medium) {
            Some((_, own)) => own.push(radio),
            None => media.push((&radio.medium, vec![radio])),
        }
    }
    TextTable::of("Media", media.into_iter().map(|(name, radios)| medium_cells(name, &radios)).collect())
}

/// Returns the cells of a medium. Airtime may exceed 100 %, because distant stations can transmit simultaneously.
fn medium_cells(name: &str, radios: &[&Radio]) -> Vec<(&'static str, String)> {
    let total = |of: fn(&Radio) -> u64| radios.iter().map(|radio| of(radio)).sum::<u64>();
    let sum = |of: fn(&Radio) -> f64| radios.iter().fold(0.0, |sum, radio| sum + of(radio));
    let frames = total(|radio| radio.sent_frames);
    vec![
        ("medium", name.to_owned()),
        ("radios", radios.len().to_string()),
        ("on the air", percent(sum(|radio| radio.utilisation), 1)),
        ("mean busy", percent(sum(|radio| radio.busy) / radios.len() as f64, 1)),
        ("frames", count(frames)),
        ("retries", share(total(|radio| radio.retries) as f64, frames as f64)),
        ("collisions", count(total(|radio| radio.collisions))),
        ("dropped", count(total(Radio::dropped))),
        ("no route", count(total(|radio| radio.dropped_no_route))),
        ("routing", size(total(|radio| radio.routing_bytes) as f64)),
        ("route changes", count(total(|radio| radio.route_changes))),
    ]
}
