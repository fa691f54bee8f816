//! Several streams in one connection, as an application uses them.

use lightlag_core::Instant;

/// A connection whose application uses several streams. Streams have the IDs of RFC 9000 §2.1, and the first write on a
/// stream of this end opens it. Bytes are counted, not carried. They are read as they arrive, except after
/// [`Stream::read_later`](crate::Stream::read_later).
pub trait Multiplexed {
    /// Returns the number of bidirectional streams that the peer permits this end to open, in total since the start.
    fn permitted(&self) -> u64;

    /// Appends `bytes` to a stream. `is_last` finishes it after these bytes.
    fn write_on(&mut self, stream: u64, bytes: u64, is_last: bool);

    /// Sets the priority of a stream that is open.
    fn prioritise(&mut self, stream: u64, priority: Priority);

    /// Returns the next stream with data that has arrived in order since the last call.
    fn next_arrival(&mut self) -> Option<StreamArrival>;

    /// Reads up to `bytes` that have arrived in order on a stream. Returns the number of bytes read, and true if the
    /// stream has ended and all of it was read.
    fn read_on(&mut self, now: Instant, stream: u64, bytes: u64) -> (u64, bool);

    /// Returns the number of bytes written on a stream that are not acknowledged in order.
    fn kept_on(&self, stream: u64) -> u64;

    /// Records whether the peer's application has data for further streams, which this end does not permit yet. It only
    /// affects the report of this end.
    fn peer_waits(&mut self, now: Instant, waits: bool);
}

/// Priority of a stream among the streams of its connection with new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Priority {
    /// Streams with a higher level are sent first.
    pub level: i32,
    /// Whether the stream takes turns with others of its level, packet by packet; otherwise it is sent completely before
    /// the next one.
    pub is_incremental: bool,
}

/// Arrival of data on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamArrival {
    /// Stream ID.
    pub stream: u64,
    /// Number of bytes that have arrived in order since the stream was opened.
    pub received: u64,
}
