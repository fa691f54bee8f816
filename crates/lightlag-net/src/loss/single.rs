//! Losses of specific packets, which are given by times or by their numbers.

use super::registry::{Draw, Process};
use super::{Law, Loss};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream};

/// Maximum length of a list of packet numbers.
const MOST_NUMBERS: usize = 10_000_000;

/// Loss of the first packet whose transmission starts at or after each of these times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Times {
    /// Times, in any order.
    pub at: Vec<Duration>,
}

impl Described for Times {
    const ABOUT: &'static str = "the first packet whose transmission starts at or after each of these times";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::times("at", |law: &mut Self| &mut law.at)
                .about("Times in any order; the next packet after each time is lost."),
        ]
    }
}

impl Law for Times {
    const NAMES_PACKETS: bool = true;

    fn loss(&self) -> Loss {
        let mut times: Vec<Instant> = self.at.iter().map(|time| Instant::ZERO + *time).collect();
        times.sort_unstable();
        Loss::At(times)
    }
}

/// Loss of the packets with these numbers. Packets with payload are numbered from 1, at the point where losses are
/// drawn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PacketNumbers {
    /// Numbers of the packets, in any order.
    pub packets: Vec<u64>,
}

impl Described for PacketNumbers {
    const ABOUT: &'static str =
        "packets with these numbers: packets with payload, including retransmissions, are counted from 1";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::packets("packets", |law: &mut Self| &mut law.packets, MOST_NUMBERS)
                .about("Numbers of the packets with payload that are lost, counted from 1, in any order."),
        ]
    }
}

impl Law for PacketNumbers {
    const NAMES_PACKETS: bool = true;

    fn loss(&self) -> Loss {
        let mut numbers = self.packets.clone();
        numbers.sort_unstable();
        numbers.dedup();
        Loss::Numbered(numbers)
    }
}

/// Loses packets by time.
#[derive(Clone, Debug)]
pub(super) struct AtTimes {
    times: Vec<Instant>,
    next: usize,
}

impl Process<Vec<Instant>> for AtTimes {
    const DRAWS: bool = false;

    fn new(times: &Vec<Instant>, _: Instant, _: RandomStream) -> Self {
        Self { times: times.clone(), next: 0 }
    }

    fn loses(&mut self, packet: Draw, _: &mut RandomStream) -> bool {
        let hit = self.times.get(self.next).is_some_and(|at| *at <= packet.start);
        self.next += usize::from(hit);
        hit
    }
}

/// Loses packets by number.
#[derive(Clone, Debug)]
pub(super) struct ByNumber {
    numbers: Vec<u64>,
    next: usize,
    counted: u64,
}

impl Process<Vec<u64>> for ByNumber {
    const DRAWS: bool = false;

    fn new(numbers: &Vec<u64>, _: Instant, _: RandomStream) -> Self {
        Self { numbers: numbers.clone(), next: 0, counted: 0 }
    }

    fn loses(&mut self, packet: Draw, _: &mut RandomStream) -> bool {
        if !packet.flags.carries_payload() {
            return false;
        }
        self.counted += 1;
        let hit = self.numbers.get(self.next) == Some(&self.counted);
        self.next += usize::from(hit);
        hit
    }
}
