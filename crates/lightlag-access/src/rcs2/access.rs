//! Random access of terminals: logon, requests, and small messages.

use super::frame::before;
use super::medium::Rcs2;
use super::task::{Attempt, Content, Task};
use super::terminal::Session;
use crate::contention::{self, Contender};
use lightlag_core::{Duration, Instant};
use lightlag_net::queue::DropCause;

impl<P: Clone> Rcs2<P> {
    /// Plans a transmission by random access, unless one is planned or its outcome is unknown. After losses it waits for
    /// a random number of frames.
    pub(super) fn contend(&mut self, now: Instant, terminal: u32) {
        if self.config.contention_slots == 0 || self.stations[terminal as usize].contending {
            return;
        }
        let state = &mut self.stations[terminal as usize];
        state.contending = true;
        let backoff = match state.attempts {
            0 => 0,
            losses => {
                let window = u64::from(self.config.access_backoff) << (losses - 1).min(16);
                (self.random.uniform() * window as f64) as u64
            }
        };
        let delay = state.delay;
        let frame = self.layout.first_from(now + delay) + backoff;
        let at = before(self.layout.start(frame), delay);
        self.tasks.add(at, Task::Attempt { terminal, frame });
    }

    /// Sends a burst by random access in a frame, if the terminal still needs it.
    pub(super) fn attempt(&mut self, now: Instant, terminal: u32, frame: u64) {
        let timing = self.timing;
        let state = &mut self.stations[terminal as usize];
        state.observe(now);
        if state.is_down() {
            state.contending = false;
            return self.consider(now, terminal);
        }
        let is_logged_off = state.session == Session::LoggedOff;
        let content = if state.queue.is_empty() || (!is_logged_off && state.is_served(now)) {
            None
        } else if is_logged_off {
            Some(Content::Logon)
        } else if let Some(packets) = self.config.contention_data.then(|| state.take_small()).flatten() {
            Some(Content::Packets(packets))
        } else {
            state.request(now, timing).map(|request| Content::Request(request, state.rate_until))
        };
        let Some(content) = content else {
            state.contending = false;
            return;
        };
        let power = contention::draw_power(self.config.power_spread, &mut self.random);
        let (slots, row) = (self.config.contention_slots, self.config.slots);
        let contender = Contender::draw(self.config.contention, slots, row, power, &mut self.random);
        state.counters.contentions += 1;
        state.counters.airtime += self.layout.burst() * contender.slots().len() as u64;
        let end = self.layout.start(frame) + self.layout.contention_end();
        let attempt = Attempt { terminal, contender, content };
        if !state.is_robust() {
            state.counters.lost_bursts += 1;
            let delay = state.delay;
            return self.tasks.add(end + delay, Task::Outcome(Box::new(attempt), false));
        }
        let attempts = self.attempts.entry(frame).or_default();
        if attempts.is_empty() {
            self.tasks.add(end, Task::Decode(frame));
        }
        attempts.push(attempt);
    }

    /// Decodes the bursts of a frame.
    pub(super) fn decode(&mut self, now: Instant, frame: u64) {
        let attempts = self.attempts.remove(&frame).unwrap_or_default();
        let contenders: Vec<Contender> = attempts.iter().map(|of| of.contender).collect();
        let iterations = self.config.contention.iterations(self.config.sic_iterations);
        let mut decoder = std::mem::take(&mut self.decoder);
        let decoded = decoder.decode(self.config.contention_slots, &contenders, iterations, self.capture);
        for (mut attempt, iteration) in attempts.into_iter().zip(decoded) {
            let terminal = attempt.terminal;
            let state = &mut self.stations[terminal as usize];
            state.counters.note_decoded(*iteration);
            let delay = state.delay;
            if *iteration > 0 {
                self.accept(now, terminal, delay, &mut attempt.content);
            }
            self.tasks.add(now + delay, Task::Outcome(Box::new(attempt), *iteration > 0));
        }
        self.decoder = decoder;
    }

    /// Handles a decoded burst at the gateway.
    fn accept(&mut self, now: Instant, terminal: u32, delay: Duration, content: &mut Content<P>) {
        match content {
            Content::Logon => {
                self.stations[terminal as usize].session = Session::LoggingOn;
                let further = u64::from(self.config.logon_exchanges - 1) * 2;
                self.tasks.add(now + delay * (further + 1), Task::LoggedOn(terminal));
            }
            Content::Request(request, expiry) => {
                self.burst_arrives(now, terminal, Some((*request, *expiry)), Vec::new());
            }
            Content::Packets(waiting) => {
                let counters = &mut self.stations[terminal as usize].counters;
                let arrived = std::mem::take(waiting);
                arrived.iter().for_each(|of| counters.note_sent(now.since(of.arrived + delay)));
                let packets = arrived.into_iter().map(|of| of.packet).collect();
                self.burst_arrives(now, terminal, None, packets);
            }
        }
    }

    /// Handles the outcome of random access at the terminal.
    pub(super) fn learn(&mut self, now: Instant, attempt: Attempt<P>, decoded: bool) {
        let Attempt { terminal, content, .. } = attempt;
        let state = &mut self.stations[terminal as usize];
        state.contending = false;
        if decoded {
            state.attempts = 0;
            return self.consider(now, terminal);
        }
        state.attempts += 1;
        let is_last = state.attempts >= self.config.access_attempts;
        let mut dropped = Vec::new();
        match content {
            Content::Logon => {}
            Content::Request(request, _) => state.lost(request),
            Content::Packets(packets) if is_last => {
                state.outside -= packets.len() as u64;
                dropped.extend(packets.into_iter().map(|of| of.packet));
            }
            Content::Packets(packets) => state.restore(packets),
        }
        if is_last {
            state.attempts = 0;
            if dropped.is_empty() {
                dropped.extend(state.drop_head());
            }
            state.counters.dropped_retry += dropped.len() as u64;
        }
        dropped.into_iter().for_each(|packet| self.drop_packet(terminal, packet, DropCause::Retry));
        self.consider(now, terminal);
    }
}
