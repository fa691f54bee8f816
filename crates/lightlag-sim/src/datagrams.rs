//! The ends of a flow of UDP: datagrams leave when the application has a message, and nobody answers.

use crate::body::Datagram;
use crate::delays::Delays;
use crate::source::Source;
use lightlag_core::Instant;

/// The end that sends.
#[derive(Debug)]
pub(crate) struct Sender {
    source: Source,
    /// Most payload of a datagram in bytes: longer messages become several.
    most: u16,
    /// What is left of the message that is leaving.
    left: u64,
    sent: u64,
}

impl Sender {
    pub(crate) fn new(source: Source, most: u16) -> Self {
        Self { source, most, left: 0, sent: 0 }
    }

    /// When the next message is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.source.next()
    }

    /// The next datagram to send now, until there is none.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Datagram> {
        if self.left == 0 {
            self.source.next().filter(|due| *due <= now)?;
            self.left = self.source.take();
        }
        let len = self.left.min(u64::from(self.most)) as u16;
        self.left -= u64::from(len);
        let datagram = Datagram::new(self.sent, now, len);
        self.sent += 1;
        Some(datagram)
    }

    /// Datagrams sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
}

/// The end that receives.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    bytes: u64,
    delays: Delays,
}

impl Receiver {
    /// A datagram arrived.
    pub(crate) fn receive(&mut self, now: Instant, datagram: &Datagram) {
        self.bytes += u64::from(datagram.len);
        self.delays.add(now.since(datagram.sent()));
    }

    /// Payload received.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// From leaving to arriving, of each datagram.
    pub(crate) fn delays(&self) -> &Delays {
        &self.delays
    }
}
