//! Event queues with a fixed slot for every entity.

use crate::{NEVER, Queue};

/// A tournament: every entity has a leaf, every inner node holds the earlier of its two children.
pub struct Tournament {
    /// Node 1 is the root, the children of node i are 2i and 2i + 1.
    nodes: Vec<u128>,
    leaves: usize,
}

impl Tournament {
    #[inline]
    fn set(&mut self, entity: u32, key: u128) {
        let mut node = self.leaves + entity as usize;
        self.nodes[node] = key;
        while node > 1 {
            let winner = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == winner {
                break;
            }
            self.nodes[node] = winner;
        }
    }
}

impl Queue for Tournament {
    fn new(entities: usize) -> Self {
        let leaves = entities.next_power_of_two();
        Self { nodes: vec![u128::MAX; 2 * leaves], leaves }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let key = u128::from(time) << 64 | u128::from(entity);
        if key < self.nodes[self.leaves + entity as usize] {
            self.set(entity, key);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        ((self.nodes[1] >> 64) as u64, self.nodes[1] as u32)
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        let key = if time == NEVER { u128::MAX } else { u128::from(time) << 64 | u128::from(entity) };
        self.set(entity, key);
    }
}

/// Eight times in one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Match([u64; 8]);

impl Match {
    #[inline]
    fn least(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }
}

/// A tournament with eight slots per match, which store only times. The winner is found on the path down from the root.
/// A tie goes to the first slot, and therefore to the lower entity.
pub struct WideTournament {
    /// The leaves first, the root (one match) last.
    rounds: Vec<Vec<Match>>,
}

impl WideTournament {
    #[inline]
    fn set(&mut self, entity: u32, time: u64) {
        let (mut index, mut time) = (entity as usize, time);
        for round in &mut self.rounds {
            let group = &mut round[index / 8];
            if group.0[index % 8] == time {
                break;
            }
            group.0[index % 8] = time;
            time = group.least();
            index /= 8;
        }
    }
}

impl Queue for WideTournament {
    fn new(entities: usize) -> Self {
        let mut rounds = Vec::new();
        let mut slots = entities;
        loop {
            let matches = slots.div_ceil(8);
            rounds.push(vec![Match([NEVER; 8]); matches]);
            if matches == 1 {
                return Self { rounds };
            }
            slots = matches;
        }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        if time < self.rounds[0][entity as usize / 8].0[entity as usize % 8] {
            self.set(entity, time);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        let (mut index, mut time) = (0, 0);
        for round in self.rounds.iter().rev() {
            let group = &round[index];
            time = group.least();
            index = 8 * index + group.0.iter().position(|t| *t == time).unwrap_or(0);
        }
        (time, index as u32)
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        self.set(entity, time);
    }
}

const NONE: u32 = u32::MAX;

/// A calendar queue: days of equal width, each with a list of the entities that have an event on that day of this year
/// or a later one. The width is the mean time between events, which the mix determines. A real calendar queue would
/// have to estimate it.
pub struct Calendar {
    days: Vec<u32>,
    /// Width of a day as a power of two: the day of a time is `time >> shift`.
    shift: u32,
    /// The deadline of each entity, and its neighbours on that day.
    entries: Vec<Entry>,
    today: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    time: u64,
    next: u32,
    previous: u32,
}

impl Calendar {
    #[inline]
    fn day(&self, time: u64) -> usize {
        (time >> self.shift) as usize & (self.days.len() - 1)
    }

    #[inline]
    fn remove(&mut self, entity: u32) {
        let Entry { time, next, previous } = self.entries[entity as usize];
        if previous == NONE {
            let day = self.day(time);
            self.days[day] = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        if next != NONE {
            self.entries[next as usize].previous = previous;
        }
        self.entries[entity as usize].time = NEVER;
    }

    #[inline]
    fn insert(&mut self, entity: u32, time: u64) {
        let day = self.day(time);
        let next = std::mem::replace(&mut self.days[day], entity);
        if next != NONE {
            self.entries[next as usize].previous = entity;
        }
        self.entries[entity as usize] = Entry { time, next, previous: NONE };
        self.today = self.today.min(time >> self.shift);
    }
}

impl Queue for Calendar {
    fn new(entities: usize) -> Self {
        // A quarter of the entities are busy links with an event every 0.3 ms (the harmonic mean of their delays).
        let gap = (300_000 / (entities as u64 / 4)).max(1);
        Self {
            days: vec![NONE; (2 * entities).next_power_of_two()],
            shift: gap.next_power_of_two().ilog2(),
            entries: vec![Entry { time: NEVER, next: NONE, previous: NONE }; entities],
            today: 0,
        }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let armed = self.entries[entity as usize].time;
        if time < armed {
            if armed != NEVER {
                self.remove(entity);
            }
            self.insert(entity, time);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        loop {
            let mut first = (NEVER, NONE);
            let mut index = self.days[self.today as usize & (self.days.len() - 1)];
            while index != NONE {
                let Entry { time, next, .. } = self.entries[index as usize];
                if time >> self.shift == self.today {
                    first = first.min((time, index));
                }
                index = next;
            }
            if first.1 != NONE {
                return first;
            }
            self.today += 1;
        }
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        self.remove(entity);
        if time != NEVER {
            self.insert(entity, time);
        }
    }
}
