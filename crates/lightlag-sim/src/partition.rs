//! Runs one simulation on several cores. The network is divided into partitions, each with its own world.
//!
//! The network is cut along its long links (`plan`), into one partition per thread. If the partitions have unequal
//! work, hosts of the busier ones become separate partitions, cut along shorter links, and are assigned to other
//! threads (`pack`). A *lane* is the work of one thread. A packet on a cut link arrives no earlier than after the delay
//! of that link. A partition therefore advances, window by window, as far as it has received all packets of the others
//! (`border::mailbox`), and threads synchronise only after a round of many windows (`rounds`). Each partition stores
//! its data for the others in its `border`. After a round, the recorded tables are merged in the order of the events
//! (`merge`). This order is total, and does not depend on the cut. `critical` counts the events on the critical path.
//!
//! Before the last transfer of a run can end, the partitions are joined (`join`) into one world, which runs on one
//! thread.

pub(crate) mod completion_log;
pub(crate) mod critical;
pub(crate) mod join;
pub(crate) mod merge;
pub(crate) mod pack;
pub(crate) mod plan;
pub(crate) mod rounds;

use crate::border::BorderSide;
use crate::tap::Silent;
use crate::world::World;

/// The world of a partition.
pub(crate) type Partition = Box<World<Silent, BorderSide>>;

/// Proof that threads are available. In a WebAssembly module, which has no threads, this type has no value, and the
/// compiler removes all code that takes one.
#[derive(Clone, Copy)]
#[cfg(not(target_family = "wasm"))]
pub(crate) struct Threads;

#[derive(Clone, Copy)]
#[cfg(target_family = "wasm")]
pub(crate) enum Threads {}

impl Threads {
    pub(crate) fn there_are() -> Option<Self> {
        #[cfg(not(target_family = "wasm"))]
        return Some(Self);
        #[cfg(target_family = "wasm")]
        return None;
    }
}

pub use crate::border::partitioning::Partitioning;
pub use plan::{NotPartitioned, Parallel};
pub use rounds::WorkCounts;
