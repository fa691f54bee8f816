//! The byte streams of a connection, as an application uses them.

/// An ordered stream of bytes in each direction. Bytes are counted, not carried.
pub trait Stream {
    /// Appends `bytes` to the local stream; [`u64::MAX`] means an endless stream.
    fn write(&mut self, bytes: u64);

    /// Finishes the local stream after the bytes written so far.
    fn close(&mut self);

    /// Makes the application read only through [`Self::read`]. Without this call, data is read as it arrives.
    fn read_later(&mut self);

    /// Reads up to `bytes`, and returns the number of bytes read.
    fn read(&mut self, bytes: u64) -> u64;

    /// Returns the number of bytes that have arrived in order and have not been read.
    fn unread(&self) -> u64;

    /// Returns the number of bytes that the application must read before a window update is due; `None` if reading
    /// alone, without the arrival of more data, makes no update due.
    fn until_update(&self) -> Option<u64>;

    /// Returns the number of bytes that have arrived in order. Holes that the receiver skipped count as if they had
    /// arrived.
    fn received(&self) -> u64;

    /// Returns the number of bytes that have arrived in order, without the holes that the receiver skipped.
    fn delivered(&self) -> u64;

    /// Returns the number of bytes accepted, in order or not. Holes that the receiver skipped count as if they had
    /// arrived.
    fn held(&self) -> u64;

    /// Returns the number of bytes that the peer has acknowledged.
    fn acknowledged(&self) -> u64;

    /// Returns the number of bytes that this end has acknowledged.
    fn confirmed(&self) -> u64;

    /// Returns true if the peer's stream is finished and all of it has arrived.
    fn peer_closed(&self) -> bool;

    /// Returns true if the connection takes no more data, because it is closed.
    fn is_over(&self) -> bool;

    /// Returns true if the local stream is finished and all of it has been sent at least once.
    fn has_sent_everything(&self) -> bool;

    /// Returns true if everything that was sent is acknowledged and nothing waits to be sent.
    fn all_acknowledged(&self) -> bool;
}
