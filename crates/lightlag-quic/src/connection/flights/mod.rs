//! An endpoint that sends flights, as aioquic 1.2.0 does: what it writes, and when.
//!
//! Anything that happens to the endpoint causes a flight. Before the handshake is confirmed, the flight has the packets
//! of the first two spaces, each with an ACK frame if an eliciting packet has arrived. 1-RTT packets follow until the
//! pacer, the window or the data ends.

mod builder;
mod recovery;
mod timers;

use super::space::Keys;
use super::{Connection, State};
use crate::arena::Arena;
use crate::flight::Flights;
use crate::frame::{AckHeader, Direction, Frame};
use crate::kind::{Kind, SpaceId};
use crate::packet::Packet;
use crate::received::PingRule;
use crate::streams::Side;
use crate::varint;
use builder::{Builder, Full};
use lightlag_core::Instant;
use lightlag_transport::Limit;

/// Space that frames must find before they are written, in bytes: upper limits of their sizes.
const ACK_NEEDS: i64 = 64;
const LIMIT_NEEDS: i64 = 9;
const STREAM_LIMIT_NEEDS: i64 = 17;

/// The endpoint has flights.
const FLIGHTS: &str = "an endpoint that sends flights";

impl Connection {
    /// Chooses whether the endpoint sends flights.
    pub(super) fn choose_flights(&mut self) {
        self.flights = Flights::new(&self.config).filter(|_| self.control.counts_packets());
        if self.flights.is_some() {
            self.streams.review_later();
        }
    }

    pub(super) fn flights_mut(&mut self) -> &mut Flights {
        self.flights.as_mut().expect(FLIGHTS)
    }

    /// Makes a flight due, after an event.
    #[inline(always)]
    pub(super) fn flight_due(&mut self) {
        if let Some(flights) = &mut self.flights {
            flights.is_due = true;
        }
    }

    /// Returns the next packet of the current flight, or of a new one after an event.
    #[inline(never)]
    pub(super) fn poll_flight(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        let flights = self.flights_mut();
        if flights.queue.is_empty() && (flights.is_due || flights.built != Some(now)) {
            (flights.is_due, flights.built) = (false, Some(now));
            self.build_flight(now, arena);
        }
        self.flights_mut().queue.pop_front()
    }

    fn build_flight(&mut self, now: Instant, arena: &mut Arena) {
        let datagram = self.datagram;
        let mut max_flight = self.control.window() as i64 - self.in_flight as i64;
        let flights = self.flights_mut();
        if flights.probes {
            max_flight = max_flight.max(datagram.into());
        }
        let (number, is_client) = (flights.number, self.side == Side::Client);
        let mut builder = Builder::new(is_client, self.spin, datagram, number, max_flight);
        if !is_client && !self.handshake.is_validated {
            let permitted = super::handshake::AMPLIFICATION * self.handshake.received;
            builder.max_total = Some(permitted as i64 - self.handshake.sent as i64);
        }
        let is_full = self.write_flight(now, &mut builder).is_err();
        builder.finish();
        self.note_flight(now, is_full);
        self.send_flight(now, builder, arena);
    }

    fn write_flight(&mut self, now: Instant, builder: &mut Builder) -> Result<(), Full> {
        if !self.is_confirmed {
            self.write_handshake(now, SpaceId::Initial, builder)?;
            self.write_handshake(now, SpaceId::Handshake, builder)?;
        }
        if self.spaces[SpaceId::Application as usize].sending == Keys::Ready {
            self.write_application(now, builder)?;
        }
        Ok(())
    }

    fn write_handshake(&mut self, now: Instant, id: SpaceId, builder: &mut Builder) -> Result<(), Full> {
        let index = id as usize;
        let kind = if id == SpaceId::Initial { Kind::Initial } else { Kind::Handshake };
        if self.spaces[index].sending != Keys::Ready {
            return Ok(());
        }
        loop {
            builder.start(kind, self.header_lengths(kind))?;
            if self.flights_mut().spaces[index].ack_at.is_some() {
                self.write_flight_ack(now, id, builder)?;
            }
            if self.write_flight_crypto(id, builder)? {
                self.flights_mut().probes = false;
            }
            let has_next = self.spaces[SpaceId::Handshake as usize].sending == Keys::Ready;
            let is_last = id == SpaceId::Handshake || !has_next;
            if self.flights_mut().probes && self.handshake.completed.is_none() && is_last {
                builder.frame(Frame::Ping, 1, 1)?;
                self.flights_mut().probes = false;
            }
            if builder.is_empty() {
                return Ok(());
            }
        }
    }

    fn write_application(&mut self, now: Instant, builder: &mut Builder) -> Result<(), Full> {
        const APPLICATION: usize = SpaceId::Application as usize;
        let seconds = now.as_secs_f64();
        let lengths = self.header_lengths(Kind::OneRtt);
        loop {
            let flights = self.flights_mut();
            if flights.spaces[APPLICATION].ack_at.is_none_or(|due| due >= seconds) {
                flights.pacing_at = flights.pacer.as_mut().and_then(|pacer| pacer.next(seconds));
                if flights.pacing_at.is_some() {
                    return Ok(());
                }
            }
            builder.start(Kind::OneRtt, lengths)?;
            if self.handshake.completed.is_some() {
                if self.flights_mut().spaces[APPLICATION].ack_at.is_some_and(|due| due <= seconds) {
                    self.write_flight_ack(now, SpaceId::Application, builder)?;
                }
                self.write_flight_control(builder)?;
            }
            self.write_stream_limits(builder)?;
            while let Some(frame) = self.spaces[APPLICATION].frames.last().copied() {
                let size = frame.size() as i64;
                builder.frame(frame, size, size)?;
                self.spaces[APPLICATION].frames.pop();
            }
            if self.flights_mut().probes {
                builder.frame(Frame::Ping, 1, 1)?;
                self.flights_mut().probes = false;
            }
            self.write_flight_crypto(SpaceId::Application, builder)?;
            while self.has_datagrams()
                && let Some(frame) = self.next_datagram(builder.flight_space().max(0) as u64)
            {
                builder.frame(frame, frame.size() as i64, frame.size() as i64)?;
            }
            self.write_flight_streams(builder)?;
            if builder.is_empty() {
                return Ok(());
            }
            if let Some(pacer) = &mut self.flights_mut().pacer {
                pacer.sent(seconds);
            }
        }
    }

    /// Writes the frames of the connection that are due, and its credit.
    fn write_flight_control(&mut self, builder: &mut Builder) -> Result<(), Full> {
        if self.handshake.done_due {
            builder.frame(Frame::HandshakeDone, 1, 1)?;
            self.handshake.done_due = false;
        }
        if self.handshake.token_due {
            let frame = Frame::NewToken(self.config.handshake.new_token);
            builder.frame(frame, frame.size() as i64, frame.size() as i64)?;
            self.handshake.token_due = false;
        }
        if let Some(limit) = self.streams.review_credit() {
            let frame = Frame::MaxData(limit);
            builder.frame(frame, LIMIT_NEEDS, frame.size() as i64)?;
            self.streams.announce_credit();
        }
        for direction in [Direction::Bidirectional, Direction::Unidirectional] {
            let index = usize::from(direction == Direction::Unidirectional);
            if self.streams.due.max_streams[index] {
                let frame = Frame::MaxStreams(direction, self.streams.permitted(direction));
                builder.frame(frame, LIMIT_NEEDS, frame.size() as i64)?;
                self.streams.due.max_streams[index] = false;
            }
        }
        Ok(())
    }

    /// Writes the credit of streams, in the order of their IDs.
    fn write_stream_limits(&mut self, builder: &mut Builder) -> Result<(), Full> {
        self.find_streams();
        let mut ids = self.flights_mut().streams.clone();
        ids.sort_unstable();
        for stream in ids {
            if let Some(limit) = self.streams.review_stream(stream) {
                let frame = Frame::MaxStreamData { stream, limit };
                builder.frame(frame, STREAM_LIMIT_NEEDS, frame.size() as i64)?;
                self.streams.announce_stream(stream);
            }
        }
        Ok(())
    }

    fn write_flight_crypto(&mut self, id: SpaceId, builder: &mut Builder) -> Result<bool, Full> {
        let crypto = &mut self.spaces[id as usize].crypto;
        if !crypto.has_pending() {
            return Ok(false);
        }
        let header = 3 + varint::size(crypto.waiting().start) as i64;
        let max = (builder.flight_space() - header).max(0) as u64;
        let Some((offset, len)) = crypto.take_waiting(max) else { return Ok(false) };
        builder.frame(Frame::Crypto { offset, len }, header, header + i64::from(len))?;
        Ok(true)
    }

    /// Writes a frame of each stream, and moves the streams that sent to the end of the order.
    fn write_flight_streams(&mut self, builder: &mut Builder) -> Result<(), Full> {
        self.find_streams();
        let order = std::mem::take(&mut self.flights_mut().streams);
        let (mut kept, mut served) = (Vec::with_capacity(order.len()), Vec::new());
        let mut result = Ok(());
        for id in order {
            if self.streams.is_finished(id) {
                continue;
            }
            let written = if result.is_ok() { self.write_flight_stream(id, builder) } else { Ok(false) };
            match written {
                Ok(true) => served.push(id),
                Ok(false) => kept.push(id),
                Err(full) => {
                    kept.push(id);
                    result = Err(full);
                }
            }
        }
        kept.append(&mut served);
        self.flights_mut().streams = kept;
        if result.is_ok() && !self.streams.due.is_empty() {
            self.write_endings(builder)?;
        }
        result
    }

    /// Writes a frame of a stream. Returns true if it had new data.
    fn write_flight_stream(&mut self, id: u64, builder: &mut Builder) -> Result<bool, Full> {
        let Some(offset) = self.streams.waiting(id) else { return Ok(false) };
        let long = if offset > 0 { varint::size(offset) } else { 0 };
        let header = 3 + (varint::size(id) + long) as i64;
        if builder.flight_space() < header {
            return Ok(false);
        }
        let max = (builder.flight_space() - header) as u64;
        let (before, is_repair) = (self.streams.sent, self.streams.has_repairs());
        let Some(chunk) = self.streams.take_waiting(id, max) else { return Ok(false) };
        self.counters.repairs += u64::from(is_repair);
        let frame = Frame::Stream { stream: id, offset, len: chunk.len, fin: chunk.fin, to_end: false };
        builder.frame(frame, header, header + i64::from(chunk.len))?;
        Ok(self.streams.sent > before)
    }

    /// Writes RESET_STREAM and STOP_SENDING frames. aioquic has no BLOCKED frames of streams with data.
    #[cold]
    fn write_endings(&mut self, builder: &mut Builder) -> Result<(), Full> {
        let due = &mut self.streams.due;
        (due.max_data, due.blocked) = (false, false);
        due.max_stream_data.clear();
        due.stream_blocked.clear();
        while let Some(frame) = self.streams.next_frame(builder.flight_space().max(0) as u64) {
            builder.frame(frame, frame.size() as i64, frame.size() as i64)?;
        }
        Ok(())
    }

    /// Adds new streams to the order.
    fn find_streams(&mut self) {
        let count = self.streams.opened_streams();
        if self.flights_mut().known == count {
            return;
        }
        let ids = self.streams.ids();
        let finished: Vec<bool> = ids.iter().map(|id| self.streams.is_finished(*id)).collect();
        let flights = self.flights_mut();
        flights.known = count;
        for (id, is_finished) in ids.into_iter().zip(finished) {
            if !is_finished && !flights.streams.contains(&id) {
                flights.streams.push(id);
            }
        }
    }

    fn write_flight_ack(&mut self, now: Instant, id: SpaceId, builder: &mut Builder) -> Result<(), Full> {
        let index = id as usize;
        let number = builder.number;
        let space = &mut self.spaces[index];
        let flights = self.flights.as_mut().expect(FLIGHTS);
        let delay = now.as_secs_f64() - flights.spaces[index].largest_at;
        let header = AckHeader { delay: (delay * 1e6) as u64 >> self.config.ack_delay_exponent, ecn: None };
        if space.received.ranges().is_empty() {
            // The peer has acknowledged an ACK of all numbers.
            flights.spaces[index].ack_at = None;
            return Ok(());
        }
        let size = space.received.ack_size(&header);
        builder.ack(header, space.received.ranges(), size, ACK_NEEDS)?;
        flights.spaces[index].ack_at = None;
        let pings = self.ack_rules.ping == PingRule::EveryEighth && number.is_multiple_of(8);
        if pings && space.received.ranges().len() > 1 {
            builder.frame(Frame::Ping, 1, 1)?;
        }
        Ok(())
    }

    /// Notes what ended a flight.
    fn note_flight(&mut self, now: Instant, is_full: bool) {
        let pacing = self.flights_mut().pacing_at;
        let limit = match pacing {
            _ if self.pto_count > 0 => Limit::Timeout,
            Some(_) if !is_full => Limit::Pacing,
            _ if self.streams.is_blocked() => Limit::Rwnd,
            _ if is_full || self.streams.can_send() => Limit::Cwnd,
            _ => Limit::Application,
        };
        self.note_limit(now, limit);
    }

    /// Returns true while the endpoint sends and receives.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Handshaking | State::Complete)
    }
}
