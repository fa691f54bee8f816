//! The packets of OLSR, RFC 3626 §3.3, §6.1 and §9.1.

use super::{Fields, FormError, Kind, Payload, put_node, put_nodes};
use lightlag_core::Duration;
use lightlag_net::NodeId;

/// Message types.
const HELLO_TYPE: u8 = 1;
const TOPOLOGY_CONTROL_TYPE: u8 = 2;

/// Size of the header of a message, in bytes.
const MESSAGE_HEADER: u16 = 12;

/// Size of the header of a group of neighbours with the same link code, in bytes.
const LINK_HEADER: u16 = 4;

/// A packet: one or more messages in a UDP datagram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OlsrPacket {
    /// Sequence number of the packet on its interface.
    pub sequence: u16,
    /// The messages in the packet.
    pub messages: Vec<OlsrMessage>,
}

impl Payload for OlsrPacket {
    const PROTOCOL: &'static str = "OLSR";
    /// The UDP port of OLSR (RFC 3626 §3.1).
    const PORT: u16 = 698;

    /// Returns the size of the packet in bytes: 4 for its length and its sequence number, and the messages.
    fn size(&self) -> u32 {
        4 + self.messages.iter().map(OlsrMessage::size).sum::<u32>()
    }

    fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
        self.messages.iter().for_each(|message| each(message.kind(), message.size()));
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&length(self.size()).to_be_bytes());
        out.extend_from_slice(&self.sequence.to_be_bytes());
        for message in &self.messages {
            let kind = match message.body {
                OlsrBody::Hello(_) => HELLO_TYPE,
                OlsrBody::TopologyControl(_) => TOPOLOGY_CONTROL_TYPE,
            };
            out.extend_from_slice(&[kind, message.validity.0]);
            out.extend_from_slice(&length(message.size()).to_be_bytes());
            put_node(out, message.originator);
            out.extend_from_slice(&[message.ttl, message.hop_count]);
            out.extend_from_slice(&message.sequence.to_be_bytes());
            match &message.body {
                OlsrBody::Hello(hello) => put_hello(out, hello),
                OlsrBody::TopologyControl(topology) => {
                    out.extend_from_slice(&topology.sequence.to_be_bytes());
                    out.extend_from_slice(&[0; 2]);
                    put_nodes(out, &topology.neighbours);
                }
            }
        }
    }

    fn decode(mut fields: Fields<'_>, _ttl: u8) -> Result<Self, FormError> {
        let (len, sequence) = (fields.u16()?, fields.u16()?);
        let mut all = match len.checked_sub(4) {
            Some(len) => fields.part(usize::from(len))?,
            None => return fields.refuse("packet length", len),
        };
        fields.end()?;
        let mut messages = Vec::new();
        while all.left() > 0 {
            messages.push(message(&mut all)?);
        }
        Ok(Self { sequence, messages })
    }
}

fn put_hello(out: &mut Vec<u8>, hello: &OlsrHello) {
    out.extend_from_slice(&[0, 0, hello.interval.0, hello.willingness]);
    for (code, nodes) in &hello.links {
        out.extend_from_slice(&[code.byte(), 0]);
        out.extend_from_slice(&length(u32::from(LINK_HEADER) + 4 * nodes.len() as u32).to_be_bytes());
        put_nodes(out, nodes);
    }
}

fn length(bytes: u32) -> u16 {
    u16::try_from(bytes).unwrap_or_else(|_| panic!("{bytes} bytes of OLSR exceed the maximum packet size"))
}

fn message(all: &mut Fields<'_>) -> Result<OlsrMessage, FormError> {
    let [kind, validity] = all.bytes()?;
    let size = all.u16()?;
    let Some(len) = size.checked_sub(4).filter(|_| size >= MESSAGE_HEADER) else {
        return all.refuse("message size", size);
    };
    let mut fields = all.part(usize::from(len))?;
    let originator = fields.node()?;
    let [ttl, hop_count] = fields.bytes()?;
    let sequence = fields.u16()?;
    let body = match kind {
        HELLO_TYPE => OlsrBody::Hello(hello(fields)?),
        TOPOLOGY_CONTROL_TYPE => {
            let (sequence, _reserved) = (fields.u16()?, fields.u16()?);
            OlsrBody::TopologyControl(TopologyControl { sequence, neighbours: fields.nodes()? })
        }
        other => return fields.refuse("message type", other),
    };
    Ok(OlsrMessage { validity: Validity(validity), originator, ttl, hop_count, sequence, body })
}

fn hello(mut fields: Fields<'_>) -> Result<OlsrHello, FormError> {
    let [_, _, interval, willingness] = fields.bytes()?;
    let mut links = Vec::new();
    while fields.left() > 0 {
        let [code, _reserved] = fields.bytes()?;
        let size = fields.u16()?;
        let Some(code) = LinkCode::from_byte(code) else { return fields.refuse("link code", code) };
        let Some(len) = size.checked_sub(LINK_HEADER) else { return fields.refuse("link message size", size) };
        links.push((code, fields.part(usize::from(len))?.nodes()?));
    }
    Ok(OlsrHello { interval: Validity(interval), willingness, links })
}

/// An OLSR message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OlsrMessage {
    /// The time for which the information is valid.
    pub validity: Validity,
    /// The node that created the message.
    pub originator: NodeId,
    /// Remaining hops of the message.
    pub ttl: u8,
    /// Number of hops that the message has travelled.
    pub hop_count: u8,
    /// Sequence number of the message at its originator.
    pub sequence: u16,
    /// The content of the message.
    pub body: OlsrBody,
}

/// The content of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OlsrBody {
    /// The neighbours of a node, type 1.
    Hello(OlsrHello),
    /// The nodes that chose a node as relay, type 2.
    TopologyControl(TopologyControl),
}

impl OlsrMessage {
    /// Returns the size of the message in bytes, including its header of 12 bytes.
    pub fn size(&self) -> u32 {
        12 + match &self.body {
            OlsrBody::Hello(hello) => hello.size(),
            OlsrBody::TopologyControl(topology) => topology.size(),
        }
    }

    /// Returns the kind of the message.
    pub fn kind(&self) -> Kind {
        match self.body {
            OlsrBody::Hello(_) => Kind::Hello,
            OlsrBody::TopologyControl(_) => Kind::TopologyControl,
        }
    }
}

/// A HELLO: RFC 3626 §6.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OlsrHello {
    /// Interval between two HELLOs, encoded as a [`Validity`].
    pub interval: Validity,
    /// The willingness of the node to relay for others: 0 never, 3 the default, 7 always.
    pub willingness: u8,
    /// The node's neighbours, grouped by link code; each code occurs at most once.
    pub links: Vec<(LinkCode, Vec<NodeId>)>,
}

impl OlsrHello {
    fn size(&self) -> u32 {
        4 + self.links.iter().map(|(_, nodes)| 4 + 4 * nodes.len() as u32).sum::<u32>()
    }
}

/// A TC: RFC 3626 §9.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopologyControl {
    /// The sequence number of the advertised set of neighbours (ANSN).
    pub sequence: u16,
    /// The advertised neighbours.
    pub neighbours: Vec<NodeId>,
}

impl TopologyControl {
    fn size(&self) -> u32 {
        4 + 4 * self.neighbours.len() as u32
    }
}

/// The state of a link and of the neighbour at its end: RFC 3626 §6.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LinkCode {
    /// The state of the link.
    pub link: LinkType,
    /// The state of the neighbour.
    pub neighbour: NeighbourType,
}

impl LinkCode {
    /// Returns the code as its byte in a HELLO.
    pub fn byte(self) -> u8 {
        (self.neighbour as u8) << 2 | self.link as u8
    }

    /// Returns the code with this byte, if there is one.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let link = match byte & 3 {
            0 => LinkType::Unspecified,
            1 => LinkType::Asymmetric,
            2 => LinkType::Symmetric,
            _ => LinkType::Lost,
        };
        let neighbour = match byte >> 2 {
            0 => NeighbourType::Not,
            1 => NeighbourType::Symmetric,
            2 => NeighbourType::Relay,
            _ => return None,
        };
        Some(Self { link, neighbour })
    }
}

/// The state of a link: RFC 3626 §6.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LinkType {
    /// No information: UNSPEC_LINK.
    Unspecified = 0,
    /// This node receives the neighbour: ASYM_LINK.
    Asymmetric = 1,
    /// Both nodes receive each other: SYM_LINK.
    Symmetric = 2,
    /// This node no longer receives the neighbour: LOST_LINK.
    Lost = 3,
}

/// The state of a neighbour: RFC 3626 §6.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NeighbourType {
    /// Not a neighbour, because no link to the node is symmetric: NOT_NEIGH.
    Not = 0,
    /// A neighbour over a symmetric link: SYM_NEIGH.
    Symmetric = 1,
    /// A symmetric neighbour that was chosen as a relay: MPR_NEIGH.
    Relay = 2,
}

/// A time encoded in one byte: C·(1 + a/16)·2^b with C = 1/16 s, a in the upper four bits, b in the lower four (RFC
/// 3626 §18.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validity(pub u8);

impl Validity {
    /// Unit of the encoded times in nanoseconds: C/16 = 1/256 s.
    const UNIT: u64 = 3_906_250;

    /// Returns the code of the minimum time that is at least `time`, or of the maximum time if there is none.
    pub fn new(time: Duration) -> Self {
        let byte = |index: u32| Self((((index % 16) << 4) | (index / 16)) as u8);
        (0..256).map(byte).find(|code| code.time() >= time).unwrap_or(Self(u8::MAX))
    }

    /// Returns the encoded time.
    pub fn time(self) -> Duration {
        let (a, b) = (u64::from(self.0 >> 4), u64::from(self.0 & 15));
        Duration::from_nanos((Self::UNIT * (16 + a)) << b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_codes_of_section_18() {
        // 2 s = 32/16 s: 2^5. 6 s = 96/16 s: 1.5·2^6. 15 s = 240/16 s: (1 + 14/16)·2^7.
        for (seconds, code) in [(2, 0x05), (6, 0x86), (15, 0xe7)] {
            let validity = Validity::new(Duration::from_secs(seconds));
            assert_eq!((validity.0, validity.time()), (code, Duration::from_secs(seconds)));
        }
        assert_eq!(Validity::new(Duration::ZERO).time(), Duration::from_micros(62_500));
        assert_eq!(Validity::new(Duration::MAX).0, 255);
    }

    #[test]
    fn link_codes_keep_their_byte() {
        for byte in 0..=u8::MAX {
            assert_eq!(LinkCode::from_byte(byte).map_or(byte, LinkCode::byte), byte);
            assert_eq!(LinkCode::from_byte(byte).is_none(), byte >> 2 > 2);
        }
    }
}
