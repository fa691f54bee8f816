//! The table of flows at proxies.

use super::{FLOWS, TextTable};
use crate::numbers::{NONE, milliseconds, share, size};
use crate::summary::{Prefetched, Proxy};

/// Returns the table of the first 20 flows that pass through proxies.
pub fn proxy_table(proxies: &[Proxy]) -> TextTable {
    let has_objects = proxies.iter().any(|proxy| proxy.prefetched.is_some());
    let row = |proxy: &Proxy| {
        let retransmitted = share(proxy.retransmitted_segments as f64, proxy.sent_segments as f64);
        let lost = if proxy.lost_bytes > 0 { size(proxy.lost_bytes as f64) } else { NONE.to_owned() };
        let mut row = vec![
            ("proxy", proxy.node.clone()),
            ("flow", proxy.flow.clone()),
            ("congestion", proxy.congestion.clone()),
            ("forwarded", size(proxy.acknowledged_bytes as f64)),
            ("lost", lost),
            ("retransmitted", retransmitted),
            ("timeouts", proxy.timeouts.to_string()),
            ("min RTT", milliseconds(proxy.min_rtt_s)),
            ("mean buffer", size(proxy.mean_buffer_bytes)),
            ("max buffer", size(proxy.max_buffer_bytes as f64)),
        ];
        if has_objects {
            let text = |of: Prefetched| format!("{} objects, {}", of.objects, size(of.bytes as f64));
            row.push(("prefetched", proxy.prefetched.map_or(NONE.to_owned(), text)));
        }
        row
    };
    TextTable::of("Proxies", proxies.iter().take(FLOWS).map(row).collect())
}
