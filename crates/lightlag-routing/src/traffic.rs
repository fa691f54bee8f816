//! Counters of control messages.

use crate::messages::{Kind, Message};

/// Counters of the control messages that an agent sent. OLSR may put several messages in one datagram.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    messages: [u64; Kind::ALL.len()],
    bytes: [u64; Kind::ALL.len()],
    datagrams: u64,
    payload: u64,
}

impl Traffic {
    /// Returns the number of messages of this kind.
    pub fn messages(&self, kind: Kind) -> u64 {
        self.messages[kind as usize]
    }

    /// Returns the total size of the messages of this kind in bytes, without UDP and IP headers.
    pub fn bytes(&self, kind: Kind) -> u64 {
        self.bytes[kind as usize]
    }

    /// Returns the number of datagrams of all kinds.
    pub fn datagrams(&self) -> u64 {
        self.datagrams
    }

    /// Returns the total UDP payload of all datagrams, in bytes.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    pub(crate) fn count(&mut self, message: &Message) {
        self.datagrams += 1;
        self.payload += u64::from(message.size());
        message.kinds(|kind, bytes| {
            self.messages[kind as usize] += 1;
            self.bytes[kind as usize] += u64::from(bytes);
        });
    }
}
