//! Reading and writing of message fields in network byte order, and the IP addresses of nodes.

use lightlag_net::NodeId;
use std::net::Ipv4Addr;

/// The reasons why bytes are not a message of a protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormError {
    /// The message is truncated.
    #[error("the {protocol} message is cut: {needed} bytes are needed, but only {present} are present")]
    Truncated {
        /// The protocol of the message.
        protocol: &'static str,
        /// Number of bytes that the fields need.
        needed: usize,
        /// Number of bytes present.
        present: usize,
    },
    /// A length field contradicts the size of the message.
    #[error("the {protocol} message has {left} bytes after its end")]
    Longer {
        /// The protocol of the message.
        protocol: &'static str,
        /// Number of bytes after the end of the message.
        left: usize,
    },
    /// A field has a value that is not supported.
    #[error("a message of {protocol} has the {field} {value}, which is not supported")]
    Value {
        /// The protocol of the message.
        protocol: &'static str,
        /// The field.
        field: &'static str,
        /// The value of the field.
        value: u32,
    },
    /// The address belongs to no node.
    #[error("{0} is not a valid node address (10.0.0.1 or above)")]
    Address(Ipv4Addr),
}

/// Returns the IPv4 address of a node: 10.0.0.1 for the first node, then upwards.
///
/// # Panics
/// If the node's index is above 16,777,213, because 10.0.0.0/8 has no more addresses.
#[must_use]
pub fn address(node: NodeId) -> Ipv4Addr {
    assert!(node.0 < LAST - FIRST, "10.0.0.0/8 has no address for node {}", node.0);
    Ipv4Addr::from_bits(FIRST + node.0)
}

/// The first address of 10.0.0.0/8, and the last, which is a broadcast address.
const FIRST: u32 = 10 << 24 | 1;
const LAST: u32 = 10 << 24 | 0x00ff_ffff;

/// Returns the node with an IPv4 address.
///
/// # Errors
/// If the address is outside 10.0.0.0/8, or is not the address of a host there.
pub fn node(address: Ipv4Addr) -> Result<NodeId, FormError> {
    match address.to_bits() {
        bits @ FIRST..LAST => Ok(NodeId(bits - FIRST)),
        _ => Err(FormError::Address(address)),
    }
}

/// A reader for the fields of a message, from its start. A read fails if the message ends within the field.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    protocol: &'static str,
    /// Length of the entire message in bytes.
    whole: usize,
    rest: &'a [u8],
}

#[allow(clippy::missing_errors_doc, reason = "the error type documents when a read fails")]
impl<'a> Fields<'a> {
    /// Returns a reader for a message; errors name its protocol.
    pub fn new(protocol: &'static str, message: &'a [u8]) -> Self {
        Self { protocol, whole: message.len(), rest: message }
    }

    /// Returns the number of bytes that have not been read.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Reads the next bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], FormError> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.truncated(N))?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// Splits off the next `len` bytes as a separate message.
    pub fn part(&mut self, len: usize) -> Result<Self, FormError> {
        let (part, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.truncated(len))?;
        self.rest = rest;
        Ok(Self { protocol: self.protocol, whole: len, rest: part })
    }

    fn truncated(&self, next: usize) -> FormError {
        let needed = self.whole - self.rest.len() + next;
        FormError::Truncated { protocol: self.protocol, needed, present: self.whole }
    }

    /// Reads a 16-bit number.
    pub fn u16(&mut self) -> Result<u16, FormError> {
        self.bytes().map(u16::from_be_bytes)
    }

    /// Reads a 32-bit number.
    pub fn u32(&mut self) -> Result<u32, FormError> {
        self.bytes().map(u32::from_be_bytes)
    }

    /// Reads a node's address.
    pub fn node(&mut self) -> Result<NodeId, FormError> {
        node(Ipv4Addr::from(self.bytes::<4>()?))
    }

    /// Reads node addresses up to the end of the message.
    pub fn nodes(&mut self) -> Result<Vec<NodeId>, FormError> {
        let mut nodes = Vec::with_capacity(self.rest.len() / 4);
        while !self.rest.is_empty() {
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    /// Checks that all bytes have been read.
    pub fn end(&self) -> Result<(), FormError> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(FormError::Longer { protocol: self.protocol, left }),
        }
    }

    /// Returns the error for a field whose value is not supported.
    pub fn refuse<T>(&self, field: &'static str, value: impl Into<u32>) -> Result<T, FormError> {
        Err(FormError::Value { protocol: self.protocol, field, value: value.into() })
    }
}

/// Appends a node's address.
pub fn put_node(out: &mut Vec<u8>, node: NodeId) {
    out.extend_from_slice(&address(node).octets());
}

/// Appends the addresses of several nodes.
pub fn put_nodes(out: &mut Vec<u8>, nodes: &[NodeId]) {
    for node in nodes {
        put_node(out, *node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_addresses_belong_to_each_other() {
        for number in [0, 1, 255, LAST - FIRST - 1] {
            assert_eq!(node(address(NodeId(number))), Ok(NodeId(number)));
        }
        assert_eq!(address(NodeId(16_777_213)), Ipv4Addr::new(10, 255, 255, 254));
        for other in [Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(10, 255, 255, 255), Ipv4Addr::new(11, 0, 0, 1)] {
            assert_eq!(node(other), Err(FormError::Address(other)));
        }
    }

    #[test]
    #[should_panic(expected = "10.0.0.0/8 has no address for node 16777214")]
    fn nodes_beyond_the_network_have_no_address() {
        let _ = address(NodeId(16_777_214));
    }
}
