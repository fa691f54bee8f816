//! A value for each of some nodes, found by the number of the node.

use lightlag_net::NodeId;

/// Values by node, in the order of the nodes. It has room for all nodes up to the last one, because agents look up far more
/// often than they list.
#[derive(Clone, Debug)]
pub(crate) struct ByNode<T> {
    values: Vec<Option<Box<T>>>,
}

impl<T> Default for ByNode<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<T> ByNode<T> {
    fn place(node: NodeId) -> usize {
        node.0 as usize
    }

    pub(crate) fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        self.values.get_mut(Self::place(node))?.as_deref_mut()
    }

    /// The value of a node, which is made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, node: NodeId, value: impl FnOnce() -> T) -> &mut T {
        let place = Self::place(node);
        if place >= self.values.len() {
            self.values.resize_with(place + 1, || None);
        }
        self.values[place].get_or_insert_with(|| Box::new(value()))
    }

    pub(crate) fn remove(&mut self, node: NodeId) {
        if let Some(value) = self.values.get_mut(Self::place(node)) {
            *value = None;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        (0..).zip(&self.values).filter_map(|(node, value)| Some((NodeId(node), value.as_deref()?)))
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
}
