//! A transmitter with moving far ends: a laser between satellites, the dish of a ground station, the antenna of a
//! satellite.
//!
//! A packet propagates at the speed of light over the distance at the start of its transmission. A laser has one far
//! end. A dish and an antenna have one for each *exit*, the station where packets leave the constellation: a dish sends
//! to the satellite on the path to the exit, an antenna to the exit itself. Handovers change the far ends.
//!
//! Distances are computed at knots a quarter of a second apart, with linear interpolation. Satellites and the ground
//! accelerate towards each other by less than 120 m/s² above 500 km (v²/h), so a chord of 0.27 s is within 1.1 m of the
//! curve, 4 ns.

use crate::{NodeId, Packet};
use lightlag_core::{Duration, Instant, Rate};
use std::fmt::Debug;
use std::sync::Arc;

/// Nanoseconds between two knots, as a power of two.
const KNOTS: u32 = 28;

/// Positions of moving nodes during a run.
pub trait Flight: Debug + Send + Sync {
    /// Returns the propagation time of light between two nodes, by their indices, at a time of the run.
    fn light_time(&self, from: u32, to: u32, time: Instant) -> Duration;

    /// Returns the sine of the elevation of the satellite above the horizon of the ground node.
    fn elevation(&self, from: u32, to: u32, time: Instant) -> f64;
}

/// Rates by elevation. Each applies from a minimum elevation, given by its sine, in ascending order. The first also
/// applies below its minimum.
pub type RatesByElevation = Arc<[(f64, Rate)]>;

/// Times until which packets are delayed or lost after a handover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unrest {
    /// Packets wait until this time before they are transmitted.
    pub held_until: Instant,
    /// Packets whose transmission starts before this time are lost.
    pub lost_until: Instant,
}

/// Path from a transmitter to a far end, for one packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub(super) node: NodeId,
    pub(super) light_time: Duration,
    pub(super) unrest: Unrest,
    /// Rate, if it depends on the far end.
    pub(super) rate: Option<Rate>,
}

/// The far end of a beam.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FarEnd {
    /// Index of the node in the [`Flight`].
    pub number: u32,
    /// ID of the node at the far end.
    pub node: NodeId,
}

/// Exit index of destinations that are not reached over the constellation.
pub const NO_EXIT: u32 = u32::MAX;

/// The far ends of a transmitter.
#[derive(Clone, Debug)]
pub struct Beam {
    flight: Arc<dyn Flight>,
    from: u32,
    /// Index of the exit by destination; `None` if every packet goes to the first far end.
    exits: Option<Arc<[u32]>>,
    rates: Option<RatesByElevation>,
    heads: Vec<Option<Head>>,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    end: FarEnd,
    unrest: Unrest,
    knots: Knots,
    /// Rate of the current interval, if it depends on the elevation.
    rate: Option<Rate>,
}

/// Propagation times of light at both ends of an interval.
#[derive(Clone, Copy, Debug)]
struct Knots {
    stretch: u64,
    first: i64,
    last: i64,
}

impl Beam {
    /// Returns a beam to one far end.
    pub fn between(flight: Arc<dyn Flight>, from: u32, to: FarEnd) -> Self {
        let head = Head::new(to, &*flight, from, Instant::ZERO, Unrest::default(), None);
        Self { flight, from, exits: None, rates: None, heads: vec![Some(head)] }
    }

    /// Returns a beam with a far end for each of `many` exits, all of them unset. `exits` holds the exit index of each
    /// destination.
    pub fn by_exit(flight: Arc<dyn Flight>, from: u32, exits: Arc<[u32]>, many: usize) -> Self {
        Self { flight, from, exits: Some(exits), rates: None, heads: vec![None; many] }
    }

    /// Sets the rates by elevation. The rate is updated every quarter of a second.
    #[must_use]
    pub fn at_rates(mut self, rates: Option<RatesByElevation>) -> Self {
        self.rates = rates;
        self
    }

    /// Sets the far end for one exit, or clears it.
    pub(super) fn aim(&mut self, now: Instant, exit: usize, end: Option<FarEnd>, unrest: Unrest) {
        let rates = self.rates.as_deref();
        self.heads[exit] = end.map(|end| Head::new(end, &*self.flight, self.from, now, unrest, rates));
    }

    /// Returns true if the beam has a single far end, which never changes.
    pub fn has_one_end(&self) -> bool {
        self.exits.is_none()
    }

    /// Returns the propagation time of light to the only far end.
    pub(super) fn light_time(&mut self, time: Instant) -> Duration {
        let Self { flight, from, heads, .. } = self;
        heads[0].as_mut().map_or(Duration::ZERO, |head| head.light_time(&**flight, *from, time, None))
    }

    /// Returns true if the beam currently has no far end.
    pub(super) fn is_blind(&self) -> bool {
        self.heads.iter().all(Option::is_none)
    }

    /// Returns the path of a packet whose transmission starts at `start`; `None` if its exit has no far end.
    pub(super) fn flight_of<B>(&mut self, start: Instant, packet: &Packet<B>) -> Option<Leg> {
        let exit = match &self.exits {
            None => 0,
            Some(exits) => exits[packet.destination.0 as usize] as usize,
        };
        let head = self.heads.get_mut(exit)?.as_mut()?;
        let light_time = head.light_time(&*self.flight, self.from, start, self.rates.as_deref());
        Some(Leg { node: head.end.node, light_time, unrest: head.unrest, rate: head.rate })
    }

    /// Returns the minimum propagation time of light to any far end. A packet that starts later arrives later: no far
    /// end moves as fast as light.
    pub(super) fn least(&mut self, time: Instant) -> Option<Duration> {
        let Self { flight, from, heads, rates, .. } = self;
        heads.iter_mut().flatten().map(|head| head.light_time(&**flight, *from, time, rates.as_deref())).min()
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

    fn light_time(&mut self, flight: &dyn Flight, from: u32, time: Instant, rates: Option<&[(f64, Rate)]>) -> Duration {
        let stretch = time.as_nanos() >> KNOTS;
        if stretch != self.knots.stretch {
            self.knots = self.knots.moved(flight, from, self.end.number, stretch);
            self.rate = rates.map(|rates| rate_at(rates, flight, from, self.end.number, stretch));
        }
        let part = (time.as_nanos() & ((1 << KNOTS) - 1)) as i64;
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

/// Returns the rate that applies during an interval, according to the elevation at its start.
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
