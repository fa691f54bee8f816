//! Warnings of phase effects, in runs where nothing is random and a single flow uses a short queue.
//!
//! The packet that finds the queue full then depends on the exact order of arrivals, round after round (Floyd and
//! Jacobson, *On Traffic Phase Effects in Packet-Switched Gateways*, 1992). Such a run is correct for its parameters,
//! but not representative of a path with any noise.
//!
//! The bounds come from 440 pairs of runs of 60 s, without noise and with 20 us of jitter: newreno, cubic, bbr, vegas
//! and hybla on five paths (20 to 600 ms, 3 to 30 Mbit/s) with queues of 0.05 to 1 bandwidth-delay product, or marking
//! thresholds of the same sizes. In 28 pairs the goodput differs by 5 % or more, up to a factor of three. Both bounds
//! include 26 of these pairs, and 86 pairs that agree. [`SHORT`] alone would include 27 of them, and 173 pairs that
//! agree.

use super::{Found, Kind, Warning, bytes, percent, seconds};
use crate::expand::{ConnectionPath, Sizes};
use crate::network::Network;
use crate::spec::{Scenario, Transport};
use lightlag_core::Bytes;
use lightlag_net::QueueLimit;
use lightlag_net::queue::DisciplineConfig;
use lightlag_tcp::ecn::EcnMode;

/// Maximum size of a short queue, or of a low marking threshold, as a fraction of the bandwidth-delay product.
const SHORT: f64 = 0.25;

/// Maximum number of packets in a short queue. In a longer one, a single packet makes little difference.
const FEW: u64 = 10;

impl Scenario {
    /// Warns of bottlenecks with a short queue and a single flow, in a network where nothing is random.
    pub(super) fn phases(&self, network: &Network, ways: &[Option<ConnectionPath>], findings: &mut Found) {
        if self.is_random(network) {
            return;
        }
        let sharing = |link| ways.iter().flatten().filter(|way| way.bottleneck == link).count();
        for (flow, way) in network.flows.iter().zip(ways) {
            let Some(way) = way.as_ref().filter(|_| flow.transport == Transport::Tcp && flow.traffic.is_bulk()) else {
                continue;
            };
            // Random losses, jitter and rain were excluded; a rate that changes by a trace is also noise.
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
                DisciplineConfig::Step(step) if flow.tcp.ecn != EcnMode::Off => (size(step.threshold), "marks from"),
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
                "nothing is random, one flow crosses {}, and its queue {what} {}, {} of the bandwidth-delay product \
                 ({} × {}): packet arrivals may stay synchronised with the queue, and results may differ greatly from \
                 results with any noise; jitter = \"20 us\" there and several seeds show whether they do",
                link.name,
                bytes(Bytes(held)),
                percent(share),
                way.rate,
                seconds(way.round_trip)
            );
            let path = self.table_of(way.bottleneck.0 as usize / 2);
            findings.warnings.push((Warning { kind: Kind::PhaseLock, path, message }, 0));
        }
    }
}
