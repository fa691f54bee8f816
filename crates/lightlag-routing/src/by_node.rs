//! A map from nodes to values, indexed by node.

use crate::agent::PrefetchStep;
use lightlag_core::prefetch;
use lightlag_net::NodeId;

/// Values in ascending order of their nodes. An index for each node up to the last one makes lookups fast, because
/// agents look up values far more often than they list them. The values themselves are contiguous in memory.
#[derive(Clone, Debug)]
pub(crate) struct ByNode<T> {
    /// Index of each node's value in the list of values, or [`NONE`].
    places: Vec<u32>,
    values: Vec<(NodeId, T)>,
}

/// Index of a missing value.
const NONE: u32 = u32::MAX;

impl<T> Default for ByNode<T> {
    fn default() -> Self {
        Self { places: Vec::new(), values: Vec::new() }
    }
}

impl<T> ByNode<T> {
    #[inline]
    fn place(&self, node: NodeId) -> Option<usize> {
        self.places.get(node.0 as usize).filter(|place| **place != NONE).map(|place| *place as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        let place = self.place(node)?;
        Some(&mut self.values[place].1)
    }

    /// Prefetches the index of a value from memory, and then the value.
    #[inline]
    pub(crate) fn prefetch(&self, node: NodeId, step: PrefetchStep) {
        match step {
            PrefetchStep::Place => prefetch(self.places.as_ptr().wrapping_add(node.0 as usize)),
            PrefetchStep::Value => {
                if let Some(place) = self.place(node) {
                    prefetch(self.values.as_ptr().wrapping_add(place));
                }
            }
        }
    }

    /// Returns the value of a node, and creates it first if there is none.
    pub(crate) fn get_or_insert_with(&mut self, node: NodeId, value: impl FnOnce() -> T) -> &mut T {
        let slot = self.place(node).unwrap_or_else(|| {
            let index = node.0 as usize;
            if index >= self.places.len() {
                self.places.resize(index + 1, NONE);
            }
            let next_slot = self.values.len();
            self.places[index] = next_slot as u32;
            self.values.push((node, value()));
            next_slot
        });
        &mut self.values[slot].1
    }

    pub(crate) fn remove(&mut self, node: NodeId) {
        let Some(slot) = self.place(node) else { return };
        self.places[node.0 as usize] = NONE;
        self.values.swap_remove(slot);
        if let Some((moved, _)) = self.values.get(slot) {
            self.places[moved.0 as usize] = slot as u32;
        }
    }

    /// Returns the values in arbitrary order, which is faster than sorted.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = (NodeId, &T)> {
        self.values.iter().map(|(node, value)| (*node, value))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        let places = self.places.iter().filter(|place| **place != NONE);
        places.map(|place| &self.values[*place as usize]).map(|(node, value)| (*node, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_by_node() {
        let mut values = ByNode::default();
        for node in [7, 2, 7, 0] {
            *values.get_or_insert_with(NodeId(node), || 0) += node;
        }
        values.remove(NodeId(2));
        values.remove(NodeId(99));
        assert_eq!(values.iter().collect::<Vec<_>>(), [(NodeId(0), &0), (NodeId(7), &14)]);
        assert_eq!([2, 99].map(|node| values.get_mut(NodeId(node)).copied()), [None, None]);
    }

    #[test]
    fn the_others_stay_when_one_is_removed() {
        let mut values = ByNode::default();
        for node in [4, 1, 3, 2] {
            *values.get_or_insert_with(NodeId(node), || 0) += 10 * node;
        }
        values.remove(NodeId(4));
        values.remove(NodeId(3));
        *values.get_or_insert_with(NodeId(4), || 0) += 1;
        assert_eq!([1, 2, 3, 4].map(|node| values.get_mut(NodeId(node)).copied()), [Some(10), Some(20), None, Some(1)]);
        assert_eq!(values.iter().map(|(node, _)| node.0).collect::<Vec<_>>(), [1, 2, 4]);
    }
}
