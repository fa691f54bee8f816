//! The right to send in the medium: contention for it, bursts, and waits for answers.

use super::access::State;

use super::{PHY_HEADER, Wifi};
use crate::class::Class;
use lightlag_core::{Bytes, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_net::queue::DropCause;

impl<P: Clone> Wifi<P> {
    /// Wakes a station when it may send.
    pub(super) fn contend(&mut self, at: StationId, now: Instant) {
        let state = &mut self.stations[at.index()];
        if let Some((access, _)) = state.next_access(now)
            && state.wake != Some(access)
        {
            state.wake = Some(access);
            self.changed.push(at);
        }
    }

    /// A station has got the medium for a class. Other classes that were ready behave as after a collision.
    pub(super) fn win(&mut self, at: StationId, class: usize, now: Instant) {
        let state = &mut self.stations[at.index()];
        let is_ready =
            |other: &usize| *other != class && state.wants(*other) && state.access.access(*other, now) <= now;
        let losers = (0..state.queues.len()).filter(is_ready).fold(0u8, |losers, other| losers | 1 << other);
        state.class = class;
        state.burst_until = now + state.access.burst(class);
        self.start(at, now);
        let access = &mut self.stations[at.index()].access;
        (0..Class::ALL.len()).filter(|other| losers >> other & 1 == 1).for_each(|other| access.collide(other));
    }

    /// After a success a station of a class with bursts goes on with its next packets at `start`, if they and their answer end in
    /// time (§10.23.2.8).
    fn goes_on(&mut self, at: StationId, start: Instant) -> bool {
        let state = &self.stations[at.index()];
        let (class, until) = (state.class, state.burst_until);
        if state.agreements.is_some()
            && let Some(peer) = state.next_owed(class)
        {
            // Requests may follow at once where a class has no bursts (§10.23.2.8).
            let may_ask = until <= start;
            if may_ask {
                self.ask_what_arrived(at, start, peer);
            }
            return may_ask;
        }
        if until <= start || !state.wants(class) || state.has_more_than_packets(class) {
            return false;
        }
        self.choose(at, start);
        let state = &self.stations[at.index()];
        let Some(pending) = state.head(class) else { return false };
        let size = state.together.unwrap_or(pending.msdu.size + state.overhead);
        let end = match pending.msdu.to {
            Addressee::All => start + state.broadcast_mode.duration(Bytes(size.into())),
            Addressee::One(_) => {
                let mode = state.mode;
                let answer = self.timing.sifs + self.acknowledgement_time(mode, state.together);
                start + mode.duration(Bytes(size.into())) + answer
            }
        };
        if end <= until {
            self.send_data(at, start);
        }
        end <= until
    }

    /// A station goes on with its next packet: in its burst at `burst`, if that is given, and otherwise after a backoff.
    pub(super) fn next(&mut self, at: StationId, now: Instant, burst: Option<Instant>) {
        self.drop_expired(at, now);
        if !burst.is_some_and(|start| self.goes_on(at, start)) {
            self.contend(at, now);
        }
    }

    pub(super) fn drop_expired(&mut self, at: StationId, now: Instant) {
        let state = &mut self.stations[at.index()];
        for class in 0..state.queues.len() {
            while let Some(pending) = state.queues[class].pop_expired(now) {
                state.counters.dropped_lifetime += 1;
                self.events.push_back(state.give_up(at, class, pending, DropCause::Lifetime));
            }
        }
        while let Some(peer) = self.stations[at.index()].agreements.as_mut().and_then(|of| of.pop_expired(now)) {
            self.unreachable(at, peer, DropCause::Lifetime);
        }
    }

    /// A station waits for an answer to the frame that it has just begun to send.
    pub(super) fn wait(&mut self, at: StationId, end: Instant) {
        let state = &mut self.stations[at.index()];
        let until = end + self.timing.sifs + self.timing.slot + PHY_HEADER;
        state.access.state = State::Waiting(until);
        state.wake = Some(until);
        self.changed.push(at);
    }
}
