//! Transfers over a geostationary path in both stacks: the figures of worked examples.

use crate::judge::quinn_logs;
use crate::network::{CLIENT, Logged, SERVER};
use crate::pattern::{Pattern, Side};
use lightlag_core::RandomStream;
use lightlag_quic::frame::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Delay of the path in each direction in µs.
const DELAY_US: u64 = 300_000;
const MIB: u64 = 1 << 20;

fn side(rate: u64) -> Side {
    Side {
        rate,
        delay_us: DELAY_US,
        // A queue of one bandwidth-delay product.
        queue_ms: 600,
        lost: BTreeSet::new(),
        marked: BTreeSet::new(),
        late: BTreeMap::new(),
        repeated: BTreeMap::new(),
    }
}

/// Returns a download of `bytes` at 20 Mbit/s, with 2 Mbit/s in the other direction and a credit of 30 MB.
pub fn download(bytes: u64, congestion: &str, loss: f64, seed: u64) -> Pattern {
    let mut down = side(20_000_000);
    let mut random = RandomStream::new(seed, "loss of a worked example");
    down.lost = (0..60_000).filter(|_| random.uniform() < loss).collect();
    Pattern {
        class: "worked example".to_owned(),
        seed,
        sides: [side(2_000_000), down],
        request: 100,
        response: bytes,
        certificate: 1_000,
        congestion: congestion.to_owned(),
        stream_window: Some(30_000_000),
        connection_window: None,
        end_ms: 2_000_000,
    }
}

/// Times of a download in seconds: the end of the handshake at the client, the first and the last byte of the response.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The client sends its first 1-RTT packet.
    pub handshake: f64,
    /// The first byte of the response arrives.
    pub first: f64,
    /// The last byte arrives.
    pub last: f64,
}

/// Returns the times of a log.
pub fn times(pattern: &Pattern, log: &[Logged]) -> Times {
    let is_stream = |logged: &&Logged| logged.contents.frames.iter().any(|frame| matches!(frame, Frame::Stream { .. }));
    let seconds = |time: u64| time as f64 / 1e9;
    let handshake = log.iter().filter(|logged| logged.from == CLIENT).find(is_stream).map_or(0, |logged| logged.time);
    let mut free = 0;
    let (mut first, mut last) = (None, 0);
    let mut missing: BTreeSet<u64> = (0..pattern.response).step_by(1_000).collect();
    for logged in log.iter().filter(|logged| logged.from == SERVER && !logged.dropped) {
        free = free.max(logged.time) + (logged.size + 28) * 8_000_000_000 / pattern.sides[SERVER].rate;
        for frame in &logged.contents.frames {
            if let Frame::Stream { offset, len, .. } = *frame {
                let arrival = free + DELAY_US * 1_000;
                first = first.or(Some(arrival));
                let held: Vec<u64> = missing.range(offset..offset + u64::from(len)).copied().collect();
                if !held.is_empty() {
                    held.iter().for_each(|byte| _ = missing.remove(byte));
                    last = arrival;
                }
            }
        }
    }
    Times { handshake: seconds(handshake), first: seconds(first.unwrap_or(0)), last: seconds(last) }
}

/// Returns a table of downloads: ours and quinn's.
pub fn table() -> String {
    let mut text = String::from("| download | loss | control | lightlag s | quinn s |\n|---|--:|---|--:|--:|\n");
    let mut row = |name: &str, bytes: u64, congestion: &str, loss: f64, seeds: u64| {
        let mut means = [0.0; 2];
        for seed in 0..seeds {
            let pattern = download(bytes, congestion, loss, seed);
            let (ours, theirs) = quinn_logs(&pattern);
            for (mean, log) in means.iter_mut().zip([&ours, &theirs]) {
                *mean += times(&pattern, log).last / seeds as f64;
            }
        }
        _ = writeln!(text, "| {name} | {} % | {congestion} | {:.3} | {:.3} |", loss * 100.0, means[0], means[1]);
    };
    for congestion in ["newreno", "cubic"] {
        row("100 kB", 100_000, congestion, 0.0, 1);
        row("1 MB", 1_000_000, congestion, 0.0, 1);
        row("10 MiB", 10 * MIB, congestion, 0.0, 1);
        row("10 MiB, mean of 8", 10 * MIB, congestion, 0.01, 8);
    }
    let pattern = download(100_000, "cubic", 0.0, 0);
    let (ours, theirs) = quinn_logs(&pattern);
    for (name, log) in [("lightlag", &ours), ("quinn", &theirs)] {
        let times = times(&pattern, log);
        _ = writeln!(text, "{name}: handshake {:.3} s, first byte {:.3} s", times.handshake, times.first);
    }
    text
}
