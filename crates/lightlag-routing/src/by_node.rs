//! A value for each of some nodes, found by the number of the node.

use crate::agent::Step;
use lightlag_core::prefetch;
use lightlag_net::NodeId;

/// Values by node, in the order of the nodes. It has a number for each node up to the last one, because agents look up far
/// more often than they list; the values themselves lie close together.
#[derive(Clone, Debug)]
pub(crate) struct ByNode<T> {
    /// The place of the value of each node, or [`NONE`].
    places: Vec<u32>,
    values: Vec<(NodeId, T)>,
}

/// The place of a value that there is not.
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

    /// Fetches the place of a value from memory, and then the value.
    #[inline]
    pub(crate) fn prefetch(&self, node: NodeId, step: Step) {
        match step {
            Step::Place => prefetch(self.places.as_ptr().wrapping_add(node.0 as usize)),
            Step::Value => {
                if let Some(place) = self.place(node) {
                    prefetch(self.values.as_ptr().wrapping_add(place));
                }
            }
        }
    }

    /// The value of a node, which is made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, node: NodeId, value: impl FnOnce() -> T) -> &mut T {
        let place = self.place(node).unwrap_or_else(|| {
            let index = node.0 as usize;
            if index >= self.places.len() {
                self.places.resize(index + 1, NONE);
            }
            let place = self.values.len();
            self.places[index] = place as u32;
            self.values.push((node, value()));
            place
        });
        &mut self.values[place].1
    }

    pub(crate) fn remove(&mut self, node: NodeId) {
        let Some(place) = self.place(node) else { return };
        self.places[node.0 as usize] = NONE;
        self.values.swap_remove(place);
        if let Some((moved, _)) = self.values.get(place) {
            self.places[moved.0 as usize] = place as u32;
        }
    }

    /// The values in any order, which is fast.
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
