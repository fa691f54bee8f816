//! Link types of captures (<https://www.tcpdump.org/linktypes.html>): the header in front of a packet.

use std::fmt;

/// A link type, by its number in capture files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// SLIP, after a header of 16 bytes.
    pub const SLIP: Self = Self(8);
    /// PPP: the protocol, perhaps with address and control in front.
    pub const PPP: Self = Self(9);
    /// FDDI.
    pub const FDDI: Self = Self(10);
    /// PPP like HDLC, or HDLC of Cisco.
    pub const PPP_HDLC: Self = Self(50);
    /// A session of PPPoE, without Ethernet.
    pub const PPP_ETHER: Self = Self(51);
    /// ATM with LLC, or one protocol for each circuit (RFC 2684).
    pub const ATM_RFC1483: Self = Self(100);
    /// IP without anything in front.
    pub const RAW: Self = Self(101);
    /// HDLC of Cisco.
    pub const C_HDLC: Self = Self(104);
    /// 802.11 without anything in front, and without a frame check sequence.
    pub const IEEE802_11: Self = Self(105);
    /// Classical IP over ATM of Linux.
    pub const ATM_CLIP: Self = Self(106);
    /// Frame Relay.
    pub const FRAME_RELAY: Self = Self(107);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// IPsec devices of OpenBSD.
    pub const ENC: Self = Self(109);
    /// `tcpdump -i any` of Linux, before libpcap 1.10.
    pub const LINUX_SLL: Self = Self(113);
    /// The log of OpenBSD's packet filter.
    pub const PFLOG: Self = Self(117);
    /// 802.11 after a header of Prism.
    pub const PRISM: Self = Self(119);
    /// IP over Fibre Channel.
    pub const IP_OVER_FC: Self = Self(122);
    /// 802.11 after a header of radiotap.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// IP over IEEE 1394 of macOS.
    pub const FIREWIRE: Self = Self(138);
    /// A number for any user, which older tools of macOS use for [`LinkType::PKTAP`].
    pub const USER2: Self = Self(149);
    /// 802.11 after a header of AVS.
    pub const AVS: Self = Self(163);
    /// PPP of Linux with a direction in place of the address.
    pub const LINUX_PPP: Self = Self(166);
    /// Per-packet information, usually in front of 802.11.
    pub const PPI: Self = Self(192);
    /// PPP with a direction in front.
    pub const PPP_WITH_DIRECTION: Self = Self(204);
    /// HDLC of Cisco with a direction in front.
    pub const C_HDLC_WITH_DIRECTION: Self = Self(205);
    /// Frame Relay with a direction in front.
    pub const FRAME_RELAY_WITH_DIRECTION: Self = Self(206);
    /// IPv4 without anything in front.
    pub const IPV4: Self = Self(228);
    /// IPv6 without anything in front.
    pub const IPV6: Self = Self(229);
    /// The log of Linux's packet filter.
    pub const NFLOG: Self = Self(239);
    /// Ethernet after four bytes of a netANALYZER.
    pub const NETANALYZER: Self = Self(240);
    /// IP over InfiniBand.
    pub const IPOIB: Self = Self(242);
    /// `tcpdump -i any` of macOS.
    pub const PKTAP: Self = Self(258);
    /// Ethernet with its preamble.
    pub const MPACKET: Self = Self(274);
    /// `tcpdump -i any` of Linux.
    pub const LINUX_SLL2: Self = Self(276);

    /// The link types that people have most, for messages.
    pub(super) const KNOWN: &'static str = "Ethernet, Linux cooked (-i any), raw IP, PPP, HDLC, SLIP, 802.11, loopback, \
                                            NFLOG and PKTAP";

    /// The name of a link type that carries no IP, or none that is read.
    fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            147..=162 => "of a user (DLT_USER)",
            177 => "ISDN",
            189 | 220 | 249 | 266 | 292 => "USB",
            187 | 201 | 251 | 254 | 272 => "Bluetooth",
            190 | 227 => "CAN bus",
            195 | 215 | 230 | 283 => "IEEE 802.15.4",
            197 => "ERF",
            224 | 225 => "Fibre Channel",
            247 => "InfiniBand",
            243 => "MPEG-2 transport stream",
            253 => "netlink",
            _ => return None,
        })
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}
