//! A pool of threads that repeatedly do the same work on the parts of a list.

use std::hint::spin_loop;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{JoinHandle, sleep, yield_now};
use std::time::Duration;

struct Worker<T, C> {
    /// Number of items that the thread works on.
    share: usize,
    jobs: Option<Sender<(Vec<T>, C)>>,
    done: Receiver<Vec<T>>,
    thread: Option<JoinHandle<()>>,
}

/// Waiting strategy of the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Sleep immediately, without using a core.
    Asleep,
    /// Spin for about 100 µs first, because waking up takes as long as short work itself. Other threads can still get
    /// the core.
    Awake,
}

impl Wait {
    fn on<T>(self, channel: &Receiver<T>) -> Result<T, RecvError> {
        let mut patience = Backoff::default();
        while self == Self::Awake && patience.lasts() {
            match channel.try_recv() {
                Ok(found) => return Ok(found),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => patience.pause(),
            }
        }
        channel.recv()
    }
}

/// Spin-then-sleep backoff of a waiting thread: it spins for about 100 µs, and then sleeps between two checks.
#[derive(Clone, Copy, Default, Debug)]
pub struct Backoff {
    looks: u32,
}

impl Backoff {
    /// Number of checks before the thread sleeps.
    const LOOKS: u32 = 5_000;
    /// Number of checks before the thread yields the core.
    const IN_A_ROW: u32 = 50;
    /// Sleep between two checks: as long as waking up takes.
    const ASLEEP: Duration = Duration::from_micros(50);

    /// Returns true while the thread spins.
    fn lasts(self) -> bool {
        self.looks < Self::LOOKS
    }

    /// Waits before the next check.
    #[inline]
    pub fn pause(&mut self) {
        self.looks += u32::from(self.lasts());
        if !self.lasts() {
            sleep(Self::ASLEEP);
        } else if self.looks.is_multiple_of(Self::IN_A_ROW) {
            yield_now();
        } else {
            spin_loop();
        }
    }
}

/// Placement of threads. Threads start on the core of their parent, and Linux may leave them there for a second,
/// although other cores are idle.
#[cfg(target_os = "linux")]
mod apart {
    use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use nix::unistd::Pid;

    /// ID of this thread.
    const SELF: Pid = Pid::from_raw(0);

    /// Returns the core at offset `behind` from the current one, among the cores that may be used.
    pub(super) fn core(behind: usize) -> Option<usize> {
        let (allowed, here) = (sched_getaffinity(SELF).ok()?, sched_getcpu().ok()?);
        let cores: Vec<usize> = (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false)).collect();
        let place = cores.iter().position(|core| *core == here)?;
        Some(cores[(place + behind) % cores.len()])
    }

    /// Moves this thread to a core. The scheduler may move it again later.
    pub(super) fn move_to(core: Option<usize>) {
        let (Some(core), Ok(allowed)) = (core, sched_getaffinity(SELF)) else { return };
        let mut alone = CpuSet::new();
        // A thread that cannot be moved runs on its current core.
        if alone.set(core).is_ok() && sched_setaffinity(SELF, &alone).is_ok() {
            let _ = sched_setaffinity(SELF, &allowed);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod apart {
    pub(super) fn core(_: usize) {}

    pub(super) fn move_to((): ()) {}
}

/// Returns the number of items for each of `threads` threads, so that a list of `items` items is divided as evenly as
/// possible.
pub fn evenly(items: usize, threads: usize) -> Vec<usize> {
    (0..threads).map(|thread| (thread + 1) * items / threads - thread * items / threads).collect()
}

/// A pool of threads in addition to the calling one.
pub struct Pool<T, C> {
    work: fn(&mut [T], C),
    wait: Wait,
    /// Number of items of the calling thread.
    own: usize,
    workers: Vec<Worker<T, C>>,
}

impl<T: Send + 'static, C: Copy + Send + 'static> Pool<T, C> {
    /// Starts a thread for each of `shares`, which are numbers of items. The first share belongs to the calling thread.
    /// Each thread calls `work` with its part of the list.
    ///
    /// # Panics
    /// If `shares` is empty.
    pub fn new(shares: &[usize], wait: Wait, work: fn(&mut [T], C)) -> Self {
        let worker = |(number, share): (usize, usize)| {
            let (jobs, to_do) = channel::<(Vec<T>, C)>();
            let (finished, done) = channel();
            let core = apart::core(number);
            let run = move || {
                apart::move_to(core);
                while let Ok((mut items, with)) = wait.on(&to_do) {
                    work(&mut items, with);
                    if finished.send(items).is_err() {
                        return;
                    }
                }
            };
            Worker { share, jobs: Some(jobs), done, thread: Some(std::thread::spawn(run)) }
        };
        Self { work, wait, own: shares[0], workers: (1..).zip(shares[1..].iter().copied()).map(worker).collect() }
    }

    /// Does the work on all parts of a list in parallel.
    ///
    /// # Panics
    /// If the work panics, or if the length of the list is not the sum of the shares.
    pub fn pass(&mut self, items: &mut Vec<T>, with: C) {
        let shares: usize = self.workers.iter().map(|worker| worker.share).sum();
        assert_eq!(items.len(), self.own + shares, "each item is in a share");
        let mut rest = std::mem::take(items).into_iter();
        let mut own: Vec<T> = rest.by_ref().take(self.own).collect();
        for worker in &self.workers {
            let share = rest.by_ref().take(worker.share).collect();
            let sent = worker.jobs.as_ref().is_some_and(|jobs| jobs.send((share, with)).is_ok());
            assert!(sent, "a worker waits until it is stopped");
        }
        (self.work)(&mut own, with);
        items.append(&mut own);
        for worker in &mut self.workers {
            match self.wait.on(&worker.done) {
                Ok(mut done) => items.append(&mut done),
                // The thread has ended, so it has panicked.
                Err(_) => {
                    let result = worker.thread.take().map(JoinHandle::join);
                    std::panic::resume_unwind(
                        result.and_then(Result::err).unwrap_or_else(|| Box::new("a worker ended")),
                    );
                }
            }
        }
    }
}

impl<T, C> Drop for Pool<T, C> {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.jobs = None;
            if let Some(thread) = worker.thread.take() {
                // Its panic was propagated, or another one is in progress.
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_processed_once_and_keeps_its_index() {
        for (threads, wait) in (1..5).flat_map(|threads| [(threads, Wait::Asleep), (threads, Wait::Awake)]) {
            let work = |items: &mut [u64], with| items.iter_mut().for_each(|item| *item = 10 * *item + with);
            let mut pool = Pool::new(&evenly(7, threads), wait, work);
            let mut items: Vec<u64> = (0..7).collect();
            pool.pass(&mut items, 3);
            pool.pass(&mut items, 4);
            assert_eq!(items, (0..7).map(|item| 100 * item + 34).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn each_thread_takes_its_part() {
        let mut pool = Pool::new(&[1, 0, 3], Wait::Asleep, |items: &mut [usize], (): ()| items.fill(items.len()));
        let mut items = vec![0; 4];
        pool.pass(&mut items, ());
        assert_eq!(items, [1, 3, 3, 3]);
        assert_eq!((evenly(7, 3), evenly(1, 2)), (vec![2, 2, 3], vec![0, 1]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_have_the_affinity_of_the_calling_thread() {
        use nix::sched::sched_getaffinity;
        use nix::unistd::Pid;
        let mut pool =
            Pool::new(&[1, 1, 1], Wait::Asleep, |items, (): ()| items[0] = sched_getaffinity(Pid::from_raw(0)).ok());
        let mut items = vec![None; 3];
        pool.pass(&mut items, ());
        assert!(items[0].is_some() && items.iter().all(|item| *item == items[0]), "{items:?}");
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_of_a_worker_is_passed_on() {
        let mut pool =
            Pool::new(&[1, 2], Wait::Asleep, |items: &mut [u64], (): ()| assert!(!items.contains(&3), "the third"));
        pool.pass(&mut vec![1, 2, 3], ());
    }
}
