//! Applications at the ends of flows that do more than write everything and read at once.

use crate::hosts::source::Source;
use lightlag_core::own::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_scenario::Reader;
use lightlag_transport::Stream;

/// An application that has something to do by itself.
#[derive(Debug)]
pub(crate) enum Application {
    /// It does not read at once.
    Reads(Reading),
    /// It reads at once, and does without the bytes that are skipped.
    Skips,
    /// It writes now and then.
    Writes(Source),
    /// It asks in a dialogue.
    Asks(Talk),
    /// It answers in a dialogue.
    Answers(Talk),
}

/// An end of a connection of a dialogue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    /// Index of the dialogue, and of the connection in it.
    pub(crate) dialogue: u32,
    pub(crate) line: u32,
    /// Instant at which it wants to be woken.
    pub(crate) due: Option<Instant>,
}

impl Application {
    /// Instant at which it has something to do.
    #[cold]
    pub(crate) fn next(&self, connection: &impl Stream) -> Option<Instant> {
        match self {
            Self::Reads(reading) => reading.next(connection),
            Self::Skips => None,
            // A connection that has ended takes no more data.
            Self::Writes(source) => source.next().filter(|_| !connection.is_over()),
            Self::Asks(talk) | Self::Answers(talk) => talk.due,
        }
    }

    /// The failure of one from outside.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        if let Self::Writes(source) = self { source.fault() } else { None }
    }

    /// Reads what is due.
    #[cold]
    pub(crate) fn read(&mut self, now: Instant, connection: &mut impl Stream) {
        if let Self::Reads(reading) = self {
            reading.advance(now, connection);
        }
    }
}

/// A byte in bits times nanoseconds a second: its price at 1 bit/s.
const BYTE: u128 = 8_000_000_000;

/// The progress of an application that reads.
#[derive(Debug)]
pub(crate) enum Reading {
    /// It reads `bps` bits a second. Since `since` it has earned more, and `rest` of a byte before.
    Steady { bps: u64, since: Instant, rest: u128 },
    /// It reads up to `burst` bytes at `next`, and then once in `every`.
    Bursts { burst: u64, every: Duration, next: Instant },
}

impl Reading {
    pub(crate) fn new(reader: Reader, start: Instant) -> Self {
        match reader {
            Reader::Steady { rate } => Self::Steady { bps: rate.as_bps(), since: start, rest: 0 },
            Reader::Bursts { burst, every } => Self::Bursts { burst: burst.0, every, next: start + every },
        }
    }

    /// Reads what is due. To be called before more arrives: an application earns nothing while there is nothing.
    pub(crate) fn advance(&mut self, now: Instant, connection: &mut impl Stream) {
        match self {
            Self::Steady { bps, since, rest } => {
                let earned = u128::from(now.since((*since).min(now)).as_nanos()) * u128::from(*bps) + *rest;
                let bytes = u64::try_from(earned / BYTE).unwrap_or(u64::MAX);
                connection.read(bytes);
                *rest = if connection.unread() > 0 { earned % BYTE } else { 0 };
                *since = now;
            }
            Self::Bursts { burst, every, next } => {
                if *next <= now {
                    connection.read(*burst);
                    let missed = now.since(*next).as_nanos() / every.as_nanos();
                    *next += *every * (missed + 1);
                }
            }
        }
    }

    /// Instant at which it must be woken, because the peer may then have to hear of a wider window.
    pub(crate) fn next(&self, connection: &impl Stream) -> Option<Instant> {
        match self {
            Self::Steady { bps, since, rest } => {
                let bytes = connection.until_update()?.max(1);
                let wait = (u128::from(bytes) * BYTE - rest).div_ceil(u128::from(*bps));
                Some(*since + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX >> 1)))
            }
            Self::Bursts { next, .. } => (connection.unread() > 0).then_some(*next),
        }
    }
}
