//! The table of tunnels.

use super::{FLOWS, TextTable};
use crate::numbers::{NONE, milliseconds, share};
use crate::summary::Tunnel;

/// Returns the table of the first 20 directions of tunnels.
pub fn tunnel_table(tunnels: &[Tunnel]) -> TextTable {
    let row = |way: &Tunnel| {
        let part = |packets: u64| {
            if packets > 0 { share(packets as f64, way.entered_packets as f64) } else { NONE.to_owned() }
        };
        vec![
            ("tunnel", format!("{}->{}", way.from, way.to)),
            ("congestion", way.congestion.clone()),
            ("entered", format!("{} packets", way.entered_packets)),
            ("lost", part(way.lost_packets)),
            ("queue full", part(way.dropped_queue)),
            ("too large", part(way.dropped_size)),
            ("closed", part(way.dropped_closed)),
            ("timeouts", way.timeouts.to_string()),
            ("min RTT", milliseconds(way.min_rtt_s)),
        ]
    };
    TextTable::of("Tunnels", tunnels.iter().take(FLOWS).map(row).collect())
}
