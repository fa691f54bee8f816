//! Threads that do the same work on the parts of a list, again and again.

use std::hint::spin_loop;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{JoinHandle, yield_now};

struct Worker<T, C> {
    jobs: Option<Sender<(Vec<T>, C)>>,
    done: Receiver<Vec<T>>,
    thread: Option<JoinHandle<()>>,
}

/// How threads wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Without using a core.
    Asleep,
    /// Awake for a while, some 100 µs: waking up would take as long as short work itself. Whoever else wants the core gets it.
    Awake,
}

impl Wait {
    /// Looks at a channel before one sleeps.
    const LOOKS: u32 = 5_000;
    /// After so many it lets others have the core.
    const IN_A_ROW: u32 = 50;

    fn on<T>(self, channel: &Receiver<T>) -> Result<T, RecvError> {
        if self == Self::Awake {
            for look in 1..=Self::LOOKS {
                match channel.try_recv() {
                    Ok(found) => return Ok(found),
                    Err(TryRecvError::Disconnected) => return Err(RecvError),
                    Err(TryRecvError::Empty) if look % Self::IN_A_ROW == 0 => yield_now(),
                    Err(TryRecvError::Empty) => spin_loop(),
                }
            }
        }
        channel.recv()
    }
}

/// Threads start where the one that asks is, and Linux may leave them there for a second, although other cores are idle.
#[cfg(target_os = "linux")]
mod apart {
    use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use nix::unistd::Pid;

    /// This thread.
    const SELF: Pid = Pid::from_raw(0);

    /// The core that is this many behind the present one, of those that may be used.
    pub(super) fn core(behind: usize) -> Option<usize> {
        let (allowed, here) = (sched_getaffinity(SELF).ok()?, sched_getcpu().ok()?);
        let cores: Vec<usize> = (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false)).collect();
        let place = cores.iter().position(|core| *core == here)?;
        Some(cores[(place + behind) % cores.len()])
    }

    /// Moves this thread there. It may leave again.
    pub(super) fn move_to(core: Option<usize>) {
        let (Some(core), Ok(allowed)) = (core, sched_getaffinity(SELF)) else { return };
        let mut alone = CpuSet::new();
        // One that cannot be moved runs where it is.
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

/// Threads beside the one that asks.
pub struct Pool<T, C> {
    work: fn(&mut T, C),
    wait: Wait,
    workers: Vec<Worker<T, C>>,
}

impl<T: Send + 'static, C: Copy + Send + 'static> Pool<T, C> {
    /// So many threads, with the one that asks, for this work.
    pub fn new(threads: usize, wait: Wait, work: fn(&mut T, C)) -> Self {
        let worker = |number: usize| {
            let (jobs, to_do) = channel::<(Vec<T>, C)>();
            let (finished, done) = channel();
            let core = apart::core(number);
            let run = move || {
                apart::move_to(core);
                while let Ok((mut items, with)) = wait.on(&to_do) {
                    items.iter_mut().for_each(|item| work(item, with));
                    if finished.send(items).is_err() {
                        return;
                    }
                }
            };
            Worker { jobs: Some(jobs), done, thread: Some(std::thread::spawn(run)) }
        };
        Self { work, wait, workers: (1..threads).map(worker).collect() }
    }

    /// Does the work on each item. Each thread takes neighbours.
    ///
    /// # Panics
    /// If the work does.
    pub fn pass(&mut self, items: &mut Vec<T>, with: C) {
        let threads = self.workers.len() + 1;
        let count = items.len();
        let mut rest = std::mem::take(items).into_iter();
        let mut share = |thread: usize| -> Vec<T> {
            let size = (thread + 1) * count / threads - thread * count / threads;
            rest.by_ref().take(size).collect()
        };
        let mut own = share(0);
        for (worker, at) in self.workers.iter().zip(1..) {
            let sent = worker.jobs.as_ref().is_some_and(|jobs| jobs.send((share(at), with)).is_ok());
            assert!(sent, "a worker waits until it is told to end");
        }
        own.iter_mut().for_each(|item| (self.work)(item, with));
        items.append(&mut own);
        for worker in &mut self.workers {
            match self.wait.on(&worker.done) {
                Ok(mut done) => items.append(&mut done),
                // It has ended, so it has panicked.
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
                // Its panic was passed on, or another one is under way.
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_worked_on_once_and_keeps_its_place() {
        for (threads, wait) in (1..5).flat_map(|threads| [(threads, Wait::Asleep), (threads, Wait::Awake)]) {
            let mut pool = Pool::new(threads, wait, |item: &mut u64, with: u64| *item = 10 * *item + with);
            let mut items: Vec<u64> = (0..7).collect();
            pool.pass(&mut items, 3);
            pool.pass(&mut items, 4);
            assert_eq!(items, (0..7).map(|item| 100 * item + 34).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_may_run_wherever_the_one_that_asks_may() {
        use nix::sched::sched_getaffinity;
        use nix::unistd::Pid;
        let mut pool = Pool::new(3, Wait::Asleep, |item, (): ()| *item = sched_getaffinity(Pid::from_raw(0)).ok());
        let mut items = vec![None; 3];
        pool.pass(&mut items, ());
        assert!(items[0].is_some() && items.iter().all(|item| *item == items[0]), "{items:?}");
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_of_a_worker_is_passed_on() {
        let mut pool = Pool::new(2, Wait::Asleep, |item: &mut u64, (): ()| assert!(*item != 3, "the third"));
        pool.pass(&mut vec![1, 2, 3], ());
    }
}
