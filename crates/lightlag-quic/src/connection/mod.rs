//! One end of a connection.
//!
//! As in the trait `Endpoint` of `lightlag-transport`, the owner passes packets and the time, and polls packets and a
//! deadline. The methods that build or read packets also take the [`Arena`](crate::Arena) of the partition.

mod acks;
mod alive;
mod arrivals;
mod build;
mod closing;
mod codes;
pub mod datagrams;
mod endpoint;
mod flights;
mod frequency;
mod handshake;
mod ids;
mod inspect;
mod keys;
mod mtu;
pub mod notes;
mod path;
mod permit;
mod plain;
mod probes;
mod recovery;
mod space;
mod timers;

use crate::config::Config;
use crate::control::Control;
use crate::details::Details;
use crate::ecn::Ecn;
use crate::flight::Flights;
use crate::frame::Direction;
use crate::kind::SpaceId;
use crate::ranges::Range;
use crate::received::AckRules;
use crate::rtt::Rtt;
use crate::sent::SentPacket;
use crate::streams::{PeerLimits, Side, Streams};
use lightlag_control::congestion::{CongestionControl, Needs};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_transport::{Failure, Integral, Limit, Limited, QuicLimited};
use space::{FrameLists, Keys, Spaces};
use std::sync::Arc;

use codes as code;
pub use handshake::EarlyData;

/// Transport parameters of the peer, which its first handshake message carries (RFC 9000 §18.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Maximum delay of acknowledgements.
    pub max_ack_delay: Duration,
    /// Minimum delay of acknowledgements that it supports; `None` if ACK_FREQUENCY is not supported.
    pub min_ack_delay: Option<Duration>,
    /// Exponent of the unit of acknowledgement delays.
    pub ack_delay_exponent: u8,
    /// Number of active connection IDs that the endpoint accepts.
    pub active_ids: u8,
    /// Idle timeout; zero for none.
    pub idle_timeout: Duration,
    /// Initial credit and numbers of streams.
    pub limits: PeerLimits,
    /// Maximum size of a DATAGRAM frame; 0 for no support.
    pub max_datagram_frame: u16,
    /// Length of the connection ID that the endpoint chose for itself.
    pub id_len: u8,
    /// Sizes of the handshake messages that the endpoint sends.
    pub handshake: crate::config::HandshakeSizes,
    /// Whether the endpoint, as a server, accepts 0-RTT data.
    pub accepts_early_data: bool,
    /// Whether the endpoint, as a client, resumes a session.
    pub resumes: bool,
}

impl Parameters {
    /// Returns the parameters of an endpoint with this configuration.
    pub fn of(config: &Config) -> Self {
        Self {
            max_ack_delay: config.ack.max_delay,
            min_ack_delay: config.min_ack_delay,
            ack_delay_exponent: config.ack_delay_exponent,
            active_ids: config.active_ids,
            idle_timeout: config.idle_timeout,
            limits: PeerLimits::of(&config.flow),
            max_datagram_frame: config.max_datagram_frame,
            id_len: config.id_len,
            handshake: config.handshake,
            accepts_early_data: !config.server.reject_early_data,
            resumes: config.ticket.is_some(),
        }
    }
}

/// Stage of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A client that was not opened, or a server without a client.
    Idle,
    /// The handshake is in progress.
    Handshaking,
    /// The handshake is complete: both ends have sent and received Finished.
    Complete,
    /// This end has closed the connection and answers packets with CONNECTION_CLOSE.
    Closing,
    /// The peer has closed the connection.
    Draining,
    /// Closed.
    Closed,
}

impl State {
    /// Returns true before the end of the connection, and before its start.
    pub fn can_send(self) -> bool {
        matches!(self, Self::Idle | Self::Handshaking | Self::Complete)
    }
}

/// Counters of packets, in addition to the [`Statistics`](lightlag_transport::Statistics).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Datagrams sent.
    pub datagrams: u64,
    /// Packets sent with data of streams or datagrams.
    pub data_packets: u64,
    /// Packets sent with nothing but an acknowledgement.
    pub ack_packets: u64,
    /// Packets with an ACK frame that arrived while data was in flight.
    pub acks_received: u64,
    /// Packets sent with stream data that had been lost.
    pub repairs: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Bytes of these packets.
    pub lost_bytes: u64,
    /// Packets that were acknowledged after they had been declared lost.
    pub spurious: u64,
    /// Probe timeouts.
    pub timeouts: u64,
    /// Times of persistent congestion.
    pub persistent: u64,
    /// Packets that arrived twice.
    pub duplicates: u64,
    /// Packets that were dropped because their keys were missing or discarded.
    pub undecryptable: u64,
    /// Increases of the datagram size by the search for the path MTU.
    pub mtu_changes: u64,
    /// Black holes that it found.
    pub black_holes: u64,
    /// Updates of the keys that this end started.
    pub key_updates: u64,
    /// Changes of the peer's path.
    pub migrations: u64,
    /// Validations of a path that failed.
    pub failed_validations: u64,
    /// Bytes of datagrams sent and received, in UDP payload.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
}

/// One end of a QUIC connection.
#[derive(Debug)]
pub struct Connection {
    config: Arc<Config>,
    side: Side,
    state: State,
    peer: Parameters,
    spaces: Spaces,
    lists: FrameLists,
    streams: Streams,
    control: Control,
    rtt: Rtt,
    ecn: Ecn,
    in_flight: u64,
    pto_count: u8,
    /// Time when a packet is lost or a probe is due. This and the other timers are [`Instant::MAX`] while they do not
    /// run.
    loss_timer: Instant,
    /// Space of the probe that [`Self::loss_timer`] stands for, if it does.
    timed_probe: Option<SpaceId>,
    /// Probe timeout of the application space with back-off, and idle timeout, since the last change of the estimates.
    probe_wait: Duration,
    idle_wait: Duration,
    idle_limit: Duration,
    /// Time when a packet was processed, or the first eliciting packet since was sent.
    last_activity: Instant,
    /// Earliest of the timers that rarely run.
    rare_timer: Instant,
    /// Rules of own acknowledgements, maximum delay of the peer's, and their negotiation.
    ack_rules: AckRules,
    ack_delay: Duration,
    frequency: frequency::Frequency,
    arrivals: frequency::Arrivals,
    is_confirmed: bool,
    /// Whether the peer's parameters are known.
    knows_peer: bool,
    handshake: handshake::Handshake,
    closing: closing::Closing,
    idle_deadline: Instant,
    /// Time when pacing permits a packet that waits.
    pacing_timer: Instant,
    /// Whether an eliciting packet was sent since the last packet arrived.
    sent_since_arrival: bool,
    /// Unreliable datagrams, once there was one.
    datagrams: Option<Box<datagrams::Datagrams>>,
    packet_threshold: u64,
    time_threshold: f64,
    next_skip: Option<u64>,
    /// Packet numbers that are skipped instead of random ones, in descending order.
    given_skips: Option<Vec<u64>>,
    random: Option<RandomStream>,
    /// Space and number of the first packet after the first round-trip sample.
    after_sample: Option<(SpaceId, u64)>,
    /// Packets carry an ACK frame after their frames since this time.
    next_bundle: Instant,
    newly: Vec<Range>,
    /// State of an endpoint that sends flights.
    flights: Option<Box<Flights>>,
    spin: bool,
    /// Whether the spin bit is used on this connection.
    spins: bool,
    /// A client's own path, or the path to the client, and its validation.
    path: u8,
    validation: Option<Box<path::Validation>>,
    challenges: u64,
    /// Number of address changes so far.
    moved: u32,
    keys: keys::KeyPhases,
    ids: ids::Ids,
    /// UDP payload of a full datagram, and the search for the path MTU.
    datagram: u16,
    mtu: Option<Box<mtu::Mtu>>,
    control_is_custom: bool,
    /// Size of a stateless reset that is due; 0 for none.
    reset_due: u16,
    reads_later: bool,
    /// Whether frames besides STREAM and ACK, or probes, may wait to be sent, or the general path may be needed for
    /// another reason.
    is_extra_due: bool,
    /// Whether all packets use the general path.
    is_general: bool,
    now: Instant,
    // Report.
    counters: Counters,
    failure: Option<Failure>,
    /// Notes for a log, if there is one.
    notes: Option<Box<notes::Notes>>,
    rtt_sum: Duration,
    rtt_count: u64,
    limit: Limit,
    /// Whether the peer waits for permission to open streams.
    peer_waits: bool,
    limited: Limited,
    quic_limited: QuicLimited,
    limited_since: Option<Instant>,
    window_integral: Integral,
    window_time: Duration,
    window_since: Instant,
}

impl Connection {
    /// Creates a client. `peer` holds the parameters that the server will announce; `seed` determines random decisions.
    pub fn client(config: Arc<Config>, peer: Parameters, seed: u64) -> Self {
        Self::new(Side::Client, config, peer, seed)
    }

    /// Creates a server that waits for a client. `peer` holds the parameters that the client will announce; `seed`
    /// determines random decisions.
    pub fn server(config: Arc<Config>, peer: Parameters, seed: u64) -> Self {
        Self::new(Side::Server, config, peer, seed)
    }

    fn new(side: Side, config: Arc<Config>, peer: Parameters, seed: u64) -> Self {
        let mut spaces = Spaces::new();
        if side == Side::Server {
            spaces[SpaceId::Initial as usize].receiving = Keys::Ready;
        }
        let control = Control::new(&config, seed);
        let mut connection = Self {
            side,
            state: State::Idle,
            peer,
            spaces,
            lists: FrameLists::default(),
            streams: Streams::new(side, &config),
            control,
            rtt: Rtt::new(config.initial_rtt, config.variance),
            ecn: Ecn::new(config.ecn, config.details.trusts_ecn),
            in_flight: 0,
            pto_count: 0,
            loss_timer: Instant::MAX,
            timed_probe: None,
            probe_wait: Duration::MAX,
            idle_wait: Duration::MAX,
            idle_limit: Duration::MAX,
            last_activity: Instant::ZERO,
            rare_timer: Instant::MAX,
            ack_rules: config.ack,
            ack_delay: peer.max_ack_delay,
            frequency: frequency::Frequency::default(),
            arrivals: frequency::Arrivals::default(),
            is_confirmed: false,
            knows_peer: false,
            handshake: handshake::Handshake::default(),
            closing: closing::Closing::default(),
            idle_deadline: Instant::MAX,
            pacing_timer: Instant::MAX,
            sent_since_arrival: false,
            datagrams: None,
            packet_threshold: config.loss.packet_threshold,
            time_threshold: config.loss.time_threshold,
            next_skip: None,
            given_skips: None,
            random: config.skip_numbers.then(|| RandomStream::new(seed, "quic skipped packet numbers")),
            after_sample: None,
            next_bundle: Instant::MAX,
            newly: Vec::new(),
            flights: None,
            spin: false,
            spins: true,
            path: 0,
            validation: None,
            challenges: 0,
            moved: 0,
            keys: keys::KeyPhases::default(),
            ids: ids::Ids::default(),
            datagram: config.datagram,
            mtu: None,
            control_is_custom: false,
            reset_due: 0,
            reads_later: false,
            is_extra_due: true,
            is_general: false,
            now: Instant::ZERO,
            counters: Counters::default(),
            failure: None,
            notes: None,
            rtt_sum: Duration::ZERO,
            rtt_count: 0,
            limit: Limit::Idle,
            peer_waits: false,
            limited: Limited::default(),
            quic_limited: QuicLimited::default(),
            limited_since: None,
            window_integral: Integral::default(),
            window_time: Duration::ZERO,
            window_since: Instant::ZERO,
            config,
        };
        // The shortcuts for common packets know nothing of the details.
        connection.is_general =
            connection.config.details != Details::default() || connection.config.key_update.is_some();
        if connection.config.details.acks_wait {
            connection.spaces[SpaceId::Application as usize].received.wait();
        }
        connection.choose_flights();
        connection.choose_spin(seed);
        connection.set_idle_limit();
        connection.plan_skip(0);
        let own = connection.own_stream();
        connection.streams.open_early(own);
        connection
    }

    /// Replaces the congestion control, before the connection is opened.
    #[must_use]
    pub fn with_congestion(mut self, algorithm: Box<dyn CongestionControl>, needs: Needs) -> Self {
        self.control = Control::with_algorithm(&self.config, algorithm, needs, self.control.seed);
        self.control_is_custom = true;
        self.choose_flights();
        self
    }

    /// Prepares a new connection for an application that uses several streams, through the trait
    /// [`Multiplexed`](lightlag_transport::Multiplexed). As a [`Stream`](lightlag_transport::Stream), the connection
    /// then stands for all of them: sizes are sums, and closing it ends the connection.
    #[must_use]
    pub fn with_several_streams(mut self) -> Self {
        self.streams = Streams::new(self.side, &self.config);
        self.streams.serve_several();
        self.choose_flights();
        self
    }

    /// Returns true after [`Self::with_several_streams`].
    pub fn has_several_streams(&self) -> bool {
        self.streams.are_several()
    }

    /// Replaces the random choice of skipped packet numbers by `numbers` in ascending order, before the connection is
    /// opened, so that it can be compared with another implementation.
    #[must_use]
    pub fn with_skipped_numbers(mut self, mut numbers: Vec<u64>) -> Self {
        numbers.reverse();
        self.next_skip = numbers.pop();
        self.given_skips = Some(numbers);
        self
    }

    /// Returns the stream that [`Stream`](lightlag_transport::Stream) writes to: the first bidirectional one of this
    /// end.
    pub fn own_stream(&self) -> u64 {
        self.side as u64
    }

    /// Returns the stream that [`Stream`](lightlag_transport::Stream) reads from: the first bidirectional one of the
    /// peer.
    pub fn peer_stream(&self) -> u64 {
        self.side.peer() as u64
    }

    /// Returns the stage.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the side.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Returns true if the handshake is confirmed (RFC 9001 §4.1.2).
    pub fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the counters of packets.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the round-trip estimate.
    pub fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Returns the state of the ECN validation.
    pub fn ecn(&self) -> &Ecn {
        &self.ecn
    }

    /// Returns the streams.
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Returns the bytes in flight, in UDP payload.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the congestion window in bytes.
    pub fn window(&self) -> u64 {
        self.control.window()
    }

    /// Returns the number of probe timeouts since the last acknowledgement.
    pub fn pto_count(&self) -> u8 {
        self.pto_count
    }

    /// Returns the sent packet with this number in a space, for tests and logs.
    pub fn sent_packet(&self, space: SpaceId, number: u64) -> Option<&SentPacket> {
        self.spaces[space as usize].sent.get(number)
    }

    /// Opens a stream; `None` if the peer permits no more streams.
    pub fn open_stream(&mut self, direction: Direction) -> Option<u64> {
        self.streams.open(direction)
    }

    /// Appends `bytes` to a stream; [`u64::MAX`] means endless data.
    pub fn write_stream(&mut self, id: u64, bytes: u64) {
        self.streams.write(id, bytes);
        self.flight_due();
        self.judge_supply();
    }

    /// Finishes a stream after the bytes written so far.
    pub fn finish_stream(&mut self, id: u64) {
        self.streams.finish(id);
        self.flight_due();
    }

    /// Resets a stream with an error code of the application.
    pub fn reset_stream(&mut self, id: u64, code: u64) {
        self.streams.reset(id, code);
        self.is_extra_due = true;
        self.flight_due();
    }

    /// Sets the priority of a stream. Higher ones are sent first; `incremental` streams take turns.
    pub fn set_priority(&mut self, id: u64, priority: i32, incremental: bool) {
        self.streams.set_priority(id, priority, incremental);
    }

    /// Reads up to `bytes` of a stream, and returns the number of bytes read. Call [`Self::poll_packet`] afterwards,
    /// because credit may be due.
    pub fn read_stream(&mut self, now: Instant, id: u64, bytes: u64) -> u64 {
        let srtt = self.rtt.smoothed();
        let read = self.streams.read(now, id, bytes, srtt);
        self.is_extra_due |= !self.streams.due.is_empty();
        read
    }

    /// Queues a PING frame in the application space.
    pub fn ping(&mut self) {
        self.spaces[SpaceId::Application as usize].frames.push(crate::frame::Frame::Ping);
        self.flight_due();
        self.is_extra_due = true;
    }

    #[inline(always)]
    fn judge_supply(&mut self) {
        if self.control.measures_rates() {
            let blocked = self.streams.is_blocked();
            let unsent = if blocked { 0 } else { self.streams.unsent() };
            let unsent = unsent.saturating_add(self.datagram_bytes());
            self.control.check_supply(unsent, self.in_flight, self.streams.has_repairs());
        }
    }

    /// Turns the spin bit off on one of 16 connections at random; it then has a random value (RFC 9000 §17.4).
    fn choose_spin(&mut self, seed: u64) {
        let mut random = RandomStream::new(seed, ["quic spin of client", "quic spin of server"][self.side as usize]);
        self.spins = !random.bits().is_multiple_of(16);
        self.spin = !self.spins && !random.bits().is_multiple_of(2);
    }

    /// Chooses the next packet number that is skipped: one in [from, 2 from), and in [0, 64) from 0.
    fn plan_skip(&mut self, from: u64) {
        if let Some(given) = &mut self.given_skips {
            self.next_skip = given.pop();
        } else if let Some(random) = &mut self.random {
            self.next_skip = Some(from + random.bits() % if from == 0 { 64 } else { from });
        }
    }

    /// Updates the time averages of the window, which was `window` bytes until now.
    fn window_was(&mut self, now: Instant, window: u64) {
        let span = now.since(self.window_since);
        self.window_integral.add(window, span.as_nanos());
        self.window_time += span;
        self.window_since = now;
    }

    /// Records the limit that applies to the sender since now.
    fn note_limit(&mut self, now: Instant, limit: Limit) {
        if self.limit != limit
            && let Some(since) = self.limited_since
        {
            let time = now.since(since);
            *self.limited.of_mut(self.limit) += time;
            self.quic_limited.add(self.limit, time);
            self.limited_since = Some(now);
        }
        self.limit = limit;
    }
}
