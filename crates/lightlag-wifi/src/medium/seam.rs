//! The interface of the medium to the rest of a simulator.

use super::Wifi;
use super::access::State;
use super::frame::{Msdu, OnAir};
use super::queue::Queue;
use super::station::StationState;
use crate::class::Class;
use lightlag_core::{Instant, Probability};
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use lightlag_net::medium::{Counters, Event, Medium, Outgoing, Precedence};

impl<P: Clone> Medium<P> for Wifi<P> {
    fn offer(&mut self, now: Instant, station: StationId, packet: Outgoing<P>) {
        let Outgoing { to, size, precedence, payload } = packet;
        let class = match precedence {
            Precedence::Station => self.stations[station.index()].usual,
            Precedence::Marked(dscp) => Class::of_dscp(dscp),
            Precedence::None => Class::BestEffort,
        };
        self.send_later(now, station, Msdu { to, size, class, payload });
    }

    fn next_wake(&self) -> Option<Instant> {
        self.frames.peek().map(|first| first.end)
    }

    fn handle_wake(&mut self, now: Instant) {
        self.now = now;
        while self.frames.peek().is_some_and(|first| first.end <= now) {
            let Some(OnAir { mut frame, number, .. }) = self.frames.pop() else { return };
            self.frame_ends(now, number, &frame);
            frame.hearers.clear();
            self.lists.push(std::mem::take(&mut frame.hearers));
        }
        if !self.background.is_silent() {
            let start = self.frames.iter().map(|of| of.start).min();
            self.background.forget(start.map_or(now, |start| start.min(now)));
        }
    }

    fn next_station_wake(&self, station: StationId) -> Option<Instant> {
        self.stations[station.index()].next_wake()
    }

    fn handle_station_wake(&mut self, now: Instant, station: StationId) {
        self.now = now;
        if self.stations[station.index()].release.is_some_and(|release| release <= now) {
            self.release_late(station, now);
        }
        let due = self.stations[station.index()].agreements.as_ref().and_then(|agreements| agreements.deadline());
        if due.is_some_and(|due| due <= now) {
            self.give_up_responses(station, now);
        }
        let (state, hearing) = (&mut self.stations[station.index()], &mut self.hearings[station.index()]);
        state.wake = None;
        hearing.advance(now, &mut state.access, &mut self.background);
        match state.access.state {
            State::Sending(until) if until <= now => self.finish(station, now),
            State::Waiting(until) if until <= now => {
                // The reply's end resolves it (§10.3.2.11: the wait is for the start of a reception).
                if hearing.is_receiving(now) {
                    state.access.state = State::Receiving;
                } else {
                    self.unanswered(station, now);
                }
            }
            State::Idle => self.drop_expired(station, now),
            _ => {}
        }
        let state = &mut self.stations[station.index()];
        if state.access.state == State::Idle
            && let Some((access, class)) = state.next_access(now)
        {
            if access <= now { self.win(station, class, now) } else { self.contend(station, now) }
        } else if let State::Sending(until) | State::Waiting(until) = state.access.state {
            state.wake = Some(until);
        }
        self.changed.push(station);
    }

    fn poll_event(&mut self) -> Option<Event<P>> {
        self.events.pop_front()
    }

    fn upcoming(&self, skipped: usize) -> Option<&Event<P>> {
        self.events.get(skipped)
    }

    fn rearmed(&mut self, report: &mut dyn FnMut(StationId, Instant)) {
        for station in self.changed.drain(..) {
            if let Some(wake) = self.stations[station.index()].next_wake() {
                report(station, wake);
            }
        }
    }

    fn pending(&self, report: &mut dyn FnMut(&P)) {
        for station in &self.stations {
            let waiting = station.queues.iter().flat_map(Queue::iter).filter(|pending| !pending.arrived);
            waiting.for_each(|pending| report(&pending.msdu.payload));
            for held in station.reordered.iter().flat_map(|(_, reordered)| reordered.held()) {
                if let Event::Received { payload, .. } = held {
                    report(payload);
                }
            }
        }
    }

    fn position(&mut self, station: StationId, now: Instant) -> [f64; 3] {
        let Vector { x, y, z } = self.reach.position(station, now);
        [x, y, z]
    }

    fn neighbours(
        &mut self,
        station: StationId,
        now: Instant,
        min_delivery: Probability,
        report: &mut dyn FnMut(StationId),
    ) {
        const USUAL: u32 = 1536;
        let mode = self.stations[station.index()].data_mode;
        let powers = self.reach.powers(station, now);
        for (other, power) in powers.iter().enumerate().filter(|(other, _)| *other != station.index()) {
            let hearing = &self.hearings[other];
            let ln = self.curves.ln_success(mode, power / hearing.noise(), 8 * USUAL);
            if hearing.detects(*power) && crate::phy::error_model::success(ln) > min_delivery.value() {
                report(StationId(other as u32));
            }
        }
    }

    fn settle(&mut self, now: Instant) {
        for (state, hearing) in self.stations.iter_mut().zip(&mut self.hearings) {
            hearing.advance(now, &mut state.access, &mut self.background);
        }
    }

    fn counters(&self, station: StationId) -> Counters {
        let StationState { counters, queues, .. } = &self.stations[station.index()];
        let waiting = queues.iter().map(|queue| queue.len() as u64).sum();
        Counters { offered: counters.offered, settled: counters.settled, dropped: counters.dropped(), waiting }
    }
}
