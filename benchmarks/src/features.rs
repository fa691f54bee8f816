//! Cost of queue disciplines and link features, as instructions per packet-hop of `dumbbell-8`, compared with drop-tail.
//!
//! The windows of the flows are limited, so that no packet is dropped and all variants carry the same packets. The
//! bottleneck's two directions are a third of the packet-hops.

use crate::instructions::per_hop;
use crate::report::Verdicts;

/// Windows of 150 kB leave half of the queue empty.
const WINDOWS: &str = "defaults.tcp.receive_buffer=150 kB";
/// A loss rate of zero before the queue selects the kind of link that also serves all other disciplines.
const DROP_TAIL: &str = r#"topology.loss={ rate = 0, where = "before queue" }"#;
/// Maximum ratio to drop-tail.
const MAX_RATIO: f64 = 1.05;

/// Features whose parameters leave the packets as they are.
const FEATURES: [(&str, &str); 7] = [
    ("head_drop", r#"topology.queue={ discipline = "head_drop", limit = "1 bdp" }"#),
    ("netem", r#"topology.queue={ discipline = "netem", limit = "1000 packets" }"#),
    ("per_flow", r#"topology.queue={ discipline = "per_flow", limit = "1 bdp" }"#),
    ("ramp", r#"topology.ramp={ idle = "100 Mbit/s", time = "400 ms" }"#),
    ("slots", r#"topology.slots={ period = "15 s" }"#),
    ("aggregate", r#"topology.aggregate={ interval = "1 ms" }"#),
    ("police", r#"topology.police={ rate = "1 Gbit/s", burst = "10 MB" }"#),
];

/// Counts the instructions of each feature and adds a verdict about it.
pub fn features(verdicts: &mut Verdicts) {
    let count = |change: &str| per_hop("dumbbell-8", ["2 s", "12 s"], &[WINDOWS, change]);
    let drop_tail = match count(DROP_TAIL) {
        Ok(drop_tail) => drop_tail,
        Err(error) => return println!("instructions of features: {error}"),
    };
    for (name, change) in FEATURES {
        match count(change) {
            Ok(counted) => {
                let ratio = counted / drop_tail;
                let text = format!("{name}: {ratio:.3} times the instructions of drop-tail (at most {MAX_RATIO} ×)");
                verdicts.add(ratio <= MAX_RATIO, text);
            }
            Err(error) => verdicts.add(false, format!("{name}: {error}")),
        }
    }
}
