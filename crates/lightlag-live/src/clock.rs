//! Real time as the simulator counts it: nanoseconds since the start.

use lightlag_core::{Duration, Instant};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::os::fd::BorrowedFd;

/// The last part of a wait, which is spent polling instead of sleeping: about the time that the kernel takes to resume
/// a thread.
const SPIN: Duration = Duration::from_micros(50);

/// The monotonic clock, counted from the creation of this value.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: std::time::Instant,
}

#[allow(
    clippy::disallowed_methods,
    reason = "this is the only access to real time; no result of a simulation depends on it"
)]
fn monotonic() -> std::time::Instant {
    std::time::Instant::now()
}

impl Clock {
    /// Returns a clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: monotonic() }
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn now(&self) -> Instant {
        let elapsed = monotonic().duration_since(self.start).as_nanos();
        Instant::from_nanos(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }

    /// Waits until one of `descriptors` is readable (or broken), until the time `until`, or until a signal arrives.
    ///
    /// It polls during the last 50 µs, because a sleeping thread resumes some tens of microseconds late.
    pub fn wait(&self, descriptors: &[BorrowedFd<'_>], until: Instant) {
        let mut polled: Vec<_> =
            descriptors.iter().map(|descriptor| PollFd::new(*descriptor, PollFlags::POLLIN)).collect();
        loop {
            let left = until.since(self.now());
            let sleep = left.saturating_sub(SPIN);
            let timeout = TimeSpec::from_duration(std::time::Duration::from_nanos(sleep.as_nanos()));
            match ppoll(&mut polled, Some(timeout), None) {
                Ok(0) if until > self.now() => {}
                Ok(_) | Err(Errno::EINTR) => return,
                // Only invalid arguments remain.
                Err(error) => unreachable!("ppoll: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::unistd::{pipe, write};
    use std::os::fd::AsFd;

    #[test]
    fn waiting_ends_at_the_deadline_and_not_before() {
        let (reader, _writer) = pipe().unwrap();
        let clock = Clock::start();
        let until = clock.now() + Duration::from_millis(3);
        clock.wait(&[reader.as_fd()], until);
        assert!(clock.now() >= until);
    }

    #[test]
    fn readable_data_ends_the_wait_immediately() {
        let (reader, writer) = pipe().unwrap();
        write(&writer, b"x").unwrap();
        let clock = Clock::start();
        let until = Instant::ZERO + Duration::from_secs(3600);
        clock.wait(&[reader.as_fd()], until);
        assert!(clock.now() < until);
    }

    #[test]
    fn a_deadline_that_is_over_does_not_wait() {
        let (reader, _writer) = pipe().unwrap();
        Clock::start().wait(&[reader.as_fd()], Instant::ZERO);
    }
}
