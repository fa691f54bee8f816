//! Shared media: what they call the nodes on them.

/// A station of a medium: a node's end of it, numbered from 0 in the order of the members of the medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StationId(pub u32);

impl StationId {
    /// The station at an index of a list of all stations.
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
