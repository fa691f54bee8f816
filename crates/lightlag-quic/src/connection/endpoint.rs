//! One end of a connection as a simulator uses it.

use super::Connection;
use crate::arena::Arena;
use crate::packet::Packet;
use lightlag_core::{Codepoint, Instant};
use lightlag_transport::Endpoint;

impl Endpoint for Connection {
    type Packet = Packet;
    type Arena = Arena;

    fn open(&mut self, now: Instant) {
        self.open(now);
    }

    #[inline]
    fn handle_packet(&mut self, now: Instant, packet: &Packet, ecn: Codepoint, arena: &mut Arena) {
        self.handle_packet(now, packet, ecn, arena);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_timeout(now);
    }

    #[inline]
    fn poll_packet(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        self.poll_packet(now, arena)
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Instant> {
        self.poll_timeout()
    }

    fn abort(&mut self) {
        self.abort();
    }

    fn crash(&mut self) {
        self.crash();
    }
}
