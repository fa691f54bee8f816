//! A run in partitions, round after round.
//!
//! In a round each partition goes on window after window, as soon as it has been told whatever arrives there. After a round, which is
//! as long as the longest delay between two partitions, all threads meet.
//!
//! A run that ends with its last transfer must not go beyond that: before each round some flow must be found that surely goes on for
//! longer (a *guard*). If it surely goes on for a window only, so does the round. If there is none, the partitions are joined, and
//! the rest of the run has one thread. A guard that fails in its round (its connection may be given up) is no guard: should all
//! flows have ended in such a round, everything up to it is run again, and joined there.

use crate::border::Part;
use crate::border::cut::Cut;
use crate::border::mail::Mail;
use crate::builder::build;
use crate::hosts::socket::Task;
use crate::hosts::source::Source;
use crate::ids::FlowIndex;
use crate::partition::Partition;
use crate::partition::critical;
use crate::partition::join;
use crate::partition::ledger::Ledger;
use crate::partition::merge::Tables;
use crate::partition::plan::Guard;
use crate::tap::Silent;
use crate::world::World;
use lightlag_core::{Duration, Instant, Patience, Pool, Wait, evenly};
use lightlag_net::{EndpointId, Link};
use lightlag_scenario::{Network, Scenario};
use std::sync::Arc;

type Worlds = Vec<Partition>;

/// The origin of a run, from which it can start anew.
pub(crate) struct Origin {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
}

/// Counts of the work of partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Rounds of each partition.
    pub windows: u64,
    /// Packets that crossed a border.
    pub crossings: u64,
    /// Events of all partitions.
    pub events: u64,
    /// Events one after the other, with a thread for each lane: of each round those until the last partition is done, in which one
    /// waits for others as long as it has not been told what arrives there.
    pub critical_events: u64,
    /// Events of the rest, which has one thread.
    pub alone: u64,
}

impl Counts {
    /// Speed of a thread for each lane over one thread, by events alone.
    pub fn speed_up(&self) -> f64 {
        (self.events + self.alone) as f64 / (self.critical_events + self.alone).max(1) as f64
    }
}

/// A run in partitions.
pub(crate) struct Rounds {
    worlds: Worlds,
    cut: Arc<Cut>,
    /// Flows that may show that the run goes on, the present one last; none if it lasts its whole duration.
    guards: Option<Vec<Guard>>,
    pub(crate) ledger: Ledger,
    pub(crate) tables: Tables,
    pool: Pool<Partition, Work>,
    /// Everything before has happened.
    reached: Instant,
    pub(crate) counts: Counts,
    origin: Origin,
}

/// The outcome of a step.
pub(crate) enum Step {
    /// Everything up to the end of the step has happened.
    Done,
    /// So many events have, up to this time.
    Paused(Instant),
    /// The rest has one thread.
    Joined(Box<World<Silent>>, u64),
}

impl World<Silent, Part> {
    /// A window of a round that ends at `round`: lets everything happen before `end`, and hands over what leaves.
    // Never: inside the loop of its caller the same instructions take 5 % more time.
    #[inline(never)]
    fn pass(&mut self, end: Instant, round: Instant) {
        // What came after the last round, unless the partitions have settled.
        self.take_in(self.border.turns.is_empty() && !self.recorder.writes());
        let (last, before) = (Instant::from_nanos(end.as_nanos() - 1), self.border.events);
        while let Some((now, due)) = self.agenda.next_until(last) {
            self.border.begin(now, &self.agenda, due);
            self.handle(now, due);
            self.border.end(&self.recorder);
        }
        self.border.turns.push(self.border.events - before);
        self.hand_over(end, end == round);
    }

    /// When something next happens here, or may be decided that others hear of.
    fn next(&self) -> Instant {
        let due = self.agenda.next_until(Instant::MAX).map_or(Instant::MAX, |(time, _)| time);
        let Part { sources, mail, number, .. } = &self.border;
        let arrives = sources.iter().filter_map(|source| mail.earliest(source.from, *number, source.least));
        let leaves = self.border.outlets.iter().map(|outlet| match &self.fabric.hops[outlet.on.0 as usize].link {
            Link::Queued(link) => link.next_decision(),
            Link::Computed(_) => Instant::MAX,
        });
        arrives.chain(leaves).fold(due, Instant::min)
    }
}

/// A round of the partitions of a thread: lets everything happen before `end`, in the first of them that can go on.
fn pass(worlds: &mut [Partition], end: Instant) {
    let Some(mail) = worlds.first().map(|world| world.border.mail.clone()) else { return };
    let _watch = mail.watch();
    let mut patience = Patience::default();
    while worlds.iter().any(|world| world.border.reached < end) {
        match worlds.iter_mut().find_map(|world| Some((world.border.next_window(end)?, world))) {
            Some((until, world)) => {
                world.pass(until, end);
                patience = Patience::default();
            }
            None if mail.wait(&mut patience) => {}
            None => return,
        }
    }
}

/// The work of a thread on its partitions.
#[derive(Clone, Copy)]
enum Work {
    /// A round, up to this time.
    Round(Instant),
    /// After a round: links get whatever was offered to them.
    Settle,
}

fn work(worlds: &mut [Partition], work: Work) {
    match work {
        Work::Round(end) => pass(worlds, end),
        Work::Settle => worlds.iter_mut().for_each(|world| world.take_in(true)),
    }
}

/// The partitions of a network.
fn split(first: World<Silent>, network: &Network, origin: &Origin, cut: &Arc<Cut>) -> Worlds {
    let Origin { scenario, seed } = origin;
    let (record, seed) = (&scenario.record, *seed);
    let sizes = planned_sizes(network, &first, seed, Instant::ZERO + scenario.duration, cut);
    let others = (1..cut.partitions() as u16).map(|number| (number, build(network.clone(), record, seed)));
    let all = std::iter::once((0, first)).chain(others);
    let mail = Arc::new(Mail::new(cut.partitions()));
    let part = |(number, mut world): (u16, World<Silent>)| {
        for (receiver, transfer) in &sizes {
            world.hosts.port_mut(*receiver).task = Task::Receive { transfer: *transfer };
        }
        Box::new(join::part(world, number, cut, &mail))
    };
    all.map(part).collect()
}

/// The sizes of transfers whose applications write by themselves, by receiver: one in another partition cannot be told at the
/// end.
fn planned_sizes(
    network: &Network,
    world: &World<Silent>,
    seed: u64,
    end: Instant,
    cut: &Arc<Cut>,
) -> Vec<(EndpointId, u64)> {
    let flows = (0..).map(FlowIndex).zip(&network.flows);
    let told = flows.filter(|(_, flow)| flow.is_finite() && !flow.traffic.is_bulk() && !flow.traffic.is_dialogue());
    let apart = told.filter_map(|(index, flow)| {
        let [sender, receiver] = [world.hosts.numbers.sender(index), world.hosts.numbers.receiver(index)];
        (cut.endpoint(sender) != cut.endpoint(receiver)).then_some((receiver, flow))
    });
    apart.filter_map(|(receiver, flow)| Some((receiver, Source::new(flow, seed)?.total(end)?))).collect()
}

impl Rounds {
    /// A run that has not begun.
    pub(crate) fn new(
        world: World<Silent>,
        network: &Network,
        cut: Cut,
        guards: Vec<Guard>,
        threads: usize,
        origin: Origin,
    ) -> Self {
        let cut = Arc::new(cut);
        let ends_early = world.hosts.open_transfers > 0;
        let ledger = Ledger::new(&world.hosts);
        let worlds = split(world, network, &origin, &cut);
        // A thread takes neighbouring lanes.
        let lanes = evenly(cut.lanes(), threads.min(cut.lanes())).into_iter();
        let mut sizes = cut.lane_sizes().into_iter();
        let shares: Vec<usize> = lanes.map(|lanes| sizes.by_ref().take(lanes).sum()).collect();
        Self {
            guards: ends_early.then(|| guards.into_iter().rev().collect()),
            ledger,
            tables: Tables::new(&worlds),
            pool: Pool::new(&shares, Wait::Awake, work),
            reached: Instant::ZERO,
            counts: Counts::default(),
            worlds,
            cut,
            origin,
        }
    }

    /// The cut of the network.
    pub(crate) fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.worlds.iter().map(|world| world.border.events).sum()
    }

    /// Lets everything happen up to `until`, or about `most` events.
    pub(crate) fn step(&mut self, until: Instant, most: u64) -> Step {
        let last = self.events().saturating_add(most);
        loop {
            let next = self.worlds.iter().map(|world| world.next()).min().unwrap_or(Instant::MAX);
            if next > until {
                self.reached = self.reached.max(until + Duration::from_nanos(1));
                return Step::Done;
            }
            let start = self.reached.max(next);
            let after = |time: Duration| (start + time).min(until + Duration::from_nanos(1));
            let (window, round) = (after(self.cut.window()), after(self.cut.round()));
            if !self.goes_on_until(start, window) {
                return self.leave();
            }
            let end = if self.guard_holds(start, round) { round } else { window };
            self.pass(start, end);
            let is_certain = self.ledger.enter(&mut self.worlds).is_ok();
            if !is_certain || self.guards.is_some() && self.ledger.open_transfers == 0 {
                self.return_to(start);
                return self.leave();
            }
            self.tables.take(&mut self.worlds);
            self.reached = end;
            if self.events() >= last {
                return Step::Paused(Instant::from_nanos(end.as_nanos() - 1));
            }
        }
    }

    /// A round of all partitions.
    fn pass(&mut self, start: Instant, end: Instant) {
        for Part { number, reached, mail, turns, .. } in self.worlds.iter_mut().map(|world| &mut world.border) {
            turns.clear();
            *reached = start;
            mail.reach(*number, start);
        }
        self.pool.pass(&mut self.worlds, Work::Round(end));
        // Links write rows about packets when these are offered to them; otherwise the next round begins with that.
        if self.worlds[0].recorder.writes() {
            self.pool.pass(&mut self.worlds, Work::Settle);
        }
        let parts = self.worlds.iter().map(|world| &world.border);
        self.counts.crossings = parts.clone().map(|part| part.crossings).sum();
        self.counts.windows += parts.clone().map(|part| part.turns.len() as u64).max().unwrap_or(0);
        self.counts.events += parts.flat_map(|part| &part.turns).sum::<u64>();
        let turns: Vec<&[u64]> = self.worlds.iter().map(|world| world.border.turns.as_slice()).collect();
        self.counts.critical_events += critical::events(&turns, &self.cut);
    }

    /// Whether the run surely goes on until `end`.
    fn goes_on_until(&mut self, start: Instant, end: Instant) -> bool {
        while !self.guard_holds(start, end) {
            if self.guards.as_mut().and_then(Vec::pop).is_none() {
                return false;
            }
        }
        true
    }

    /// Whether the present guard, if one is needed, shows that the run goes on until `end`.
    fn guard_holds(&self, start: Instant, end: Instant) -> bool {
        let Some(guards) = &self.guards else { return true };
        guards.last().is_some_and(|guard| guard.holds(&self.worlds, &self.ledger, start, end))
    }

    /// Joins the partitions.
    fn leave(&mut self) -> Step {
        let events = self.events();
        let worlds = std::mem::take(&mut self.worlds);
        let tables = std::mem::take(&mut self.tables);
        Step::Joined(Box::new(join::whole(worlds, self.ledger.clone(), tables)), events)
    }

    /// Runs everything again up to an earlier time.
    #[cold]
    fn return_to(&mut self, time: Instant) {
        let Origin { scenario, seed } = &self.origin;
        let network = scenario.expand_with(*seed).expect("it was expanded before");
        let first = build(network.clone(), &scenario.record, *seed);
        self.ledger = Ledger::new(&first.hosts);
        self.worlds = split(first, &network, &self.origin, &self.cut);
        self.tables = Tables::new(&self.worlds);
        (self.reached, self.guards) = (Instant::ZERO, None);
        if time > Instant::ZERO {
            let again = self.step(Instant::from_nanos(time.as_nanos() - 1), u64::MAX);
            debug_assert!(matches!(again, Step::Done), "what has happened once happens again");
        }
    }

    /// The whole world as it is now.
    pub(crate) fn finish(mut self) -> (Box<World<Silent>>, u64) {
        match self.leave() {
            Step::Joined(world, events) => (world, events),
            Step::Done | Step::Paused(_) => unreachable!("leaving joins"),
        }
    }
}

impl Guard {
    /// Whether the flow surely goes on from `start` to `end`, unless its connection is given up.
    fn holds(&self, worlds: &Worlds, ledger: &Ledger, start: Instant, end: Instant) -> bool {
        if !ledger.awaited[self.flow.index()] {
            return false;
        }
        if self.start >= end {
            return true;
        }
        let (cut, hosts) = (&worlds[0].border.cut, &worlds[0].hosts);
        let sender = hosts.numbers.sender(self.flow);
        let hosts = &worlds[usize::from(cut.endpoint(sender))].hosts;
        if let Ok(at) = hosts.dialogues.binary_search_by_key(&self.flow, |dialogue| dialogue.flow()) {
            return self.delay >= end.since(start) && hosts.dialogues[at].goes_on_at(end);
        }
        let socket = hosts.socket(sender);
        let unsent = self.transfer.map_or(0, |transfer| transfer.saturating_sub(socket.inspect().snapshot().snd_nxt));
        let sending = match self.rate {
            Some(rate) => u128::from(unsent) * 8_000_000_000 / u128::from(rate.max(1)),
            None => 0,
        };
        let least = u128::from(self.delay.as_nanos()) + sending;
        !socket.stream().has_sent_everything() && least >= u128::from(end.since(start).as_nanos())
    }
}
