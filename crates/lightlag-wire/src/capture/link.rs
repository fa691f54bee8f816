//! Link types of captures (<https://www.tcpdump.org/linktypes.html>), which determine the header before a packet.

use std::fmt;

/// A link type, by its number in capture files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// SLIP, preceded by a header of 16 bytes.
    pub const SLIP: Self = Self(8);
    /// PPP: the protocol, optionally preceded by address and control.
    pub const PPP: Self = Self(9);
    /// FDDI.
    pub const FDDI: Self = Self(10);
    /// PPP in HDLC-like framing, or Cisco HDLC.
    pub const PPP_HDLC: Self = Self(50);
    /// A PPPoE session, without the Ethernet header.
    pub const PPP_ETHER: Self = Self(51);
    /// ATM with LLC, or with one protocol per circuit (RFC 2684).
    pub const ATM_RFC1483: Self = Self(100);
    /// IPv4 or IPv6 without a link-layer header.
    pub const RAW: Self = Self(101);
    /// Cisco HDLC.
    pub const C_HDLC: Self = Self(104);
    /// 802.11 without a preceding header and without a frame check sequence.
    pub const IEEE802_11: Self = Self(105);
    /// Classical IP over ATM on Linux.
    pub const ATM_CLIP: Self = Self(106);
    /// Frame Relay.
    pub const FRAME_RELAY: Self = Self(107);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// IPsec devices on OpenBSD.
    pub const ENC: Self = Self(109);
    /// `tcpdump -i any` on Linux, before libpcap 1.10.
    pub const LINUX_SLL: Self = Self(113);
    /// The log of the OpenBSD packet filter.
    pub const PFLOG: Self = Self(117);
    /// 802.11 preceded by a Prism header.
    pub const PRISM: Self = Self(119);
    /// IP over Fibre Channel.
    pub const IP_OVER_FC: Self = Self(122);
    /// 802.11 preceded by a radiotap header.
    pub const IEEE802_11_RADIOTAP: Self = Self(127);
    /// IP over IEEE 1394 on macOS.
    pub const FIREWIRE: Self = Self(138);
    /// A number reserved for private use, which older macOS tools use for [`LinkType::PKTAP`].
    pub const USER2: Self = Self(149);
    /// 802.11 preceded by an AVS header.
    pub const AVS: Self = Self(163);
    /// PPP on Linux, with a direction instead of the address.
    pub const LINUX_PPP: Self = Self(166);
    /// Per-packet information (PPI), typically before 802.11.
    pub const PPI: Self = Self(192);
    /// PPP preceded by a byte that gives the direction.
    pub const PPP_WITH_DIRECTION: Self = Self(204);
    /// Cisco HDLC preceded by a byte that gives the direction.
    pub const C_HDLC_WITH_DIRECTION: Self = Self(205);
    /// Frame Relay preceded by a byte that gives the direction.
    pub const FRAME_RELAY_WITH_DIRECTION: Self = Self(206);
    /// IPv4 without a link-layer header.
    pub const IPV4: Self = Self(228);
    /// IPv6 without a link-layer header.
    pub const IPV6: Self = Self(229);
    /// The log of the Linux packet filter.
    pub const NFLOG: Self = Self(239);
    /// Ethernet preceded by four bytes from a netANALYZER device.
    pub const NETANALYZER: Self = Self(240);
    /// IP over InfiniBand.
    pub const IPOIB: Self = Self(242);
    /// `tcpdump -i any` on macOS.
    pub const PKTAP: Self = Self(258);
    /// Ethernet with its preamble.
    pub const MPACKET: Self = Self(274);
    /// `tcpdump -i any` on Linux.
    pub const LINUX_SLL2: Self = Self(276);

    /// The most common supported link types, for messages.
    pub(super) const KNOWN: &'static str = "Ethernet, Linux cooked (-i any), raw IP, PPP, HDLC, SLIP, 802.11, loopback, \
                                            NFLOG and PKTAP";

    /// Returns the name of a link type that carries no IP or is not supported; `None` for all others.
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
