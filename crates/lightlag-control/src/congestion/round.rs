//! A round trip as seen by the sender, for algorithms that decide once a round trip.
//!
//! A round ends with the ACK that covers the first new data sent in it: all data of the round before is then
//! acknowledged. The ACK that ends a round still belongs to it.

use super::Ack;
use lightlag_core::Duration;

/// The current round.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    end: Option<u64>,
    seen: Samples,
}

/// The round-trip samples of a round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Samples {
    /// Their number.
    pub count: u32,
    /// The smallest; [`Duration::MAX`] if there is none.
    pub min: Duration,
    nanos: u64,
}

impl Samples {
    const NONE: Self = Self { count: 0, min: Duration::MAX, nanos: 0 };

    /// Their mean, if there are any. The mean of equal samples is exactly that sample.
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
    /// Takes in the sample of `ack`. Returns the samples of the round if the ACK ends it. The very first ACK only
    /// starts a round.
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

    /// Starts a round with this ACK, and drops the last one.
    pub fn restart(&mut self, ack: &Ack) {
        self.end = Some(ack.snd_nxt);
        self.forget();
    }

    /// Drops the samples so far; the round continues.
    pub fn forget(&mut self) {
        self.seen = Samples::NONE;
    }
}

#[cfg(test)]
mod tests;
