//! Counts of the messages that sinks collect.

use crate::hosts::collector::Collector;
use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;

rows! {
    /// Counts of the messages of a sink. Each datagram is a message.
    #[derive(Copy)]
    pub struct MessageSummary {
        /// Messages sent to the sink.
        sent: u64 [""],
        /// Messages lost in transit to the sink.
        lost: u64 [""],
        /// Messages that reached the sink but did not fit into its buffer.
        dropped: u64 [""],
        /// Messages delivered in order at the far end of the sink's connection.
        delivered: u64 [""],
        /// Mean time from sending by the sensor to delivery; null if no message was delivered.
        mean_delay_s: Option<f64> ["s"],
        /// 95th percentile of these times, with an error of up to 0.2 %; null if no message was delivered.
        p95_delay_s: Option<f64> ["s"],
    }
}

impl MessageSummary {
    /// Returns the summary of the sink that writes into a flow; `None` if there is no such sink.
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
