//! The packets of OLSR, RFC 3626 §3.3, §6.1 and §9.1.

use super::Kind;
use lightlag_core::Duration;
use lightlag_net::NodeId;

/// The UDP port of OLSR (RFC 3626 §3.1).
pub const PORT: u16 = 698;

/// A packet: one or more messages in a UDP datagram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The number of the packet on its interface.
    pub sequence: u16,
    /// Its messages.
    pub messages: Vec<Message>,
}

impl Packet {
    /// Its size in bytes: the length and the number are 4.
    pub fn size(&self) -> u32 {
        4 + self.messages.iter().map(Message::size).sum::<u32>()
    }
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The time for which its information holds.
    pub validity: Validity,
    /// The node that made it.
    pub originator: NodeId,
    /// The hops that it may still go.
    pub ttl: u8,
    /// The hops that it went.
    pub hop_count: u8,
    /// The number of the message at its originator.
    pub sequence: u16,
    /// Its content.
    pub body: Body,
}

/// The content of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// The neighbours of a node, type 1.
    Hello(Hello),
    /// The nodes that chose a node as relay, type 2.
    TopologyControl(TopologyControl),
}

impl Message {
    /// Its size in bytes: its header has 12.
    pub fn size(&self) -> u32 {
        12 + match &self.body {
            Body::Hello(hello) => hello.size(),
            Body::TopologyControl(topology) => topology.size(),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self.body {
            Body::Hello(_) => Kind::Hello,
            Body::TopologyControl(_) => Kind::TopologyControl,
        }
    }
}

/// A HELLO: RFC 3626 §6.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The time between two of them, in the code of [`Validity`].
    pub interval: Validity,
    /// The willingness of the node to relay for others: 0 never, 3 the default, 7 always.
    pub willingness: u8,
    /// The neighbours of the node by the code of their link; no code comes twice.
    pub links: Vec<(LinkCode, Vec<NodeId>)>,
}

impl Hello {
    fn size(&self) -> u32 {
        4 + self.links.iter().map(|(_, nodes)| 4 + 4 * nodes.len() as u32).sum::<u32>()
    }
}

/// A TC: RFC 3626 §9.1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TopologyControl {
    /// The number of the set of neighbours, ANSN.
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
    /// Its byte in a HELLO.
    pub fn byte(self) -> u8 {
        (self.neighbour as u8) << 2 | self.link as u8
    }

    /// The code with this byte, if there is one.
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
    /// Nothing is said: UNSPEC_LINK.
    Unspecified = 0,
    /// The neighbour is heard: ASYM_LINK.
    Asymmetric = 1,
    /// The neighbour is heard, and hears: SYM_LINK.
    Symmetric = 2,
    /// The neighbour was heard: LOST_LINK.
    Lost = 3,
}

/// The state of a neighbour: RFC 3626 §6.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NeighbourType {
    /// No link to it is symmetric: NOT_NEIGH.
    Not = 0,
    /// A link to it is symmetric: SYM_NEIGH.
    Symmetric = 1,
    /// It was chosen as relay, too: MPR_NEIGH.
    Relay = 2,
}

/// A time in one byte: C·(1 + a/16)·2^b with C = 1/16 s, a in the upper four bits, b in the lower (RFC 3626 §18.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validity(pub u8);

impl Validity {
    /// 1/256 s: C/16.
    const UNIT: u64 = 3_906_250;

    /// The code of the shortest time that is not below this one; the longest if there is none.
    pub fn new(time: Duration) -> Self {
        let byte = |index: u32| Self((((index % 16) << 4) | (index / 16)) as u8);
        (0..256).map(byte).find(|code| code.time() >= time).unwrap_or(Self(u8::MAX))
    }

    /// The time.
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
