//! What became of the messages that sinks collect.

use super::{ColumnHash, optional};
use crate::hosts::collector::Collector;
use crate::tap::Tap;
use crate::world::World;
use serde::Serialize;

/// What became of the messages of a sink. A datagram is a message.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MessageSummary {
    /// Messages that left for the sink.
    pub sent: u64,
    /// Those that were lost on the way to it.
    pub lost: u64,
    /// Those that came to it and did not fit.
    pub dropped: u64,
    /// Those that the far end of its connection has, in order.
    pub delivered: u64,
    /// From leaving the sensor to that, on average, in seconds; null if none arrived.
    pub mean_delay_s: Option<f64>,
    /// What 95 % of these times do not exceed, to 0.2 %, in seconds; null if none arrived.
    pub p95_delay_s: Option<f64>,
}

impl MessageSummary {
    /// Of the sink that writes into a flow, if one does.
    pub(super) fn of(world: &World<impl Tap>, flow: usize) -> Option<Self> {
        let at = world.hosts.collectors.binary_search_by_key(&flow, Collector::flow).ok()?;
        let collector = &world.hosts.collectors[at];
        let (mut sent, mut lost) = (0, 0);
        for source in collector.sources() {
            let source = *source as usize;
            if let Some(place) = world.hosts.numbers.datagrams(source) {
                sent += world.hosts.datagrams.senders[place].sent();
                lost += world.recorder.lost_datagrams[place];
            }
        }
        let delays = collector.delays();
        Some(Self {
            sent,
            lost,
            dropped: collector.dropped(),
            delivered: delays.count(),
            mean_delay_s: delays.mean(),
            p95_delay_s: delays.quantile(0.95),
        })
    }

    /// Adds its numbers.
    pub(super) fn hash(&self, hash: &mut ColumnHash) {
        hash.numbers([self.sent, self.lost, self.dropped, self.delivered]);
        hash.numbers([optional(self.mean_delay_s), optional(self.p95_delay_s)]);
    }
}
