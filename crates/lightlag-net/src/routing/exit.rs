//! Where a packet leaves a node: over a link, or over an interface to a shared medium.

use super::LinkId;

/// An interface of a node to a medium, numbered from 0 over the members of all media.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InterfaceId(pub u32);

impl InterfaceId {
    /// The interface at an index of a list of all interfaces.
    #[inline]
    pub const fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// Its index in such a list.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a packet leaves a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Over this link.
    Link(LinkId),
    /// Over this interface to a medium.
    Interface(InterfaceId),
}

impl Exit {
    /// Its number in tables, which count the interfaces after all `links`.
    pub const fn number(self, links: u32) -> u32 {
        match self {
            Self::Link(link) => link.0,
            Self::Interface(interface) => links + interface.0,
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

/// An [`Exit`] in 32 bits, as routes and endpoints hold it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PackedExit(pub(super) u32);

impl PackedExit {
    /// The bit that tells an interface from a link.
    const INTERFACE: u32 = 1 << 31;

    /// The exit.
    #[inline(always)]
    pub const fn unpack(self) -> Exit {
        if self.0 & Self::INTERFACE == 0 {
            Exit::Link(LinkId(self.0))
        } else {
            Exit::Interface(InterfaceId(self.0 & !Self::INTERFACE))
        }
    }

    /// The link, unless it is an interface.
    #[inline(always)]
    pub const fn link(self) -> Option<LinkId> {
        match self.unpack() {
            Exit::Link(link) => Some(link),
            Exit::Interface(_) => None,
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
        Self(interface.0 | Self::INTERFACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_what_was_packed() {
        for number in [0, 1, (1 << 31) - 2] {
            assert_eq!(PackedExit::from(LinkId(number)).unpack(), Exit::Link(LinkId(number)));
            assert_eq!(PackedExit::from(InterfaceId(number)).unpack(), Exit::Interface(InterfaceId(number)));
        }
        assert_eq!(PackedExit::from(LinkId(7)).link(), Some(LinkId(7)));
        assert_eq!(PackedExit::from(InterfaceId(7)).link(), None);
    }
}
