//! Runs the partitions of a network in rounds.
//!
//! In a round each partition advances window by window, as soon as all packets that arrive in the window have been
//! posted. After a round, which is as long as the maximum delay between two partitions, all threads synchronise.
//!
//! A run that ends with its last transfer must not advance beyond the end of that transfer. Each round therefore
//! requires a flow that certainly continues until the end of the round (a *guard*). If a guard certainly continues only
//! for a window, the round is one window long. If there is no guard, the partitions are joined, and the rest of the run
//! uses one thread. A guard may fail during its round, because its connection is aborted. If all flows have ended in
//! such a round, the run is repeated up to the start of the round, and the partitions are joined there.

use crate::border::BorderSide;
use crate::border::mailbox::Mailbox;
use crate::border::partitioning::Partitioning;
use crate::builder::build;
use crate::hosts::socket::Task;
use crate::hosts::source::TrafficSource;
use crate::ids::FlowIndex;
use crate::partition::Partition;
use crate::partition::completion_log::CompletionLog;
use crate::partition::critical;
use crate::partition::join;
use crate::partition::merge::Tables;
use crate::partition::plan::Witness;
use crate::tap::Silent;
use crate::world::World;
use lightlag_core::{Backoff, Duration, Instant, Pool, Wait, evenly};
use lightlag_net::EndpointId;
use lightlag_scenario::{Network, Scenario};
use std::sync::Arc;

type Worlds = Vec<Partition>;

/// Scenario and seed of a run, so that the run can be repeated.
pub(crate) struct Origin {
    pub(crate) scenario: Scenario,
    pub(crate) seed: u64,
}

/// Work counts of the partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorkCounts {
    /// Number of windows that the partitions have run.
    pub windows: u64,
    /// Packets that crossed a border.
    pub crossings: u64,
    /// Events of all partitions.
    pub events: u64,
    /// Events on the critical path, with one thread per lane. For each round these are the events until the last
    /// partition is done, including waits for packets from other partitions.
    pub critical_events: u64,
    /// Events in the rest of the run, which uses one thread.
    pub alone: u64,
}

impl WorkCounts {
    /// Returns the speed-up of one thread per lane over a single thread, counting events only.
    pub fn speed_up(&self) -> f64 {
        (self.events + self.alone) as f64 / (self.critical_events + self.alone).max(1) as f64
    }
}

/// A partitioned run, which advances in rounds.
pub(crate) struct Rounds {
    worlds: Worlds,
    cut: Arc<Partitioning>,
    /// Flows that may show that the run continues, the current one last. `None` if the run always lasts for its entire
    /// duration.
    guards: Option<Vec<Witness>>,
    pub(crate) ledger: CompletionLog,
    pub(crate) tables: Tables,
    pool: Pool<Partition, ThreadWork>,
    /// All events before this time have been handled.
    reached: Instant,
    pub(crate) counts: WorkCounts,
    origin: Origin,
}

/// The outcome of advancing a run.
pub(crate) enum StepOutcome {
    /// Every event before the end of the step has been handled.
    Done,
    /// The maximum number of events has been handled; all events up to this time are done.
    Paused(Instant),
    /// The partitions were joined into this world, which continues on one thread. The number counts the events so far.
    Joined(Box<World<Silent>>, u64),
}

impl World<Silent, BorderSide> {
    /// Advances by a window: handles every event before `end`, and hands over outgoing packets. `round` is the end of
    /// the round.
    // Never: inside the loop of its caller the same instructions take 5 % more time.
    #[inline(never)]
    fn pass(&mut self, end: Instant, round: Instant) {
        // Packets that arrived after the last round, unless the partitions have settled.
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

    /// Returns the time of the next event in this partition, or of the next decision that affects other partitions.
    fn next(&self) -> Instant {
        let due = self.agenda.next_until(Instant::MAX).map_or(Instant::MAX, |(time, _)| time);
        let BorderSide { sources, mail, number, .. } = &self.border;
        let arrives = sources.iter().filter_map(|source| mail.earliest(source.from, *number, source.least));
        let leaves = self.border.outlets.iter().map(|outlet| {
            let link = self.fabric.hops[outlet.on.0 as usize].link.queued();
            link.map_or(Instant::MAX, |link| link.next_decision())
        });
        arrives.chain(leaves).fold(due, Instant::min)
    }
}

/// Runs a round of the partitions of a thread, in which every event before `end` is handled. The thread always advances
/// the first partition that can advance.
fn pass(worlds: &mut [Partition], end: Instant) {
    let Some(mail) = worlds.first().map(|world| world.border.mail.clone()) else { return };
    let _watch = mail.watch();
    let mut patience = Backoff::default();
    while worlds.iter().any(|world| world.border.reached < end) {
        match worlds.iter_mut().find_map(|world| Some((world.border.next_window(end)?, world))) {
            Some((until, world)) => {
                world.pass(until, end);
                patience = Backoff::default();
            }
            None if mail.wait(&mut patience) => {}
            None => return,
        }
    }
}

/// A task of a thread for its partitions.
#[derive(Clone, Copy)]
enum ThreadWork {
    /// Run a round up to this time.
    Round(Instant),
    /// After a round, let links receive the packets that were offered to them.
    Settle,
}

fn work(worlds: &mut [Partition], work: ThreadWork) {
    match work {
        ThreadWork::Round(end) => pass(worlds, end),
        ThreadWork::Settle => worlds.iter_mut().for_each(|world| world.take_in(true)),
    }
}

/// Splits the world of a network into partitions.
fn split(first: World<Silent>, network: &Network, origin: &Origin, cut: &Arc<Partitioning>) -> Worlds {
    let Origin { scenario, seed } = origin;
    let (record, seed) = (&scenario.record, *seed);
    let sizes = planned_sizes(network, &first, seed, Instant::ZERO + scenario.duration, cut);
    let others = (1..cut.partitions() as u16).map(|number| (number, build(network.clone(), record, seed)));
    let all = std::iter::once((0, first)).chain(others);
    let mail = Arc::new(Mailbox::new(cut.partitions()));
    let part = |(number, mut world): (u16, World<Silent>)| {
        for (receiver, transfer) in &sizes {
            world.hosts.port_mut(*receiver).task = Task::Receive { transfer: *transfer };
        }
        Box::new(join::part(world, number, cut, &mail))
    };
    all.map(part).collect()
}

/// Returns the sizes of transfers whose applications write over time, by receiver. A receiver in another partition must
/// know the size, because it cannot be notified of the end.
fn planned_sizes(
    network: &Network,
    world: &World<Silent>,
    seed: u64,
    end: Instant,
    cut: &Arc<Partitioning>,
) -> Vec<(EndpointId, u64)> {
    let flows = (0..).map(FlowIndex).zip(&network.flows);
    let told = flows.filter(|(_, flow)| flow.is_finite() && !flow.traffic.is_bulk() && !flow.traffic.is_dialogue());
    let apart = told.filter_map(|(index, flow)| {
        let [sender, receiver] = [world.hosts.numbers.sender(index), world.hosts.numbers.receiver(index)];
        (cut.endpoint(sender) != cut.endpoint(receiver)).then_some((receiver, flow))
    });
    apart.filter_map(|(receiver, flow)| Some((receiver, TrafficSource::new(flow, seed)?.total(end)?))).collect()
}

impl Rounds {
    /// Returns a run that has not started.
    pub(crate) fn new(
        world: World<Silent>,
        network: &Network,
        cut: Partitioning,
        guards: Vec<Witness>,
        threads: usize,
        origin: Origin,
    ) -> Self {
        let cut = Arc::new(cut);
        let ends_early = world.hosts.open_transfers > 0;
        let ledger = CompletionLog::new(&world.hosts);
        let worlds = split(world, network, &origin, &cut);
        // A thread runs neighbouring lanes.
        let lanes = evenly(cut.lanes(), threads.min(cut.lanes())).into_iter();
        let mut sizes = cut.lane_sizes().into_iter();
        let shares: Vec<usize> = lanes.map(|lanes| sizes.by_ref().take(lanes).sum()).collect();
        Self {
            guards: ends_early.then(|| guards.into_iter().rev().collect()),
            ledger,
            tables: Tables::new(&worlds),
            pool: Pool::new(&shares, Wait::Awake, work),
            reached: Instant::ZERO,
            counts: WorkCounts::default(),
            worlds,
            cut,
            origin,
        }
    }

    /// Returns the partitioning of the network.
    pub(crate) fn cut(&self) -> &Partitioning {
        &self.cut
    }

    /// Returns the number of events so far.
    pub(crate) fn events(&self) -> u64 {
        self.worlds.iter().map(|world| world.border.events).sum()
    }

    /// Advances to `until`, or until about `limit` events have been handled.
    pub(crate) fn step(&mut self, until: Instant, limit: u64) -> StepOutcome {
        let last = self.events().saturating_add(limit);
        loop {
            let next = self.worlds.iter().map(|world| world.next()).min().unwrap_or(Instant::MAX);
            if next > until {
                self.reached = self.reached.max(until + Duration::from_nanos(1));
                return StepOutcome::Done;
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
                return StepOutcome::Paused(Instant::from_nanos(end.as_nanos() - 1));
            }
        }
    }

    /// Runs a round of all partitions.
    fn pass(&mut self, start: Instant, end: Instant) {
        for BorderSide { number, reached, mail, turns, .. } in self.worlds.iter_mut().map(|world| &mut world.border) {
            turns.clear();
            *reached = start;
            mail.reach(*number, start);
        }
        self.pool.pass(&mut self.worlds, ThreadWork::Round(end));
        // Links write rows about packets when these are offered to them; otherwise the next round starts with that.
        if self.worlds[0].recorder.writes() {
            self.pool.pass(&mut self.worlds, ThreadWork::Settle);
        }
        let parts = self.worlds.iter().map(|world| &world.border);
        self.counts.crossings = parts.clone().map(|part| part.crossings).sum();
        self.counts.windows += parts.clone().map(|part| part.turns.len() as u64).max().unwrap_or(0);
        self.counts.events += parts.flat_map(|part| &part.turns).sum::<u64>();
        let turns: Vec<&[u64]> = self.worlds.iter().map(|world| world.border.turns.as_slice()).collect();
        self.counts.critical_events += critical::events(&turns, &self.cut);
    }

    /// Returns true if the run certainly continues until `end`. Discards guards that do not last as long.
    fn goes_on_until(&mut self, start: Instant, end: Instant) -> bool {
        while !self.guard_holds(start, end) {
            if self.guards.as_mut().and_then(Vec::pop).is_none() {
                return false;
            }
        }
        true
    }

    /// Returns true if the current guard shows that the run continues until `end`, or if no guard is needed.
    fn guard_holds(&self, start: Instant, end: Instant) -> bool {
        let Some(guards) = &self.guards else { return true };
        guards.last().is_some_and(|guard| guard.holds(&self.worlds, &self.ledger, start, end))
    }

    /// Joins the partitions, because the run cannot continue in rounds.
    fn leave(&mut self) -> StepOutcome {
        let events = self.events();
        let worlds = std::mem::take(&mut self.worlds);
        let tables = std::mem::take(&mut self.tables);
        StepOutcome::Joined(Box::new(join::whole(worlds, self.ledger.clone(), tables)), events)
    }

    /// Repeats the run up to an earlier time.
    #[cold]
    fn return_to(&mut self, time: Instant) {
        let Origin { scenario, seed } = &self.origin;
        let network = scenario.expand_with(*seed).expect("it was expanded before");
        let first = build(network.clone(), &scenario.record, *seed);
        self.ledger = CompletionLog::new(&first.hosts);
        self.worlds = split(first, &network, &self.origin, &self.cut);
        self.tables = Tables::new(&self.worlds);
        (self.reached, self.guards) = (Instant::ZERO, None);
        if time > Instant::ZERO {
            let again = self.step(Instant::from_nanos(time.as_nanos() - 1), u64::MAX);
            debug_assert!(matches!(again, StepOutcome::Done), "the outcome repeats");
        }
    }

    /// Returns the joined world in its current state.
    pub(crate) fn finish(mut self) -> (Box<World<Silent>>, u64) {
        match self.leave() {
            StepOutcome::Joined(world, events) => (world, events),
            StepOutcome::Done | StepOutcome::Paused(_) => unreachable!("leaving joins"),
        }
    }
}

impl Witness {
    /// Returns true if the flow certainly continues from `start` to `end`, provided that its connection is not aborted.
    fn holds(&self, worlds: &Worlds, ledger: &CompletionLog, start: Instant, end: Instant) -> bool {
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
