//! Threads that do the same work on the parts of a list, again and again.

use std::hint::spin_loop;
use std::sync::mpsc::{Receiver, RecvError, Sender, TryRecvError, channel};
use std::thread::{JoinHandle, sleep, yield_now};
use std::time::Duration;

struct Worker<T, C> {
    /// Items that it works on.
    share: usize,
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
    fn on<T>(self, channel: &Receiver<T>) -> Result<T, RecvError> {
        let mut patience = Patience::default();
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

/// Looks of a thread at something that another is about to do: for some 100 µs it stays awake, and then it sleeps between two looks.
#[derive(Clone, Copy, Default, Debug)]
pub struct Patience {
    looks: u32,
}

impl Patience {
    /// Looks before one sleeps.
    const LOOKS: u32 = 5_000;
    /// After so many others get the core.
    const IN_A_ROW: u32 = 50;
    /// Between two looks after that: as long as waking up takes.
    const ASLEEP: Duration = Duration::from_micros(50);

    /// Whether one still looks awake.
    fn lasts(self) -> bool {
        self.looks < Self::LOOKS
    }

    /// Lets some time pass before the next look.
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

/// Shares of a list for so many threads, as even as can be.
pub fn evenly(items: usize, threads: usize) -> Vec<usize> {
    (0..threads).map(|thread| (thread + 1) * items / threads - thread * items / threads).collect()
}

/// Threads beside the one that asks.
pub struct Pool<T, C> {
    work: fn(&mut [T], C),
    wait: Wait,
    /// Items of the thread that asks.
    own: usize,
    workers: Vec<Worker<T, C>>,
}

impl<T: Send + 'static, C: Copy + Send + 'static> Pool<T, C> {
    /// A thread for each share of a list, the first of which is that of the thread that asks. Each does this work on its share.
    ///
    /// # Panics
    /// Without shares.
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

    /// Does the work on the shares of a list.
    ///
    /// # Panics
    /// If the work does, and if the list is not as long as all shares.
    pub fn pass(&mut self, items: &mut Vec<T>, with: C) {
        let shares: usize = self.workers.iter().map(|worker| worker.share).sum();
        assert_eq!(items.len(), self.own + shares, "each item is in a share");
        let mut rest = std::mem::take(items).into_iter();
        let mut own: Vec<T> = rest.by_ref().take(self.own).collect();
        for worker in &self.workers {
            let share = rest.by_ref().take(worker.share).collect();
            let sent = worker.jobs.as_ref().is_some_and(|jobs| jobs.send((share, with)).is_ok());
            assert!(sent, "a worker waits until it is told to end");
        }
        (self.work)(&mut own, with);
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
            let work = |items: &mut [u64], with| items.iter_mut().for_each(|item| *item = 10 * *item + with);
            let mut pool = Pool::new(&evenly(7, threads), wait, work);
            let mut items: Vec<u64> = (0..7).collect();
            pool.pass(&mut items, 3);
            pool.pass(&mut items, 4);
            assert_eq!(items, (0..7).map(|item| 100 * item + 34).collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn each_thread_takes_its_share() {
        let mut pool = Pool::new(&[1, 0, 3], Wait::Asleep, |items: &mut [usize], (): ()| items.fill(items.len()));
        let mut items = vec![0; 4];
        pool.pass(&mut items, ());
        assert_eq!(items, [1, 3, 3, 3]);
        assert_eq!((evenly(7, 3), evenly(1, 2)), (vec![2, 2, 3], vec![0, 1]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_may_run_wherever_the_one_that_asks_may() {
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
