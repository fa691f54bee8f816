//! The virtual clock, the sent packets, and the waiting threads.
//!
//! One thread drives: it sleeps, hands packets in and waits for packets. A second one may sit in a blocking call. After
//! every event each blocked thread checks whether its call is done. If it is, the thread returns to the tool, which
//! first reads the time. Nothing moves before that, so it reads the time of the event that unblocked it.

use crate::descriptors::Descriptors;
use crate::sysctl;
use lightlag_core::{Duration, Instant};
use lightlag_host::{HostConfig, Stack};
use lightlag_tcp::config::TimerGranularity;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The initial time of the clock: 1,000 s, so that timestamps and sequence numbers do not start at 0.
const START: Instant = Instant::from_nanos(1_000_000_000_000);

/// The cost of reading the clock: the tool reads it repeatedly while it waits for the next microsecond.
const TICK: Duration = Duration::from_micros(1);

/// The minimum MTU. Smaller packets need not be carried (RFC 791: 68 bytes), and have no space for data.
const LEAST_MTU: u16 = 128;

/// The default source addresses of connecting sockets, as in the tool's own runner.
const LOCAL: [&str; 2] = ["192.168.0.1", "fd3d:fa7b:d17d::1"];

/// A stack, its clock and its descriptors.
pub struct World {
    inner: Mutex<Inner>,
    changed: Condvar,
    /// The driving thread. Its blocking calls move the clock themselves, as no other thread would.
    driver: ThreadId,
}

/// The state that the lock protects.
pub(crate) struct Inner {
    pub(crate) stack: Stack,
    pub(crate) now: Instant,
    pub(crate) descriptors: Descriptors,
    pub(crate) sysctl: PathBuf,
    pub(crate) timers: TimerGranularity,
    /// Number of times that the memory of servers was flushed.
    pub(crate) flushes: u64,
    /// The MTU, if the flags set it.
    pub(crate) mtu: Option<u16>,
    /// Sent packets that the tool has not seen.
    outgoing: VecDeque<(Instant, Vec<u8>)>,
    blocked: Vec<(ThreadId, Option<Instant>)>,
    /// Number of blocked threads that have not rechecked their condition since the last event; `event` is that event's
    /// number.
    looking: usize,
    event: u64,
    /// Threads that were unblocked and have not read the clock.
    owing: Vec<ThreadId>,
    /// Threads that were unblocked since the driver last slept, by the kernel's ids.
    woken: Vec<libc::pid_t>,
}

pub(crate) type Guard<'a> = MutexGuard<'a, Inner>;

impl World {
    /// Creates a world with the `flags` of the tool.
    pub fn new(flags: &str) -> Result<Self, String> {
        let mut addresses = Vec::new();
        let mut folder = PathBuf::from(sysctl::FOLDER);
        let (mut timers, mut mtu) = (TimerGranularity::Exact, None);
        for word in flags.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.split_once('=') {
                Some(("local", address)) => addresses.push(
                    address
                        .parse::<IpAddr>()
                        .map_err(|_| format!("{address:?} is not an address: give local=192.168.0.1"))?,
                ),
                Some(("sysctl", path)) => folder = PathBuf::from(path),
                Some(("hz", "250")) => timers = TimerGranularity::Linux,
                Some(("mtu", bytes)) => {
                    let bytes = bytes.parse().ok().filter(|bytes| *bytes >= LEAST_MTU);
                    mtu =
                        Some(bytes.ok_or_else(|| format!("{word:?} is not an MTU: give {LEAST_MTU} to 65535 bytes"))?);
                }
                _ => {
                    let known = "local=ADDRESS, sysctl=DIRECTORY, mtu=BYTES and hz=250";
                    return Err(format!("{word:?} is not known: there are {known}"));
                }
            }
        }
        if addresses.is_empty() {
            addresses = LOCAL.iter().filter_map(|address| address.parse().ok()).collect();
        }
        let inner = Inner {
            stack: Stack::new(HostConfig::new(addresses)),
            now: START,
            descriptors: Descriptors::default(),
            sysctl: folder,
            timers,
            flushes: 0,
            mtu,
            outgoing: VecDeque::new(),
            blocked: Vec::new(),
            looking: 0,
            event: 0,
            owing: Vec::new(),
            woken: Vec::new(),
        };
        Ok(Self { inner: Mutex::new(inner), changed: Condvar::new(), driver: thread::current().id() })
    }

    /// Whether this descriptor belongs to this world.
    pub fn owns(&self, fd: i32) -> bool {
        self.lock().descriptors.has(fd)
    }

    /// Number of threads in a blocking call.
    pub fn waiting(&self) -> usize {
        self.lock().blocked.len()
    }

    /// Hands a packet to the stack at the current time.
    pub fn packet_in(&self, packet: &[u8]) {
        let mut inner = self.enter();
        let now = inner.now;
        inner.stack.packet_in(now, packet);
        drop(self.settle(inner));
    }

    /// The next packet that is sent: its number of bytes, and its departure time in microseconds. The clock runs until
    /// then; 0 bytes mean that no packet will ever be sent.
    pub fn next_packet(&self, buffer: &mut [u8]) -> (usize, u64) {
        let mut inner = self.enter();
        loop {
            if let Some((time, packet)) = inner.outgoing.pop_front() {
                let len = packet.len().min(buffer.len());
                buffer[..len].copy_from_slice(&packet[..len]);
                return (len, micros(time));
            }
            let Some(next) = inner.next_event() else { return (0, micros(inner.now)) };
            inner = self.advance(inner, next);
        }
    }

    /// Lets the clock run for this many microseconds. The tool holds no lock now, so a thread whose call returned can
    /// act on it, for example by making an accepted socket known. This function waits until that thread sleeps again.
    pub fn sleep(&self, micros: u64) {
        let mut inner = self.enter();
        let woken = std::mem::take(&mut inner.woken);
        drop(inner);
        // SAFETY: a plain system call.
        let me = unsafe { libc::gettid() };
        woken.into_iter().filter(|thread| *thread != me).for_each(wait_until_asleep);
        let inner = self.enter();
        let until = inner.now + Duration::from_micros(micros);
        drop(self.advance(inner, until));
    }

    /// The time in microseconds. Reading it takes one microsecond, except for a thread that was just unblocked.
    pub fn read_clock(&self) -> u64 {
        let mut inner = self.enter();
        let me = thread::current().id();
        if let Some(place) = inner.owing.iter().position(|thread| *thread == me) {
            inner.owing.swap_remove(place);
            self.changed.notify_all();
            return micros(inner.now);
        }
        let until = inner.now + TICK;
        inner = self.advance(inner, until);
        micros(inner.now)
    }

    fn lock(&self) -> Guard<'_> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, inner: Guard<'a>) -> Guard<'a> {
        self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock once no other thread has to read the clock first.
    pub(crate) fn enter(&self) -> Guard<'_> {
        let me = thread::current().id();
        let mut inner = self.lock();
        while !inner.owing.contains(&me) && (inner.looking > 0 || !inner.owing.is_empty()) {
            inner = self.wait(inner);
        }
        inner
    }

    /// Handles an event: packets are sent, and blocked threads check whether they can continue.
    pub(crate) fn settle<'a>(&'a self, mut inner: Guard<'a>) -> Guard<'a> {
        inner.flush();
        if inner.blocked.is_empty() {
            return inner;
        }
        inner.event += 1;
        inner.looking = inner.blocked.len();
        self.changed.notify_all();
        while inner.looking > 0 || !inner.owing.is_empty() {
            inner = self.wait(inner);
        }
        inner
    }

    /// Lets the clock run until `until`; everything due by then happens at its time.
    fn advance<'a>(&'a self, mut inner: Guard<'a>, until: Instant) -> Guard<'a> {
        while let Some(next) = inner.next_event().filter(|next| *next <= until) {
            let now = inner.now.max(next);
            inner.now = now;
            inner.stack.handle_timeout(now);
            inner = self.settle(inner);
        }
        inner.now = inner.now.max(until);
        inner
    }

    /// Repeats `attempt` until it has a result or the deadline has passed (`None`). The thread sleeps in between.
    pub(crate) fn block<'a, T>(
        &'a self,
        mut inner: Guard<'a>,
        deadline: Option<Instant>,
        mut attempt: impl FnMut(&mut Inner) -> Option<T>,
    ) -> (Guard<'a>, Option<T>) {
        let me = thread::current().id();
        let mut found = attempt(&mut inner);
        inner.flush();
        if found.is_some() || deadline.is_some_and(|deadline| deadline <= inner.now) {
            return (inner, found);
        }
        if me == self.driver {
            while found.is_none() {
                let next = inner.next_event().into_iter().chain(deadline).min();
                let Some(next) = next else { break };
                inner = self.advance(inner, next);
                found = attempt(&mut inner);
                inner.flush();
                if deadline.is_some_and(|deadline| deadline <= inner.now) {
                    break;
                }
            }
            return (inner, found);
        }
        inner.blocked.push((me, deadline));
        let mut seen = inner.event;
        loop {
            while inner.event == seen {
                inner = self.wait(inner);
            }
            seen = inner.event;
            found = attempt(&mut inner);
            inner.flush();
            let done = found.is_some() || deadline.is_some_and(|deadline| deadline <= inner.now);
            if done {
                inner.blocked.retain(|(thread, _)| *thread != me);
                inner.owing.push(me);
                // SAFETY: a plain system call.
                inner.woken.push(unsafe { libc::gettid() });
            }
            inner.looking -= 1;
            self.changed.notify_all();
            if done {
                return (inner, found);
            }
        }
    }
}

impl Inner {
    /// Time of the next event of the stack itself, if any.
    fn next_event(&self) -> Option<Instant> {
        let waits = self.blocked.iter().filter_map(|(_, deadline)| *deadline);
        self.stack.poll_timeout().into_iter().chain(waits).min()
    }

    /// Collects the packets that can leave now.
    fn flush(&mut self) {
        let mut packet = Vec::new();
        while self.stack.poll_packet(self.now, &mut packet) {
            self.outgoing.push_back((self.now, std::mem::take(&mut packet)));
        }
    }
}

/// Lets a thread of this process run until it sleeps or is gone.
fn wait_until_asleep(thread: libc::pid_t) {
    // The state follows the name, which may hold any character and ends with the last parenthesis (proc_pid_stat(5)).
    let runs = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('S'));
    while std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).is_ok_and(runs) {
        thread::yield_now();
    }
}

fn micros(time: Instant) -> u64 {
    time.as_nanos() / 1_000
}
