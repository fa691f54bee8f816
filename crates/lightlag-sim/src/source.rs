//! When an application has something to send, and how much: constant rate, on and off, messages.

use crate::scenario::{Flow, LARGEST_MESSAGE, Traffic, Transport, Varied};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};

/// What an application still offers to its transport.
#[derive(Debug)]
pub(crate) struct Source {
    pattern: Pattern,
    random: RandomStream,
    /// When the next message is offered, if there is one.
    next: Option<Instant>,
    /// Nothing is offered from then on.
    stop: Instant,
    /// Bytes and times that are left.
    bytes: u64,
    times: u64,
    /// Bytes of all messages so far.
    taken: u64,
    /// Whether somebody has said that there is no more.
    done: bool,
    /// Longer messages are cut.
    most: u64,
}

#[derive(Debug)]
enum Pattern {
    /// Messages of `size` so that they make `rate` while it is on. `served`: how long it was on before `since`, when
    /// it last went on; `end`: when it goes off.
    Stream { rate: Rate, size: u64, sent: u64, since: Instant, served: Duration, end: Instant, on_off: Option<OnOff> },
    /// So many messages at once, and again after a gap. `left`: those of the present time.
    Messages { size: Varied<Bytes>, gap: Option<Varied<Duration>>, together: u64, left: u64 },
}

#[derive(Debug)]
struct OnOff {
    on: Varied<Duration>,
    off: Varied<Duration>,
}

/// As good as never: twice the longest run.
const NEVER: Instant = Instant::from_nanos(40 * 24 * 3600 * 1_000_000_000);

/// Between two things that are drawn there is some time.
const LEAST: Duration = Duration::from_nanos(1);

impl Source {
    /// What the flow's application does, if it does not write everything at once.
    pub(crate) fn new(flow: &Flow, seed: u64) -> Option<Self> {
        let mut random = RandomStream::new(seed, &format!("flow {} traffic", flow.name));
        let (mut next, mut times, mut end) = (flow.start, u64::MAX, NEVER);
        let messages = |size: &Varied<Bytes>, gap: Option<Varied<Duration>>, together| Pattern::Messages {
            size: size.clone(),
            gap,
            together,
            left: together,
        };
        let mut stream = |rate, size: Bytes, on_off: Option<OnOff>| {
            if let Some(OnOff { on, .. }) = &on_off {
                end = flow.start + on.draw(&mut random).max(LEAST);
            }
            Pattern::Stream { rate, size: size.0, sent: 0, since: flow.start, served: Duration::ZERO, end, on_off }
        };
        let (pattern, first, stop) = match &*flow.traffic {
            Traffic::Collect(_) | Traffic::Bulk | Traffic::Transfers(_) | Traffic::Requests(_) | Traffic::Web(_) => {
                return None;
            }
            Traffic::Constant(constant) => (stream(constant.rate, constant.size, None), None, constant.stop),
            Traffic::OnOff(traffic) => {
                let on_off = OnOff { on: traffic.on.clone(), off: traffic.off.clone() };
                (stream(traffic.rate, traffic.size, Some(on_off)), None, traffic.stop)
            }
            Traffic::Periodic(periodic) => {
                times = periodic.count.unwrap_or(u64::MAX);
                let gap = Varied::constant(periodic.every);
                (messages(&periodic.size, Some(gap), 1), periodic.first.clone(), periodic.stop)
            }
            Traffic::Poisson(poisson) => {
                times = poisson.count.unwrap_or(u64::MAX);
                let gap = Varied::exponential(poisson.every);
                let first = poisson.first.clone().unwrap_or_else(|| gap.clone());
                (messages(&poisson.size, Some(gap), 1), Some(first), poisson.stop)
            }
            Traffic::Burst(burst) => {
                times = burst.count.unwrap_or(u64::MAX);
                (messages(&burst.size, burst.every.clone(), burst.messages), burst.first.clone(), burst.stop)
            }
        };
        if let Some(first) = first {
            next += first.draw(&mut random);
        }
        let stop = stop.map_or(NEVER, |stop| Instant::ZERO + stop);
        let most = if flow.transport == Transport::Udp { LARGEST_MESSAGE } else { Bytes(u64::MAX) }.0;
        let bytes = flow.transfer.map_or(u64::MAX, |bytes| bytes.0);
        Some(Self {
            pattern,
            random,
            next: Some(next).filter(|next| *next < stop),
            stop,
            bytes,
            times,
            taken: 0,
            done: false,
            most,
        })
    }

    /// When the next message is offered; `None` if there is none any more.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Takes the message that is due: its bytes.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn take(&mut self) -> u64 {
        let now = self.next.expect("there is a message");
        let size = match &mut self.pattern {
            Pattern::Stream { size, .. } => *size,
            Pattern::Messages { size, .. } => size.draw(&mut self.random).0,
        };
        let size = size.min(self.bytes).min(self.most);
        self.taken += size;
        if self.bytes != u64::MAX {
            self.bytes -= size;
        }
        let next = if self.bytes == 0 { None } else { self.after(now) };
        self.next = next.filter(|next| *next < self.stop);
        size
    }

    /// Bytes of all messages so far.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether [`Self::finish`] was called.
    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Its end was told.
    pub(crate) fn finish(&mut self) {
        self.done = true;
    }

    /// When the message after the one at `now` is due.
    fn after(&mut self, now: Instant) -> Option<Instant> {
        match &mut self.pattern {
            Pattern::Messages { gap, together, left, .. } => {
                *left -= 1;
                if *left > 0 {
                    return Some(now);
                }
                *left = *together;
                self.times -= 1;
                let gap = gap.as_ref().filter(|_| self.times > 0)?;
                Some(now + gap.draw(&mut self.random).max(LEAST))
            }
            Pattern::Stream { rate, size, sent, since, served, end, on_off } => {
                *sent += 1;
                // How long it has been on when the next one is due, without the rounding of those before.
                let bits = u128::from(*sent) * u128::from(*size) * 8;
                let due = bits * 1_000_000_000 / u128::from(rate.as_bps());
                let due = Duration::from_nanos(u64::try_from(due).unwrap_or(u64::MAX >> 1));
                while let Some(OnOff { on, off }) = on_off
                    && due >= *served + end.since(*since)
                {
                    *served += end.since(*since);
                    *since = *end + off.draw(&mut self.random).max(LEAST);
                    *end = *since + on.draw(&mut self.random).max(LEAST);
                    if *since >= self.stop {
                        return None;
                    }
                }
                let wait = due.saturating_sub(*served);
                (wait < NEVER.since(Instant::ZERO)).then(|| *since + wait)
            }
        }
    }
}

#[cfg(test)]
mod tests;
