//! The client: one test of one stream, in one direction.

use super::control::Control;
use super::{
    ACCESS_DENIED, COOKIE, CREATE_STREAMS, DISPLAY_RESULTS, EXCHANGE_RESULTS, IPERF_DONE, Measured, PARAM_EXCHANGE,
    SERVER_ERROR, SERVER_TERMINATE, TEST_END, TEST_RUNNING, Test, results,
};
use crate::serve::payload::Source;
use crate::serve::report::Report;
use crate::serve::session::{Role, Session};
use lightlag_core::{Instant, RandomStream};
use lightlag_host::{SocketId, Stack};
use serde_json::json;
use std::io;

/// Version of iperf3 whose protocol the client follows.
const VERSION: &str = "3.12";

/// Bytes that the server writes at once (the default of iperf3).
const BLOCK: u64 = 131_072;

/// The characters of a cookie.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// The server requests the parameters.
    Parameters,
    /// The stream is opened, and the test starts.
    Stream,
    Running,
    /// The test has ended, and the server requests the results.
    Ended,
    /// The server sends its results.
    Results,
    /// The server lets the client show them.
    Display,
    /// The last byte is on its way.
    Goodbye,
}

/// The client of one test.
pub(in crate::serve) struct Client {
    test: Test,
    cookie: [u8; COOKIE],
    control: Control,
    step: Step,
    stream: Option<Session>,
    report: Option<Report>,
    wants_stream: bool,
    begin: Instant,
}

impl Client {
    /// The client with this open connection for control. Tests of one server need different seeds.
    pub(in crate::serve) fn new(now: Instant, socket: SocketId, test: Test, seed: u64) -> Self {
        let cookie = cookie(seed);
        let control = Control::new(socket, cookie.to_vec());
        Self {
            test,
            cookie,
            control,
            step: Step::Parameters,
            stream: None,
            report: None,
            wants_stream: false,
            begin: now,
        }
    }

    /// Returns true once, when the connection for data is to be opened.
    pub(in crate::serve) fn takes_stream(&mut self) -> bool {
        std::mem::take(&mut self.wants_stream)
    }

    /// Takes over the open connection for data.
    ///
    /// # Errors
    /// Never: no file is sent.
    pub(in crate::serve) fn add(&mut self, now: Instant, socket: SocketId, stack: &mut Stack) -> io::Result<()> {
        let role = if self.test.reverse { Role::Sink } else { Role::Send(Source::Pattern(u64::MAX)) };
        let mut session = Session::new(now, socket, &role, None)?;
        session.hold(true);
        self.stream = Some(session);
        // A new connection has room for it; an error shows when the stream is read.
        let _ = stack.write(now, socket, &self.cookie);
        Ok(())
    }

    /// Does everything possible now. Returns the report on the stream once the test is over.
    ///
    /// # Errors
    /// If the server refuses the test or ends it early.
    pub(in crate::serve) fn drive(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        chunk: &mut [u8],
    ) -> io::Result<Option<Report>> {
        if self.step != Step::Goodbye {
            self.control.listen(stack);
        }
        while self.advance(now, stack).map_err(|reason| self.failure(stack, reason))? {}
        if self.step == Step::Running && now >= self.begin + self.test.time {
            self.control.push(&[TEST_END]);
            self.step = Step::Ended;
            if let Some(stream) = &mut self.stream {
                stream.hold(true);
            }
        }
        if let Some(stream) = self.stream.as_mut().filter(|_| self.report.is_none()) {
            self.report = stream.drive(now, stack, chunk)?;
        }
        let is_running = matches!(self.step, Step::Stream | Step::Running);
        if let Some(error) = self.report.as_ref().filter(|_| is_running).and_then(|report| report.error.clone()) {
            return Err(self.failure(stack, &error));
        }
        self.control.speak(now, stack);
        if self.step == Step::Goodbye && self.control.has_spoken() {
            return Ok(Some(self.end(now, stack)));
        }
        if self.control.is_over {
            return Err(self.failure(stack, "it closed the connection for control"));
        }
        Ok(None)
    }

    /// Time at which the test ends, while it runs.
    pub(in crate::serve) fn deadline(&self) -> Option<Instant> {
        (self.step == Step::Running).then(|| self.begin + self.test.time)
    }

    /// Its sockets.
    pub(in crate::serve) fn sockets(&self) -> impl Iterator<Item = SocketId> {
        let stream = self.stream.as_ref().map(|stream| stream.socket);
        std::iter::once(self.control.socket).chain(stream)
    }

    /// Takes one step, if the server allows it. Returns whether it did.
    fn advance(&mut self, now: Instant, stack: &Stack) -> Result<bool, &'static str> {
        if self.step == Step::Results {
            let done = self.control.take_json().is_some();
            self.step = if done { Step::Display } else { self.step };
            return Ok(done);
        }
        let Some(byte) = self.control.take_byte() else { return Ok(false) };
        match (byte, self.step) {
            (PARAM_EXCHANGE, Step::Parameters) => {
                self.control.push_json(&self.parameters());
                self.step = Step::Stream;
            }
            (CREATE_STREAMS, Step::Stream) => self.wants_stream = true,
            (TEST_RUNNING, Step::Stream) => {
                self.begin = now;
                self.step = Step::Running;
                if let Some(stream) = &mut self.stream {
                    stream.hold(false);
                }
            }
            (EXCHANGE_RESULTS, Step::Ended) => {
                let results = self.results(now, stack);
                self.control.push_json(&results);
                self.step = Step::Results;
            }
            (DISPLAY_RESULTS, Step::Display) => {
                self.control.push(&[IPERF_DONE]);
                self.step = Step::Goodbye;
            }
            (ACCESS_DENIED, _) => return Err("it is busy with another test"),
            (SERVER_ERROR, _) => return Err("it does not run such a test"),
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
        io::Error::other(format!("{server}: the test of iperf3 failed: {reason}"))
    }

    /// Closes the connections. Returns the report on the stream; the server may reset it once the test has ended.
    fn end(&mut self, now: Instant, stack: &mut Stack) -> Report {
        let _ = stack.close(now, self.control.socket);
        let reported = self.report.take().map(|report| Report { error: None, ..report });
        reported.unwrap_or_else(|| {
            let stream = self.stream.as_ref().expect("a test that ran has a stream");
            let report = stream.report(now, stack);
            let _ = stack.close(now, stream.socket);
            report
        })
    }
}

/// The cookie of a test: 36 characters and a zero.
fn cookie(seed: u64) -> [u8; COOKIE] {
    let mut random = RandomStream::new(seed, "cookie of iperf3");
    let mut cookie = [0; COOKIE];
    for character in &mut cookie[..COOKIE - 1] {
        *character = ALPHABET[(random.bits() % ALPHABET.len() as u64) as usize];
    }
    cookie
}
