//! A round trip as seen by the sender, for algorithms that decide once per round trip.
//!
//! A round ends with the ACK that covers the first new data sent in it; all data of the previous round is then
//! acknowledged. The ACK that ends a round still belongs to that round.

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
    /// Number of samples.
    pub count: u32,
    /// Minimum sample; [`Duration::MAX`] if there is none.
    pub min: Duration,
    nanos: u64,
}

impl Samples {
    const NONE: Self = Self { count: 0, min: Duration::MAX, nanos: 0 };

    /// Returns the mean of the samples; `None` if there is none. The mean of equal samples is exactly that sample.
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
    /// Adds the sample of `ack`. Returns the samples of the round if the ACK ends it. The first ACK of the connection
    /// only starts a round.
    pub fn on_ack(&mut self, ack: &Ack) -> Option<Samples> {
        self.take_in(ack);
        self.ended(ack, |end| ack.snd_una >= end)
    }

    /// Adds the sample of `ack`, an ACK that cannot end the round.
    pub fn take_in(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.seen.count += 1;
            self.seen.min = self.seen.min.min(rtt);
            self.seen.nanos += rtt.as_nanos();
        }
    }

    /// As [`Self::on_ack`], but the round ends only when data that was sent after its start is acknowledged, as with
    /// `after(ack, end_seq)` in Linux. With a constant window and an ACK per segment, such a round lasts exactly a
    /// round-trip time; a round of [`Self::on_ack`] is shorter by a segment.
    pub fn on_ack_beyond(&mut self, ack: &Ack) -> Option<Samples> {
        self.take_in(ack);
        self.ended(ack, |end| ack.snd_una > end)
    }

    fn ended(&mut self, ack: &Ack, is_over: impl Fn(u64) -> bool) -> Option<Samples> {
        if self.end.is_some_and(|end| !is_over(end)) {
            return None;
        }
        let ended = self.end.replace(ack.snd_nxt).map(|_| self.seen);
        self.forget();
        ended
    }

    /// Starts a round with this ACK, and drops the samples of the last one.
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
