//! The client of iperf3: one test with one stream, in one direction.

use super::control::ControlConnection;
use super::{
    ACCESS_DENIED, COOKIE, CREATE_STREAMS, DISPLAY_RESULTS, EXCHANGE_RESULTS, IPERF_DONE, Measured, PARAM_EXCHANGE,
    SERVER_ERROR, SERVER_TERMINATE, TEST_END, TEST_RUNNING, TestRequest, results,
};
use crate::serve::payload::PayloadSource;
use crate::serve::report::ConnectionReport;
use crate::serve::session::{Role, Session};
use lightlag_core::{Instant, RandomStream};
use lightlag_host::{SocketId, Stack};
use serde_json::json;
use std::io;

/// Version of iperf3 that the client reports, and whose protocol it follows.
const VERSION: &str = "3.12";

/// Number of bytes per write that the client requests of the server (the default of iperf3).
const BLOCK: u64 = 131_072;

/// The characters that a cookie consists of.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClientStep {
    /// Waits for the server to request the parameters.
    Parameters,
    /// Waits for the server to request the stream, and then to start the test.
    Stream,
    Running,
    /// The test has ended; waits for the server to request the results.
    Ended,
    /// Waits for the results of the server.
    Results,
    /// Waits until the server lets the client display the results.
    Display,
    /// The last control byte is being sent.
    Goodbye,
}

/// The client in one test.
pub(in crate::serve) struct Client {
    test: TestRequest,
    cookie: [u8; COOKIE],
    control: ControlConnection,
    step: ClientStep,
    stream: Option<Session>,
    report: Option<ConnectionReport>,
    wants_stream: bool,
    begin: Instant,
}

impl Client {
    /// Creates the client on this open control connection. The seed determines the cookie, so concurrent tests on one
    /// server need different seeds.
    pub(in crate::serve) fn new(now: Instant, socket: SocketId, test: TestRequest, seed: u64) -> Self {
        let cookie = cookie(seed);
        let control = ControlConnection::new(socket, cookie.to_vec());
        Self {
            test,
            cookie,
            control,
            step: ClientStep::Parameters,
            stream: None,
            report: None,
            wants_stream: false,
            begin: now,
        }
    }

    /// Returns true once, when the data connection is to be opened.
    pub(in crate::serve) fn takes_stream(&mut self) -> bool {
        std::mem::take(&mut self.wants_stream)
    }

    /// Takes over the open data connection.
    ///
    /// # Errors
    /// Never, because no file is sent.
    pub(in crate::serve) fn add(&mut self, now: Instant, socket: SocketId, stack: &mut Stack) -> io::Result<()> {
        let role = if self.test.reverse { Role::Sink } else { Role::Send(PayloadSource::Pattern(u64::MAX)) };
        let mut session = Session::new(now, socket, &role, None)?;
        session.hold(true);
        self.stream = Some(session);
        // A new connection has space for it; an error shows when the stream is read.
        let _ = stack.write(now, socket, &self.cookie);
        Ok(())
    }

    /// Makes all progress that is possible now. Returns the report on the stream once the test is over.
    ///
    /// # Errors
    /// If the server rejects the test or ends it early.
    pub(in crate::serve) fn drive(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        chunk: &mut [u8],
    ) -> io::Result<Option<ConnectionReport>> {
        if self.step != ClientStep::Goodbye {
            self.control.listen(stack);
        }
        while self.advance(now, stack).map_err(|reason| self.failure(stack, reason))? {}
        if self.step == ClientStep::Running && now >= self.begin + self.test.time {
            self.control.push(&[TEST_END]);
            self.step = ClientStep::Ended;
            if let Some(stream) = &mut self.stream {
                stream.hold(true);
            }
        }
        if let Some(stream) = self.stream.as_mut().filter(|_| self.report.is_none()) {
            self.report = stream.drive(now, stack, chunk)?;
        }
        let is_running = matches!(self.step, ClientStep::Stream | ClientStep::Running);
        if let Some(error) = self.report.as_ref().filter(|_| is_running).and_then(|report| report.error.clone()) {
            return Err(self.failure(stack, &error));
        }
        self.control.speak(now, stack);
        if self.step == ClientStep::Goodbye && self.control.has_spoken() {
            return Ok(Some(self.end(now, stack)));
        }
        if self.control.is_over {
            return Err(self.failure(stack, "it closed the control connection"));
        }
        Ok(None)
    }

    /// Returns the time when the test ends, while it is running.
    pub(in crate::serve) fn deadline(&self) -> Option<Instant> {
        (self.step == ClientStep::Running).then(|| self.begin + self.test.time)
    }

    /// Returns the sockets of both connections.
    pub(in crate::serve) fn sockets(&self) -> impl Iterator<Item = SocketId> {
        let stream = self.stream.as_ref().map(|stream| stream.socket);
        std::iter::once(self.control.socket).chain(stream)
    }

    /// Advances by one step, if the server has allowed it. Returns true if it did.
    fn advance(&mut self, now: Instant, stack: &Stack) -> Result<bool, &'static str> {
        if self.step == ClientStep::Results {
            let done = self.control.take_json().is_some();
            self.step = if done { ClientStep::Display } else { self.step };
            return Ok(done);
        }
        let Some(byte) = self.control.take_byte() else { return Ok(false) };
        match (byte, self.step) {
            (PARAM_EXCHANGE, ClientStep::Parameters) => {
                self.control.push_json(&self.parameters());
                self.step = ClientStep::Stream;
            }
            (CREATE_STREAMS, ClientStep::Stream) => self.wants_stream = true,
            (TEST_RUNNING, ClientStep::Stream) => {
                self.begin = now;
                self.step = ClientStep::Running;
                if let Some(stream) = &mut self.stream {
                    stream.hold(false);
                }
            }
            (EXCHANGE_RESULTS, ClientStep::Ended) => {
                let results = self.results(now, stack);
                self.control.push_json(&results);
                self.step = ClientStep::Results;
            }
            (DISPLAY_RESULTS, ClientStep::Display) => {
                self.control.push(&[IPERF_DONE]);
                self.step = ClientStep::Goodbye;
            }
            (ACCESS_DENIED, _) => return Err("it is busy with another test"),
            (SERVER_ERROR, _) => return Err("it does not support such a test"),
            (SERVER_TERMINATE, _) => return Err("it has terminated"),
            _ => {}
        }
        Ok(true)
    }

    fn parameters(&self) -> serde_json::Value {
        let seconds = self.test.time.as_secs_f64().ceil() as u64;
        let mut parameters = json!({
            "tcp": true, "omit": 0, "time": seconds, "num": 0, "blockcount": 0, "parallel": 1, "len": BLOCK,
            "pacing_timer": 1000, "client_version": VERSION,
        });
        if self.test.reverse {
            parameters["reverse"] = true.into();
        }
        parameters
    }

    fn results(&self, now: Instant, stack: &Stack) -> serde_json::Value {
        let report = self.report.clone().or_else(|| self.stream.as_ref().map(|stream| stream.report(now, stack)));
        let seconds = now.since(self.begin).as_secs_f64();
        let congestion = report.as_ref().map(|report| report.congestion.as_str());
        let streams = report.iter().map(|report| Measured { id: 1, sends: !self.test.reverse, report });
        results(seconds, congestion, &streams.collect::<Vec<_>>())
    }

    fn failure(&self, stack: &Stack, reason: &str) -> io::Error {
        let remote = stack.addresses(self.control.socket).ok().and_then(|(_, remote)| remote);
        let server = remote.map_or_else(|| "the server".to_owned(), |remote| remote.to_string());
        io::Error::other(format!("{server}: the iperf3 test failed: {reason}"))
    }

    /// Closes both connections. Returns the report on the stream; an error in it is ignored, since the server may reset
    /// the stream once the test has ended.
    fn end(&mut self, now: Instant, stack: &mut Stack) -> ConnectionReport {
        let _ = stack.close(now, self.control.socket);
        let reported = self.report.take().map(|report| ConnectionReport { error: None, ..report });
        reported.unwrap_or_else(|| {
            let stream = self.stream.as_ref().expect("a test that ran has a stream");
            let report = stream.report(now, stack);
            let _ = stack.close(now, stream.socket);
            report
        })
    }
}

/// Returns the cookie of a test: 36 characters and a zero byte.
fn cookie(seed: u64) -> [u8; COOKIE] {
    let mut random = RandomStream::new(seed, "cookie of iperf3");
    let mut cookie = [0; COOKIE];
    for character in &mut cookie[..COOKIE - 1] {
        *character = ALPHABET[(random.bits() % ALPHABET.len() as u64) as usize];
    }
    cookie
}
