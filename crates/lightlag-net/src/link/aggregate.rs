//! Frames of a radio: packets wait for the next frame and are sent in groups.
//!
//! Frames start at multiples of `interval`. A packet is sent in the first frame that starts at or after its arrival, or
//! a later one: at most `max` packets start per frame, back to back at the rate of the link. Acknowledgements that
//! arrive during a frame are therefore compressed into a group, as by the aggregation of IEEE 802.11n and later, the
//! transmission intervals of LTE and the request-grant cycle of DOCSIS. Starlink's frames last 1.33 ms.
//!
//! Packets that arrive at random wait for interval / 2 on average, and a link carries at most max / interval packets per
//! second. A link whose queue never empties loses no capacity to frames.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant};

/// Minimum interval. Shorter ones have no effect on packets and are slow to simulate.
const SHORTEST: Duration = Duration::from_micros(10);

/// Frames of a link direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Aggregate {
    /// Duration of a frame.
    pub interval: Duration,
    /// Maximum number of packets per frame; unlimited if omitted.
    pub max: Option<u64>,
}

impl Described for Aggregate {
    const ABOUT: &'static str = "Frames of a radio: packets wait for the start of the next frame and are sent back to \
                                 back, up to `max` packets per frame.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("interval", |frames: &mut Self| &mut frames.interval)
                .about("Duration of a frame.")
                .required("specify the duration of a frame, such as \"1.33 ms\"")
                .checked(|frames| {
                    (frames.interval < SHORTEST).then_some("is below 10 us, the minimum duration of a frame")
                }),
            Setting::amount(
                "max",
                |frames: &mut Self| &mut frames.max,
                "0 packets can never be sent; write at least 1",
            )
            .about("Maximum number of packets per frame; unlimited if omitted."),
        ]
    }
}

/// State of the frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    frames: Aggregate,
    /// Index of the current frame.
    current: u64,
    /// Number of packets that arrived after the start of the current frame.
    late: u64,
    /// Number of packets that were sent in the current frame.
    sent: u64,
}

impl Frames {
    /// Returns the state before the first packet.
    pub(super) fn new(frames: Aggregate) -> Self {
        Self { frames, current: 0, late: 0, sent: 0 }
    }

    /// Advances to `now`, which never decreases.
    fn advance(&mut self, now: Instant) {
        let current = now.as_nanos() / self.frames.interval.as_nanos();
        if current != self.current {
            (self.current, self.late, self.sent) = (current, 0, 0);
        }
    }

    /// Records that `packets` joined the queue now.
    pub(super) fn join(&mut self, now: Instant, packets: u64) {
        self.advance(now);
        if !now.as_nanos().is_multiple_of(self.frames.interval.as_nanos()) {
            self.late += packets;
        }
    }

    /// Returns the start of the next frame if none of the `waiting` packets can be sent now. Otherwise counts one of
    /// them as sent.
    pub(super) fn hold(&mut self, now: Instant, waiting: u64) -> Option<Instant> {
        self.advance(now);
        if waiting <= self.late || self.frames.max.is_some_and(|max| self.sent >= max) {
            return Some(Instant::ZERO + self.frames.interval * (self.current + 1));
        }
        self.sent += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Disturbance, LinkConfig, LinkModel, QueuedLink};
    use super::*;
    use crate::queue::DisciplineConfig;
    use crate::{EndpointId, Loss, LossProcess, NodeId, Packet, PacketFlags, QueueLimit};
    use lightlag_core::{RandomStream, Rate};

    /// A link of 100 Mbit/s with frames of 2 ms.
    fn link(max: Option<u64>) -> QueuedLink<()> {
        let config = LinkConfig {
            rate: Rate::from_mbps(100),
            delay: Duration::from_millis(5),
            queue: QueueLimit::Packets(100_000),
            header: 0,
        };
        let discipline = DisciplineConfig::DropTail.build(&config, RandomStream::new(1, "queue"));
        let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
        let frames = Aggregate { interval: Duration::from_millis(2), max };
        QueuedLink::new(config, discipline, loss, Disturbance::none()).aggregating(frames)
    }

    /// Sends packets of 1250 B at these times in microseconds. Returns the starts of their transmissions, which take
    /// 100 µs each and 5 ms of propagation.
    fn starts(link: &mut QueuedLink<()>, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let mut starts = Vec::new();
        let mut receive = |link: &mut QueuedLink<()>, until: Instant| {
            while let Some(wake) = link.next_wake().filter(|wake| *wake <= until) {
                if link.receive(wake).is_some() {
                    starts.push((wake.as_nanos() - 5_100_000) / 1_000);
                }
            }
        };
        for micros in times {
            let now = Instant::from_nanos(micros * 1_000);
            receive(link, now);
            link.send(now, Packet::new(NodeId(1), EndpointId(0), 1250, PacketFlags::new(true), ()));
        }
        receive(link, Instant::MAX);
        assert_eq!(link.counters().delivered, starts.len() as u64);
        assert_eq!(link.in_flight(), 0);
        starts
    }

    #[test]
    fn packets_wait_for_the_next_frame_and_follow_each_other() {
        // Three packets of the first frame start at 2000 µs; a packet at a boundary starts immediately.
        assert_eq!(starts(&mut link(None), [100, 900, 1_999, 4_000, 5_000]), [2_000, 2_100, 2_200, 4_000, 6_000]);
        // Packets that arrive while their predecessors are sent wait too.
        assert_eq!(starts(&mut link(None), [1_000, 2_050, 2_060]), [2_000, 4_000, 4_100]);
    }

    #[test]
    fn a_frame_has_at_most_its_packets() {
        let burst = std::iter::repeat_n(500, 7);
        assert_eq!(starts(&mut link(Some(3)), burst), [2_000, 2_100, 2_200, 4_000, 4_100, 4_200, 6_000]);
        // A saturated link carries max / interval = 3 / 2 ms = 1500 packets per second.
        let times = starts(&mut link(Some(3)), std::iter::repeat_n(0, 3_000));
        assert!((times.partition_point(|start| *start < 1_000_000)).abs_diff(1_500) <= 3);
    }

    #[test]
    fn random_packets_wait_for_half_a_frame() {
        let mut random = RandomStream::new(5, "arrivals");
        let mut now = 0.0;
        let times: Vec<u64> = (0..20_000)
            .map(|_| {
                now += random.exponential(Duration::from_millis(40)).as_secs_f64() * 1e6;
                now as u64
            })
            .collect();
        let starts = starts(&mut link(None), times.iter().copied());
        let waits: u64 = starts.iter().zip(&times).map(|(start, time)| start - time).sum();
        let mean = waits as f64 / 20_000.0;
        // 2 ms / 2, of 20,000 uniform waits ± 577 / √20,000 = 4.1 µs; 0.05 packets per frame add 0.025 · 100 µs. Four
        // deviations.
        assert!((mean - 1_002.5).abs() < 16.4, "{mean}");
    }

    #[test]
    fn a_queue_that_stays_has_the_rate_of_the_link() {
        // 100 packets are sent for 10 ms while 50 more arrive: no gap between them.
        let times = std::iter::repeat_n(0, 100).chain((1..=50).map(|number| number * 101));
        let starts = starts(&mut link(None), times);
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 100), "{starts:?}");
    }
}
