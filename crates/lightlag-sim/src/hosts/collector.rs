//! A sink: an application that writes every message that arrives at its node by UDP into a connection.
//!
//! The buffer of the sink holds the bytes that are written and not yet acknowledged by the far end. A message that does
//! not fit completely is dropped. A message has arrived when the far end has received its last byte in order. A sink may
//! store messages before it writes them ([`Store`]).

use crate::body::Datagram;
use crate::hosts::delays::Delays;
use crate::hosts::store::Store;
use crate::ids::FlowIndex;
use lightlag_core::Instant;
use lightlag_traffic::Collect;
use lightlag_transport::Stream;
use std::collections::VecDeque;

/// The state of a sink.
#[derive(Debug)]
pub(crate) struct Collector {
    /// Flow that carries the collected messages.
    flow: FlowIndex,
    /// UDP flows that end at the node of the sink.
    sources: Vec<FlowIndex>,
    /// Size of the sink's buffer in bytes.
    buffer: u64,
    written: u64,
    /// Messages in transit, each with the offset of its end in the stream and its creation time.
    pending: VecDeque<(u64, Instant)>,
    dropped: u64,
    delays: Delays,
    /// Memory of a sink that stores messages.
    store: Option<Box<Store>>,
}

impl Collector {
    pub(crate) fn new(flow: FlowIndex, sources: Vec<FlowIndex>, settings: &Collect) -> Self {
        Self {
            flow,
            sources,
            buffer: settings.buffer.0,
            written: 0,
            pending: VecDeque::new(),
            dropped: 0,
            delays: Delays::default(),
            store: Store::new(settings),
        }
    }

    /// Returns the flow that carries the collected messages.
    pub(crate) fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// Returns the UDP flows whose messages the sink collects.
    pub(crate) fn sources(&self) -> &[FlowIndex] {
        &self.sources
    }

    /// Handles a message that arrives. Returns true if it was written to the connection or stored, and false if it was
    /// dropped. A message that was stored is written by [`Self::forward`].
    pub(crate) fn collect(&mut self, message: &Datagram, connection: &mut impl Stream) -> bool {
        let kept = self.written - connection.acknowledged();
        if let Some(store) = &mut self.store {
            self.dropped += store.add((u32::from(message.len), message.sent()), kept, self.buffer);
            return true;
        }
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

    /// Writes stored messages as far as the contact and the connection admit. Returns the start of the next contact, if
    /// messages wait for it.
    pub(crate) fn forward(&mut self, now: Instant, connection: &mut impl Stream) -> Option<Instant> {
        let store = self.store.as_mut().filter(|_| !connection.is_over())?;
        while let Some((size, created)) = store.take(now, self.written - connection.acknowledged()) {
            connection.write(u64::from(size));
            self.written += u64::from(size);
            self.pending.push_back((self.written, created));
        }
        store.due(now)
    }

    /// Returns the memory of the sink, if it stores messages.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    /// Returns the number of messages that are written to the connection and have not arrived.
    pub(crate) fn in_connection(&self) -> u64 {
        self.pending.len() as u64
    }

    /// Records that the far end has received this number of bytes in order.
    pub(crate) fn arrived(&mut self, now: Instant, bytes: u64) {
        while let Some((end, made)) = self.pending.front()
            && *end <= bytes
        {
            self.delays.add(now.since(*made));
            self.pending.pop_front();
        }
    }

    /// Returns the number of messages that were dropped because they did not fit into the buffer.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the delays of messages from their creation to their arrival at the far end.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}
