//! The application of one connection: discard, echo, send, or answer HTTP.

use super::http::Http;
use super::iperf::Test;
use super::payload::{Payload, Source};
use super::report::{Report, Watch};
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
    /// Sends everything back.
    Echo,
    /// Sends this payload, then closes. Reads and counts received data meanwhile.
    Send(Source),
    /// Answers requests for the files in a folder.
    Http(PathBuf),
    /// Acts as a server of iperf3, whose connections belong together.
    Iperf,
    /// Acts as a client of iperf3.
    Test(Test),
}

/// A pause of the reader, which closes the window.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub struct Pause {
    /// Number of bytes read before it.
    pub after: lightlag_core::Bytes,
    /// Its length.
    #[serde(rename = "for")]
    pub time: Duration,
}

/// The most bytes read or written at once.
pub(super) const CHUNK: usize = 1 << 16;

/// The most bytes that an echo holds before it stops reading. The buffers of the connection hold the rest.
const ECHO: usize = 1 << 17;

enum Work {
    Sink,
    Echo,
    Send(Payload),
    Http(Http),
}

/// One connection and its application.
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
    watch: Watch,
}

impl Session {
    /// Starts the application of a connection.
    ///
    /// # Errors
    /// If the file that is to be sent cannot be opened.
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
            watch: Watch::new(now),
        })
    }

    /// Suspends or resumes sending.
    pub(super) fn hold(&mut self, on: bool) {
        self.held = on;
    }

    /// Ends the payload early. The stack still sends the data that it has accepted, and then the end of the stream, as
    /// a kernel does after `close`.
    pub(super) fn end_payload(&mut self) {
        self.outgoing = Outgoing::default();
        if let Work::Send(payload) = &mut self.work {
            payload.discard();
        }
    }

    /// Does everything possible now. Returns the report once the connection is over. `chunk` is overwritten.
    ///
    /// # Errors
    /// If the file that is being sent cannot be read.
    pub fn drive(&mut self, now: Instant, stack: &mut Stack, chunk: &mut [u8]) -> io::Result<Option<Report>> {
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

    /// Time at which there is work even if no packet arrives.
    pub fn deadline(&self) -> Option<Instant> {
        self.paused_until
    }

    /// The report of the connection so far.
    pub fn report(&self, now: Instant, stack: &Stack) -> Report {
        let hashes = [&self.hash_in, &self.hash_out].map(|hash| hex(&hash.clone().finalize()));
        Report::of(now, stack, self.socket, &self.watch, (self.bytes_in, self.bytes_out), hashes, self.error)
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

    /// Number of bytes that may be read: a pause starts after an exact number of bytes.
    fn may_read(&self, most: usize) -> usize {
        let left = self.pause.map_or(u64::MAX, |pause| pause.after.0.saturating_sub(self.bytes_in).max(1));
        left.min(most as u64) as usize
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

    /// Whether all data has been sent.
    fn finished(&self) -> bool {
        match &self.work {
            Work::Sink | Work::Echo => self.ended,
            Work::Send(payload) => payload.is_empty(),
            Work::Http(http) => http.is_answered() || self.ended,
        }
    }
}

/// Bytes to be sent.
#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    /// Number of them that the stack has accepted.
    sent: usize,
}

impl Outgoing {
    /// The bytes that the stack has not accepted.
    fn rest(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Notes that the stack has accepted this many more. A connection may never accept everything at once, so the
    /// accepted bytes are removed in between, too.
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
