//! Losses of complete bursts: the segments that a sender hands over in one call share one fate.
//!
//! Linux's netem (`net/sched/sch_netem.c`, `netem_enqueue`, described in our own words) decides about socket buffers. A
//! TCP sender passes several segments in one buffer (GSO, see `tso`), and netem receives the buffer before it is cut. One
//! draw therefore loses the entire burst. With bursts of mean length b, a fraction p of bursts and of packets is lost,
//! but losses are b times rarer than with single packets: they come in runs of b.
//!
//! A packet that [continues a burst](PacketFlags::continues_burst) shares the fate of the first packet of that burst.
//! All other packets, such as ACKs, are drawn singly. A burst whose first packet never reached the link has the fate of
//! the previous burst of its flow.

use super::registry::{Draw, Process};
use super::{Law, Loss, LossPlace};
use crate::EndpointId;
#[cfg(doc)]
use crate::PacketFlags;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Instant, Probability, RandomStream};
use std::collections::BTreeSet;

/// Each burst is lost with this probability.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BurstErrors {
    /// Probability that a burst is lost.
    pub bursts: Probability,
}

impl Described for BurstErrors {
    const ABOUT: &'static str = "each burst that a sender hands over in one call (GSO) with this probability, as a \
                                 whole, as netem does; other packets singly";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::probability("bursts", |law: &mut Self| &mut law.bursts)
                .about("Probability that a burst of the sender (GSO) is lost, with all its packets."),
        ]
    }
}

impl Law for BurstErrors {
    /// A lost buffer never enters the queue of netem.
    const PLACE: LossPlace = LossPlace::BeforeQueue;

    fn loss(&self) -> Loss {
        if self.bursts == Probability::ZERO { Loss::None } else { Loss::Gso(self.bursts) }
    }
}

/// Running process of burst losses.
#[derive(Clone, Debug)]
pub(super) struct WholeBursts {
    threshold: u64,
    /// Endpoints of the flows whose last burst was lost.
    lost: BTreeSet<EndpointId>,
}

impl Process<Probability> for WholeBursts {
    const DRAWS: bool = true;

    fn new(probability: &Probability, _: Instant, _: RandomStream) -> Self {
        Self { threshold: probability.threshold(), lost: BTreeSet::new() }
    }

    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool {
        if packet.flags.continues_burst() {
            return self.lost.contains(&packet.to);
        }
        let is_lost = random.bits() < self.threshold;
        if packet.flags.carries_payload() {
            if is_lost {
                self.lost.insert(packet.to);
            } else {
                self.lost.remove(&packet.to);
            }
        }
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use crate::{EndpointId, Loss, LossProcess, PacketFlags};
    use lightlag_core::{Instant, Probability, RandomStream};

    const FIRST: bool = false;
    const NEXT: bool = true;

    fn process(probability: f64) -> LossProcess {
        LossProcess::new(&Loss::Gso(Probability::new(probability).unwrap()), RandomStream::new(1, "loss"))
    }

    /// Returns whether a data packet of a flow is lost.
    fn data(process: &mut LossProcess, flow: u32, continues: bool) -> bool {
        let flags = PacketFlags::new(true).with_following(continues);
        process.loses(Instant::ZERO, 1500, flags, EndpointId(flow))
    }

    #[test]
    fn a_burst_shares_one_fate_and_the_mean_loss_is_the_probability() {
        // 200,000 bursts of 1, 2, 3 and 4 packets: 500,000 packets, 2.5 for each burst.
        let (p, bursts) = (0.02, 200_000_u32);
        let mut process = process(p);
        let (mut lost_bursts, mut lost_packets) = (0_u32, 0_u32);
        for burst in 0..bursts {
            let length = burst % 4 + 1;
            let is_lost = data(&mut process, 1, FIRST);
            assert!((1..length).all(|_| data(&mut process, 1, NEXT) == is_lost));
            lost_bursts += u32::from(is_lost);
            lost_packets += length * u32::from(is_lost);
        }
        // 200,000 × 0.02 = 4000 lost bursts, standard deviation √(4000 × 0.98) = 62.6; 99 %: 2.576 × 62.6 = 161.
        assert!((f64::from(lost_bursts) - 4000.0).abs() < 161.0, "{lost_bursts}");
        // 10,000 lost packets; a burst of k has variance k²·p·(1 − p), with a mean k² of 7.5: √(200,000 × 7.5 × 0.0196)
        // = 171.5; 99 %: 442. The mean run of losses is 10,000 / 4000 = 2.5 packets.
        assert!((f64::from(lost_packets) - 10_000.0).abs() < 442.0, "{lost_packets}");
        assert!((f64::from(lost_packets) / f64::from(lost_bursts) - 2.5).abs() < 0.05);
    }

    #[test]
    fn bursts_of_other_flows_and_acks_between_the_packets_of_a_burst_are_drawn_apart() {
        let mut process = process(0.5);
        let mut both = [[0_u32; 2]; 2];
        for _ in 0..10_000 {
            let (one, other) = (data(&mut process, 1, FIRST), data(&mut process, 2, FIRST));
            process.loses(Instant::ZERO, 52, PacketFlags::new(false).with_following(true), EndpointId(1));
            assert_eq!(data(&mut process, 1, NEXT), one);
            assert_eq!(data(&mut process, 2, NEXT), other);
            both[usize::from(one)][usize::from(other)] += 1;
        }
        // Each of four equally likely outcomes: 2500, standard deviation √(10,000 × 3/16) = 43; 99.9 %: 143.
        assert!(both.iter().flatten().all(|count| count.abs_diff(2500) < 143), "{both:?}");
    }

    #[test]
    fn packets_outside_bursts_are_lost_singly() {
        let mut process = process(0.1);
        let lost: Vec<bool> = (0..100_000).map(|_| data(&mut process, 1, FIRST)).collect();
        // Two in succession: 100,000 × 0.1² = 1000, standard deviation about √(1000 × (1 + 2 × 0.1)) = 34.6; 99.9 %:
        // 114.
        let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
        assert!(pairs.abs_diff(1000) < 114, "{pairs}");
    }

    #[test]
    fn the_extremes_lose_nothing_and_everything() {
        let mut never = process(0.0);
        let mut always = process(1.0);
        for packet in 0..1000 {
            let continues = packet % 3 != 0;
            assert!(!data(&mut never, 1, continues) && data(&mut always, 1, continues));
        }
    }
}
