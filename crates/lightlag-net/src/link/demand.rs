//! Bandwidth on demand: a terminal that sends only what it has been granted (request-assign access, DAMA).
//!
//! The return channel of DVB-RCS (ETSI EN 301 790 §8.4, capacity request categories) without its bursts and its signalling:
//!
//! - Each frame the terminal asks for what waits and has not been asked for (volume-based, VBDC). What it asks for at
//!   the begin of frame k is granted from that moment + `latency` on, as much as a frame has room for; the rest waits at
//!   the network control centre for the next frames.
//! - A constant assignment (CRA) is there in every frame, asked for or not; so is what is free (FCA), as far as the
//!   frame has room beside the other two.
//! - What is granted for a frame is sent at any time in it, at the rate of the link, and lost at its end. A packet that
//!   has not been granted as a whole goes on in the next frame: the granted slots are filled with its parts.

use super::timetable::Fate;
use crate::Packet;
use lightlag_core::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Bandwidth on demand of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// From one request to the next, and so long do grants last.
    pub frame: Duration,
    /// From a request to the begin of the frame that it is granted for.
    pub latency: Duration,
    /// What is assigned without a request.
    pub constant: Option<Rate>,
    /// What is assigned without a request where there is room.
    pub free: Option<Rate>,
    /// The most that is assigned in all.
    pub most: Rate,
}

/// A packet of which parts may have been sent.
#[derive(Clone, Debug)]
pub(super) struct Serving<B> {
    pub(super) packet: Packet<B>,
    /// Bytes of its frame that are still to be sent.
    pub(super) left: u64,
    /// What has happened to it so far.
    pub(super) fate: Fate,
}

/// Bandwidth on demand at work. Frames of requests begin at multiples of the frame, frames of grants later by the part of
/// the latency that is no whole frame.
#[derive(Clone, Debug)]
pub(super) struct Assignment<B> {
    demand: Demand,
    /// The number of the next frame of requests.
    request: u64,
    /// The number of the next frame of grants.
    grant: u64,
    /// What was asked for and is not granted yet: number of the frame of grants, and bytes.
    asked: VecDeque<(u64, u64)>,
    /// Their bytes together.
    asked_bytes: u64,
    /// Bytes that came to be granted, and for which no frame had room yet.
    pending: u64,
    /// What is left of the grants for the present frame, in bytes.
    pub(super) allowance: u64,
    pub(super) serving: Option<Serving<B>>,
}

impl Demand {
    /// How long a packet waits at least for its grant, where nothing is assigned without a request.
    pub fn least_wait(&self) -> Duration {
        if self.constant.is_none() && self.free.is_none() { self.latency } else { Duration::ZERO }
    }

    /// The frames between a request and its grant.
    fn frames(&self) -> u64 {
        self.latency.as_nanos() / self.frame.as_nanos()
    }

    /// By how much frames of grants begin later than frames of requests.
    fn shift(&self) -> Duration {
        Duration::from_nanos(self.latency.as_nanos() % self.frame.as_nanos())
    }

    /// What a rate carries in the frame of this number, so that the bytes of all frames together are exact.
    fn share(&self, rate: Rate, number: u64) -> u64 {
        let until = |frames: u64| {
            let bits = u128::from(rate.as_bps()) * u128::from(self.frame.as_nanos()) * u128::from(frames);
            bits / 8_000_000_000
        };
        u64::try_from(until(number + 1) - until(number)).unwrap_or(u64::MAX)
    }

    /// What a frame has without a request: constant and free; and what it has room for.
    fn standing(&self, number: u64) -> (u64, u64, u64) {
        let most = self.share(self.most, number);
        let constant = self.constant.map_or(0, |rate| self.share(rate, number)).min(most);
        (constant, self.free.map_or(0, |rate| self.share(rate, number)), most)
    }
}

impl<B> Assignment<B> {
    pub(super) fn new(demand: Demand) -> Self {
        let (constant, free, most) = demand.standing(0);
        Self {
            demand,
            request: 0,
            grant: 0,
            asked: VecDeque::new(),
            asked_bytes: 0,
            pending: 0,
            allowance: (constant + free).min(most),
            serving: None,
        }
    }

    /// When the next frame of grants begins.
    pub(super) fn next_frame(&self) -> Instant {
        self.grant_time(self.grant)
    }

    fn grant_time(&self, number: u64) -> Instant {
        Instant::ZERO + self.demand.shift() + self.demand.frame * number
    }

    /// Goes on to `now`, not before the last call, while `waiting` bytes wait that are not in service.
    pub(super) fn advance(&mut self, now: Instant, waiting: u64) {
        let backlog = waiting + self.serving.as_ref().map_or(0, |serving| serving.left);
        loop {
            let (request, grant) = (Instant::ZERO + self.demand.frame * self.request, self.grant_time(self.grant));
            if request.min(grant) > now {
                return;
            }
            if backlog == 0 && self.asked_bytes == 0 && self.pending == 0 {
                return self.rest(now);
            }
            if grant <= request {
                self.begin_frame();
            } else {
                self.ask(backlog);
            }
        }
    }

    /// Passes over frames in which nothing is asked for or granted.
    fn rest(&mut self, now: Instant) {
        let frame = self.demand.frame.as_nanos();
        self.request = self.request.max(now.as_nanos() / frame + 1);
        let since = now.as_nanos().checked_sub(self.demand.shift().as_nanos());
        let begun = since.map_or(0, |since| since / frame + 1);
        if begun > self.grant {
            self.grant = begun - 1;
            self.begin_frame();
        }
    }

    /// Asks for what waits and has not been asked for.
    fn ask(&mut self, backlog: u64) {
        let wanted = backlog.saturating_sub(self.asked_bytes + self.pending + self.allowance);
        if wanted > 0 {
            self.asked.push_back((self.request + self.demand.frames(), wanted));
            self.asked_bytes += wanted;
        }
        self.request += 1;
    }

    /// Begins the next frame of grants; what was left of the last one is lost.
    fn begin_frame(&mut self) {
        if self.asked.front().is_some_and(|(number, _)| *number <= self.grant)
            && let Some((_, bytes)) = self.asked.pop_front()
        {
            self.asked_bytes -= bytes;
            self.pending += bytes;
        }
        let (constant, free, most) = self.demand.standing(self.grant);
        let granted = self.pending.min(most - constant);
        self.pending -= granted;
        self.allowance = (constant + granted + free).min(most);
        self.grant += 1;
    }
}

#[cfg(test)]
mod tests;
