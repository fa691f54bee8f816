//! The byte streams of a connection, as an application uses them.

/// An ordered stream of bytes in each direction. Bytes are counted, not carried.
pub trait Stream {
    /// Appends so many bytes to the stream; [`u64::MAX`] means without end.
    fn write(&mut self, bytes: u64);

    /// Finishes the local stream after the bytes written so far.
    fn close(&mut self);

    /// Makes the application read by [`Self::read`]. Without this call it reads at once.
    fn read_later(&mut self);

    /// Reads up to `bytes`. Returns the number of bytes read.
    fn read(&mut self, bytes: u64) -> u64;

    /// Returns the number of bytes that have arrived in order and have not been read.
    fn unread(&self) -> u64;

    /// Returns the number of bytes to read until the peer must hear of a wider window; `None` if it need not before more data
    /// arrives.
    fn until_update(&self) -> Option<u64>;

    /// Returns the number of bytes that have arrived in order, with holes that the receiver skipped.
    fn received(&self) -> u64;

    /// Returns the number of bytes that have arrived in order, without such holes.
    fn delivered(&self) -> u64;

    /// Returns the number of bytes accepted, in order or not, with holes that the receiver skipped.
    fn held(&self) -> u64;

    /// Returns the number of bytes that the peer has acknowledged.
    fn acknowledged(&self) -> u64;

    /// Returns the number of bytes that this end has acknowledged.
    fn confirmed(&self) -> u64;

    /// Returns true if the peer's stream is finished and all of it has arrived.
    fn peer_closed(&self) -> bool;

    /// Returns true if the connection takes no more data, because it is over.
    fn is_over(&self) -> bool;

    /// Returns true if the local stream is finished and all of it has been sent at least once.
    fn has_sent_everything(&self) -> bool;

    /// Returns true if everything sent so far is acknowledged and nothing waits.
    fn all_acknowledged(&self) -> bool;
}
