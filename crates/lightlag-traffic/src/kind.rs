//! The traits of a kind of traffic, and the settings that several kinds share.

use crate::Stream;
use lightlag_core::params::Setting;
use lightlag_core::{Bytes, Duration, Instant, RandomStream};
use std::fmt::Debug;

/// A time that no run reaches: twice the maximum duration.
pub(crate) const NEVER: Instant = Instant::from_nanos(40 * 24 * 3600 * 1_000_000_000);

/// Minimum time between two random events.
pub(crate) const LEAST: Duration = Duration::from_nanos(1);

/// A kind of traffic.
pub trait TrafficKind {
    /// Returns true if sizes or times of the application are random.
    fn is_random(&self) -> bool;

    /// Returns true if the application may end by itself, before a transfer is complete.
    fn ends(&self) -> bool;
}

/// A kind of traffic whose application writes messages over time. It needs no connection.
pub trait Messages: TrafficKind {
    /// The state of an application between its messages, in addition to its [`Progress`].
    type Memory: Default + Debug + Send;

    /// Returns the time of the first message of an application that starts at `start`. Messages are limited to
    /// `largest` bytes, if given.
    fn first(
        &self,
        memory: &mut Self::Memory,
        start: Instant,
        largest: Option<Bytes>,
        random: &mut RandomStream,
    ) -> Option<Instant>;

    /// Returns the size of the message that is due, in bytes.
    fn size(&self, memory: &Self::Memory, random: &mut RandomStream) -> Bytes;

    /// Returns the time of the message after the one at `progress.now`; `None` after the last one.
    fn next(&self, memory: &mut Self::Memory, progress: &Progress, random: &mut RandomStream) -> Option<Instant>;

    /// Returns the time of the run when sending stops, if there is one.
    fn stop(&self) -> Option<Duration>;

    /// Returns the maximum size of a message; if it is unlimited, the mean size.
    fn largest(&self) -> Bytes;

    /// Returns the rate and the size of the messages, if all messages are equal and at equal intervals.
    fn stream(&self) -> Option<Stream> {
        None
    }

    /// Returns true if the next message depends only on the settings and the time. To save memory in scenarios with
    /// thousands of such applications, their memory and progress are not stored.
    fn is_memoryless(&self) -> bool {
        false
    }

    /// Returns the time when sending stops.
    #[inline]
    fn end(&self) -> Instant {
        self.stop().map_or(NEVER, |stop| Instant::ZERO + stop)
    }
}

/// Returns the time of a message if it is before the end; otherwise `None`.
#[inline]
pub(crate) fn before_end(kind: &impl Messages, next: Option<Instant>) -> Option<Instant> {
    next.filter(|next| *next < kind.end())
}

/// The progress of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Start of the flow.
    pub start: Instant,
    /// Time of the last message.
    pub now: Instant,
    /// Number of messages so far.
    pub messages: u64,
    /// Bytes of the messages so far.
    pub bytes: u64,
}

/// Returns the setting `stop`.
pub(crate) fn stop<C: Clone + 'static>(field: fn(&mut C) -> &mut Option<Duration>) -> Setting<C> {
    Setting::time_above_zero("stop", field, "0 s is the start of the run: nothing is sent; write a later time")
        .about("Time of the run when sending stops.")
}

/// Returns the setting `count`.
pub(crate) fn count<C: Clone + 'static>(field: fn(&mut C) -> &mut Option<u64>) -> Setting<C> {
    Setting::amount("count", field, "0 sends nothing; write the number of messages, or omit it")
        .about("Number of messages; unlimited if omitted.")
}
