//! A sink: an application that writes into its connection every message that reaches its node by UDP.
//!
//! Bytes that are written and not acknowledged by the far end occupy its buffer; a message that does not fit as a whole
//! is dropped. A message has arrived when the far end has its last byte in order.

use crate::body::Datagram;
use crate::hosts::delays::Delays;
use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_transport::Stream;
use std::collections::VecDeque;

/// A sink and its messages.
#[derive(Debug)]
pub(crate) struct Collector {
    /// The flow into which it writes.
    flow: FlowIndex,
    /// The flows of UDP that end at its node.
    sources: Vec<FlowIndex>,
    /// Size of its buffer in bytes.
    buffer: u64,
    written: u64,
    /// Messages on their way: the place in the stream at which each ends, and the instant at which it was made.
    pending: VecDeque<(u64, Instant)>,
    dropped: u64,
    delays: Delays,
}

impl Collector {
    pub(crate) fn new(flow: FlowIndex, sources: Vec<FlowIndex>, buffer: u64) -> Self {
        Self { flow, sources, buffer, written: 0, pending: VecDeque::new(), dropped: 0, delays: Delays::default() }
    }

    /// The flow into which it writes.
    pub(crate) fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// The flows whose messages it collects.
    pub(crate) fn sources(&self) -> &[FlowIndex] {
        &self.sources
    }

    /// A message arrives. Returns whether it was written.
    pub(crate) fn collect(&mut self, message: &Datagram, connection: &mut impl Stream) -> bool {
        let kept = self.written - connection.acknowledged();
        let end = self.written + u64::from(message.len);
        if connection.is_over() || kept + u64::from(message.len) > self.buffer {
            self.dropped += 1;
            return false;
        }
        connection.write(u64::from(message.len));
        self.written = end;
        self.pending.push_back((end, message.sent()));
        true
    }

    /// The far end has this many bytes in order.
    pub(crate) fn arrived(&mut self, now: Instant, bytes: u64) {
        while let Some((end, made)) = self.pending.front()
            && *end <= bytes
        {
            self.delays.add(now.since(*made));
            self.pending.pop_front();
        }
    }

    /// Messages that did not fit.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Delays from the making of a message to its arrival at the far end.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}
