//! Counts of the messages that sinks collect.

use crate::hosts::collector::Collector;
use crate::hosts::delays::Delays;
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

rows! {
    /// Memory of a sink that stores messages until it has contact with the receiver, and the delays of all messages to
    /// their arrival there.
    #[derive(Copy)]
    pub struct StoreSummary {
        /// Stored messages that were dropped for newer ones; the dropped messages of the sink include them.
        dropped_oldest: u64 [""],
        /// Messages at the end of the run that were stored, or that the receiver had not received completely.
        waiting: u64 [""],
        /// Maximum number of bytes in the memory, including those that the receiver had not acknowledged.
        max_bytes: u64 ["B"],
        /// Delivered messages divided by messages sent; null if none was sent.
        delivered_fraction: Option<f64> [""],
        /// Median of the times from sending by the sensor to delivery, with an error of up to 0.2 %; null if no message
        /// was delivered.
        median_delay_s: Option<f64> ["s"],
        /// 99th percentile of these times.
        p99_delay_s: Option<f64> ["s"],
    }
}

impl StoreSummary {
    /// Returns the summary of the sink that writes into a flow; `None` if it does not store messages.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let at = world.hosts.collectors.binary_search_by_key(&flow, Collector::flow).ok()?;
        let collector = &world.hosts.collectors[at];
        let store = collector.store()?;
        let delays: &Delays = collector.delays();
        let (sent, _) = totals(world, collector);
        Some(Self {
            dropped_oldest: store.dropped_oldest(),
            waiting: store.len() + collector.in_connection(),
            max_bytes: store.max_bytes(),
            delivered_fraction: (sent > 0).then(|| delays.count() as f64 / sent as f64),
            median_delay_s: delays.quantile(0.5),
            p99_delay_s: delays.quantile(0.99),
        })
    }
}

/// Returns the numbers of messages that were sent to a sink, and that were lost in transit to it.
fn totals(world: &World<impl Tap>, collector: &Collector) -> (u64, u64) {
    let (mut sent, mut lost) = (0, 0);
    for source in collector.sources() {
        if let Some(of_udp) = world.hosts.numbers.datagrams(*source) {
            sent += world.hosts.datagrams.senders[of_udp.index()].sent();
            lost += world.recorder.lost_datagrams[of_udp.index()];
        }
    }
    (sent, lost)
}

impl MessageSummary {
    /// Returns the summary of the sink that writes into a flow; `None` if there is no such sink.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let at = world.hosts.collectors.binary_search_by_key(&flow, Collector::flow).ok()?;
        let collector = &world.hosts.collectors[at];
        let (sent, lost) = totals(world, collector);
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
