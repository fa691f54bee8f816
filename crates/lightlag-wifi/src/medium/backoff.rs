//! Access of stations to the medium: contention, bursts, and waiting for replies.

use super::access::State;

use super::{PHY_HEADER, Wifi};
use crate::class::Class;
use lightlag_core::{Bytes, Instant};
use lightlag_net::StationId;
use lightlag_net::medium::Addressee;
use lightlag_net::queue::DropCause;

impl<P: Clone> Wifi<P> {
    /// Schedules when a station may next send.
    pub(super) fn contend(&mut self, station: StationId, now: Instant) {
        let state = &mut self.stations[station.index()];
        if let Some((access, _)) = state.next_access(now)
            && state.wake != Some(access)
        {
            state.wake = Some(access);
            self.changed.push(station);
        }
    }

    /// Grants the medium to a class of a station. Its other classes that were also ready act as after a collision.
    pub(super) fn win(&mut self, station: StationId, class: usize, now: Instant) {
        let state = &mut self.stations[station.index()];
        let is_ready =
            |other: &usize| *other != class && state.wants(*other) && state.access.access(*other, now) <= now;
        let losers = (0..state.queues.len()).filter(is_ready).fold(0u8, |losers, other| losers | 1 << other);
        state.class = class;
        state.burst_until = now + state.access.burst(class);
        self.start(station, now);
        let access = &mut self.stations[station.index()].access;
        (0..Class::ALL.len()).filter(|other| losers >> other & 1 == 1).for_each(|other| access.collide(other));
    }

    /// After a success, continues at `start` with further packets of the same burst, if its class has bursts, and if
    /// the packets and their reply end before the burst does (§10.23.2.8). Returns true if it continues.
    fn goes_on(&mut self, station: StationId, start: Instant) -> bool {
        let state = &self.stations[station.index()];
        let (class, until) = (state.class, state.burst_until);
        if state.agreements.is_some()
            && let Some(peer) = state.next_owed(class)
        {
            // Requests may follow immediately where a class has no bursts (§10.23.2.8).
            let may_ask = until <= start;
            if may_ask {
                self.ask_what_arrived(station, start, peer);
            }
            return may_ask;
        }
        if until <= start || !state.wants(class) || state.has_more_than_packets(class) {
            return false;
        }
        self.choose(station, start);
        let state = &self.stations[station.index()];
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
            self.send_data(station, start);
        }
        end <= until
    }

    /// Continues with a station's next packet: at the time `burst` in the same burst, if that is given and possible,
    /// and otherwise after a backoff.
    pub(super) fn next(&mut self, station: StationId, now: Instant, burst: Option<Instant>) {
        self.drop_expired(station, now);
        if !burst.is_some_and(|start| self.goes_on(station, start)) {
            self.contend(station, now);
        }
    }

    pub(super) fn drop_expired(&mut self, station: StationId, now: Instant) {
        let state = &mut self.stations[station.index()];
        for class in 0..state.queues.len() {
            while let Some(pending) = state.queues[class].pop_expired(now) {
                state.counters.dropped_lifetime += 1;
                self.events.push_back(state.give_up(station, class, pending, DropCause::Lifetime));
            }
        }
        while let Some(peer) = self.stations[station.index()].agreements.as_mut().and_then(|of| of.pop_expired(now)) {
            self.unreachable(station, peer, DropCause::Lifetime);
        }
    }

    /// Makes a station wait for a reply to the frame that it has just started to send and that ends at `end`.
    pub(super) fn wait(&mut self, station: StationId, end: Instant) {
        let state = &mut self.stations[station.index()];
        let until = end + self.timing.sifs + self.timing.slot + PHY_HEADER;
        state.access.state = State::Waiting(until);
        state.wake = Some(until);
        self.changed.push(station);
    }
}
