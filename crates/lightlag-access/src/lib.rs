//! Multiple access of many stations to one satellite beam. Both media are stars: station 0 is the gateway, and every
//! other station exchanges packets with it only.
//!
//! - [`rcs2`]: the return link of DVB-RCS2, whose slots a network control centre assigns on demand.
//! - [`random_access`]: sensors that send without coordination.
//! - [`contention`]: random access to slots, and the cancellation of interference.
//! - [`rle`]: the encapsulation of packets in the bursts of DVB-RCS2.
//! - [`lora`]: the airtime of LoRa.
//! - [`counters`]: counters of a station, common to both media.

mod agenda;
pub mod contention;
pub mod counters;
mod forward;
pub mod lora;
pub mod random_access;
pub mod rcs2;
pub mod rle;

pub use counters::StationCounters;
pub use random_access::{RandomAccess, RandomAccessConfig};
pub use rcs2::{Rcs2, Rcs2Config, Terminal};

use lightlag_net::StationId;

/// Reports the neighbours of a station in a star around `hub`: the hub, or all other stations.
fn neighbours(station: StationId, hub: StationId, stations: usize, report: &mut dyn FnMut(StationId)) {
    if station != hub {
        return report(hub);
    }
    (0..stations).map(StationId::at).filter(|other| *other != hub).for_each(report);
}
