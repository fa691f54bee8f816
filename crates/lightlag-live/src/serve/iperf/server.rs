//! The server of iperf3, for tests in one, the other or both directions. Like the original, it runs one test at a time;
//! the client determines its duration.

use super::control::ControlConnection;
use super::{
    ACCESS_DENIED, CLIENT_TERMINATE, COOKIE, CREATE_STREAMS, DISPLAY_RESULTS, EXCHANGE_RESULTS, IPERF_DONE, Measured,
    PARAM_EXCHANGE, SERVER_ERROR, TEST_END, TEST_RUNNING, TEST_START, results,
};
use crate::serve::payload::PayloadSource;
use crate::serve::report::ConnectionReport;
use crate::serve::session::{Role, Session};
use lightlag_core::{Duration, Instant};
use lightlag_host::{SocketError, SocketId, SocketOption, Stack};
use serde::Deserialize;
use std::io;

/// Maximum number of streams in a test (MAX_STREAMS of iperf3).
const MOST_STREAMS: usize = 128;

/// The error number that follows SERVER_ERROR; the client displays it as "unimplemented".
const NOT_IMPLEMENTED: u32 = 13;

/// Maximum time without progress; then another client may replace the test.
const STUCK: Duration = Duration::from_secs(60);

/// The parameters of a test, as the client requests them.
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
enum ServerStep {
    Parameters,
    Streams,
    Running,
    Results,
    Goodbye,
}

struct Stream {
    /// ID of the stream, as the client numbers it: 1, 3, 4, 5 …
    id: u64,
    sends: bool,
    session: Session,
    report: Option<ConnectionReport>,
}

struct RunningTest {
    control: ControlConnection,
    cookie: Vec<u8>,
    step: ServerStep,
    parameters: Parameters,
    streams: Vec<Stream>,
    begin: Instant,
}

/// The server with its current test, if one is in progress.
#[derive(Default)]
pub(in crate::serve) struct Server {
    test: Option<RunningTest>,
    /// Connections whose cookie has not arrived completely, each with the bytes so far.
    strangers: Vec<(SocketId, Vec<u8>)>,
}

impl Server {
    /// Takes over an open connection.
    pub(in crate::serve) fn accept(&mut self, socket: SocketId) {
        self.strangers.push((socket, Vec::new()));
    }

    /// Returns true if no test is in progress and no new connection is waiting.
    pub(in crate::serve) fn is_idle(&self) -> bool {
        self.test.is_none() && self.strangers.is_empty()
    }

    /// Returns all sockets, so that they can be closed at the end.
    pub(in crate::serve) fn sockets(&self) -> Vec<SocketId> {
        let test = self.test.iter();
        let streams = test.clone().flat_map(|test| test.streams.iter().map(|stream| stream.session.socket));
        self.strangers
            .iter()
            .map(|(socket, _)| *socket)
            .chain(test.map(|test| test.control.socket))
            .chain(streams)
            .collect()
    }

    /// Makes all progress that is possible now. Returns the reports of completed data connections.
    ///
    /// # Errors
    /// Never, because the sessions send no file.
    pub(in crate::serve) fn drive(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        chunk: &mut [u8],
    ) -> io::Result<Vec<ConnectionReport>> {
        self.meet_strangers(now, stack)?;
        let Some(test) = &mut self.test else { return Ok(Vec::new()) };
        test.control.listen(stack);
        test.advance(now, stack);
        for stream in &mut test.streams {
            if stream.report.is_none() {
                stream.report = stream.session.drive(now, stack, chunk)?;
            }
        }
        test.control.speak(now, stack);
        if !test.control.is_over {
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
                None => self.test = Some(RunningTest::new(now, socket, cookie)),
                Some(test) if test.cookie == cookie && test.step == ServerStep::Streams => {
                    test.add(now, socket, stack)?
                }
                Some(test) if test.is_stuck(now, stack) => {
                    // It ends at the next call, and then the newcomer starts.
                    test.control.is_over = true;
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

impl RunningTest {
    fn new(now: Instant, control: SocketId, cookie: Vec<u8>) -> Self {
        Self {
            control: ControlConnection::new(control, vec![PARAM_EXCHANGE]),
            cookie,
            step: ServerStep::Parameters,
            parameters: Parameters::default(),
            streams: Vec::new(),
            begin: now,
        }
    }

    /// Returns true if none of the test's connections has made progress for [`STUCK`].
    fn is_stuck(&self, now: Instant, stack: &Stack) -> bool {
        let sockets = self.streams.iter().map(|stream| stream.session.socket).chain([self.control.socket]);
        let last = sockets.filter_map(|socket| stack.progress_at(socket)).max();
        last.is_none_or(|last| now.since(last) >= STUCK)
    }

    /// Returns the number of data connections that the client opens, and on how many of them it sends; these come
    /// first.
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
        let role = if sends { Role::Send(PayloadSource::Pattern(u64::MAX)) } else { Role::Sink };
        let id = if number == 0 { 1 } else { number as u64 + 2 };
        let mut session = Session::new(now, socket, &role, None)?;
        session.hold(true);
        self.streams.push(Stream { id, sends, session, report: None });
        Ok(())
    }

    /// Advances by as many steps as the received bytes allow.
    fn advance(&mut self, now: Instant, stack: &Stack) {
        loop {
            let before = self.step;
            match self.step {
                ServerStep::Parameters => self.take_parameters(),
                ServerStep::Streams if self.streams.len() == self.expected().0 => {
                    self.control.push(&[TEST_START, TEST_RUNNING]);
                    self.begin = now;
                    self.streams.iter_mut().for_each(|stream| stream.session.hold(false));
                    self.step = ServerStep::Running;
                }
                ServerStep::Results => {
                    if self.control.take_json().is_some() {
                        let results = self.results(now, stack);
                        self.control.push_json(&results);
                        self.control.push(&[DISPLAY_RESULTS]);
                        self.step = ServerStep::Goodbye;
                    }
                }
                ServerStep::Streams | ServerStep::Running | ServerStep::Goodbye => self.take_byte(),
            }
            if self.step == before || self.control.is_over {
                return;
            }
        }
    }

    fn take_parameters(&mut self) {
        let Some(text) = self.control.take_json() else { return };
        let parameters: Option<Parameters> = serde_json::from_slice(&text).ok();
        let known = |name: &String| name.parse::<lightlag_control::congestion::Choice>().is_ok();
        match parameters {
            Some(wanted)
                if wanted.tcp
                    && (1..=MOST_STREAMS).contains(&wanted.parallel.unwrap_or(1))
                    && wanted.congestion.as_ref().is_none_or(known) =>
            {
                self.parameters = wanted;
                self.control.push(&[CREATE_STREAMS]);
                self.step = ServerStep::Streams;
            }
            _ => {
                // The error code, and no errno of the system.
                self.control.push(&[SERVER_ERROR]);
                self.control.push(&NOT_IMPLEMENTED.to_be_bytes());
                self.control.push(&[0; 4]);
                self.step = ServerStep::Goodbye;
            }
        }
    }

    fn take_byte(&mut self) {
        let Some(byte) = self.control.take_byte() else { return };
        match (byte, self.step) {
            (TEST_END, ServerStep::Running) => {
                // The original closes its data connections here. A client that reads complete blocks waits for their
                // end: the queue of the path may hold less than the rest of its last block.
                self.streams.iter_mut().for_each(|stream| stream.session.end_payload());
                self.control.push(&[EXCHANGE_RESULTS]);
                self.step = ServerStep::Results;
            }
            (IPERF_DONE | CLIENT_TERMINATE, _) => self.control.is_over = true,
            _ => {}
        }
    }

    fn results(&self, now: Instant, stack: &Stack) -> serde_json::Value {
        let seconds = now.since(self.begin).as_secs_f64();
        let report = |stream: &Stream| stream.report.clone().unwrap_or_else(|| stream.session.report(now, stack));
        let reports: Vec<ConnectionReport> = self.streams.iter().map(report).collect();
        let measured = self.streams.iter().zip(&reports);
        let measured = measured.map(|(stream, report)| Measured { id: stream.id, sends: stream.sends, report });
        let streams: Vec<Measured<'_>> = measured.collect();
        let congestion = reports.first().map(|report| report.congestion.as_str());
        results(seconds, congestion, &streams)
    }

    /// Ends the test and closes all its connections. Resets are not errors then, because a client may reset its streams
    /// once the test has ended.
    fn end(&mut self, now: Instant, stack: &mut Stack) -> Vec<ConnectionReport> {
        let _ = stack.close(now, self.control.socket);
        let has_ended = self.step == ServerStep::Goodbye;
        let reports = self.streams.drain(..).map(|stream| match stream.report {
            Some(report) if has_ended => ConnectionReport { error: None, ..report },
            Some(report) => report,
            None => {
                let report = stream.session.report(now, stack);
                let _ = stack.close(now, stream.session.socket);
                report
            }
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

    /// Exchanges packets between both stacks and accepts connections, until no packet is left. Returns the reports of
    /// the server.
    fn exchange(
        now: Instant,
        stacks: &mut [Stack; 2],
        listener: SocketId,
        iperf: &mut Server,
    ) -> Vec<ConnectionReport> {
        let [server, client] = stacks;
        let (mut packet, mut reports) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            while client.poll_packet(now, &mut packet) {
                server.packet_in(now, &packet);
            }
            while let Ok(socket) = server.accept(listener) {
                iperf.accept(socket);
            }
            reports.extend(iperf.drive(now, server, &mut [0; 1000]).unwrap());
            while server.poll_packet(now, &mut packet) {
                client.packet_in(now, &packet);
            }
        }
        reports
    }

    /// Returns the stacks of a server and a client, and the server's listening socket.
    fn hosts() -> ([Stack; 2], SocketId) {
        let stack = |last| Stack::new(HostConfig::new(vec![IpAddr::from([10, 0, 0, last])]));
        let mut stacks = [stack(1), stack(2)];
        let listener = stacks[0].listen((SERVER, 5201).into(), 5).unwrap();
        (stacks, listener)
    }

    /// Starts a test in which the server sends. Returns the client's control and data connections.
    fn start_reverse(now: Instant, stacks: &mut [Stack; 2], listener: SocketId, iperf: &mut Server) -> [SocketId; 2] {
        let request = br#"{"tcp": true, "reverse": true}"#;
        [0, 1].map(|_| {
            let socket = stacks[1].socket();
            stacks[1].connect(now, socket, (SERVER, 5201).into()).unwrap();
            exchange(now, stacks, listener, iperf);
            stacks[1].write(now, socket, &[b'a'; COOKIE]).unwrap();
            exchange(now, stacks, listener, iperf);
            if iperf.test.as_ref().is_some_and(|test| test.step == ServerStep::Parameters) {
                stacks[1].write(now, socket, &(request.len() as u32).to_be_bytes()).unwrap();
                stacks[1].write(now, socket, request).unwrap();
                exchange(now, stacks, listener, iperf);
            }
            socket
        })
    }

    #[test]
    fn a_client_may_reset_its_stream_after_the_test() {
        for (has_ended, expected) in [(true, None), (false, Some("the peer reset the connection"))] {
            let (mut stacks, listener) = hosts();
            let mut iperf = Server::default();
            let now = Instant::ZERO + Duration::from_secs(1);
            let [control, data] = start_reverse(now, &mut stacks, listener, &mut iperf);
            if has_ended {
                stacks[1].write(now, control, &[TEST_END]).unwrap();
                exchange(now, &mut stacks, listener, &mut iperf);
                stacks[1].write(now, control, b"\0\0\0\x02{}").unwrap();
                exchange(now, &mut stacks, listener, &mut iperf);
            }
            stacks[1].abort(now, data).unwrap();
            stacks[1].write(now, control, &[IPERF_DONE]).unwrap();
            let reports = exchange(now, &mut stacks, listener, &mut iperf);
            let errors: Vec<_> = reports.iter().map(|report| report.error.as_deref()).collect();
            assert_eq!(errors, [expected]);
        }
    }

    #[test]
    fn the_end_of_a_reverse_test_ends_the_stream_of_data() {
        let (mut stacks, listener) = hosts();
        let mut iperf = Server::default();
        let now = Instant::ZERO + Duration::from_secs(1);
        let [control, data] = start_reverse(now, &mut stacks, listener, &mut iperf);
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
    fn a_stuck_test_is_replaced() {
        let (mut stacks, listener) = hosts();
        let mut iperf = Server::default();
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
