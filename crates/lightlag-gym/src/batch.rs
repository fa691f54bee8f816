//! Several episodes, which step on all cores.

use crate::episode::{Agent, Episode, Task};
use lightlag_core::{Pool, Wait, evenly};
use std::sync::Arc;

/// Places for episodes of a task, each with so many agents.
pub struct Batch {
    task: Arc<Task>,
    agents: usize,
    places: Vec<Place>,
    pool: Pool<Place, ()>,
}

/// A place. It is boxed, because places move from thread to thread.
type Place = Box<Inside>;

struct Inside {
    task: Arc<Task>,
    episode: Option<Episode>,
    /// What its agents do next.
    factors: Vec<f64>,
    /// Whether its last step did nothing: it is empty, or its episode had ended.
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

/// The end of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum End {
    /// It goes on.
    GoesOn = 0,
    /// Its transfer has arrived, or has failed.
    Terminated = 1,
    /// The episode ends by its steps, or by the duration of the run.
    Truncated = 2,
}

impl Batch {
    /// So many places, for up to so many threads.
    pub fn new(task: Task, places: usize, agents: usize, threads: usize) -> Self {
        let task = Arc::new(task);
        let place = |_| {
            let factors = vec![1.0; agents];
            Box::new(Inside { task: Arc::clone(&task), episode: None, factors, rests: true })
        };
        let places: Vec<Place> = (0..places).map(place).collect();
        let threads = threads.clamp(1, places.len().max(1));
        let pool = Pool::new(&evenly(places.len(), threads), Wait::Awake, |places: &mut [Place], ()| {
            places.iter_mut().for_each(|place| place.step());
        });
        Self { task, agents, places, pool }
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Places of episodes, and agents of each.
    pub fn shape(&self) -> (usize, usize) {
        (self.places.len(), self.agents)
    }

    /// Puts an episode into a place, and returns the one that was there.
    pub fn put(&mut self, place: usize, episode: Option<Episode>) -> Option<Episode> {
        std::mem::replace(&mut self.places[place].episode, episode)
    }

    /// The episode in a place.
    pub fn episode(&self, place: usize) -> Option<&Episode> {
        self.places[place].episode.as_ref()
    }

    /// All agents in the order of the places; None where the place is empty.
    pub fn agents(&self) -> impl Iterator<Item = Option<&Agent>> {
        let of = |place| {
            let episode = self.episode(place);
            (0..self.agents).map(move |agent| episode.and_then(|episode| episode.agents().get(agent)))
        };
        (0..self.places.len()).flat_map(of)
    }

    /// What the last step brought each agent: its reward, and its end.
    pub fn outcomes(&self) -> impl Iterator<Item = (f64, End)> {
        self.places.iter().flat_map(|place| {
            let stepped = place.episode.as_ref().filter(|_| !place.rests);
            let is_truncated = stepped.is_some_and(|episode| episode.is_truncated(&self.task));
            let outcome = move |agent: usize| match stepped.and_then(|episode| episode.agents().get(agent)) {
                None => (0.0, End::GoesOn),
                Some(agent) if agent.is_over => (agent.reward, End::Terminated),
                Some(agent) => (agent.reward, if is_truncated { End::Truncated } else { End::GoesOn }),
            };
            (0..self.agents).map(outcome)
        })
    }

    /// A step of each episode that has not ended: `factors` has one for each agent.
    ///
    /// # Errors
    /// If a factor is not above 0, or if there are more or fewer. Then nothing happens.
    pub fn step(&mut self, factors: &[f64]) -> Result<(), String> {
        let (places, agents) = self.shape();
        if factors.len() != places * agents {
            return Err(format!("{} actions for {places} × {agents} agents", factors.len()));
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
