//! One connection with the bytes of its streams: written and not yet acknowledged, or received and not yet read.

use crate::bursts::{self, ApplicationWrite, Bursts, View};
use crate::ring::ByteRing;
use crate::send_space::{Queued, SendSpace};
use crate::stopwatch::Chronograph;
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_tcp::segment::Flags;
use lightlag_tcp::{Connection, Profile, Segment, State};

/// The flags of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Writing {
    /// A last segment that is not full waits for the next write, the next ACK or a timeout (MSG_MORE).
    pub more: bool,
    /// Later data starts a new segment (MSG_EOR).
    pub ends_record: bool,
}

/// Minimum time for which data may be corked (tcp(7): "a 200 millisecond ceiling"). In fact the kernel sends the data
/// with its zero-window probe, after one retransmission timeout (`tcp_probe0_base`).
const CORK: Duration = Duration::from_millis(200);

/// Size of the timestamps option with its padding, in bytes.
const TIMESTAMPS: u64 = 12;

/// Counters of a stream, in segments and bytes of payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Segments that arrived.
    pub segments_in: u64,
    /// Received segments with payload.
    pub data_segments_in: u64,
    /// Received segments with payload above a hole and inside the window.
    pub out_of_order_in: u64,
    /// Arrival time of the last payload, or the time when the handshake was completed; zero before that.
    pub data_in_at: Instant,
    /// Arrival time of the last ACK; zero before the first.
    pub ack_in_at: Instant,
    /// Time of the last sent payload; zero before the first.
    pub data_out_at: Instant,
    /// Number of sent segments.
    pub segments_out: u64,
    /// Sent segments with payload.
    pub data_segments_out: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Retransmitted payload.
    pub bytes_retransmitted: u64,
    /// The longest payload that arrived in one segment.
    pub largest_in: u16,
}

/// A connection with the bytes of its streams.
pub(crate) struct Stream {
    pub(crate) connection: Connection,
    pub(crate) traffic: Traffic,
    /// Bytes to send, starting at the first unacknowledged one.
    outgoing: ByteRing,
    /// End of the data that the application wrote, and end of the data that was passed to the connection.
    written: u64,
    offered: u64,
    /// Received bytes, starting at the first one that the application has not read.
    incoming: ByteRing,
    /// Deadline of corked data; [`Instant::MAX`] if no data is corked.
    cork_until: Instant,
    corked: bool,
    pub(crate) space: SendSpace,
    bursts: Bursts,
    /// The handshake is complete.
    opened: bool,
    /// An ACK or a timer may have released space in the send buffer.
    may_release: bool,
    /// A segment was sent since [`Self::rest`] was last called.
    left: bool,
    chronograph: Chronograph,
    /// Last reported state, number of bytes received in order, and whether the peer has closed. `arrivals` counts the
    /// changes of any of these, `changes` the changes of the state.
    told: (State, u64, bool),
    arrivals: u64,
    changes: u64,
    /// Minimum number of segments in a burst (`tcp_min_tso_segs`).
    least_burst: u64,
    /// Start offset of the current burst.
    burst_start: u64,
    /// The timeouts of the connection were already attributed to the path.
    pub(crate) blamed: bool,
    /// Number of bytes acknowledged or received in order, and the time when it last changed.
    progress: (u64, Instant),
    /// The next segment that can be sent now. Whether there is one affects the flags of the segment before.
    next: Option<Outgoing>,
}

/// A segment to send.
#[derive(Clone, Copy)]
struct Outgoing {
    segment: Segment,
    codepoint: Codepoint,
    /// Start and end offset of the payload.
    start: u64,
    end: u64,
    /// The segment is a retransmission.
    again: bool,
}

impl Stream {
    pub(crate) fn new(mut connection: Connection, corked: bool, least_burst: u64, space: SendSpace) -> Self {
        connection.read_later();
        Self {
            told: (connection.state(), 0, false),
            connection,
            traffic: Traffic::default(),
            outgoing: ByteRing::default(),
            written: 0,
            offered: 0,
            incoming: ByteRing::default(),
            cork_until: Instant::MAX,
            corked,
            space,
            bursts: Bursts::default(),
            opened: false,
            may_release: false,
            left: false,
            chronograph: Chronograph::default(),
            arrivals: 0,
            changes: 0,
            least_burst,
            burst_start: u64::MAX,
            blamed: false,
            progress: (0, Instant::ZERO),
            next: None,
        }
    }

    /// Handles a segment that arrives.
    pub(crate) fn take(&mut self, now: Instant, segment: &Segment, codepoint: Codepoint, payload: &[u8]) {
        self.traffic.segments_in += 1;
        self.traffic.data_segments_in += u64::from(!payload.is_empty());
        self.traffic.largest_in = self.traffic.largest_in.max(segment.len);
        let connection = &mut self.connection;
        let offset = connection.receive_offset(segment.seq);
        let (nxt, edge, held) = (connection.received(), connection.receive_edge(), connection.held());
        let (ended, taken_until) = (connection.knows_end(), connection.taken_until());
        let opens = matches!(connection.state(), State::Listen | State::SynSent);
        if opens && segment.flags.has(Flags::SYN) && segment.len > 0 {
            // The connection accepts or drops it when it opens.
            self.incoming.put(0, payload);
        }
        if segment.flags.has(Flags::ACK) {
            self.traffic.ack_in_at = now;
        }
        if segment.len > 0 {
            self.traffic.data_in_at = now;
            let behind_a_hole = offset.is_some_and(|offset| nxt < offset && offset < edge);
            self.traffic.out_of_order_in += u64::from(behind_a_hole);
        }
        connection.handle_packet(now, segment, codepoint);
        if (connection.held() > held || connection.knows_end() != ended)
            && let Some(offset) = offset
        {
            // It was accepted, starting at the expected offset.
            let from = offset.max(nxt);
            let until = (offset + payload.len() as u64).min(taken_until);
            if let Some(taken) = payload.get((from - offset) as usize..(until - offset) as usize) {
                self.incoming.put(from, taken);
            }
        }
        if !self.opened {
            self.note_opened(now);
        }
        let progress = self.connection.acknowledged() + self.connection.received();
        if opens || progress > self.progress.0 {
            self.progress = (progress, now);
        }
        self.outgoing.advance(self.connection.acknowledged());
        self.bursts.acknowledge(self.connection.acknowledged());
        self.may_release = true;
        if self.unacknowledged() == 0 {
            self.chronograph = self.chronograph.stopped(now);
        }
        if self.offered < self.written {
            // Data retained by MSG_MORE is sent with the next ACK; corked data then waits for a timeout.
            if self.corked { self.limit_hold(now) } else { self.offer_all() }
        }
    }

    /// Returns the time of the last progress: when bytes were last acknowledged or received in order, or when the
    /// connection started.
    pub(crate) fn progress_at(&self) -> Instant {
        self.progress.1
    }

    /// Returns the memory of the buffers in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (self.outgoing.memory() + self.incoming.memory()) as u64
    }

    /// Frees the memory of empty buffers.
    pub(crate) fn release_memory(&mut self) {
        if self.unacknowledged() == 0 {
            self.outgoing.release();
        }
        if self.connection.held() <= self.incoming.start() {
            self.incoming.release();
        }
    }

    /// Called when the connection may have opened: the silence of the peer is measured from here, and the send buffer
    /// is sized (`tcp_init_transfer`).
    fn note_opened(&mut self, now: Instant) {
        use State::{Closed, Listen, SynReceived, SynSent};
        self.opened = !matches!(self.connection.state(), Closed | Listen | SynSent | SynReceived);
        if self.opened {
            self.traffic.data_in_at = now;
            self.expand();
        }
    }

    /// Returns the next segment and its ECN codepoint, and replaces the contents of `payload` by its payload. Call it
    /// until it returns `None`.
    pub(crate) fn poll(&mut self, now: Instant, payload: &mut Vec<u8>) -> Option<(Segment, Codepoint)> {
        payload.clear();
        let mut out = match self.next.take() {
            Some(next) => next,
            None => match self.poll_connection(now) {
                Some(next) => next,
                None => {
                    self.rest(now);
                    return None;
                }
            },
        };
        self.left = true;
        if out.segment.flags.has(Flags::SYN) {
            self.outgoing.append_to(out.start, (out.end - out.start) as usize, payload);
        } else if out.start < out.end {
            self.outgoing.append_to(out.start, (out.end - out.start) as usize, payload);
            self.next = self.poll_connection(now);
            let flags = Flags(out.segment.flags.0 & !Flags::PSH.0);
            out.segment.flags = if self.pushes(&out) { flags.with(Flags::PSH) } else { flags };
        }
        Some((out.segment, out.codepoint))
    }

    /// Called when no more segments can be sent now: notifies a waiting application, and records what limits the
    /// sender.
    fn rest(&mut self, now: Instant) {
        let left = std::mem::take(&mut self.left);
        let may_release = std::mem::take(&mut self.may_release);
        if left || may_release {
            self.note_limits(now, left, may_release);
        }
        let (state, received, ended) = self.told;
        self.told = (self.connection.state(), self.connection.received(), self.connection.peer_closed());
        self.arrivals += u64::from(self.told != (state, received, ended));
        self.changes += u64::from(self.told.0 != state);
    }

    /// Records what limits the sender after segments were sent or space was released (`tcp_write_xmit`,
    /// `tcp_cwnd_validate`, `tcp_check_space`).
    fn note_limits(&mut self, now: Instant, left: bool, may_release: bool) {
        let state = self.connection.snapshot();
        let unsent = self.unsent();
        let next = unsent.min(state.segment_size);
        let has_window = state.inflight + next <= state.cwnd;
        if has_window && unsent > 0 && state.snd_nxt + next > state.snd_una + state.peer_window {
            self.chronograph.refused.start(now);
        } else {
            self.chronograph.refused.stop(now);
        }
        if !self.space.is_awaited() {
            return;
        }
        let has_window = state.inflight < state.cwnd;
        if left && has_window && unsent == 0 && self.may_write() {
            // The network waits for data, and the application waits for space in the buffer.
            self.chronograph.starved.start(now);
        }
        if may_release {
            if has_window {
                self.expand();
            }
            self.space.release(&self.queued());
            if !self.space.is_awaited() {
                self.chronograph.starved.stop(now);
            }
        }
    }

    /// Returns the number of notifications of readers and the number of notifications of writers.
    pub(crate) fn wakes(&self) -> (u64, u64) {
        (self.arrivals, self.changes + self.space.released())
    }

    /// Expands the send buffer according to the window (`tcp_sndbuf_expand`).
    fn expand(&mut self) {
        let (state, details) = (self.connection.snapshot(), self.connection.details());
        let segments = (state.cwnd / state.segment_size.max(1)).max(u64::from(details.reordering) + 1);
        self.space.expand(segments, state.segment_size + if details.timestamps { TIMESTAMPS } else { 0 });
    }

    /// Returns the amount of data in the send buffer.
    fn queued(&self) -> Queued {
        let buffers = self.bursts.buffers(self.connection.sent());
        Queued { bytes: self.unacknowledged(), unsent: self.unsent(), buffers }
    }

    /// Returns true if the send buffer has space. If not, the application counts as waiting for space.
    pub(crate) fn finds_room(&mut self) -> bool {
        let room = self.space.is_writable(&self.queued());
        if !room {
            self.space.wait();
        }
        room
    }

    /// Returns the times in which the sender was busy or limited.
    pub(crate) fn chronograph(&self) -> &Chronograph {
        &self.chronograph
    }

    fn poll_connection(&mut self, now: Instant) -> Option<Outgoing> {
        let sent = self.connection.sent();
        let segment = self.connection.poll_segment(now)?;
        let codepoint = self.connection.codepoint();
        let traffic = &mut self.traffic;
        traffic.segments_out += 1;
        let len = u64::from(segment.len);
        if len == 0 {
            return Some(Outgoing { segment, codepoint, start: 0, end: 0, again: false });
        }
        let start = self.connection.send_offset(segment.seq);
        traffic.data_segments_out += 1;
        traffic.data_out_at = now;
        traffic.bytes_sent += len;
        traffic.bytes_retransmitted += sent.saturating_sub(start).min(len);
        Some(Outgoing { segment, codepoint, start, end: start + len, again: start < sent })
    }

    /// Returns true if a segment with data has the PSH flag: it is the last of a write or of a burst (as in Linux).
    fn pushes(&mut self, out: &Outgoing) -> bool {
        let asks = self.bursts.asks(out.end);
        if self.connection.config().profile != Profile::Linux {
            return asks;
        }
        let follows =
            self.next.is_some_and(|next| next.start == out.end && next.end > next.start && next.again == out.again);
        if follows && self.bursts.goes_on(self.burst_start.min(out.start), out.end, out.again, self.burst()) {
            self.burst_start = self.burst_start.min(out.start);
            return false;
        }
        let lone = self.burst_start >= out.start;
        self.burst_start = u64::MAX;
        if !out.again {
            self.bursts.left(out.end);
        }
        asks || !lone
    }

    /// Returns the current size of a burst in bytes.
    fn burst(&self) -> u64 {
        let state = self.connection.snapshot();
        let segment = state.segment_size.max(1);
        bursts::burst(state.cwnd, state.ssthresh, segment, state.srtt, state.min_rtt, self.least_burst)
    }

    /// Returns the state that determines how a write is cut into packets.
    fn view(&self) -> View {
        let state = self.connection.snapshot();
        let segment = state.segment_size.max(1);
        let free = state.cwnd.saturating_sub(state.inflight);
        let open = (state.snd_una + state.peer_window).saturating_sub(state.snd_nxt);
        View {
            sent: state.snd_nxt,
            // Whole segments (`tcp_mss_split_point`).
            allowed: state.snd_nxt + free.min(open) / segment * segment,
            segment,
            peer_window: self.connection.largest_peer_window(),
            burst: self.burst(),
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let next = self.connection.poll_timeout().unwrap_or(Instant::MAX).min(self.cork_until);
        (next != Instant::MAX).then_some(next)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.cork_until <= now {
            // A window probe requests a push (`tcp_write_wakeup`).
            self.bursts.push_at(self.written);
            self.offer_all();
        }
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.may_release = true;
            self.connection.handle_timeout(now);
        }
    }

    /// Returns true if the application may write.
    pub(crate) fn may_write(&self) -> bool {
        matches!(self.connection.state(), State::Established | State::CloseWait)
    }

    /// Writes data. Returns the number of bytes that the send buffer accepts. As on Linux, that may exceed the limit,
    /// because a buffer that was started is filled.
    pub(crate) fn write(&mut self, now: Instant, data: &[u8], how: Writing) -> usize {
        let (start, una, view) = (self.written, self.outgoing.start(), self.view());
        let Writing { more, ends_record } = how;
        let written = ApplicationWrite { start, end: start + data.len() as u64, more, ends_record };
        let end = self.bursts.write(&written, &view, una, |queued| self.space.takes(queued));
        let len = (end - start) as usize;
        self.outgoing.put(start, &data[..len]);
        self.written = end;
        if len > 0 {
            self.chronograph.busy.start(now);
            self.left = true;
        }
        if len < data.len() {
            self.space.wait();
        }
        if ends_record && len > 0 && end == written.end {
            self.offer_all();
            self.connection.end_record();
        } else if more {
            self.offer_whole(now);
        } else {
            self.offer(now);
        }
        len
    }

    /// Writes the data of the SYN into a separate buffer, and appends nothing to it later (`tcp_send_syn_data`).
    pub(crate) fn write_early(&mut self, now: Instant, data: &[u8]) {
        let end = data.len() as u64;
        let written = ApplicationWrite { start: 0, end, more: false, ends_record: true };
        self.bursts.write(&written, &self.view(), 0, |_| true);
        self.bursts.left(end);
        self.outgoing.put(0, data);
        self.written = end;
        self.chronograph.busy.start(now);
        self.offer_all();
    }

    /// Passes the data that may be sent to the connection.
    pub(crate) fn offer(&mut self, now: Instant) {
        if self.corked { self.offer_whole(now) } else { self.offer_all() }
    }

    /// Passes only full segments to the connection; the rest waits.
    fn offer_whole(&mut self, now: Instant) {
        let (sent, size) = (self.connection.sent(), u64::from(self.connection.segment_size()));
        let whole = sent + (self.written - sent) / size * size;
        if whole > self.offered {
            self.connection.write(whole - self.offered);
            self.offered = whole;
        }
        self.limit_hold(now);
    }

    /// Sets a deadline for corked data, unless data is in flight.
    fn limit_hold(&mut self, now: Instant) {
        let idle = self.connection.acknowledged() == self.connection.sent() && self.offered == self.connection.sent();
        if self.offered < self.written && self.cork_until == Instant::MAX && idle {
            self.cork_until = now + self.connection.snapshot().rto.max(CORK);
        }
    }

    /// Passes all data to the connection, even if it is corked (TCP_NODELAY).
    pub(crate) fn push(&mut self) {
        self.offer_all();
    }

    fn offer_all(&mut self) {
        self.cork_until = Instant::MAX;
        if self.offered < self.written {
            self.connection.write(self.written - self.offered);
            self.offered = self.written;
        }
    }

    pub(crate) fn set_cork(&mut self, now: Instant, on: bool) {
        self.corked = on;
        self.offer(now);
    }

    /// Closes the stream for writing.
    pub(crate) fn finish(&mut self) {
        self.offer_all();
        self.connection.close();
    }

    /// Returns the number of received bytes that have not been read.
    pub(crate) fn unread(&self) -> u64 {
        self.connection.unread()
    }

    /// Reads bytes and returns their number.
    pub(crate) fn read(&mut self, data: &mut [u8]) -> usize {
        let len = self.peek(data);
        let len = self.connection.read(len as u64) as usize;
        self.incoming.advance(self.incoming.start() + len as u64);
        len
    }

    /// Reads bytes like [`Self::read`], without removing them.
    pub(crate) fn peek(&self, data: &mut [u8]) -> usize {
        let len = (data.len() as u64).min(self.unread()) as usize;
        if len > 0 {
            self.incoming.get(self.incoming.start(), &mut data[..len]);
        }
        len
    }

    /// Returns true if the peer has sent everything, and all of it has been read.
    pub(crate) fn at_end(&self) -> bool {
        self.connection.peer_closed() && self.unread() == 0
    }

    /// Returns the number of written bytes that the peer has not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.written - self.connection.acknowledged()
    }

    /// Returns the number of written bytes that were never sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.connection.sent()
    }
}
