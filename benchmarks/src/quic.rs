//! QUIC compared with TCP on the same network, a download over a satellite, and many connections.

use crate::instructions::per_hop;
use crate::measure::{Sample, in_child};
use crate::report::{Verdicts, print_row};

/// Changes to `dumbbell-8` for QUIC with the same congestion control.
const QUIC: [&str; 2] = ["defaults.transport=quic", "defaults.quic.congestion=cubic"];
/// Maximum ratio of the instructions per packet-hop to TCP's.
const MAX_RATIO: f64 = 1.25;
/// Maximum CPU time of the download in milliseconds.
const DOWNLOAD_MS: f64 = 2.0;
/// Runs of the download. The best one counts.
const ROUNDS: usize = 7;
/// Maximum memory per QUIC flow in KiB, with 100,000 flows.
const FLOW_KIB: f64 = 8.0;

/// Measures QUIC only, and prints the results.
pub fn print_quic() {
    let mut verdicts = Verdicts::default();
    quic(&mut verdicts);
    verdicts.print();
}

/// Counts instructions, and measures the download and 100,000 connections.
pub fn quic(verdicts: &mut Verdicts) {
    let count = |changes: &[&str]| per_hop("dumbbell-8", ["2 s", "12 s"], changes);
    match (count(&[]), count(&QUIC)) {
        (Ok(tcp), Ok(quic)) => {
            let ratio = quic / tcp;
            let text = format!(
                "QUIC: {quic:.0} instructions per packet-hop, {ratio:.2} times as many as TCP (at most {MAX_RATIO} ×)"
            );
            verdicts.add(ratio <= MAX_RATIO, text);
        }
        (Err(error), _) | (_, Err(error)) => verdicts.add(false, format!("QUIC: {error}")),
    }
    let runs = (0..ROUNDS).map(|_| in_child::<Sample>(&["once", "quic-geo"]));
    if let Some(best) = runs.min_by(|one, other| one.cpu_s.total_cmp(&other.cpu_s)) {
        print_row("QUIC, 10 MiB over GEO", best);
        let ms = best.cpu_s * 1e3;
        verdicts.add(ms <= DOWNLOAD_MS, format!("QUIC: 10 MiB over GEO in {ms:.1} ms (at most {DOWNLOAD_MS} ms)"));
    }
    let few: Sample = in_child(&["once", "many-100k", "topology.pairs=1", "defaults.transport=quic"]);
    let many: Sample = in_child(&["once", "many-100k", "defaults.transport=quic"]);
    print_row("QUIC, 100,000 connections", many);
    let each = many.max_rss_kib.saturating_sub(few.max_rss_kib) as f64 / 1e5;
    verdicts.add(each <= FLOW_KIB, format!("QUIC: {each:.1} KiB per connection of 100,000 (at most {FLOW_KIB})"));
}
