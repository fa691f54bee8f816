//! The application of one connection, which discards, echoes, sends, or answers HTTP requests.

use super::http::Http;
use super::iperf::TestRequest;
use super::payload::{Payload, PayloadSource};
use super::report::{ConnectionReport, StallDetector};
use lightlag_core::{Duration, Instant};
use lightlag_host::{Shutdown, SocketError, SocketId, Stack};
use sha2::{Digest, Sha256};
use std::io;
use std::path::PathBuf;

/// The application of a connection.
#[derive(Clone, Debug)]
pub enum Role {
    /// Reads until the peer closes.
    Sink,
    /// Sends all received data back.
    Echo,
    /// Sends this payload, then closes its direction. Received data is read and counted.
    Send(PayloadSource),
    /// Answers requests for the files in a directory.
    Http(PathBuf),
    /// Acts as an iperf3 server, which handles all of its connections together.
    Iperf,
    /// Acts as an iperf3 client in a test with these settings.
    Test(TestRequest),
}

/// A pause during which the application does not read, so that the receive window closes.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub struct Pause {
    /// Number of bytes that are read before the pause.
    pub after: lightlag_core::Bytes,
    /// Duration of the pause.
    #[serde(rename = "for")]
    pub time: Duration,
}

/// Maximum number of bytes per read or write.
pub(super) const CHUNK: usize = 1 << 16;

/// Maximum number of bytes that an echo holds before it stops reading. Further data stays in the buffers of the
/// connection.
const ECHO: usize = 1 << 17;

enum Work {
    Sink,
    Echo,
    Send(Payload),
    Http(Http),
}

/// A connection with its application.
pub struct Session {
    pub(super) socket: SocketId,
    work: Work,
    outgoing: Outgoing,
    hash_in: Sha256,
    hash_out: Sha256,
    bytes_in: u64,
    bytes_out: u64,
    pause: Option<Pause>,
    paused_until: Option<Instant>,
    shut: bool,
    ended: bool,
    held: bool,
    error: Option<SocketError>,
    watch: StallDetector,
}

impl Session {
    /// Starts the application of a connection.
    ///
    /// # Errors
    /// If the file to send cannot be opened.
    pub fn new(now: Instant, socket: SocketId, role: &Role, pause: Option<Pause>) -> io::Result<Self> {
        let work = match role {
            // A connection of iperf3 gets its role once its cookie is known.
            Role::Sink | Role::Iperf | Role::Test(_) => Work::Sink,
            Role::Echo => Work::Echo,
            Role::Send(source) => Work::Send(source.open()?),
            Role::Http(folder) => Work::Http(Http::new(folder.clone())),
        };
        Ok(Self {
            socket,
            work,
            outgoing: Outgoing::default(),
            hash_in: Sha256::new(),
            hash_out: Sha256::new(),
            bytes_in: 0,
            bytes_out: 0,
            pause,
            paused_until: None,
            shut: false,
            ended: false,
            held: false,
            error: None,
            watch: StallDetector::new(now),
        })
    }

    /// Suspends or resumes sending.
    pub(super) fn hold(&mut self, on: bool) {
        self.held = on;
    }

    /// Ends the payload early. As after `close` in a kernel, the stack still sends the data that it has accepted, and
    /// then the FIN.
    pub(super) fn end_payload(&mut self) {
        self.outgoing = Outgoing::default();
        if let Work::Send(payload) = &mut self.work {
            payload.discard();
        }
    }

    /// Makes all progress that is possible now. Returns the report once the connection has ended. `chunk` is a buffer
    /// that is overwritten.
    ///
    /// # Errors
    /// If the file to send cannot be read.
    pub fn drive(&mut self, now: Instant, stack: &mut Stack, chunk: &mut [u8]) -> io::Result<Option<ConnectionReport>> {
        self.receive(now, stack, chunk)?;
        self.transmit(now, stack)?;
        self.watch.look(now, stack, self.socket, self.paused_until.is_some());
        let over = self.error.is_some() || self.ended && self.shut || self.shut && !stack.lingers(self.socket);
        if !over {
            return Ok(None);
        }
        let report = self.report(now, stack);
        // The end of the connection has been reported.
        let _ = stack.close(now, self.socket);
        Ok(Some(report))
    }

    /// Returns the time when the application has work to do even if no packet arrives; `None` if there is no such time.
    pub fn deadline(&self) -> Option<Instant> {
        self.paused_until
    }

    /// Returns the report on the connection so far.
    pub fn report(&self, now: Instant, stack: &Stack) -> ConnectionReport {
        let hashes = [&self.hash_in, &self.hash_out].map(|hash| hex(&hash.clone().finalize()));
        ConnectionReport::of(now, stack, self.socket, &self.watch, (self.bytes_in, self.bytes_out), hashes, self.error)
    }

    fn receive(&mut self, now: Instant, stack: &mut Stack, chunk: &mut [u8]) -> io::Result<()> {
        while !self.ended && self.error.is_none() && !self.is_paused(now) {
            if matches!(self.work, Work::Echo) && self.outgoing.rest().len() >= ECHO {
                break;
            }
            let len = self.may_read(chunk.len());
            match stack.read(self.socket, &mut chunk[..len]) {
                Ok(0) => self.ended = true,
                Ok(len) => self.take(now, &chunk[..len])?,
                Err(SocketError::WouldBlock) => break,
                Err(error) => self.error = Some(error),
            }
        }
        Ok(())
    }

    fn is_paused(&mut self, now: Instant) -> bool {
        if self.paused_until.is_some_and(|until| until <= now) {
            self.paused_until = None;
            self.watch.resume(now);
        }
        self.paused_until.is_some()
    }

    /// Returns the number of bytes that may be read, at most `limit`: fewer if a pause is to start after an exact
    /// number of bytes.
    fn may_read(&self, limit: usize) -> usize {
        let left = self.pause.map_or(u64::MAX, |pause| pause.after.0.saturating_sub(self.bytes_in).max(1));
        left.min(limit as u64) as usize
    }

    fn take(&mut self, now: Instant, data: &[u8]) -> io::Result<()> {
        self.bytes_in += data.len() as u64;
        self.hash_in.update(data);
        if let Some(pause) = self.pause.filter(|pause| self.bytes_in >= pause.after.0) {
            self.pause = None;
            self.paused_until = Some(now + pause.time);
        }
        match &mut self.work {
            Work::Sink | Work::Send(_) => {}
            Work::Echo => self.outgoing.bytes.extend_from_slice(data),
            Work::Http(http) => http.take(data, &mut self.outgoing.bytes)?,
        }
        Ok(())
    }

    fn transmit(&mut self, now: Instant, stack: &mut Stack) -> io::Result<()> {
        while !self.held {
            if self.outgoing.rest().is_empty() {
                match &mut self.work {
                    Work::Send(payload) => payload.next(CHUNK, &mut self.outgoing.bytes)?,
                    Work::Http(http) => http.next(CHUNK, &mut self.outgoing.bytes)?,
                    Work::Sink | Work::Echo => {}
                }
            }
            if self.outgoing.rest().is_empty() || self.error.is_some() {
                break;
            }
            match stack.write(now, self.socket, self.outgoing.rest()) {
                Ok(len) => {
                    self.hash_out.update(&self.outgoing.rest()[..len]);
                    self.bytes_out += len as u64;
                    self.outgoing.advance(len);
                }
                Err(SocketError::WouldBlock) => return Ok(()),
                Err(error) => self.error = Some(error),
            }
        }
        if self.outgoing.rest().is_empty() && self.finished() && !self.shut && self.error.is_none() {
            if stack.is_deferred(self.socket) {
                // There was nothing to send in the SYN.
                let _ = stack.write(now, self.socket, &[]);
            }
            self.shut = stack.shutdown(self.socket, Shutdown::Write).is_ok();
        }
        Ok(())
    }

    /// Returns true if all data has been sent.
    fn finished(&self) -> bool {
        match &self.work {
            Work::Sink | Work::Echo => self.ended,
            Work::Send(payload) => payload.is_empty(),
            Work::Http(http) => http.is_answered() || self.ended,
        }
    }
}

/// Bytes that are being sent.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// Number of these bytes that the stack has accepted.
    sent: usize,
}

impl Outgoing {
    /// Returns the bytes that the stack has not accepted.
    fn rest(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Records that the stack has accepted `len` more bytes. Accepted bytes are removed even before all of them are
    /// accepted, because that may never happen in one call.
    fn advance(&mut self, len: usize) {
        self.sent += len;
        if self.sent == self.bytes.len() || self.sent >= CHUNK {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_bytes_are_forgotten_although_others_wait() {
        let mut outgoing = Outgoing::default();
        let mut sent = Vec::new();
        for part in 0..10_000_u32 {
            outgoing.bytes.extend(part.to_be_bytes().repeat(100));
            let len = outgoing.rest().len() - 1;
            sent.extend_from_slice(&outgoing.rest()[..len]);
            outgoing.advance(len);
            assert!(outgoing.bytes.len() <= CHUNK + 400);
        }
        assert_eq!(outgoing.rest().len(), 1);
        assert!((0..10_000_u32).flat_map(|part| part.to_be_bytes().repeat(100)).eq(sent.into_iter().chain([0x0f])));
    }
}
