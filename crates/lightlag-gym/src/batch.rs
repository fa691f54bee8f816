//! Several episodes that are stepped in parallel on all cores.

use crate::episode::{Agent, Episode, Task};
use lightlag_core::{Pool, Wait, evenly};
use std::sync::Arc;

/// Slots for the episodes of a task. Each has the same number of agents.
pub struct Batch {
    task: Arc<Task>,
    agents: usize,
    places: Vec<Slot>,
    pool: Pool<Slot, ()>,
}

/// A slot. It is boxed, as slots are moved between threads.
type Slot = Box<Inside>;

struct Inside {
    task: Arc<Task>,
    episode: Option<Episode>,
    /// Next action of each agent in the slot.
    factors: Vec<f64>,
    /// Whether the last step did nothing, because the slot was empty or its episode had ended.
    rests: bool,
}

impl Inside {
    fn step(&mut self) {
        let going_on = self.episode.as_mut().filter(|episode| !episode.has_ended(&self.task));
        self.rests = going_on.is_none();
        if let Some(episode) = going_on {
            episode.step(&self.task, &self.factors);
        }
    }
}

/// State of an episode for an agent, as in Gymnasium: it continues, has terminated, or was truncated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum AgentEnd {
    /// The episode continues.
    GoesOn = 0,
    /// The transfer of the agent has been completed, or has failed.
    Terminated = 1,
    /// The episode has reached its number of steps, or the run has ended.
    Truncated = 2,
}

impl Batch {
    /// Creates a batch with `slots` slots of `agents` agents each, for up to `threads` threads.
    pub fn new(task: Task, slots: usize, agents: usize, threads: usize) -> Self {
        let task = Arc::new(task);
        let slot = |_| {
            let factors = vec![1.0; agents];
            Box::new(Inside { task: Arc::clone(&task), episode: None, factors, rests: true })
        };
        let places: Vec<Slot> = (0..slots).map(slot).collect();
        let threads = threads.clamp(1, places.len().max(1));
        let pool = Pool::new(&evenly(places.len(), threads), Wait::Awake, |places: &mut [Slot], ()| {
            places.iter_mut().for_each(|place| place.step());
        });
        Self { task, agents, places, pool }
    }

    /// Returns the task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the number of slots, and the number of agents in each.
    pub fn shape(&self) -> (usize, usize) {
        (self.places.len(), self.agents)
    }

    /// Puts an episode into a slot, or empties the slot. Returns the previous episode.
    pub fn put(&mut self, index: usize, episode: Option<Episode>) -> Option<Episode> {
        std::mem::replace(&mut self.places[index].episode, episode)
    }

    /// Returns the episode in a slot.
    pub fn episode(&self, index: usize) -> Option<&Episode> {
        self.places[index].episode.as_ref()
    }

    /// Returns all agents in the order of the slots; `None` for each agent of an empty slot.
    pub fn agents(&self) -> impl Iterator<Item = Option<&Agent>> {
        let agents_of = |place| {
            let episode = self.episode(place);
            (0..self.agents).map(move |agent| episode.and_then(|episode| episode.agents().get(agent)))
        };
        (0..self.places.len()).flat_map(agents_of)
    }

    /// Returns the result of the last step for each agent: its reward, and the state of its episode.
    pub fn outcomes(&self) -> impl Iterator<Item = (f64, AgentEnd)> {
        self.places.iter().flat_map(|place| {
            let stepped = place.episode.as_ref().filter(|_| !place.rests);
            let is_truncated = stepped.is_some_and(|episode| episode.is_truncated(&self.task));
            let outcome = move |agent: usize| match stepped.and_then(|episode| episode.agents().get(agent)) {
                None => (0.0, AgentEnd::GoesOn),
                Some(agent) if agent.is_over => (agent.reward, AgentEnd::Terminated),
                Some(agent) => (agent.reward, if is_truncated { AgentEnd::Truncated } else { AgentEnd::GoesOn }),
            };
            (0..self.agents).map(outcome)
        })
    }

    /// Advances each episode that has not ended by a step. `factors` has a factor for each agent.
    ///
    /// # Errors
    /// If a factor is not above 0, or if the number of factors is wrong. Then nothing happens.
    pub fn step(&mut self, factors: &[f64]) -> Result<(), String> {
        let (slots, agents) = self.shape();
        if factors.len() != slots * agents {
            return Err(format!("{} actions for {slots} × {agents} agents", factors.len()));
        }
        if let Some(at) = factors.iter().position(|factor| !(*factor > 0.0 && factor.is_finite())) {
            return Err(format!("environment {}: a factor of {} is not above 0", at / agents, factors[at]));
        }
        for (place, factors) in self.places.iter_mut().zip(factors.chunks(agents.max(1))) {
            place.factors.copy_from_slice(factors);
        }
        self.pool.pass(&mut self.places, ());
        Ok(())
    }
}
