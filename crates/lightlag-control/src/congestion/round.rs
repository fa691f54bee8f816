//! A round trip as the sender sees it, for algorithms that decide once a round trip.
//!
//! A round ends with the ACK that covers what was the next new data when the round began: everything sent in the
//! round before is then acknowledged. The ACK that ends a round still belongs to it.

use super::Ack;
use lightlag_core::Duration;

/// The round that is under way.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    end: Option<u64>,
    seen: Samples,
}

/// The round-trip samples of a round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Samples {
    /// How many.
    pub count: u32,
    /// The smallest; [`Duration::MAX`] if there is none.
    pub min: Duration,
    nanos: u64,
}

impl Samples {
    const NONE: Self = Self { count: 0, min: Duration::MAX, nanos: 0 };

    /// Their mean, if there are any. Of equal samples it is exactly that sample.
    pub fn mean(&self) -> Option<Duration> {
        self.nanos.checked_div(self.count.into()).map(Duration::from_nanos)
    }
}

impl Default for Round {
    fn default() -> Self {
        Self { end: None, seen: Samples::NONE }
    }
}

impl Round {
    /// Takes the sample of `ack`. The samples of the round, if the ACK ends it; the very first ACK only begins one.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<Samples> {
        if let Some(rtt) = ack.rtt {
            self.seen.count += 1;
            self.seen.min = self.seen.min.min(rtt);
            self.seen.nanos += rtt.as_nanos();
        }
        if self.end.is_some_and(|end| ack.snd_una < end) {
            return None;
        }
        let ended = self.end.replace(ack.snd_nxt).map(|_| self.seen);
        self.forget();
        ended
    }

    /// Begins a round with this ACK, whatever became of the last one.
    pub fn restart(&mut self, ack: &Ack) {
        self.end = Some(ack.snd_nxt);
        self.forget();
    }

    /// Forgets the samples so far; the round goes on.
    pub fn forget(&mut self) {
        self.seen = Samples::NONE;
    }
}

#[cfg(test)]
mod tests;
