//! The connections of a capture: a bounded number of live ones, and reports on those that have finished.

use super::Limits;
use super::classify::Observation;
use super::connection::ConnectionState;
use super::report::{self, Omitted};
use crate::TcpPacket;
use lightlag_core::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The addresses of two endpoints, the smaller one first.
type Ends = (SocketAddr, SocketAddr);

/// All connections of a capture.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: Limits,
    places: BTreeMap<Ends, usize>,
    live: Vec<Live>,
    /// Index of the connection that is examined first when a slot is needed.
    hand: usize,
    /// Index of the connection of the last packet.
    recent: usize,
    begun: u64,
    finished: Vec<report::ConnectionReport>,
    omitted: Omitted,
    /// Origin of the reported times, in nanoseconds.
    origin: u64,
}

#[derive(Debug)]
struct Live {
    ends: Ends,
    connection: ConnectionState,
    /// Whether a packet of the connection arrived since it was last examined.
    touched: bool,
}

impl ConnectionTable {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            places: BTreeMap::new(),
            live: Vec::new(),
            hand: 0,
            recent: 0,
            begun: 0,
            finished: Vec::new(),
            omitted: Omitted::default(),
            origin: 0,
        }
    }

    /// Processes one segment. `has_time` is whether the capture has a time for it.
    pub fn segment(&mut self, time: Instant, packet: &TcpPacket, has_time: bool) -> Observation {
        if self.begun == 0 {
            self.origin = time.as_nanos();
        }
        let (source, destination) = (packet.addresses.source, packet.addresses.destination);
        let ends = (source.min(destination), source.max(destination));
        let known = match self.live.get(self.recent) {
            Some(live) if live.ends == ends => Some(self.recent),
            _ => self.places.get(&ends).copied(),
        };
        let index = match known {
            Some(slot) if self.live[slot].connection.is_reused_by(packet) => {
                let next = self.begin(time, packet);
                let old = std::mem::replace(&mut self.live[slot].connection, next);
                self.finish(&old);
                slot
            }
            Some(slot) => slot,
            None => {
                let connection = self.begin(time, packet);
                self.settle(Live { ends, connection, touched: true })
            }
        };
        self.recent = index;
        let live = &mut self.live[index];
        live.touched = true;
        live.connection.segment(time, packet, has_time)
    }

    fn begin(&mut self, time: Instant, packet: &TcpPacket) -> ConnectionState {
        self.begun += 1;
        ConnectionState::new(self.begun - 1, time, packet)
    }

    /// Returns a slot for a new connection. If none is free, a connection that had no packet since it was last examined
    /// is closed.
    fn settle(&mut self, live: Live) -> usize {
        let index = if self.live.len() < self.limits.live {
            self.live.push(live);
            self.live.len() - 1
        } else {
            while std::mem::take(&mut self.live[self.hand].touched) {
                self.hand = (self.hand + 1) % self.live.len();
            }
            let hand = self.hand;
            self.hand = (self.hand + 1) % self.live.len();
            let old = std::mem::replace(&mut self.live[hand], live);
            self.places.remove(&old.ends);
            self.finish(&old.connection);
            hand
        };
        self.places.insert(self.live[index].ends, index);
        index
    }

    fn finish(&mut self, connection: &ConnectionState) {
        self.finished.push(connection.report(self.origin));
        if self.finished.len() >= 2 * self.limits.kept {
            self.omit();
        }
    }

    /// Discards finished connections beyond the limit, those with the fewest packets, and counts them as omitted.
    fn omit(&mut self) {
        if self.finished.len() > self.limits.kept {
            self.finished.sort_by_key(|connection| (std::cmp::Reverse(packets(connection)), connection.number));
            for connection in self.finished.drain(self.limits.kept..) {
                self.omitted.connections += 1;
                self.omitted.packets += packets(&connection);
                self.omitted.payload_bytes +=
                    connection.forward.counts.payload_bytes + connection.backward.counts.payload_bytes;
            }
        }
    }

    /// Returns the reports on all connections, in the order of first packets.
    pub fn report(mut self) -> (Vec<report::ConnectionReport>, Omitted) {
        for live in std::mem::take(&mut self.live) {
            self.finish(&live.connection);
        }
        self.omit();
        self.finished.sort_by_key(|connection| connection.number);
        (self.finished, self.omitted)
    }
}

fn packets(connection: &report::ConnectionReport) -> u64 {
    connection.forward.counts.packets + connection.backward.counts.packets
}
