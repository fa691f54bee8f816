//! A transmitter whose far ends move: a laser between satellites, the dish of a ground station, the antenna of a satellite.
//!
//! A packet travels for the time of light over the distance that holds when its transmission starts. A laser has one far
//! end. A dish and an antenna have one for each *exit*, the place where packets leave the sky: a dish sends to the satellite
//! on the way to the exit, an antenna to the exit itself. Where a far end is changes at handovers.
//!
//! Distances are known at knots a quarter of a second apart and straight between them. Satellites and the ground accelerate
//! towards each other by less than 120 m/s² above 500 km (v²/h), so a chord of 0.27 s is within 1.1 m of the curve, 4 ns.

use crate::{NodeId, Packet};
use lightlag_core::{Duration, Instant, Rate};
use std::fmt::Debug;
use std::sync::Arc;

/// Nanoseconds between two knots, as a power of two.
const KNOTS: u32 = 28;

/// Ends that move.
pub trait Flight: Debug + Send + Sync {
    /// The time of light between two ends, by their numbers, at a time of the run.
    fn light_time(&self, from: u32, to: u32, at: Instant) -> Duration;

    /// The sine of the elevation of the end in the sky above the horizon of the one on the ground.
    fn elevation(&self, from: u32, to: u32, at: Instant) -> f64;
}

/// Rates by the sine of the elevation from which on they hold, in ascending order. The first holds below, too.
pub type RatesByElevation = Arc<[(f64, Rate)]>;

/// Times after a handover in which packets fare badly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unrest {
    /// Nothing leaves before.
    pub held_until: Instant,
    /// Packets sent before are lost.
    pub lost_until: Instant,
}

/// The way of a packet from a transmitter to a far end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) node: NodeId,
    pub(super) light_time: Duration,
    pub(super) unrest: Unrest,
    /// The rate, if it depends on the far end.
    pub(super) rate: Option<Rate>,
}

/// The far end of a beam.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FarEnd {
    /// Its number in the flight.
    pub number: u32,
    /// Its node.
    pub node: NodeId,
}

/// The exits of destinations: places where packets for them leave the sky.
pub const NO_EXIT: u32 = u32::MAX;

/// The far ends of a transmitter.
#[derive(Clone, Debug)]
pub struct Beam {
    flight: Arc<dyn Flight>,
    from: u32,
    /// By destination the number of its exit; `None` if everything goes to the first far end.
    exits: Option<Arc<[u32]>>,
    rates: Option<RatesByElevation>,
    heads: Vec<Option<Head>>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    end: FarEnd,
    unrest: Unrest,
    knots: Knots,
    /// The rate of this stretch of time, where it depends on the elevation.
    rate: Option<Rate>,
}

/// The times of light at both ends of a stretch of time.
#[derive(Clone, Copy, Debug)]
struct Knots {
    stretch: u64,
    first: i64,
    last: i64,
}

impl Beam {
    /// A beam to one far end.
    pub fn between(flight: Arc<dyn Flight>, from: u32, to: FarEnd) -> Self {
        let head = Head::new(to, &*flight, from, Instant::ZERO, Unrest::default(), None);
        Self { flight, from, exits: None, rates: None, heads: vec![Some(head)] }
    }

    /// A beam that has a far end for each of `many` exits, none of them yet; `exits` says by destination which is whose.
    pub fn by_exit(flight: Arc<dyn Flight>, from: u32, exits: Arc<[u32]>, many: usize) -> Self {
        Self { flight, from, exits: Some(exits), rates: None, heads: vec![None; many] }
    }

    /// Sends at a rate that follows the elevation, from one quarter of a second to the next.
    #[must_use]
    pub fn at_rates(mut self, rates: Option<RatesByElevation>) -> Self {
        self.rates = rates;
        self
    }

    /// Points at another far end, or at none, for one exit.
    pub(super) fn aim(&mut self, now: Instant, exit: usize, end: Option<FarEnd>, unrest: Unrest) {
        let rates = self.rates.as_deref();
        self.heads[exit] = end.map(|end| Head::new(end, &*self.flight, self.from, now, unrest, rates));
    }

    /// Whether it has one far end, which is always the same.
    pub fn has_one_end(&self) -> bool {
        self.exits.is_none()
    }

    /// The time of light to the only far end.
    pub(super) fn light_time(&mut self, at: Instant) -> Duration {
        let Self { flight, from, heads, .. } = self;
        heads[0].as_mut().map_or(Duration::ZERO, |head| head.light_time(&**flight, *from, at, None))
    }

    /// Whether it points at nothing.
    pub(super) fn is_blind(&self) -> bool {
        self.heads.iter().all(Option::is_none)
    }

    /// The way of a packet whose transmission starts now.
    pub(super) fn flight_of<B>(&mut self, start: Instant, packet: &Packet<B>) -> Option<Leg> {
        let exit = match &self.exits {
            None => 0,
            Some(exits) => exits[packet.destination.0 as usize] as usize,
        };
        let head = self.heads.get_mut(exit)?.as_mut()?;
        let light_time = head.light_time(&*self.flight, self.from, start, self.rates.as_deref());
        Some(Leg { node: head.end.node, light_time, unrest: head.unrest, rate: head.rate })
    }

    /// The shortest time of light to any far end at this time. A packet that starts later arrives later: nothing moves as
    /// fast as light.
    pub(super) fn least(&mut self, at: Instant) -> Option<Duration> {
        let Self { flight, from, heads, rates, .. } = self;
        heads.iter_mut().flatten().map(|head| head.light_time(&**flight, *from, at, rates.as_deref())).min()
    }
}

impl Head {
    fn new(
        end: FarEnd,
        flight: &dyn Flight,
        from: u32,
        now: Instant,
        unrest: Unrest,
        rates: Option<&[(f64, Rate)]>,
    ) -> Self {
        let stretch = now.as_nanos() >> KNOTS;
        let rate = rates.map(|rates| rate_at(rates, flight, from, end.number, stretch));
        Self { end, unrest, knots: Knots::new(flight, from, end.number, stretch), rate }
    }

    fn light_time(&mut self, flight: &dyn Flight, from: u32, at: Instant, rates: Option<&[(f64, Rate)]>) -> Duration {
        let stretch = at.as_nanos() >> KNOTS;
        if stretch != self.knots.stretch {
            self.knots = self.knots.moved(flight, from, self.end.number, stretch);
            self.rate = rates.map(|rates| rate_at(rates, flight, from, self.end.number, stretch));
        }
        let part = (at.as_nanos() & ((1 << KNOTS) - 1)) as i64;
        let Knots { first, last, .. } = self.knots;
        Duration::from_nanos((first + (((last - first) * part) >> KNOTS)) as u64)
    }
}

impl Knots {
    fn new(flight: &dyn Flight, from: u32, to: u32, stretch: u64) -> Self {
        let at = |stretch| time(flight, from, to, stretch);
        Self { stretch, first: at(stretch), last: at(stretch + 1) }
    }

    fn moved(self, flight: &dyn Flight, from: u32, to: u32, stretch: u64) -> Self {
        if stretch == self.stretch + 1 {
            return Self { stretch, first: self.last, last: time(flight, from, to, stretch + 1) };
        }
        Self::new(flight, from, to, stretch)
    }
}

/// The rate at the start of a stretch of time.
fn rate_at(rates: &[(f64, Rate)], flight: &dyn Flight, from: u32, to: u32, stretch: u64) -> Rate {
    let sine = flight.elevation(from, to, Instant::from_nanos(stretch << KNOTS));
    let holds = rates.iter().rev().find(|(least, _)| sine >= *least);
    holds.unwrap_or(&rates[0]).1
}

fn time(flight: &dyn Flight, from: u32, to: u32, stretch: u64) -> i64 {
    flight.light_time(from, to, Instant::from_nanos(stretch << KNOTS)).as_nanos() as i64
}

#[cfg(test)]
mod tests;
