//! The connections of a capture: a bounded number of live ones, and the reports of the others.

use super::Limits;
use super::connection::Connection;
use super::judge::Observation;
use super::report::{self, Omitted};
use crate::TcpPacket;
use lightlag_core::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Two ends, the smaller one first.
type Ends = (SocketAddr, SocketAddr);

/// All connections of a capture.
#[derive(Debug)]
pub(super) struct Table {
    limits: Limits,
    places: BTreeMap<Ends, usize>,
    live: Vec<Live>,
    /// The connection examined first when room is needed.
    hand: usize,
    /// The connection of the last packet.
    recent: usize,
    begun: u64,
    finished: Vec<report::Connection>,
    omitted: Omitted,
    /// Origin of the reported times, in nanoseconds.
    origin: u64,
}

#[derive(Debug)]
struct Live {
    ends: Ends,
    connection: Connection,
    /// A packet of it came since it was last examined.
    touched: bool,
}

impl Table {
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

    /// Takes in one segment, for which the capture may have no time.
    pub fn segment(&mut self, at: Instant, packet: &TcpPacket, has_time: bool) -> Observation {
        if self.begun == 0 {
            self.origin = at.as_nanos();
        }
        let (source, destination) = (packet.addresses.source, packet.addresses.destination);
        let ends = (source.min(destination), source.max(destination));
        let place = match self.live.get(self.recent) {
            Some(live) if live.ends == ends => Some(self.recent),
            _ => self.places.get(&ends).copied(),
        };
        let place = match place {
            Some(place) if self.live[place].connection.is_reused_by(packet) => {
                let next = self.begin(at, packet);
                let old = std::mem::replace(&mut self.live[place].connection, next);
                self.finish(&old);
                place
            }
            Some(place) => place,
            None => {
                let connection = self.begin(at, packet);
                self.settle(Live { ends, connection, touched: true })
            }
        };
        self.recent = place;
        let live = &mut self.live[place];
        live.touched = true;
        live.connection.segment(at, packet, has_time)
    }

    fn begin(&mut self, at: Instant, packet: &TcpPacket) -> Connection {
        self.begun += 1;
        Connection::new(self.begun - 1, at, packet)
    }

    /// Finds a place for another connection. One without a packet since the last round makes room.
    fn settle(&mut self, live: Live) -> usize {
        let place = if self.live.len() < self.limits.live {
            self.live.push(live);
            self.live.len() - 1
        } else {
            while std::mem::take(&mut self.live[self.hand].touched) {
                self.hand = (self.hand + 1) % self.live.len();
            }
            let place = self.hand;
            self.hand = (self.hand + 1) % self.live.len();
            let old = std::mem::replace(&mut self.live[place], live);
            self.places.remove(&old.ends);
            self.finish(&old.connection);
            place
        };
        self.places.insert(self.live[place].ends, place);
        place
    }

    fn finish(&mut self, connection: &Connection) {
        self.finished.push(connection.report(self.origin));
        if self.finished.len() >= 2 * self.limits.kept {
            self.omit();
        }
    }

    /// Keeps the finished connections with the most packets.
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

    /// All connections in the order of first packets.
    pub fn report(mut self) -> (Vec<report::Connection>, Omitted) {
        for live in std::mem::take(&mut self.live) {
            self.finish(&live.connection);
        }
        self.omit();
        self.finished.sort_by_key(|connection| connection.number);
        (self.finished, self.omitted)
    }
}

fn packets(connection: &report::Connection) -> u64 {
    connection.forward.counts.packets + connection.backward.counts.packets
}
