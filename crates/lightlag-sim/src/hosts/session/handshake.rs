//! The TLS handshake of a connection: flights of bytes that the client and the server write in turn.

use lightlag_traffic::Setup;

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Client,
    Server,
}

/// Progress of a handshake.
#[derive(Debug)]
pub(super) struct Handshake {
    /// Sizes of the flights in bytes, alternating, the client's first.
    flights: Vec<u64>,
    /// Number of flights written so far.
    written: usize,
    /// Offset in its stream where the last flight that was written ends.
    end: u64,
    is_early: bool,
}

impl Handshake {
    /// Returns the handshake of a connection; `None` without TLS. `resumes`: the client has a session with the host.
    pub(super) fn new(setup: &Setup, resumes: bool) -> Option<Self> {
        let flights = setup.flights(resumes);
        (!flights.is_empty()).then(|| Self { flights, written: 0, end: 0, is_early: setup.is_early() })
    }

    /// Returns the total size of the server's flights, which precede its responses.
    pub(super) fn of_server(&self) -> u64 {
        self.flights.iter().skip(1).step_by(2).sum()
    }

    /// Returns true if the client may send requests once it has received `received` bytes.
    pub(super) fn lets_requests_pass(&self, received: u64) -> bool {
        self.is_early && self.written > 0 || received >= self.of_server()
    }

    /// Returns the size of the next flight, if it is for this end to write after it has received `received` bytes.
    /// `sent` is the number of bytes that this end has written before.
    pub(super) fn next(&mut self, side: Side, received: u64, sent: u64) -> Option<u64> {
        let of_side = if self.written.is_multiple_of(2) { Side::Client } else { Side::Server };
        let flight = *self.flights.get(self.written)?;
        if of_side != side || received < self.end {
            return None;
        }
        self.written += 1;
        self.end = sent + flight;
        Some(flight)
    }
}
