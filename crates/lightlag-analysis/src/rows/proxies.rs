//! Flows at proxies as a table.

use super::{FLOWS, Table};
use crate::numbers::{NONE, milliseconds, share, size};
use crate::summary::Proxy;

/// The first 20 flows at proxies.
pub fn proxy_table(proxies: &[Proxy]) -> Table {
    let row = |proxy: &Proxy| {
        let resent = share(proxy.retransmitted_segments as f64, proxy.sent_segments as f64);
        let lost = if proxy.lost_bytes > 0 { size(proxy.lost_bytes as f64) } else { NONE.to_owned() };
        vec![
            ("proxy", proxy.node.clone()),
            ("flow", proxy.flow.clone()),
            ("congestion", proxy.congestion.clone()),
            ("passed on", size(proxy.acknowledged_bytes as f64)),
            ("lost", lost),
            ("resent", resent),
            ("timeouts", proxy.timeouts.to_string()),
            ("min RTT", milliseconds(proxy.min_rtt_s)),
            ("mean buffer", size(proxy.mean_buffer_bytes)),
            ("max buffer", size(proxy.max_buffer_bytes as f64)),
        ]
    };
    Table::of("Proxies", proxies.iter().take(FLOWS).map(row).collect())
}
