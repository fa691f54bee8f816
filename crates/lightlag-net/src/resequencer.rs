//! Units that a receiver keeps after a lost one.
//!
//! A receiver that numbers the units of a path keeps those after a gap, in case the missing unit is only late. When more
//! than a certain number wait, it takes the missing one as lost, and passes on the others up to the next gap. OpenSAND does
//! so with the datagrams that carry its frames and bursts (`UdpChannel`, `satcarrier_udp_stack`).

use std::collections::VecDeque;

/// The units of a path, each with the items that it carries.
#[derive(Clone, Debug)]
pub struct Resequencer<T> {
    /// Maximum number of units that wait.
    most: u32,
    /// The first gap and the units after it; `None` for a lost unit.
    units: VecDeque<Option<Vec<T>>>,
    /// Number of units among them that have arrived.
    kept: u32,
}

impl<T> Resequencer<T> {
    /// Returns a receiver that keeps up to `most` units.
    pub fn new(most: u32) -> Self {
        Self { most, units: VecDeque::new(), kept: 0 }
    }

    /// Notes that the next unit is lost.
    pub fn lost(&mut self) {
        self.units.push_back(None);
    }

    /// Receives the next unit, and returns the items that are passed on.
    pub fn arrived(&mut self, items: Vec<T>) -> Vec<T> {
        if self.units.is_empty() {
            return items;
        }
        self.units.push_back(Some(items));
        self.kept += 1;
        if self.kept <= self.most {
            return Vec::new();
        }
        while let Some(None) = self.units.front() {
            self.units.pop_front();
        }
        let mut passed = Vec::new();
        while let Some(Some(items)) = self.units.front_mut() {
            passed.append(items);
            self.units.pop_front();
            self.kept -= 1;
        }
        passed
    }

    /// Returns the items that wait.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.units.iter().flatten().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_after_a_gap_wait_for_more_than_the_limit() {
        let mut receiver = Resequencer::new(2);
        assert_eq!(receiver.arrived(vec![1]), [1]);
        receiver.lost();
        assert!(receiver.arrived(vec![3]).is_empty());
        assert!(receiver.arrived(vec![4, 5]).is_empty());
        assert_eq!(receiver.items().count(), 3);
        assert_eq!(receiver.arrived(vec![6]), [3, 4, 5, 6]);
        assert_eq!(receiver.arrived(vec![7]), [7]);
    }

    #[test]
    fn a_second_gap_keeps_what_follows_it() {
        let mut receiver = Resequencer::new(2);
        receiver.lost();
        receiver.lost();
        assert!(receiver.arrived(vec![1]).is_empty());
        receiver.lost();
        assert!(receiver.arrived(vec![2]).is_empty());
        assert_eq!(receiver.arrived(vec![3]), [1]);
        assert_eq!(receiver.arrived(vec![4]), [2, 3, 4]);
        assert_eq!(receiver.items().count(), 0);
    }
}
