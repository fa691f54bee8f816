//! When an application has something to send, and how much: constant rate, on and off, messages.

use lightlag_core::own::Fault;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};
use lightlag_scenario::own_traffic::{Application, Question, Start};
use lightlag_scenario::{Flow, LARGEST_MESSAGE, Traffic, Transport, Varied};
use std::sync::Arc;

/// Data that an application still offers to its transport.
// What applications of many flows have in common is shared: whoever writes now and then is not found in any cache.
#[derive(Debug)]
pub(crate) struct Source {
    random: RandomStream,
    traffic: Arc<Traffic>,
    /// When the next message is offered; [`Instant::MAX`]: there is none.
    next: Instant,
    /// `None` of datagrams without end, one at a time: all that a sensor needs is above.
    more: Option<Box<More>>,
}

/// Parts that most sources of datagrams do not need.
#[derive(Debug)]
struct More {
    /// Of a constant rate, also on and off.
    stream: Option<Stream>,
    /// From outside.
    own: Option<OwnSource>,
    /// Bytes and times that are left.
    bytes: u64,
    times: u64,
    /// Messages that are left of those at the present time.
    left: u64,
    /// Bytes of all messages so far.
    taken: u64,
    transport: Transport,
    /// Whether somebody has said that there is no more.
    done: bool,
}

/// An application from outside, and its progress.
#[derive(Debug)]
struct OwnSource {
    application: Box<dyn Application>,
    messages: u64,
    /// Bytes of the next message.
    size: u64,
}

impl OwnSource {
    /// Asks for the message after the one at `now`, with `bytes` so far, and tells its time.
    fn ask(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        let message = self.application.next(&Question { now, messages: self.messages, bytes })?;
        self.messages += 1;
        self.size = message.size;
        Some(now + message.wait)
    }
}

/// Messages that make a rate while it is on.
#[derive(Debug)]
struct Stream {
    rate: Rate,
    sent: u64,
    /// Time for which it was on before `since`, when it last went on.
    served: Duration,
    since: Instant,
    /// When it goes off.
    end: Instant,
}

/// As good as never: twice the longest run.
const NEVER: Instant = Instant::from_nanos(40 * 24 * 3600 * 1_000_000_000);

/// Between two things that are drawn there is some time.
const LEAST: Duration = Duration::from_nanos(1);

impl Source {
    /// The source of a flow whose application does not write everything at once.
    pub(crate) fn new(flow: &Flow, seed: u64) -> Option<Self> {
        let mut random = RandomStream::new(seed, &format!("flow {} traffic", flow.name));
        let (mut next, mut times, mut left) = (flow.start, u64::MAX, 1);
        let mut own = None;
        let stream = |rate, end| Some(Stream { rate, sent: 0, served: Duration::ZERO, since: flow.start, end });
        let (stream, first) = match &*flow.traffic {
            Traffic::Collect(_) | Traffic::Bulk | Traffic::Transfers(_) | Traffic::Requests(_) | Traffic::Web(_) => {
                return None;
            }
            Traffic::Constant(constant) => (stream(constant.rate, NEVER), None),
            Traffic::OnOff(traffic) => {
                let end = flow.start + traffic.on.draw(&mut random).max(LEAST);
                (stream(traffic.rate, end), None)
            }
            Traffic::Periodic(periodic) => {
                times = periodic.count.unwrap_or(u64::MAX);
                (None, periodic.first.clone())
            }
            Traffic::Poisson(poisson) => {
                times = poisson.count.unwrap_or(u64::MAX);
                (None, Some(poisson.first.clone().unwrap_or_else(|| Varied::exponential(poisson.every))))
            }
            Traffic::Burst(burst) => {
                (times, left) = (burst.count.unwrap_or(u64::MAX), burst.messages);
                (None, burst.first.clone())
            }
            Traffic::Own(given) => {
                let (maker, values) = given.own.parts();
                let largest = (flow.transport == Transport::Udp).then_some(LARGEST_MESSAGE.0);
                let application = Arc::clone(maker).build(&Start { largest, seed: random.bits() }, values);
                own = Some(OwnSource { application, messages: 0, size: 0 });
                (None, None)
            }
        };
        if let Some(first) = first {
            next += first.draw(&mut random);
        }
        let (traffic, transport) = (flow.traffic.clone(), flow.transport);
        let bytes = flow.transfer.map_or(u64::MAX, |bytes| bytes.0);
        let first = own.as_mut().map_or(Some(next), |own| own.ask(next, 0));
        let is_simple = stream.is_none() && own.is_none() && (bytes, times, left) == (u64::MAX, u64::MAX, 1);
        let more = || Box::new(More { stream, own, bytes, times, left, taken: 0, transport, done: false });
        let is_sensor = is_simple && transport == Transport::Udp && !matches!(*traffic, Traffic::Burst(_));
        let mut source = Self { random, traffic, next, more: if is_sensor { None } else { Some(more()) } };
        source.schedule(first);
        Some(source)
    }

    /// Bytes of all messages, if the last of them is offered by `end`.
    pub(crate) fn total(mut self, end: Instant) -> Option<u64> {
        while let Some(next) = self.next() {
            if next > end {
                return None;
            }
            self.take();
        }
        Some(self.taken())
    }

    /// When the next message is offered; `None` if there is none any more.
    pub(crate) fn next(&self) -> Option<Instant> {
        (self.next != Instant::MAX).then_some(self.next)
    }

    /// The next message is offered at this time, if that is before the end of all.
    fn schedule(&mut self, next: Option<Instant>) {
        let stop = self.stop();
        self.next = next.filter(|next| *next < stop).unwrap_or(Instant::MAX);
    }

    /// Nothing is offered from then on.
    fn stop(&self) -> Instant {
        let stop = match &*self.traffic {
            Traffic::Constant(constant) => constant.stop,
            Traffic::OnOff(traffic) => traffic.stop,
            Traffic::Periodic(periodic) => periodic.stop,
            Traffic::Poisson(poisson) => poisson.stop,
            Traffic::Burst(burst) => burst.stop,
            Traffic::Own(given) => given.stop,
            _ => None,
        };
        stop.map_or(NEVER, |stop| Instant::ZERO + stop)
    }

    /// Takes the message that is due: its bytes.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn take(&mut self) -> u64 {
        let now = self.next().expect("there is a message");
        let size = match &*self.traffic {
            Traffic::Constant(constant) => constant.size,
            Traffic::OnOff(traffic) => traffic.size,
            Traffic::Periodic(periodic) => periodic.size.draw(&mut self.random),
            Traffic::Poisson(poisson) => poisson.size.draw(&mut self.random),
            Traffic::Burst(burst) => burst.size.draw(&mut self.random),
            Traffic::Own(_) => Bytes(self.more.as_ref().and_then(|more| more.own.as_ref()).map_or(0, |own| own.size)),
            _ => unreachable!("no source does what these do"),
        };
        let Some(more) = &mut self.more else {
            let next = self.after(now, false);
            self.schedule(next);
            return size.0.min(LARGEST_MESSAGE.0);
        };
        // Longer messages are cut.
        let most = if more.transport == Transport::Udp { LARGEST_MESSAGE.0 } else { u64::MAX };
        let size = size.0.min(more.bytes).min(most);
        more.taken += size;
        if more.bytes != u64::MAX {
            more.bytes -= size;
        }
        let next = self.next_of_more(now);
        self.schedule(next);
        size
    }

    /// Bytes of all messages so far, of a source that is not one of datagrams.
    pub(crate) fn taken(&self) -> u64 {
        self.more.as_ref().map_or(0, |more| more.taken)
    }

    /// Whether [`Self::finish`] was called.
    pub(crate) fn is_done(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.done)
    }

    /// The failure of an application from outside.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.more.as_ref()?.own.as_ref()?.application.fault()
    }

    /// Its end was told.
    pub(crate) fn finish(&mut self) {
        if let Some(more) = &mut self.more {
            more.done = true;
        }
    }

    /// When the message after the one at `now` is due, if there is an end to count to, or more than one at a time.
    fn next_of_more(&mut self, now: Instant) -> Option<Instant> {
        let more = self.more.as_mut()?;
        if more.bytes == 0 {
            return None;
        }
        if more.stream.is_some() {
            return self.after_in_stream();
        }
        if let Some(own) = &mut more.own {
            return own.ask(now, more.taken);
        }
        more.left -= 1;
        if more.left > 0 {
            return Some(now);
        }
        more.times -= 1;
        let is_last = more.times == 0;
        if let Traffic::Burst(burst) = &*self.traffic {
            more.left = burst.messages;
        } else {
            more.left = 1;
        }
        self.after(now, is_last)
    }

    /// When messages are due after those at `now`.
    fn after(&mut self, now: Instant, is_last: bool) -> Option<Instant> {
        let gap = match &*self.traffic {
            Traffic::Periodic(periodic) if !is_last => Some(periodic.every),
            Traffic::Poisson(poisson) if !is_last => Some(Varied::exponential(poisson.every).draw(&mut self.random)),
            Traffic::Burst(burst) => {
                let every = burst.every.as_ref().filter(|_| !is_last);
                every.map(|every| every.draw(&mut self.random))
            }
            _ => None,
        };
        Some(now + gap?.max(LEAST))
    }

    /// The same at a constant rate.
    fn after_in_stream(&mut self) -> Option<Instant> {
        let stop = self.stop();
        let (size, on_off) = match &*self.traffic {
            Traffic::Constant(constant) => (constant.size, None),
            Traffic::OnOff(traffic) => (traffic.size, Some((&traffic.on, &traffic.off))),
            _ => return None,
        };
        let Stream { rate, sent, served, since, end } = self.more.as_mut()?.stream.as_mut()?;
        *sent += 1;
        // How long it has been on when the next one is due, without the rounding of those before.
        let bits = u128::from(*sent) * u128::from(size.0) * 8;
        let due = bits * 1_000_000_000 / u128::from(rate.as_bps());
        let due = Duration::from_nanos(u64::try_from(due).unwrap_or(u64::MAX >> 1));
        while let Some((on, off)) = on_off
            && due >= *served + end.since(*since)
        {
            *served += end.since(*since);
            *since = *end + off.draw(&mut self.random).max(LEAST);
            *end = *since + on.draw(&mut self.random).max(LEAST);
            if *since >= stop {
                return None;
            }
        }
        let wait = due.saturating_sub(*served);
        (wait < NEVER.since(Instant::ZERO)).then(|| *since + wait)
    }
}

#[cfg(test)]
mod tests;
