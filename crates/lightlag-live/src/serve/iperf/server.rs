//! The server of iperf3 (its control protocol as of 3.12): tests of TCP in one, the other or both directions.
//!
//! A control connection carries one byte for each step, and JSON with its length in front. A data connection starts
//! with the cookie of the test. Like the original, the server runs one test at a time, timed by the client.

use super::payload::Source;
use super::report::Report;
use super::session::{Role, Session};
use lightlag_core::{Duration, Instant};
use lightlag_host::{SocketError, SocketId, SocketOption, Stack};
use serde::Deserialize;
use serde_json::json;
use std::io;

/// 36 characters and a zero.
const COOKIE: usize = 37;
/// The longest accepted JSON.
const LONGEST: usize = 1 << 16;
/// The most streams in a test (MAX_STREAMS of iperf3).
const MOST_STREAMS: usize = 128;

/// Time without progress after which a test makes room for another client.
const STUCK: Duration = Duration::from_secs(60);

const TEST_START: u8 = 1;
const TEST_RUNNING: u8 = 2;
const TEST_END: u8 = 4;
const PARAM_EXCHANGE: u8 = 9;
const CREATE_STREAMS: u8 = 10;
const CLIENT_TERMINATE: u8 = 12;
const EXCHANGE_RESULTS: u8 = 13;
const DISPLAY_RESULTS: u8 = 14;
const IPERF_DONE: u8 = 16;
/// −1 and −2.
const ACCESS_DENIED: u8 = 0xff;
const SERVER_ERROR: u8 = 0xfe;
/// "Unimplemented": the error that the client shows with SERVER_ERROR.
const NOT_IMPLEMENTED: u32 = 13;

/// The parameters that the client requests.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    tcp: bool,
    parallel: Option<usize>,
    reverse: bool,
    bidirectional: bool,
    congestion: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    Parameters,
    Streams,
    Running,
    Results,
    Goodbye,
}

struct Stream {
    /// Numbered like the client's: 1, 3, 4, 5 …
    id: u64,
    sends: bool,
    session: Session,
    report: Option<Report>,
}

struct Test {
    control: SocketId,
    cookie: Vec<u8>,
    step: Step,
    parameters: Parameters,
    /// Bytes received on the control connection, and bytes that wait to leave on it.
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    streams: Vec<Stream>,
    begin: Instant,
    over: bool,
}

/// The server.
#[derive(Default)]
pub(super) struct Iperf {
    test: Option<Test>,
    /// Connections whose cookie is incomplete.
    strangers: Vec<(SocketId, Vec<u8>)>,
}

impl Iperf {
    /// Takes over an open connection.
    pub(super) fn accept(&mut self, socket: SocketId) {
        self.strangers.push((socket, Vec::new()));
    }

    /// Whether no test is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.test.is_none() && self.strangers.is_empty()
    }

    /// All sockets, which are to be closed at the end.
    pub(super) fn sockets(&self) -> Vec<SocketId> {
        let test = self.test.iter();
        let streams = test.clone().flat_map(|test| test.streams.iter().map(|stream| stream.session.socket));
        self.strangers.iter().map(|(socket, _)| *socket).chain(test.map(|test| test.control)).chain(streams).collect()
    }

    /// Does everything possible now, and returns the reports of completed data connections.
    ///
    /// # Errors
    /// Never: the sessions send no file.
    pub(super) fn drive(&mut self, now: Instant, stack: &mut Stack, chunk: &mut [u8]) -> io::Result<Vec<Report>> {
        self.meet_strangers(now, stack)?;
        let Some(test) = &mut self.test else { return Ok(Vec::new()) };
        test.listen(stack);
        test.advance(now, stack);
        for stream in &mut test.streams {
            if stream.report.is_none() {
                stream.report = stream.session.drive(now, stack, chunk)?;
            }
        }
        test.speak(now, stack);
        if !test.over {
            return Ok(Vec::new());
        }
        let reports = test.end(now, stack);
        self.test = None;
        Ok(reports)
    }

    fn meet_strangers(&mut self, now: Instant, stack: &mut Stack) -> io::Result<()> {
        for (socket, mut cookie) in std::mem::take(&mut self.strangers) {
            if cookie.len() < COOKIE {
                let mut missing = vec![0; COOKIE - cookie.len()];
                match stack.read(socket, &mut missing) {
                    Ok(len @ 1..) => cookie.extend_from_slice(&missing[..len]),
                    Err(SocketError::WouldBlock) => {}
                    Ok(0) | Err(_) => {
                        let _ = stack.close(now, socket);
                        continue;
                    }
                }
            }
            if cookie.len() < COOKIE {
                self.strangers.push((socket, cookie));
                continue;
            }
            match &mut self.test {
                None => self.test = Some(Test::new(now, socket, cookie)),
                Some(test) if test.cookie == cookie && test.step == Step::Streams => test.add(now, socket, stack)?,
                Some(test) if test.is_stuck(now, stack) => {
                    // It ends at the next call, and then the newcomer begins.
                    test.over = true;
                    self.strangers.push((socket, cookie));
                }
                Some(_) => {
                    let _ = stack.write(now, socket, &[ACCESS_DENIED]);
                    let _ = stack.close(now, socket);
                }
            }
        }
        Ok(())
    }
}

impl Test {
    fn new(now: Instant, control: SocketId, cookie: Vec<u8>) -> Self {
        Self {
            control,
            cookie,
            step: Step::Parameters,
            parameters: Parameters::default(),
            incoming: Vec::new(),
            outgoing: vec![PARAM_EXCHANGE],
            streams: Vec::new(),
            begin: now,
            over: false,
        }
    }

    /// Whether none of its connections has made progress for a while.
    fn is_stuck(&self, now: Instant, stack: &Stack) -> bool {
        let sockets = self.streams.iter().map(|stream| stream.session.socket).chain([self.control]);
        let last = sockets.filter_map(|socket| stack.progress_at(socket)).max();
        last.is_none_or(|last| now.since(last) >= STUCK)
    }

    /// The number of data connections that the client opens, and the number of them, the first ones, on which it sends.
    fn expected(&self) -> (usize, usize) {
        let parallel = self.parameters.parallel.unwrap_or(1);
        match (self.parameters.bidirectional, self.parameters.reverse) {
            (true, _) => (2 * parallel, parallel),
            (false, true) => (parallel, 0),
            (false, false) => (parallel, parallel),
        }
    }

    fn add(&mut self, now: Instant, socket: SocketId, stack: &mut Stack) -> io::Result<()> {
        let number = self.streams.len();
        let sends = number >= self.expected().1;
        if let Some(Ok(choice)) = self.parameters.congestion.as_ref().map(|name| name.parse()) {
            let _ = stack.set_option(now, socket, &SocketOption::Congestion(choice));
        }
        let role = if sends { Role::Send(Source::Pattern(u64::MAX)) } else { Role::Sink };
        let id = if number == 0 { 1 } else { number as u64 + 2 };
        let mut session = Session::new(now, socket, &role, None)?;
        session.hold(true);
        self.streams.push(Stream { id, sends, session, report: None });
        Ok(())
    }

    fn listen(&mut self, stack: &mut Stack) {
        let mut buffer = [0; 4096];
        loop {
            match stack.read(self.control, &mut buffer) {
                Ok(0) => self.over = true,
                Ok(len) => self.incoming.extend_from_slice(&buffer[..len]),
                Err(SocketError::WouldBlock) => {}
                Err(_) => self.over = true,
            }
            if self.over || stack.queued(self.control).is_ok_and(|(unread, _)| unread == 0) {
                return;
            }
        }
    }

    fn speak(&mut self, now: Instant, stack: &mut Stack) {
        match stack.write(now, self.control, &self.outgoing) {
            Ok(len) => drop(self.outgoing.drain(..len)),
            Err(SocketError::WouldBlock) => {}
            Err(_) => self.over = true,
        }
    }

    /// Advances by as many steps as the received bytes allow.
    fn advance(&mut self, now: Instant, stack: &Stack) {
        loop {
            let before = self.step;
            match self.step {
                Step::Parameters => self.take_parameters(),
                Step::Streams if self.streams.len() == self.expected().0 => {
                    self.outgoing.extend([TEST_START, TEST_RUNNING]);
                    self.begin = now;
                    self.streams.iter_mut().for_each(|stream| stream.session.hold(false));
                    self.step = Step::Running;
                }
                Step::Results => {
                    if self.take_json().is_some() {
                        let results = self.results(now, stack).to_string();
                        self.outgoing.extend((results.len() as u32).to_be_bytes());
                        self.outgoing.extend(results.as_bytes());
                        self.outgoing.push(DISPLAY_RESULTS);
                        self.step = Step::Goodbye;
                    }
                }
                Step::Streams | Step::Running | Step::Goodbye => self.take_byte(),
            }
            if self.step == before || self.over {
                return;
            }
        }
    }

    fn take_parameters(&mut self) {
        let Some(text) = self.take_json() else { return };
        let parameters: Option<Parameters> = serde_json::from_slice(&text).ok();
        let known = |name: &String| name.parse::<lightlag_control::congestion::Choice>().is_ok();
        match parameters {
            Some(wanted)
                if wanted.tcp
                    && (1..=MOST_STREAMS).contains(&wanted.parallel.unwrap_or(1))
                    && wanted.congestion.as_ref().is_none_or(known) =>
            {
                self.parameters = wanted;
                self.outgoing.push(CREATE_STREAMS);
                self.step = Step::Streams;
            }
            _ => {
                // The error code, and no errno of the system.
                self.outgoing.push(SERVER_ERROR);
                self.outgoing.extend(NOT_IMPLEMENTED.to_be_bytes());
                self.outgoing.extend([0; 4]);
                self.step = Step::Goodbye;
            }
        }
    }

    fn take_byte(&mut self) {
        if self.incoming.is_empty() {
            return;
        }
        match (self.incoming.remove(0), self.step) {
            (TEST_END, Step::Running) => {
                // The original closes its data connections here. A client that reads whole blocks waits for their end:
                // the queue of the path may hold less than the rest of its last block.
                self.streams.iter_mut().for_each(|stream| stream.session.end_payload());
                self.outgoing.push(EXCHANGE_RESULTS);
                self.step = Step::Results;
            }
            (IPERF_DONE | CLIENT_TERMINATE, _) => self.over = true,
            _ => {}
        }
    }

    /// The JSON after its length, once it is complete.
    fn take_json(&mut self) -> Option<Vec<u8>> {
        let (length, rest) = self.incoming.split_at_checked(4)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
        if length > LONGEST {
            self.over = true;
            return None;
        }
        let text = rest.get(..length)?.to_vec();
        self.incoming.drain(..4 + length);
        Some(text)
    }

    fn results(&self, now: Instant, stack: &Stack) -> serde_json::Value {
        let seconds = now.since(self.begin).as_secs_f64();
        let streams: Vec<serde_json::Value> = self
            .streams
            .iter()
            .map(|stream| {
                let report = stream.report.clone().unwrap_or_else(|| stream.session.report(now, stack));
                let bytes = if stream.sends { report.bytes_out } else { report.bytes_in };
                let retransmits = if stream.sends { report.retransmitted_segments as i64 } else { -1 };
                json!({
                    "id": stream.id, "bytes": bytes, "retransmits": retransmits, "jitter": 0, "errors": 0,
                    "omitted_errors": 0, "packets": 0, "omitted_packets": 0, "start_time": 0, "end_time": seconds,
                })
            })
            .collect();
        let sends = self.streams.iter().any(|stream| stream.sends);
        let congestion = self.streams.first().map(|stream| stream.session.report(now, stack).congestion);
        json!({
            "cpu_util_total": 0, "cpu_util_user": 0, "cpu_util_system": 0,
            "sender_has_retransmits": if sends { 1 } else { -1 },
            "congestion_used": congestion, "streams": streams,
        })
    }

    /// Ends the test and closes all its connections.
    fn end(&mut self, now: Instant, stack: &mut Stack) -> Vec<Report> {
        let _ = stack.close(now, self.control);
        let reports = self.streams.drain(..).map(|stream| {
            stream.report.unwrap_or_else(|| {
                let report = stream.session.report(now, stack);
                let _ = stack.close(now, stream.session.socket);
                report
            })
        });
        reports.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::session::CHUNK;
    use lightlag_host::HostConfig;
    use std::net::IpAddr;

    const SERVER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    /// Exchanges packets until none is left, and accepts connections.
    fn exchange(now: Instant, stacks: &mut [Stack; 2], listener: SocketId, iperf: &mut Iperf) {
        let [server, client] = stacks;
        let mut packet = Vec::new();
        for _ in 0..10 {
            while client.poll_packet(now, &mut packet) {
                server.packet_in(now, &packet);
            }
            while let Ok(socket) = server.accept(listener) {
                iperf.accept(socket);
            }
            iperf.drive(now, server, &mut [0; 1000]).unwrap();
            while server.poll_packet(now, &mut packet) {
                client.packet_in(now, &packet);
            }
        }
    }

    /// A server, a client, and the server's listener.
    fn hosts() -> ([Stack; 2], SocketId) {
        let stack = |last| Stack::new(HostConfig::new(vec![IpAddr::from([10, 0, 0, last])]));
        let mut stacks = [stack(1), stack(2)];
        let listener = stacks[0].listen((SERVER, 5201).into(), 5).unwrap();
        (stacks, listener)
    }

    #[test]
    fn the_end_of_a_reverse_test_ends_the_stream_of_data() {
        let (mut stacks, listener) = hosts();
        let mut iperf = Iperf::default();
        let now = Instant::ZERO + Duration::from_secs(1);
        let request = br#"{"tcp": true, "reverse": true}"#;
        let [control, data] = [0, 1].map(|_| {
            let socket = stacks[1].socket();
            stacks[1].connect(now, socket, (SERVER, 5201).into()).unwrap();
            exchange(now, &mut stacks, listener, &mut iperf);
            stacks[1].write(now, socket, &[b'a'; COOKIE]).unwrap();
            exchange(now, &mut stacks, listener, &mut iperf);
            if iperf.test.as_ref().is_some_and(|test| test.step == Step::Parameters) {
                stacks[1].write(now, socket, &(request.len() as u32).to_be_bytes()).unwrap();
                stacks[1].write(now, socket, request).unwrap();
                exchange(now, &mut stacks, listener, &mut iperf);
            }
            socket
        });
        stacks[1].write(now, control, &[TEST_END]).unwrap();
        let mut received = 0;
        loop {
            exchange(now, &mut stacks, listener, &mut iperf);
            match stacks[1].read(data, &mut [0; CHUNK]) {
                Ok(0) => break,
                Ok(len) => received += len,
                Err(error) => panic!("{error} after {received} bytes instead of the end of the stream"),
            }
        }
        assert!(received > 0);
    }

    #[test]
    fn a_test_that_is_stuck_makes_room() {
        let (mut stacks, listener) = hosts();
        let mut iperf = Iperf::default();
        let mut opened = |seconds: u64, cookie: u8| {
            let now = Instant::ZERO + Duration::from_secs(seconds);
            let socket = stacks[1].socket();
            stacks[1].connect(now, socket, (SERVER, 5201).into()).unwrap();
            exchange(now, &mut stacks, listener, &mut iperf);
            stacks[1].write(now, socket, &[cookie; COOKIE]).unwrap();
            exchange(now, &mut stacks, listener, &mut iperf);
            let mut answer = [0; 10];
            let len = stacks[1].read(socket, &mut answer).unwrap();
            answer[..len].to_vec()
        };
        assert_eq!(opened(1, b'a'), [PARAM_EXCHANGE]);
        assert_eq!(opened(50, b'b'), [ACCESS_DENIED]);
        assert_eq!(opened(62, b'c'), [PARAM_EXCHANGE]);
        assert_eq!(opened(63, b'd'), [ACCESS_DENIED]);
    }
}
