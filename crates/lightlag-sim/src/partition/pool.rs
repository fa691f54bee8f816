//! Threads that each run partitions for a window. They wait without using a core.

use crate::partition::border::Part;
use crate::tap::Silent;
use crate::world::World;
use lightlag_core::Instant;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The world of a partition.
pub(crate) type Partition = Box<World<Silent, Part>>;

/// The work of a thread: some partitions, and the end of the window.
type Job = (Vec<Partition>, Instant);

struct Worker {
    jobs: Option<Sender<Job>>,
    done: Receiver<Vec<Partition>>,
    thread: Option<JoinHandle<()>>,
}

/// The threads beside the one that asks.
pub(crate) struct Pool(Vec<Worker>);

impl Pool {
    /// So many threads, with the one that asks.
    pub(crate) fn new(threads: usize) -> Self {
        let worker = |_| {
            let (jobs, to_do) = channel::<Job>();
            let (finished, done) = channel();
            let work = move || {
                while let Ok((mut partitions, end)) = to_do.recv() {
                    partitions.iter_mut().for_each(|world| world.pass(end));
                    if finished.send(partitions).is_err() {
                        return;
                    }
                }
            };
            Worker { jobs: Some(jobs), done, thread: Some(std::thread::spawn(work)) }
        };
        Self((1..threads).map(worker).collect())
    }

    /// Lets all partitions pass a window that ends before `end`.
    ///
    /// # Panics
    /// If one of them does.
    pub(crate) fn pass(&mut self, partitions: &mut Vec<Partition>, end: Instant) {
        let threads = self.0.len() + 1;
        let count = partitions.len();
        let mut rest = std::mem::take(partitions).into_iter();
        let mut share = |thread: usize| -> Vec<Partition> {
            let size = (thread + 1) * count / threads - thread * count / threads;
            rest.by_ref().take(size).collect()
        };
        let mut own = share(0);
        for (worker, at) in self.0.iter().zip(1..) {
            let job = (share(at), end);
            let sent = worker.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
            assert!(sent, "a worker waits until it is told to end");
        }
        own.iter_mut().for_each(|world| world.pass(end));
        partitions.append(&mut own);
        for worker in &mut self.0 {
            match worker.done.recv() {
                Ok(mut done) => partitions.append(&mut done),
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

impl Drop for Pool {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            worker.jobs = None;
            if let Some(thread) = worker.thread.take() {
                // Its panic was passed on, or another one is under way.
                let _ = thread.join();
            }
        }
    }
}
