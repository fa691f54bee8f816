//! Paths and transfers, generated from seeds.

use lightlag_core::RandomStream;
use lightlag_quic::config::HandshakeSizes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One direction of the path, from an end to the other. Datagrams count from 0 in the order of transmission.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Side {
    /// Rate in bit/s.
    pub rate: u64,
    /// Propagation delay in µs.
    pub delay_us: u64,
    /// Maximum time in the queue in ms; datagrams that would wait longer are dropped.
    pub queue_ms: u64,
    /// Datagrams that are dropped.
    pub lost: BTreeSet<u64>,
    /// Datagrams that are marked with CE if they are capable.
    pub marked: BTreeSet<u64>,
    /// Additional delay of datagrams in µs.
    pub late: BTreeMap<u64, u64>,
    /// Datagrams that arrive twice, and the time between in µs.
    pub repeated: BTreeMap<u64, u64>,
}

/// A path and a transfer: the client sends a request, the server answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pattern {
    /// Class.
    pub class: String,
    /// Number, which is also the seed.
    pub seed: u64,
    /// Directions from the client and from the server.
    pub sides: [Side; 2],
    /// Bytes of the request and of the response.
    pub request: u64,
    /// Bytes of the response.
    pub response: u64,
    /// Bytes of the server's certificate.
    pub certificate: u16,
    /// `newreno` or `cubic`.
    pub congestion: String,
    /// Credit of a stream in bytes, if it is not the implementation's default.
    pub stream_window: Option<u64>,
    /// Credit of the connection in bytes.
    pub connection_window: Option<u64>,
    /// Time limit in ms.
    pub end_ms: u64,
}

impl Pattern {
    /// Returns the sizes of the handshake messages.
    pub fn sizes(&self) -> HandshakeSizes {
        HandshakeSizes::with_certificate(self.certificate)
    }
}

/// The classes, and the number of patterns of each.
pub const CLASSES: [(&str, u64); 9] = [
    ("handshake losses", 50),
    ("tail losses", 40),
    ("reordering", 40),
    ("ECN marks", 30),
    ("ACK losses", 40),
    ("credit limits", 40),
    ("bulk with random loss", 40),
    ("persistent congestion", 20),
    ("everything together", 100),
];

struct Draw(RandomStream);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.bits() % bound
    }

    fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low)
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Returns each number below `count` with probability `chance`.
    fn some(&mut self, range: std::ops::Range<u64>, chance: f64) -> BTreeSet<u64> {
        range.filter(|_| self.0.uniform() < chance).collect()
    }
}

/// Returns the patterns of all classes, `times` as many as in [`CLASSES`].
pub fn all(times: u64) -> Vec<Pattern> {
    CLASSES.iter().flat_map(|(class, count)| (0..*count * times).map(|seed| generate(class, seed))).collect()
}

/// Returns a pattern of a class.
pub fn generate(class: &str, seed: u64) -> Pattern {
    let mut draw = Draw(RandomStream::new(seed, &format!("pattern of {class}")));
    let rate = draw.one_of(&[5_000_000, 20_000_000, 100_000_000]);
    // Odd delays, so that events rarely coincide.
    let delay_us = draw.one_of(&[10_000, 25_000, 50_000, 300_000]) + draw.below(2_000) + 137;
    let side = Side {
        rate,
        delay_us,
        queue_ms: 10_000,
        lost: BTreeSet::new(),
        marked: BTreeSet::new(),
        late: BTreeMap::new(),
        repeated: BTreeMap::new(),
    };
    let congestion = draw.one_of(&["newreno", "cubic"]).to_owned();
    let mut pattern = Pattern {
        class: class.to_owned(),
        seed,
        sides: [side.clone(), side],
        request: draw.from(100, 600),
        response: draw.from(20_000, 200_000),
        certificate: draw.one_of(&[1_000, 2_000, 3_507, 5_000]),
        congestion,
        stream_window: None,
        connection_window: None,
        end_ms: 120_000,
    };
    let [up, down] = &mut pattern.sides;
    match class {
        "handshake losses" => {
            let chance = draw.one_of(&[0.15, 0.3, 0.5]);
            up.lost = draw.some(0..12, chance);
            down.lost = draw.some(0..12, chance);
            pattern.response = draw.from(1_000, 30_000);
        }
        "tail losses" => {
            let packets = pattern.response / 1_150 + 4;
            let tail = draw.from(1, 9);
            down.lost = (packets.saturating_sub(tail)..packets + draw.below(3)).collect();
            if draw.below(2) == 0 {
                down.lost.insert(packets + 4);
            }
        }
        "reordering" => {
            for index in draw.some(3..400, 0.05) {
                down.late.insert(index, draw.from(200, 30_000));
            }
            for index in draw.some(3..200, 0.03) {
                up.late.insert(index, draw.from(200, 30_000));
            }
            for index in draw.some(0..400, 0.02) {
                down.repeated.insert(index, draw.from(100, 20_000));
            }
            down.lost = draw.some(5..400, 0.005);
        }
        "ECN marks" => {
            pattern.response = draw.from(200_000, 800_000);
            let chance = draw.one_of(&[0.003, 0.02]);
            down.marked = draw.some(4..1_500, chance);
            down.lost = draw.some(4..1_500, chance / 4.0);
        }
        "ACK losses" => {
            pattern.response = draw.from(100_000, 500_000);
            let chance = draw.one_of(&[0.1, 0.3, 0.6]);
            up.lost = draw.some(3..600, chance);
        }
        "credit limits" => {
            pattern.response = draw.from(100_000, 400_000);
            pattern.stream_window = Some(draw.from(8_000, 60_000));
            if draw.below(2) == 0 {
                pattern.connection_window = Some(draw.from(8_000, 60_000));
            }
            down.lost = draw.some(4..500, 0.005);
            up.lost = draw.some(4..500, 0.02);
        }
        "bulk with random loss" => {
            pattern.response = draw.from(500_000, 3_000_000);
            let chance = draw.one_of(&[0.0, 0.001, 0.01]);
            down.lost = draw.some(4..4_000, chance);
            if draw.below(2) == 0 {
                (up.queue_ms, down.queue_ms) = (20, draw.from(20, 200));
            }
        }
        "persistent congestion" => {
            pattern.response = draw.from(200_000, 600_000);
            let first = draw.from(10, 120);
            let count = draw.from(20, 140);
            down.lost = (first..first + count).collect();
        }
        "everything together" => {
            pattern.request = draw.from(1_000, 300_000);
            pattern.response = draw.from(1_000, 300_000);
            if draw.below(3) == 0 {
                pattern.stream_window = Some(draw.from(8_000, 60_000));
            }
            let chance = draw.one_of(&[0.0, 0.01, 0.05, 0.2]);
            for side in [up, down] {
                side.lost = draw.some(0..600, chance);
                side.marked = draw.some(0..600, chance);
                for index in draw.some(0..600, chance) {
                    side.late.insert(index, draw.from(200, 60_000));
                }
                for index in draw.some(0..600, chance) {
                    side.repeated.insert(index, draw.from(100, 20_000));
                }
            }
        }
        _ => panic!("class: {class} is unknown"),
    }
    pattern
}
