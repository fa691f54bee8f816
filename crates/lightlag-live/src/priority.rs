//! The scheduling of a thread that must be on time.

use std::fmt;
use thread_priority::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The scheduling of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// `SCHED_FIFO`: runs before every ordinary thread.
    Fifo,
    /// Nice −20: has the highest weight among ordinary threads.
    Nice,
    /// The kernel's default.
    Normal,
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "SCHED_FIFO",
            Self::Nice => "nice -20",
            Self::Normal => "normal",
        })
    }
}

/// Real-time priority (1 to 99) for [`Priority::Fifo`]: above every ordinary thread, but below the kernel's own threads
/// (50).
const FIFO: u8 = 10;

/// Raises the calling thread to `wanted`, or else to the highest lower priority that is permitted. Returns the priority
/// reached.
///
/// It also requests precise timers, because by default the kernel delays timers by up to 50 µs to save wake-ups.
pub fn raise(wanted: Priority) -> Priority {
    // Every process may do this.
    let _ = nix::sys::prctl::set_timerslack(1);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let normal = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
    let set = |priority, policy| set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
    match wanted {
        Priority::Fifo if set(ThreadPriority::Crossplatform(FIFO.try_into().expect("below 100")), fifo) => {
            Priority::Fifo
        }
        Priority::Fifo | Priority::Nice if set(ThreadPriority::Max, normal) => Priority::Nice,
        _ => Priority::Normal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_requested_priority_or_a_lower_one_is_set() {
        let given = |wanted| std::thread::spawn(move || raise(wanted)).join().unwrap();
        assert_eq!(given(Priority::Normal), Priority::Normal);
        assert_ne!(given(Priority::Nice), Priority::Fifo);
        given(Priority::Fifo);
    }
}
