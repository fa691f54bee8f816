//! The control connection of a test, which carries one-byte steps and JSON.

use lightlag_core::Instant;
use lightlag_host::{SocketError, SocketId, Stack};

/// Maximum accepted length of JSON, in bytes.
const LONGEST: usize = 1 << 16;

/// One end of a control connection.
pub(super) struct ControlConnection {
    pub(super) socket: SocketId,
    /// Received bytes that have not been processed.
    incoming: Vec<u8>,
    /// Bytes that have not been passed to the stack.
    outgoing: Vec<u8>,
    /// Whether the connection has ended, or the peer has violated the protocol.
    pub(super) is_over: bool,
}

impl ControlConnection {
    /// Creates the connection on `socket`; `outgoing` is sent first.
    pub(super) fn new(socket: SocketId, outgoing: Vec<u8>) -> Self {
        Self { socket, incoming: Vec::new(), outgoing, is_over: false }
    }

    /// Reads the bytes that have arrived.
    pub(super) fn listen(&mut self, stack: &mut Stack) {
        let mut buffer = [0; 4096];
        loop {
            match stack.read(self.socket, &mut buffer) {
                Ok(0) => self.is_over = true,
                Ok(len) => self.incoming.extend_from_slice(&buffer[..len]),
                Err(SocketError::WouldBlock) => {}
                Err(_) => self.is_over = true,
            }
            if self.is_over || stack.queued(self.socket).is_ok_and(|(unread, _)| unread == 0) {
                return;
            }
        }
    }

    /// Passes queued bytes to the stack, as far as it accepts them.
    pub(super) fn speak(&mut self, now: Instant, stack: &mut Stack) {
        match stack.write(now, self.socket, &self.outgoing) {
            Ok(len) => drop(self.outgoing.drain(..len)),
            Err(SocketError::WouldBlock) => {}
            Err(_) => self.is_over = true,
        }
    }

    /// Queues bytes for sending.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
    }

    /// Queues JSON for sending, preceded by its length.
    pub(super) fn push_json(&mut self, value: &serde_json::Value) {
        let text = value.to_string();
        self.outgoing.extend((text.len() as u32).to_be_bytes());
        self.outgoing.extend(text.as_bytes());
    }

    /// Returns true if all bytes were passed to the stack.
    pub(super) fn has_spoken(&self) -> bool {
        self.outgoing.is_empty()
    }

    /// Takes the next byte, if one has arrived.
    pub(super) fn take_byte(&mut self) -> Option<u8> {
        (!self.incoming.is_empty()).then(|| self.incoming.remove(0))
    }

    /// Takes the next JSON, which follows its length, once it has arrived completely.
    pub(super) fn take_json(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.incoming.split_at_checked(4)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length > LONGEST {
            self.is_over = true;
            return None;
        }
        let text = rest.get(..length)?.to_vec();
        self.incoming.drain(..4 + length);
        Some(text)
    }
}
