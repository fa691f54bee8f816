//! The report of a connection, and its streams as an application uses them: the traits of `lightlag-transport`.

use super::{Connection, State};
use crate::kind::SpaceId;
use crate::streams::{ReceiveStream, SendStream};
use lightlag_control::congestion::custom::Fault;
use lightlag_control::congestion::{CongestionControl, Phase};
use lightlag_core::{Duration, Instant};
use lightlag_transport::{
    Failure, Inspect, Multiplexed, Priority, Snapshot, Standing, Statistics, Status, Stream, StreamArrival,
};

impl Connection {
    /// Returns the stream that [`Stream`] writes to, unless there are several.
    #[inline]
    fn own(&self) -> Option<&SendStream> {
        self.streams.sending.get(self.own_stream()).filter(|_| !self.streams.are_several())
    }

    /// Returns the stream that [`Stream`] reads from, unless there are several.
    #[inline]
    fn others(&self) -> Option<&ReceiveStream> {
        self.streams.receiving.get(self.peer_stream()).filter(|_| !self.streams.are_several())
    }
}

impl Connection {
    /// Returns true if the spin bit is used on this connection; otherwise it has a constant value.
    pub fn uses_spin(&self) -> bool {
        self.spins
    }
}

impl Inspect for Connection {
    #[inline]
    fn status(&self) -> Status {
        match self.state {
            State::Idle if self.side == crate::streams::Side::Server => Status::Listening,
            State::Idle | State::Closed => Status::Closed,
            State::Handshaking => Status::Opening,
            State::Complete if self.own().is_some_and(SendStream::is_closing) => Status::Closing,
            State::Complete if self.peer_closed() => Status::PeerClosed,
            State::Complete => Status::Open,
            State::Closing | State::Draining => Status::Lingering,
        }
    }

    fn failure(&self) -> Option<Failure> {
        self.failure
    }

    fn fault(&self) -> Option<&Fault> {
        self.control.algorithm().fault()
    }

    fn congestion(&self) -> &'static str {
        self.config.congestion.name()
    }

    fn snapshot(&self) -> Snapshot {
        let algorithm: &dyn CongestionControl = self.control.algorithm();
        let backoff = 1 << self.pto_count.min(self.config.probes.max_backoff).min(32);
        let own = self.own();
        let una = self.acknowledged();
        let [next, limit] = match own {
            Some(own) => [own.next(), own.limit()],
            None if self.streams.are_several() => [self.streams.sent, self.streams.peer_limit()],
            None => [0; 2],
        };
        Snapshot {
            cwnd: self.control.window(),
            ssthresh: algorithm.ssthresh(),
            inflight: self.in_flight,
            srtt: self.rtt.measured(),
            rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            rto: self.current_pto() * backoff,
            phase: self.control.phase(),
            snd_una: una,
            snd_nxt: next,
            peer_window: limit.saturating_sub(una),
            segment_size: self.control.datagram(),
            epoch: algorithm.epoch(),
            internals: algorithm.internals(),
            pacing_rate: self.control.pacing_rate(),
        }
    }

    fn course(&self) -> (u64, u64, Phase) {
        (self.control.window(), self.control.algorithm().ssthresh(), self.control.phase())
    }

    fn is_disordered(&self) -> bool {
        self.control.phase() == Phase::Open && self.spaces[SpaceId::Application as usize].loss_time != Instant::MAX
    }

    fn statistics(&self) -> Statistics {
        let counters = &self.counters;
        Statistics {
            sent_segments: counters.data_packets,
            rtt_sum: self.rtt_sum,
            rtt_count: self.rtt_count,
            acks_sent: counters.ack_packets,
            acks_received: counters.acks_received,
            retransmitted_segments: counters.repairs,
            timeouts: counters.timeouts,
            recoveries: self.control.episodes,
            duplicate_bytes: self.streams.totals()[2],
            undone: self.control.undone,
            mark_reactions: self.control.mark_reactions,
            failure: self.failure,
            ..Statistics::default()
        }
    }

    fn standing(&self) -> Standing {
        Standing {
            limited: self.limited,
            quic_limited: Some(self.quic_limited),
            limit: self.limit,
            limited_since: self.limited_since.unwrap_or_default(),
            opened: self.limited_since.is_some(),
            window_integral: self.window_integral,
            window_time: self.window_time,
            window_since: self.window_since,
            window: self.control.window(),
            segment_size: self.config.datagram.into(),
        }
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.rtt.first_sample().map(|_| self.rtt.min())
    }
}

impl Stream for Connection {
    fn write(&mut self, bytes: u64) {
        self.write_stream(self.own_stream(), bytes);
    }

    fn close(&mut self) {
        if self.streams.are_several() {
            (self.closing.is_requested, self.is_extra_due) = (true, true);
        } else {
            self.finish_stream(self.own_stream());
        }
    }

    fn read_later(&mut self) {
        self.reads_later = true;
    }

    fn read(&mut self, bytes: u64) -> u64 {
        self.read_stream(self.now, self.peer_stream(), bytes)
    }

    fn unread(&self) -> u64 {
        self.others().map_or(0, ReceiveStream::unread)
    }

    fn until_update(&self) -> Option<u64> {
        // Credit depends on consumed data; each read may make an update due.
        Some(self.unread()).filter(|unread| *unread > 0)
    }

    #[inline]
    fn received(&self) -> u64 {
        if self.streams.are_several() {
            // All data is read as it arrives.
            return self.streams.consumed;
        }
        self.others().map_or(0, ReceiveStream::in_order)
    }

    fn delivered(&self) -> u64 {
        self.received()
    }

    fn held(&self) -> u64 {
        if self.streams.are_several() {
            return self.streams.totals()[1];
        }
        self.others().map_or(0, ReceiveStream::held)
    }

    fn acknowledged(&self) -> u64 {
        if self.streams.are_several() {
            return self.streams.totals()[0];
        }
        self.own().map_or(0, SendStream::acknowledged_in_order)
    }

    fn confirmed(&self) -> u64 {
        self.received()
    }

    #[inline]
    fn peer_closed(&self) -> bool {
        self.others().is_some_and(ReceiveStream::is_complete)
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Closing | State::Draining | State::Closed)
    }

    fn has_sent_everything(&self) -> bool {
        if self.streams.are_several() {
            return self.is_over() || self.closing.is_requested;
        }
        self.own().is_some_and(SendStream::has_sent_everything)
    }

    fn all_acknowledged(&self) -> bool {
        if self.streams.are_several() {
            return self.streams.unacknowledged == 0 && self.streams.unsent() == 0;
        }
        self.own().is_none_or(SendStream::is_acknowledged)
    }
}

impl Multiplexed for Connection {
    fn permitted(&self) -> u64 {
        self.streams.peer_permits()
    }

    fn write_on(&mut self, stream: u64, bytes: u64, is_last: bool) {
        self.streams.open_at(stream);
        self.write_stream(stream, bytes);
        if is_last {
            self.finish_stream(stream);
        }
    }

    fn prioritise(&mut self, stream: u64, priority: Priority) {
        self.set_priority(stream, priority.level, priority.is_incremental);
    }

    fn next_arrival(&mut self) -> Option<StreamArrival> {
        self.streams.next_arrival()
    }

    fn read_on(&mut self, now: Instant, stream: u64, bytes: u64) -> (u64, bool) {
        let read = self.read_stream(now, stream, bytes);
        self.streams.forget_read(stream);
        // The peer may open another stream instead.
        self.is_extra_due |= !self.streams.due.is_empty();
        (read, self.streams.has_ended(stream))
    }

    fn kept_on(&self, stream: u64) -> u64 {
        self.streams.sending(stream).map_or(0, SendStream::kept)
    }

    fn peer_waits(&mut self, now: Instant, waits: bool) {
        if std::mem::replace(&mut self.peer_waits, waits) != waits && self.is_at_rest() {
            self.note_limit(now, self.limit_at_rest());
        }
    }
}
