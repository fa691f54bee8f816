//! Runs that lock into a phase: nothing is random, and one flow meets a short queue.
//!
//! The packet that finds the queue full then depends on the exact order of arrivals, round after round (Floyd and Jacobson, *On Traffic
//! Phase Effects in Packet-Switched Gateways*, 1992). Such a run is right for its numbers and says little of a path with any noise.
//!
//! The bounds come from 440 pairs of runs of 60 s, without noise and with 20 us of jitter: newreno, cubic, bbr, vegas and hybla on
//! five paths (20 to 600 ms, 3 to 30 Mbit/s) over queues of 0.05 to 1 bandwidth-delay product, and marks from as much. In 28 pairs
//! goodput differs by 5 % or more, up to three times; 26 of them lie within both bounds, with 86 that agree. The share alone would
//! find 27, with 173 that agree.

use super::{Found, Kind, Warning, bytes, percent, seconds};
use crate::expand::{Sizes, Way};
use crate::network::Network;
use crate::spec::{Scenario, Transport};
use lightlag_core::Bytes;
use lightlag_net::QueueLimit;
use lightlag_net::queue::DisciplineConfig;
use lightlag_tcp::ecn::Mode;

/// A queue, or a threshold for marks, is short up to this part of the bandwidth-delay product.
const SHORT: f64 = 0.25;

/// A queue is also short only up to so many packets. Beyond, one packet more or less changes little.
const FEW: u64 = 10;

impl Scenario {
    /// Bottlenecks with a short queue and a single flow in a network where nothing is random.
    pub(super) fn phases(&self, network: &Network, ways: &[Option<Way>], found: &mut Found) {
        if self.is_random(network) {
            return;
        }
        let sharing = |link| ways.iter().flatten().filter(|way| way.bottleneck == link).count();
        for (flow, way) in network.flows.iter().zip(ways) {
            let Some(way) = way.as_ref().filter(|_| flow.transport == Transport::Tcp && flow.traffic.is_bulk()) else {
                continue;
            };
            // Random losses, jitter and rain were excluded; a rate that changes by a trace is noise, too.
            let link = &network.links[way.bottleneck.0 as usize];
            if link.timetable.is_some() || sharing(way.bottleneck) != 1 {
                continue;
            }
            let packet = Sizes::of(&flow.tcp, network.ip).segment.0;
            let size = |limit| match limit {
                QueueLimit::Packets(packets) => u64::saturating_mul(packets, packet),
                QueueLimit::Bytes(bytes) => bytes,
            };
            let (held, what) = match link.discipline {
                DisciplineConfig::Step(step) if flow.tcp.ecn != Mode::Off => (size(step.threshold), "marks from"),
                _ => (size(link.queue), "holds"),
            };
            let product = (way.rate * way.round_trip).0;
            let share = held as f64 / product.max(1) as f64;
            // A transfer that the queue can hold meets no full queue.
            let fits = flow.transfer.is_some_and(|transfer| transfer.0 <= held);
            if share > SHORT || held > FEW * packet || fits {
                continue;
            }
            let message = format!(
                "nothing is random, one flow crosses {}, and its queue {what} {}, {} of the bandwidth-delay product ({} × {}): \
                 packets may keep in step with the queue, and results be far from those with any noise; jitter = \"20 us\" there \
                 and several seeds show whether they are",
                link.name,
                bytes(Bytes(held)),
                percent(share),
                way.rate,
                seconds(way.round_trip)
            );
            let path = self.table_of(way.bottleneck.0 as usize / 2);
            found.warnings.push((Warning { kind: Kind::PhaseLock, path, message }, 0));
        }
    }
}
