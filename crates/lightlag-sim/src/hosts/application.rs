//! Applications of endpoints that do more than write all data at the start and read immediately.

use crate::hosts::source::TrafficSource;
use lightlag_core::custom::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_net::TunnelEndId;
use lightlag_scenario::Reader;
use lightlag_transport::Stream;

/// An application with its own events.
#[derive(Debug)]
pub(crate) enum Application {
    /// Reads with a delay.
    Reads(Reading),
    /// Reads immediately, and skips holes in the stream.
    Skips,
    /// Writes messages over time.
    Writes(TrafficSource),
    /// Client of a dialogue.
    Asks(Exchange),
    /// Server of a dialogue.
    Answers(Exchange),
    /// Sink that stores messages.
    Forwards(Forwarding),
    /// Program of a proxy that runs some time after an event.
    Wakes(Waking),
    /// End of a tunnel.
    Tunnels(TunnelEndId),
}

/// The runs of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waking {
    /// Time from an event until the program runs.
    pub(crate) after: Duration,
    /// Time of the next run, if there was an event.
    pub(crate) due: Option<Instant>,
}

impl Waking {
    /// Returns false if the program runs now. Otherwise its run after this event is planned.
    pub(crate) fn puts_off(&mut self, now: Instant) -> bool {
        if self.due.is_some_and(|due| due <= now) {
            self.due = None;
            return false;
        }
        self.due.get_or_insert(now + self.after);
        true
    }
}

/// The sender of a sink that stores messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forwarding {
    /// Index of the collector.
    pub(crate) collector: u32,
    /// Start of the next contact, if messages wait for it.
    pub(crate) due: Option<Instant>,
}

/// The position of an endpoint in a dialogue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    /// Index of the dialogue, and index of the connection in it.
    pub(crate) dialogue: u32,
    pub(crate) line: u32,
    /// Time of the next event of the endpoint.
    pub(crate) due: Option<Instant>,
}

impl Application {
    /// Returns the time of the application's next event.
    #[cold]
    pub(crate) fn next(&self, connection: &impl Stream) -> Option<Instant> {
        match self {
            Self::Reads(reading) => reading.next(connection),
            Self::Skips | Self::Tunnels(_) => None,
            // A connection that has ended takes no more data.
            Self::Writes(source) => source.next().filter(|_| !connection.is_over()),
            Self::Asks(talk) | Self::Answers(talk) => talk.due,
            Self::Forwards(forwarding) => forwarding.due.filter(|_| !connection.is_over()),
            Self::Wakes(waking) => waking.due,
        }
    }

    /// Returns the failure of the application, if it is custom and has failed.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        if let Self::Writes(source) = self { source.fault() } else { None }
    }

    /// Reads the bytes that are due.
    #[cold]
    pub(crate) fn read(&mut self, now: Instant, connection: &mut impl Stream) {
        if let Self::Reads(reading) = self {
            reading.advance(now, connection);
        }
    }
}

/// Cost of reading a byte in credit, which accumulates in bits/s times nanoseconds.
const BYTE: u128 = 8_000_000_000;

/// The progress of an application that reads with a delay.
#[derive(Debug)]
pub(crate) enum Reading {
    /// Reads `bps` bits per second. Credit accumulates since `since`; `rest` is the credit for a fraction of a byte
    /// that was left before.
    Steady { bps: u64, since: Instant, rest: u128 },
    /// Reads up to `burst` bytes at the time `next`, and again after each interval `every`.
    Bursts { burst: u64, every: Duration, next: Instant },
}

impl Reading {
    pub(crate) fn new(reader: Reader, start: Instant) -> Self {
        match reader {
            Reader::Steady { rate } => Self::Steady { bps: rate.as_bps(), since: start, rest: 0 },
            Reader::Bursts { burst, every } => Self::Bursts { burst: burst.0, every, next: start + every },
        }
    }

    /// Reads the bytes that are due. Call it before more data arrives, because no credit accumulates while there is no
    /// data.
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

    /// Returns the time of the next event, when reading may widen the window enough to announce it to the peer.
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
