//! Fate of the messages that sinks collect.

use crate::hosts::collector::Collector;
use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;

rows! {
    /// Fates of the messages of a sink. A datagram is a message.
    #[derive(Copy)]
    pub struct MessageSummary {
        /// Messages that left for the sink.
        sent: u64 [""],
        /// Messages lost on the way to it.
        lost: u64 [""],
        /// Messages that reached it and did not fit.
        dropped: u64 [""],
        /// Messages that the far end of its connection has, in order.
        delivered: u64 [""],
        /// Mean time from leaving the sensor to that; null if none arrived.
        mean_delay_s: Option<f64> ["s"],
        /// 95th percentile of these times, to 0.2 %; null if none arrived.
        p95_delay_s: Option<f64> ["s"],
    }
}

impl MessageSummary {
    /// Of the sink that writes into a flow, if one does.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let at = world.hosts.collectors.binary_search_by_key(&flow, Collector::flow).ok()?;
        let collector = &world.hosts.collectors[at];
        let (mut sent, mut lost) = (0, 0);
        for source in collector.sources() {
            if let Some(of_udp) = world.hosts.numbers.datagrams(*source) {
                sent += world.hosts.datagrams.senders[of_udp.index()].sent();
                lost += world.recorder.lost_datagrams[of_udp.index()];
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
}
