//! Exits of packets from a node: links, interfaces to shared media, and tunnels.

use super::LinkId;

/// ID of a node's interface to a medium: its index in the list of the members of all media.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

impl InterfaceId {
    /// Returns the interface with this index in a list of all interfaces.
    #[inline]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Returns the index of the interface in a list of all interfaces.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// ID of one end of a tunnel: twice the index of the tunnel, plus one for the end that accepts its connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TunnelEndId(pub u32);

impl TunnelEndId {
    /// Returns the index of the end in a list of all ends.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the other end of the tunnel.
    #[inline]
    #[must_use]
    pub const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// Exit of a packet from a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// A link.
    Link(LinkId),
    /// An interface to a medium.
    Interface(InterfaceId),
    /// A tunnel, whose packets leave the node through another exit.
    Tunnel(TunnelEndId),
}

impl Exit {
    /// Returns the index of the exit in tables, where interfaces follow the `links` links. A tunnel has none, and returns
    /// [`u32::MAX`].
    pub const fn number(self, links: u32) -> u32 {
        match self {
            Self::Link(link) => link.0,
            Self::Interface(interface) => links + interface.0,
            Self::Tunnel(_) => u32::MAX,
        }
    }
}

impl From<LinkId> for Exit {
    fn from(link: LinkId) -> Self {
        Self::Link(link)
    }
}

impl From<InterfaceId> for Exit {
    fn from(interface: InterfaceId) -> Self {
        Self::Interface(interface)
    }
}

/// An [`Exit`] packed into 32 bits, as stored in routes and endpoints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PackedExit(pub(super) u32);

impl PackedExit {
    /// Bit that marks an interface instead of a link.
    const INTERFACE: u32 = 1 << 31;
    /// Bit that marks a tunnel instead of an interface.
    const TUNNEL: u32 = 1 << 30;

    /// Returns the unpacked exit.
    #[inline(always)]
    pub const fn unpack(self) -> Exit {
        if self.0 & Self::INTERFACE == 0 {
            Exit::Link(LinkId(self.0))
        } else if self.0 & Self::TUNNEL == 0 {
            Exit::Interface(InterfaceId(self.0 & !Self::INTERFACE))
        } else {
            Exit::Tunnel(TunnelEndId(self.0 & !(Self::INTERFACE | Self::TUNNEL)))
        }
    }

    /// Returns the link; `None` if the exit is an interface or a tunnel.
    #[inline(always)]
    pub const fn link(self) -> Option<LinkId> {
        match self.unpack() {
            Exit::Link(link) => Some(link),
            Exit::Interface(_) | Exit::Tunnel(_) => None,
        }
    }
}

impl From<LinkId> for PackedExit {
    #[inline(always)]
    fn from(link: LinkId) -> Self {
        debug_assert!(link.0 & Self::INTERFACE == 0, "there are fewer than 2^31 links");
        Self(link.0)
    }
}

impl From<InterfaceId> for PackedExit {
    #[inline(always)]
    fn from(interface: InterfaceId) -> Self {
        debug_assert!(interface.0 & Self::TUNNEL == 0, "there are fewer than 2^30 interfaces");
        Self(interface.0 | Self::INTERFACE)
    }
}

impl From<TunnelEndId> for PackedExit {
    #[inline(always)]
    fn from(end: TunnelEndId) -> Self {
        debug_assert!(end.0 < Self::TUNNEL - 1, "there are fewer than 2^29 tunnels");
        Self(end.0 | Self::INTERFACE | Self::TUNNEL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_survives_packing() {
        for number in [0, 1, (1 << 31) - 2] {
            assert_eq!(PackedExit::from(LinkId(number)).unpack(), Exit::Link(LinkId(number)));
        }
        for number in [0, 1, (1 << 30) - 2] {
            assert_eq!(PackedExit::from(InterfaceId(number)).unpack(), Exit::Interface(InterfaceId(number)));
            assert_eq!(PackedExit::from(TunnelEndId(number)).unpack(), Exit::Tunnel(TunnelEndId(number)));
        }
        assert_eq!(PackedExit::from(TunnelEndId(7)).link(), None);
        assert_eq!(PackedExit::from(LinkId(7)).link(), Some(LinkId(7)));
        assert_eq!(PackedExit::from(InterfaceId(7)).link(), None);
    }
}
