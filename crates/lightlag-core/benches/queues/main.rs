//! Compares event queues on a mix of events as in a simulation.
//!
//! `cargo bench -p lightlag-core --bench queues` runs the shipped queue and its candidates with the same events. It
//! prints the CPU time per event of each in nanoseconds, and the ratio to the shipped one. A checksum proves that all
//! of them return the same order.
//!
//! The mix is modelled on a network: half of the entities are links, half are connections. The event of a link delivers
//! a packet. The next one follows after its nearly constant delay, or the link becomes idle while another, idle link
//! takes over a packet. Half of the packets reach a connection and postpone its deadline, which is far ahead. Its entry
//! in the queue does not move: it fires early, and the connection then sets its true deadline. Sometimes a deadline
//! moves closer (a delayed ACK) and the entry moves.

mod heaps;
mod trees;

use lightlag_core::{Entity, EventQueue, Instant};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::hint::black_box;

/// Time of an entity without an event.
const NEVER: u64 = u64::MAX;

/// Operations of an event queue: the contract of [`EventQueue`] in plain numbers.
trait Queue {
    /// Returns a queue for entities 0 to `entities - 1`.
    fn new(entities: usize) -> Self;
    /// Schedules the entity at `time` or earlier.
    fn arm(&mut self, entity: u32, time: u64);
    /// Returns the earliest entry.
    fn next(&mut self) -> (u64, u32);
    /// Completes the event of the earliest entry's entity, and schedules its next one at `time`, if any.
    fn settle(&mut self, entity: u32, time: u64);
}

impl Queue for EventQueue {
    fn new(entities: usize) -> Self {
        Self::new(entities)
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        Self::arm(self, Entity(entity), Instant::from_nanos(time));
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        let (time, entity) = self.next_until(Instant::MAX).expect("an event is always pending");
        (time.as_nanos(), entity.0)
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        Self::settle(self, Entity(entity), (time != NEVER).then(|| Instant::from_nanos(time)));
    }
}

/// Stand-in for a queue, to measure the cost of the events themselves. It returns the entities in round-robin order, so
/// its checksum differs.
struct Nothing {
    entities: u32,
    now: u64,
    turn: u32,
}

impl Queue for Nothing {
    fn new(entities: usize) -> Self {
        Self { entities: entities as u32, now: 0, turn: 0 }
    }

    #[inline]
    fn arm(&mut self, _: u32, _: u64) {}

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        self.now += 100;
        self.turn = if self.turn + 1 < self.entities { self.turn + 1 } else { 0 };
        (self.now, self.turn)
    }

    #[inline]
    fn settle(&mut self, _: u32, time: u64) {
        black_box(time);
    }
}

/// The mix of events: its state outside the queue.
struct Mix {
    links: u32,
    /// The delay of each link between two arrivals.
    delays: Vec<u32>,
    /// Links without a packet.
    idle: Vec<u32>,
    /// The deadline of each connection's timer.
    deadlines: Vec<u64>,
    random: u64,
}

const RETRANSMISSION_TIMEOUT: u64 = 200_000_000;
const DELAYED_ACK: u64 = 40_000_000;

impl Mix {
    /// Returns a mix in which half of the links carry packets from the start.
    fn new(entities: usize, queue: &mut impl Queue) -> Self {
        let links = (entities / 2) as u32;
        let mut mix = Self {
            links,
            delays: Vec::new(),
            idle: Vec::new(),
            deadlines: vec![RETRANSMISSION_TIMEOUT; entities - links as usize],
            random: 0x9e37_79b9_7f4a_7c15,
        };
        for link in 0..links {
            // 12 µs to 1.2 ms: 1500 B at 1 Gbit/s to 10 Mbit/s.
            let delay = 12_000 + mix.draw() % 1_200_000;
            mix.delays.push(delay as u32);
            if link % 2 == 0 {
                queue.arm(link, delay);
            } else {
                mix.idle.push(link);
            }
        }
        for connection in links..entities as u32 {
            let first = mix.draw() % RETRANSMISSION_TIMEOUT;
            queue.arm(connection, first);
        }
        mix
    }

    /// Returns a number from Xorshift64: cheap, and the same on every machine.
    #[inline]
    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }

    /// Handles this many events and returns the checksum of their order.
    fn drive(&mut self, queue: &mut impl Queue, events: u64) -> u64 {
        let mut checksum = 0_u64;
        for _ in 0..events {
            let (now, entity) = queue.next();
            checksum = checksum.rotate_left(5) ^ now ^ u64::from(entity);
            if entity < self.links {
                self.link_wakes(queue, now, entity);
            } else {
                let deadline = &mut self.deadlines[(entity - self.links) as usize];
                if *deadline <= now {
                    *deadline = now + RETRANSMISSION_TIMEOUT;
                }
                queue.settle(entity, *deadline);
            }
        }
        checksum
    }

    #[inline]
    fn link_wakes(&mut self, queue: &mut impl Queue, now: u64, link: u32) {
        let dice = self.draw();
        let again = now + u64::from(self.delays[link as usize]) + (dice >> 16) % 128;
        if dice.is_multiple_of(4) {
            // One link falls idle, and another takes over its packet.
            let slot = (dice >> 32) as usize % self.idle.len();
            let other = std::mem::replace(&mut self.idle[slot], link);
            queue.settle(link, NEVER);
            queue.arm(other, now + u64::from(self.delays[other as usize]));
        } else {
            queue.settle(link, again);
        }
        if dice & 8 == 0 {
            let connection = (dice >> 24) as usize % self.deadlines.len();
            let after = if dice & 0x70 == 0 { DELAYED_ACK } else { RETRANSMISSION_TIMEOUT };
            self.deadlines[connection] = now + after;
            queue.arm(self.links + connection as u32, now + after);
        }
    }
}

/// Returns the CPU time of this process in nanoseconds: the sum of user and system time. The kernel separates the two
/// by ticks, which is too coarse for short rounds, and nothing here calls the kernel.
fn cpu_nanos() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts CPU time");
    ((usage.user_time() + usage.system_time()).num_microseconds() * 1000).unsigned_abs()
}

/// A queue under measurement.
trait Contest {
    /// Handles a number of events. Returns nanoseconds per event, and the checksum of the order.
    fn round(&mut self, events: u64) -> (f64, u64);
}

struct Contender<Q> {
    queue: Q,
    mix: Mix,
}

impl<Q: Queue> Contest for Contender<Q> {
    fn round(&mut self, events: u64) -> (f64, u64) {
        let begin = cpu_nanos();
        let checksum = black_box(self.mix.drive(&mut self.queue, events));
        ((cpu_nanos() - begin) as f64 / events as f64, checksum)
    }
}

fn contender<Q: Queue + 'static>(entities: usize) -> Box<dyn Contest> {
    let mut queue = Q::new(entities);
    let mix = Mix::new(entities, &mut queue);
    Box::new(Contender { queue, mix })
}

/// Name of a queue, and its constructor.
type Row = (&'static str, fn(usize) -> Box<dyn Contest>);

const ROWS: [Row; 9] = [
    ("tournament, 8 keys per match (shipped)", contender::<EventQueue>),
    ("indexed 4-ary heap, siblings in one line", contender::<heaps::LinedHeap>),
    ("indexed 4-ary heap, plain layout", contender::<heaps::PlainHeap>),
    ("indexed binary heap", contender::<heaps::IndexedBinaryHeap>),
    ("std BinaryHeap with stale entries", contender::<heaps::LazyStdHeap>),
    ("tournament, 2 wide keys per match", contender::<trees::Tournament>),
    ("tournament, 8 times per match", contender::<trees::WideTournament>),
    ("calendar queue, width known", contender::<trees::Calendar>),
    ("no queue: the events alone", contender::<Nothing>),
];

const ROUNDS: usize = 8;

/// Returns the best round of each row in nanoseconds per event. The rows alternate, so that a busy moment of the
/// machine affects all of them.
fn measure(entities: usize) -> Vec<f64> {
    let events = 1_000_000;
    let mut contenders: Vec<_> = ROWS.iter().map(|(_, contender)| contender(entities)).collect();
    let mut best = vec![f64::INFINITY; ROWS.len()];
    for round in 0..=ROUNDS {
        let mut shipped = None;
        for ((contender, best), (name, _)) in contenders.iter_mut().zip(&mut best).zip(&ROWS[..]) {
            let (nanos, checksum) = contender.round(events);
            let right = *shipped.get_or_insert(checksum);
            assert!(checksum == right || name.starts_with("no queue"), "{name} gives another order");
            if round > 0 {
                *best = best.min(nanos);
            }
        }
    }
    best
}

fn main() {
    let sizes = [30_usize, 1_000, 100_000, 1_000_000];
    let columns: Vec<Vec<f64>> = sizes.iter().map(|size| measure(*size)).collect();
    println!("ns of CPU time per event (ratio to the shipped queue), best of {ROUNDS} rounds\n");
    print!("| {:41} |", "entities");
    sizes.iter().for_each(|size| print!("{size:>16} |"));
    println!("\n|{:-<43}|{}", "", "----------------:|".repeat(sizes.len()));
    for (row, (name, _)) in ROWS.iter().enumerate() {
        print!("| {name:41} |");
        columns.iter().for_each(|column| print!("{:7.1} ({:4.2} ×) |", column[row], column[row] / column[0]));
        println!();
    }
}
