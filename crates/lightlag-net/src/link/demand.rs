//! Bandwidth on demand: a terminal that sends only as much as it was granted (request-assign access, DAMA).
//!
//! The model is the return channel of DVB-RCS (ETSI EN 301 790 §8.4, capacity request categories) without its bursts
//! and its signalling:
//!
//! - In each frame the terminal requests capacity for waiting data that it has not yet requested (volume-based, VBDC).
//!   A request at the start of frame k is granted from that moment + `latency` on, as far as a frame has room; the rest
//!   waits at the network control centre for the next frames.
//! - A constant assignment (CRA) is available in every frame without a request. So is free capacity (FCA), as far as
//!   the frame has room beside the other two.
//! - A grant for a frame is used at any time in it, at the rate of the link, and expires at its end. A packet that was
//!   granted only in part continues in the next frame: the granted slots are filled with its parts.

use super::timetable::Fate;
use crate::Packet;
use lightlag_core::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Bandwidth on demand of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// Time from one request to the next, and the duration of grants.
    pub frame: Duration,
    /// Time from a request to the start of the frame that it is granted for.
    pub latency: Duration,
    /// The rate assigned without a request.
    pub constant: Option<Rate>,
    /// The rate assigned without a request if there is room.
    pub free: Option<Rate>,
    /// The largest total rate.
    pub most: Rate,
}

/// A packet that may have been sent in part.
#[derive(Clone, Debug)]
pub(super) struct Serving<B> {
    pub(super) packet: Packet<B>,
    /// Bytes of its frame that remain to be sent.
    pub(super) left: u64,
    /// Its fate so far.
    pub(super) fate: Fate,
}

/// The state of bandwidth on demand. Frames of requests start at multiples of the frame. Frames of grants start later
/// by the fraction of a frame in the latency.
#[derive(Clone, Debug)]
pub(super) struct Assignment<B> {
    demand: Demand,
    /// The number of the next frame of requests.
    request: u64,
    /// The number of the next frame of grants.
    grant: u64,
    /// Requests that are not granted yet: number of the frame of grants, and bytes.
    asked: VecDeque<(u64, u64)>,
    /// Their total bytes.
    asked_bytes: u64,
    /// Bytes due for a grant for which no frame has had room yet.
    pending: u64,
    /// The rest of the grants for the current frame, in bytes.
    pub(super) allowance: u64,
    pub(super) serving: Option<Serving<B>>,
}

impl Demand {
    /// The shortest wait of a packet for its grant, if nothing is assigned without a request.
    pub fn least_wait(&self) -> Duration {
        if self.constant.is_none() && self.free.is_none() { self.latency } else { Duration::ZERO }
    }

    /// The frames between a request and its grant.
    fn frames(&self) -> u64 {
        self.latency.as_nanos() / self.frame.as_nanos()
    }

    /// The delay of frames of grants after frames of requests.
    fn shift(&self) -> Duration {
        Duration::from_nanos(self.latency.as_nanos() % self.frame.as_nanos())
    }

    /// The bytes that a rate carries in the frame of this number, such that the bytes of all frames together are exact.
    fn share(&self, rate: Rate, number: u64) -> u64 {
        let until = |frames: u64| {
            let bits = u128::from(rate.as_bps()) * u128::from(self.frame.as_nanos()) * u128::from(frames);
            bits / 8_000_000_000
        };
        u64::try_from(until(number + 1) - until(number)).unwrap_or(u64::MAX)
    }

    /// The capacity of a frame without a request, constant and free, and its total.
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

    /// Time at which the next frame of grants starts.
    pub(super) fn next_frame(&self) -> Instant {
        self.grant_time(self.grant)
    }

    fn grant_time(&self, number: u64) -> Instant {
        Instant::ZERO + self.demand.shift() + self.demand.frame * number
    }

    /// Advances to `now`, not before the last call, with `waiting` bytes that wait and are not in service.
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

    /// Skips frames without requests or grants.
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

    /// Requests capacity for waiting data that has none requested.
    fn ask(&mut self, backlog: u64) {
        let wanted = backlog.saturating_sub(self.asked_bytes + self.pending + self.allowance);
        if wanted > 0 {
            self.asked.push_back((self.request + self.demand.frames(), wanted));
            self.asked_bytes += wanted;
        }
        self.request += 1;
    }

    /// Starts the next frame of grants; the rest of the last one expires.
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
