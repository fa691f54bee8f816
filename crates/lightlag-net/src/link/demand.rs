//! Bandwidth on demand: a terminal that sends only as much as it was granted (request-assign access, DAMA).
//!
//! The model is the return channel of DVB-RCS (ETSI EN 301 790 §8.4, capacity request categories) without its bursts
//! and its signalling:
//!
//! - In each frame the terminal requests capacity for waiting data that it has not yet requested (volume-based, VBDC).
//!   A request at the start of frame k is granted for a frame that starts `latency` later, as far as that frame has
//!   capacity; the rest waits at the network control centre for the next frames.
//! - A constant assignment (CRA) is available in every frame without a request. Free capacity (FCA) needs no request
//!   either; it is what the other two leave of the frame, up to a given rate.
//! - A grant for a frame is used at any time in it, at the rate of the link, and expires at its end. If only a part of
//!   a packet was granted, the packet continues in the next frame: fragments of it fill the granted slots.

use super::timetable::TransmissionFate;
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
    /// Rate assigned without a request.
    pub constant: Option<Rate>,
    /// Rate assigned without a request if frames have free capacity.
    pub free: Option<Rate>,
    /// Maximum total rate.
    pub most: Rate,
}

/// A packet that may have been sent in part.
#[derive(Clone, Debug)]
pub(super) struct Serving<B> {
    pub(super) packet: Packet<B>,
    /// Bytes of its frame that remain to be sent.
    pub(super) left: u64,
    /// Fate of the packet so far.
    pub(super) fate: TransmissionFate,
}

/// State of bandwidth on demand. Frames in which requests are made start at multiples of the frame duration. Frames for
/// which capacity is granted are shifted by the remainder of the latency divided by the frame duration.
#[derive(Clone, Debug)]
pub(super) struct Assignment<B> {
    demand: Demand,
    /// Index of the next frame in which a request is made.
    request: u64,
    /// Index of the next frame for which capacity is granted.
    grant: u64,
    /// Requests that are not granted yet: index of the frame for which the grant is due, and bytes.
    asked: VecDeque<(u64, u64)>,
    /// Total bytes of `asked`.
    asked_bytes: u64,
    /// Bytes whose grant is due, but for which no frame has had capacity yet.
    pending: u64,
    /// Remaining granted bytes of the current frame.
    pub(super) allowance: u64,
    pub(super) serving: Option<Serving<B>>,
}

impl Demand {
    /// Returns the minimum time that a packet waits for its grant: the latency, or zero if some capacity needs no
    /// request.
    pub fn least_wait(&self) -> Duration {
        if self.constant.is_none() && self.free.is_none() { self.latency } else { Duration::ZERO }
    }

    /// Returns the number of frames between a request and its grant.
    fn frames(&self) -> u64 {
        self.latency.as_nanos() / self.frame.as_nanos()
    }

    /// Returns the time by which the frames of grants start after the frames of requests.
    fn shift(&self) -> Duration {
        Duration::from_nanos(self.latency.as_nanos() % self.frame.as_nanos())
    }

    /// Returns the bytes that a rate carries in the frame with this index, such that the sum over all frames is exact.
    fn share(&self, rate: Rate, number: u64) -> u64 {
        let until = |frames: u64| {
            let bits = u128::from(rate.as_bps()) * u128::from(self.frame.as_nanos()) * u128::from(frames);
            bits / 8_000_000_000
        };
        u64::try_from(until(number + 1) - until(number)).unwrap_or(u64::MAX)
    }

    /// Returns the constant and the free capacity of a frame, which need no request, and the total capacity, in bytes.
    fn standing(&self, number: u64) -> (u64, u64, u64) {
        let max = self.share(self.most, number);
        let constant = self.constant.map_or(0, |rate| self.share(rate, number)).min(max);
        (constant, self.free.map_or(0, |rate| self.share(rate, number)), max)
    }
}

impl<B> Assignment<B> {
    pub(super) fn new(demand: Demand) -> Self {
        let (constant, free, max) = demand.standing(0);
        Self {
            demand,
            request: 0,
            grant: 0,
            asked: VecDeque::new(),
            asked_bytes: 0,
            pending: 0,
            allowance: (constant + free).min(max),
            serving: None,
        }
    }

    /// Returns the start of the next frame of grants.
    pub(super) fn next_frame(&self) -> Instant {
        self.grant_time(self.grant)
    }

    fn grant_time(&self, number: u64) -> Instant {
        Instant::ZERO + self.demand.shift() + self.demand.frame * number
    }

    /// Advances to `now`, which never decreases. `waiting` is the number of bytes in the queue, without the packet in
    /// service.
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

    /// Requests capacity for the waiting data for which none has been requested yet.
    fn ask(&mut self, backlog: u64) {
        let wanted = backlog.saturating_sub(self.asked_bytes + self.pending + self.allowance);
        if wanted > 0 {
            self.asked.push_back((self.request + self.demand.frames(), wanted));
            self.asked_bytes += wanted;
        }
        self.request += 1;
    }

    /// Starts the next frame of grants; unused grants of the previous one expire.
    fn begin_frame(&mut self) {
        if self.asked.front().is_some_and(|(number, _)| *number <= self.grant)
            && let Some((_, bytes)) = self.asked.pop_front()
        {
            self.asked_bytes -= bytes;
            self.pending += bytes;
        }
        let (constant, free, max) = self.demand.standing(self.grant);
        let granted = self.pending.min(max - constant);
        self.pending -= granted;
        self.allowance = (constant + granted + free).min(max);
        self.grant += 1;
    }
}

#[cfg(test)]
mod tests;
