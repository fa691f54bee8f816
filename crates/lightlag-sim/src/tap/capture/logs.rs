//! Logs of the QUIC connections of captured flows in qlog, written during the run.
//!
//! One file contains the records of all logs, so that their number is not limited by the number of open files. Each
//! line is the number of a log ([`LogSpec::number`]) and a record of qlog.

use super::quic::{QuicConnections, connection};
use crate::hosts::endpoints::{EndpointIds, EndpointSpec, Role};
use crate::hosts::quic;
use crate::ids::FlowIndex;
use lightlag_control::congestion::Phase;
use lightlag_core::Instant;
use lightlag_net::EndpointId;
use lightlag_quic::connection::notes::{LossRule, LostPacket, Notes};
use lightlag_quic::contents::Contents;
use lightlag_quic::streams::Side;
use lightlag_quic::{Connection, Parameters, State};
use lightlag_scenario::{CapturePlace, CapturePlan, Network, QlogSchema};
use lightlag_transport::{Inspect, Snapshot};
use lightlag_wire::quic::SessionSpec;
use lightlag_wire::quic::qlog::{ConnectionState, Event, Log, LossTrigger, Metrics, Owner, Schema, Titles};
use std::io::{self, Write as _};

/// Name of the file.
pub(super) const FILE: &str = "quic.logs";

/// An endpoint with a log.
pub(super) struct LogSpec {
    endpoint: EndpointId,
    flow: FlowIndex,
    is_receiver: bool,
    side: Side,
    session: SessionSpec,
    node: String,
}

impl LogSpec {
    /// Returns the endpoints with logs: the sender and the receiver of each QUIC flow whose nodes are captured, if
    /// captures have comments.
    pub(super) fn all(
        network: &Network,
        plan: &CapturePlan,
        numbers: &EndpointIds,
        endpoints: &[EndpointSpec],
    ) -> Vec<Self> {
        let is_captured = |end: &EndpointSpec| {
            let flow = &network.flows[end.flow.index()];
            let has_place = |node| plan.places.contains(&CapturePlace::Node(node));
            plan.flows[end.flow.index()] && has_place(flow.from) && has_place(flow.to)
        };
        let ids = (numbers.of_tcp()..numbers.of_connections()).filter(|_| plan.comments).map(EndpointId);
        let ends = ids.map(|id| (id, &endpoints[id.index()]));
        let ends = ends.filter(|(_, end)| matches!(end.role, Role::Sender | Role::Receiver) && is_captured(end));
        let log = |(endpoint, end): (EndpointId, &EndpointSpec)| {
            let is_client = quic::opens(end, &network.flows[end.flow.index()]);
            let config = |at: EndpointId| quic::config(at, &endpoints[at.index()], network, numbers);
            let [client, server] = if is_client { [endpoint, end.peer] } else { [end.peer, endpoint] };
            let index = connection(endpoint, end);
            let [client, server] = [config(client), config(server)];
            Self {
                endpoint,
                flow: end.flow,
                is_receiver: end.role == Role::Receiver,
                side: if is_client { Side::Client } else { Side::Server },
                session: SessionSpec::new(index, client.version, client, server),
                node: network.nodes[end.node.0 as usize].clone(),
            }
        };
        ends.map(log).collect()
    }

    /// Returns the number of the log: twice the index of the flow, plus one for its receiver.
    fn number(&self) -> u64 {
        2 * u64::from(self.flow.0) + u64::from(self.is_receiver)
    }
}

/// Texts in the first records of the logs.
#[derive(Clone, Debug)]
pub(crate) struct LogTitles {
    /// Title of the run.
    pub(crate) run: String,
    pub(crate) description: String,
    /// Names of all flows.
    pub(crate) flows: Vec<String>,
}

/// The logs of a run.
pub(super) struct ConnectionLogs {
    file: super::Output,
    titles: LogTitles,
    /// Index of the log of each QUIC endpoint, from the endpoint `first`.
    indices: Vec<Option<u32>>,
    first: u32,
    logs: Vec<EndpointLog>,
    /// Memory for the records of an event.
    text: String,
}

/// The log of an endpoint, and the last values in it.
struct EndpointLog {
    log: Log,
    spec: LogSpec,
    /// Whether the first record was written.
    is_started: bool,
    state: Option<ConnectionState>,
    knows_peer: bool,
    duplicates: u64,
    congestion: Option<&'static str>,
    metrics: Metrics,
    /// UDP payload of a full datagram; 0 before the first record.
    datagram: u16,
}

impl ConnectionLogs {
    pub(super) fn new(file: super::Output, specs: Vec<LogSpec>, titles: LogTitles, schema: QlogSchema) -> Self {
        let first = specs.iter().map(|spec| spec.endpoint.0).min().unwrap_or(0);
        let last = specs.iter().map(|spec| spec.endpoint.0).max().unwrap_or(0);
        let mut indices = vec![None; (last - first) as usize + 1];
        for (index, spec) in (0..).zip(&specs) {
            indices[(spec.endpoint.0 - first) as usize] = Some(index);
        }
        let logs = specs.into_iter().map(|spec| EndpointLog::new(spec, schema)).collect();
        Self { file, titles, indices, first, logs, text: String::new() }
    }

    /// Returns the log of an endpoint; `None` if it has none.
    fn index(&self, endpoint: EndpointId) -> Option<usize> {
        let place = endpoint.0.checked_sub(self.first)?;
        Some((*self.indices.get(place as usize)?)? as usize)
    }

    /// Returns true if an endpoint has a log.
    pub(super) fn has(&self, endpoint: EndpointId) -> bool {
        self.index(endpoint).is_some()
    }

    /// Records a packet that an endpoint sends.
    pub(super) fn sent(&mut self, now: Instant, endpoint: EndpointId, contents: &Contents) -> io::Result<()> {
        let Some(index) = self.index(endpoint) else { return Ok(()) };
        let log = &mut self.logs[index];
        log.start(&mut self.text, &self.titles);
        log.log.record(&mut self.text, now, &Event::Sent { contents, trigger: None });
        self.write(index)
    }

    /// Records the changes of a connection after it has handled a packet or a timer or has sent packets. `packet`:
    /// contents of the packet.
    pub(super) fn changed(
        &mut self,
        now: Instant,
        endpoint: EndpointId,
        connection: &mut Connection,
        packet: Option<&Contents>,
    ) -> io::Result<()> {
        let Some(index) = self.index(endpoint) else { return Ok(()) };
        self.logs[index].changed(&mut self.text, &self.titles, now, connection, packet);
        self.write(index)
    }

    /// Writes the records in `text` to the file.
    fn write(&mut self, index: usize) -> io::Result<()> {
        let number = self.logs[index].spec.number();
        for line in self.text.split_inclusive('\n') {
            write!(self.file, "{number}{line}")?;
        }
        self.text.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl EndpointLog {
    fn new(spec: LogSpec, schema: QlogSchema) -> Self {
        let schema = match schema {
            QlogSchema::V03 => Schema::V03,
            QlogSchema::Main14 => Schema::Current,
        };
        Self {
            log: Log::new(schema, spec.side, spec.session.clone()),
            spec,
            is_started: false,
            state: None,
            knows_peer: false,
            duplicates: 0,
            congestion: None,
            metrics: Metrics::default(),
            datagram: 0,
        }
    }

    /// Writes the first record before the first event.
    fn start(&mut self, text: &mut String, titles: &LogTitles) {
        if !std::mem::replace(&mut self.is_started, true) {
            let title = format!("{}: {}", titles.run, titles.flows[self.spec.flow.index()]);
            let titles = Titles { title: &title, description: &titles.description, name: &self.spec.node };
            self.log.header(text, &titles);
        }
    }

    fn changed(
        &mut self,
        text: &mut String,
        titles: &LogTitles,
        now: Instant,
        connection: &mut Connection,
        packet: Option<&Contents>,
    ) {
        if connection.state() == State::Idle && packet.is_none() {
            return;
        }
        self.start(text, titles);
        let duplicates = connection.counters().duplicates;
        let is_duplicate = std::mem::replace(&mut self.duplicates, duplicates) != duplicates;
        let mut notes = connection.notes_mut().map(std::mem::take).unwrap_or_default();
        if let Some(contents) = packet.filter(|_| !self.is_over()) {
            self.received(text, now, contents, &notes, is_duplicate);
        }
        self.parameters(text, now, connection);
        self.advance(text, now, connection);
        for &lost in &notes.lost {
            self.log.record(text, now, &loss(lost));
        }
        self.path_mtu(text, now, connection);
        self.recovery(text, now, connection);
        // The memory of the notes is reused.
        notes.lost.clear();
        notes.processed.clear();
        if let Some(empty) = connection.notes_mut() {
            *empty = notes;
        }
    }

    /// Returns true if the connection had ended before the last change.
    fn is_over(&self) -> bool {
        use ConnectionState::{Closed, Closing, Draining};
        matches!(self.state, Some(Closing | Draining | Closed))
    }

    /// Records the packets of a datagram that were processed.
    fn received(&self, text: &mut String, now: Instant, contents: &Contents, notes: &Notes, is_duplicate: bool) {
        if notes.processed.is_empty() {
            // A datagram without stored contents has one packet.
            if !is_duplicate {
                self.log.record(text, now, &Event::Received { contents });
            }
        } else if notes.processed.len() == contents.parts.len() && notes.processed.iter().all(|is| *is) {
            self.log.record(text, now, &Event::Received { contents });
        } else {
            self.log.record(text, now, &Event::Received { contents: &selected(contents, &notes.processed) });
        }
    }

    /// Records the transport parameters when they become known.
    fn parameters(&mut self, text: &mut String, now: Instant, connection: &Connection) {
        if self.state.is_none() && connection.state() != State::Idle {
            let parameters = Parameters::of(connection.config());
            self.log.record(text, now, &Event::Parameters { owner: Owner::Local, parameters: &parameters });
        }
        if let Some(parameters) = connection.peer_parameters()
            && !std::mem::replace(&mut self.knows_peer, true)
        {
            self.log.record(text, now, &Event::Parameters { owner: Owner::Remote, parameters });
        }
    }

    /// Records changes of the state, including states that the connection has passed immediately.
    fn advance(&mut self, text: &mut String, now: Instant, connection: &Connection) {
        use ConnectionState::{Attempted, Closed, Closing, Draining, HandshakeComplete, HandshakeConfirmed};
        let states: &[ConnectionState] = match connection.state() {
            State::Idle => &[],
            State::Handshaking => &[Attempted],
            State::Complete if connection.is_confirmed() => &[Attempted, HandshakeComplete, HandshakeConfirmed],
            State::Complete => &[Attempted, HandshakeComplete],
            State::Closing => &[Closing],
            State::Draining => &[Draining],
            State::Closed => &[Closed],
        };
        let passed = states.iter().position(|state| Some(*state) == self.state).map_or(0, |place| place + 1);
        for &new in &states[passed..] {
            self.log.record(text, now, &Event::State { old: self.state, new });
            self.state = Some(new);
        }
    }

    /// Records a change of the datagram size by the search for the path MTU.
    fn path_mtu(&mut self, text: &mut String, now: Instant, connection: &Connection) {
        let new = connection.datagram_size();
        let old = std::mem::replace(&mut self.datagram, new);
        if old > 0 && old != new {
            self.log.record(text, now, &Event::Mtu { old, new, done: !connection.searches_mtu() });
        }
    }

    /// Records the values of recovery that have changed, and the phase of congestion control.
    fn recovery(&mut self, text: &mut String, now: Instant, connection: &Connection) {
        let snapshot = connection.snapshot();
        let congestion = congestion(&snapshot);
        if self.congestion != Some(congestion) {
            let old = self.congestion.replace(congestion);
            self.log.record(text, now, &Event::Congestion { old, new: congestion });
        }
        let metrics = metrics(&snapshot, connection);
        let changes = changes(&self.metrics, &metrics);
        if changes != Metrics::default() {
            self.log.record(text, now, &Event::Metrics(changes));
            self.metrics = metrics;
        }
    }
}

/// Returns the contents of a datagram without the packets that were dropped.
fn selected(contents: &Contents, processed: &[bool]) -> Contents {
    let mut selected = Contents::default();
    for (view, _) in contents.iter().zip(processed).filter(|(_, is_processed)| **is_processed) {
        selected.parts.push(*view.part);
        selected.frames.extend_from_slice(view.frames);
        selected.ranges.extend_from_slice(view.ranges);
    }
    selected
}

fn loss(lost: LostPacket) -> Event<'static> {
    let trigger = match lost.rule {
        LossRule::PacketThreshold => LossTrigger::ReorderingThreshold,
        LossRule::TimeThreshold => LossTrigger::TimeThreshold,
        LossRule::ProbeTimeout => LossTrigger::PtoExpired,
    };
    Event::Lost { kind: lost.kind, number: lost.number, trigger }
}

/// Returns the phase of congestion control as TCP's logs name it.
fn congestion(snapshot: &Snapshot) -> &'static str {
    match snapshot.phase {
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
        Phase::Open if snapshot.cwnd < snapshot.ssthresh => "slow_start",
        Phase::Open => "congestion_avoidance",
    }
}

fn metrics(snapshot: &Snapshot, connection: &Connection) -> Metrics {
    let rtt = connection.rtt();
    let has_sample = rtt.first_sample().is_some();
    Metrics {
        min_rtt: has_sample.then(|| rtt.min()),
        smoothed_rtt: has_sample.then(|| rtt.smoothed()),
        latest_rtt: has_sample.then(|| rtt.latest()),
        rtt_variance: has_sample.then(|| rtt.variance()),
        pto_count: Some(connection.pto_count().into()),
        congestion_window: Some(snapshot.cwnd),
        bytes_in_flight: Some(snapshot.inflight),
        ssthresh: Some(snapshot.ssthresh).filter(|bytes| *bytes != u64::MAX),
        packets_in_flight: None,
        pacing_rate: snapshot.pacing_rate.map(|rate| rate.as_bps()),
    }
}

/// Returns the values in `new` that differ from those in `old`.
fn changes(old: &Metrics, new: &Metrics) -> Metrics {
    fn changed<T: PartialEq>(old: Option<T>, new: Option<T>) -> Option<T> {
        if old == new { None } else { new }
    }
    Metrics {
        min_rtt: changed(old.min_rtt, new.min_rtt),
        smoothed_rtt: changed(old.smoothed_rtt, new.smoothed_rtt),
        latest_rtt: changed(old.latest_rtt, new.latest_rtt),
        rtt_variance: changed(old.rtt_variance, new.rtt_variance),
        pto_count: changed(old.pto_count, new.pto_count),
        congestion_window: changed(old.congestion_window, new.congestion_window),
        bytes_in_flight: changed(old.bytes_in_flight, new.bytes_in_flight),
        ssthresh: changed(old.ssthresh, new.ssthresh),
        packets_in_flight: changed(old.packets_in_flight, new.packets_in_flight),
        pacing_rate: changed(old.pacing_rate, new.pacing_rate),
    }
}

impl super::Captures {
    /// Returns true if the captures include the endpoints of a QUIC flow, with comments.
    pub(crate) fn can_log(&self) -> bool {
        !self.log_specs.is_empty()
    }

    /// Starts the logs of QUIC connections. `open` receives the name of their file.
    pub(crate) fn log(
        &mut self,
        open: &mut dyn FnMut(&str) -> io::Result<super::Output>,
        titles: LogTitles,
    ) -> io::Result<()> {
        let specs = std::mem::take(&mut self.log_specs);
        self.logs = Some(ConnectionLogs::new(open(FILE)?, specs, titles, self.log_schema));
        Ok(())
    }

    /// Returns true if an endpoint has a log.
    pub(crate) fn logs(&self, endpoint: EndpointId) -> bool {
        self.logs.as_ref().is_some_and(|logs| logs.has(endpoint))
    }

    /// Records a packet in the log of its sender.
    pub(super) fn log_sent(&mut self, now: Instant, packet: &crate::body::Packet) {
        let sender = self.endpoints[packet.to.index()].peer;
        let Some(contents) = self.contents_for(sender, packet) else { return };
        self.log_with(sender, |logs| logs.sent(now, sender, &contents));
    }

    /// Records changes of a QUIC connection, which may have handled a packet, in its log.
    #[cold]
    pub(crate) fn changed(
        &mut self,
        now: Instant,
        endpoint: EndpointId,
        connection: &mut Connection,
        packet: Option<&crate::body::Packet>,
    ) {
        let contents = packet.and_then(|packet| self.contents_for(endpoint, packet));
        self.log_with(endpoint, |logs| logs.changed(now, endpoint, connection, contents.as_ref()));
    }

    /// Returns the contents of a QUIC packet for the log of an endpoint; `None` if it has none.
    fn contents_for(&self, endpoint: EndpointId, packet: &crate::body::Packet) -> Option<Contents> {
        self.logs.as_ref().filter(|logs| logs.has(endpoint))?;
        self.quic.as_ref().and_then(|quic: &QuicConnections| quic.contents(packet))
    }

    /// Writes to the logs, if the flow of the endpoint is still captured.
    fn log_with(&mut self, endpoint: EndpointId, write: impl FnOnce(&mut ConnectionLogs) -> io::Result<()>) {
        if self.error.is_some() || !self.wants(endpoint) {
            return;
        }
        if let Some(Err(error)) = self.logs.as_mut().map(write) {
            self.error = Some((FILE.to_owned(), error));
        }
    }

    /// Ends the logs, and returns the name of their file if there is one.
    pub(super) fn finish_logs(&mut self) -> Option<String> {
        let logs = self.logs.take()?;
        if let Err(error) = logs.finish() {
            self.error.get_or_insert((FILE.to_owned(), error));
        }
        Some(FILE.to_owned())
    }
}
