//! One run on several cores: the network in partitions, each a world of its own.
//!
//! The network is cut along its long links (`plan`), into a partition for each thread. Where these have unequal work, hosts of the
//! busier ones become partitions of their own, over shorter links, and go to other threads: a *lane* is what a thread runs
//! (`pack`). A packet that leaves on a cut link arrives no earlier than the delay of that link later. A partition therefore goes on,
//! window after window, as far as the others have told it what arrives (`mail`), and threads meet only after a round of many
//! windows (`rounds`). Each partition keeps in its `border` what it has for the others. After a round, what was recorded is merged
//! in the order of the events (`merge`): the order is total, and the same however the network is cut. `critical` counts the
//! events that come one after the other.
//!
//! Before the last transfer of a run can end, the partitions are joined (`join`) into one world, which goes on alone.

pub(crate) mod critical;
pub(crate) mod join;
pub(crate) mod ledger;
pub(crate) mod merge;
pub(crate) mod pack;
pub(crate) mod plan;
pub(crate) mod rounds;

use crate::border::Part;
use crate::tap::Silent;
use crate::world::World;

/// The world of a partition.
pub(crate) type Partition = Box<World<Silent, Part>>;

/// Says that there are threads. A module of WebAssembly has none: this type has no value there, and the compiler leaves out
/// whatever would take one.
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

pub use crate::border::cut::Cut;
pub use plan::{Parallel, Whole};
pub use rounds::Counts;
