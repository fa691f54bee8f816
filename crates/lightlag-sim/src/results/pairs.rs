//! A list of rows that is stored in pairs.

use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};
use std::iter::FusedIterator;
use std::ops::{Index, Range};

/// The rows of a table of the summary, in order.
///
/// Rows are built from the last to the first while their links and connections are freed. They are stored in pairs,
/// because a pair fits into the memory of a freed connection. A contiguous list of all rows would need the same memory
/// again.
#[derive(Clone)]
pub struct SummaryRows<R> {
    /// First row, if the number of rows is odd.
    odd: Option<R>,
    /// The other rows in pairs, starting with the last pair.
    pairs: Vec<Box<[R; 2]>>,
}

impl<R> Default for SummaryRows<R> {
    fn default() -> Self {
        Self { odd: None, pairs: Vec::new() }
    }
}

impl<R> SummaryRows<R> {
    /// Returns an empty list with capacity for `max` rows.
    pub(super) fn with_capacity(max: usize) -> Self {
        Self { odd: None, pairs: Vec::with_capacity(max / 2) }
    }

    /// Adds a row before all others.
    pub(super) fn push_front(&mut self, row: R) {
        match self.odd.take() {
            None => self.odd = Some(row),
            Some(second) => self.pairs.push(Box::new([row, second])),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        2 * self.pairs.len() + self.odd.iter().len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the row with this index, if it exists.
    pub fn get(&self, index: usize) -> Option<&R> {
        match index.checked_sub(self.odd.iter().len()) {
            None => self.odd.as_ref(),
            Some(at) => self.pairs.iter().nth_back(at / 2).map(|pair| &pair[at % 2]),
        }
    }

    /// Returns all rows.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter { rows: self, rest: 0..self.len() }
    }
}

impl<R> Index<usize> for SummaryRows<R> {
    type Output = R;

    fn index(&self, slot: usize) -> &R {
        self.get(slot).unwrap_or_else(|| panic!("row {slot} of {}", self.len()))
    }
}

impl<'a, R> IntoIterator for &'a SummaryRows<R> {
    type Item = &'a R;
    type IntoIter = Iter<'a, R>;

    fn into_iter(self) -> Iter<'a, R> {
        self.iter()
    }
}

impl<R: Debug> Debug for SummaryRows<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<R: Serialize> Serialize for SummaryRows<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

/// Iterator over the rows of a table.
#[derive(Debug)]
pub struct Iter<'a, R> {
    rows: &'a SummaryRows<R>,
    rest: Range<usize>,
}

// Not derived: rows need not be cloned.
impl<R> Clone for Iter<'_, R> {
    fn clone(&self) -> Self {
        Self { rows: self.rows, rest: self.rest.clone() }
    }
}

impl<'a, R> Iterator for Iter<'a, R> {
    type Item = &'a R;

    fn next(&mut self) -> Option<&'a R> {
        self.rows.get(self.rest.next()?)
    }

    fn nth(&mut self, n: usize) -> Option<&'a R> {
        self.rows.get(self.rest.nth(n)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl<R> DoubleEndedIterator for Iter<'_, R> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.rows.get(self.rest.next_back()?)
    }
}

impl<R> ExactSizeIterator for Iter<'_, R> {}

impl<R> FusedIterator for Iter<'_, R> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_in_their_order() {
        for count in 0..6 {
            let mut rows = SummaryRows::with_capacity(count);
            (0..count).rev().for_each(|row| rows.push_front(row));
            let all: Vec<usize> = (0..count).collect();
            assert!(rows.iter().eq(&all) && rows.iter().rev().eq(all.iter().rev()));
            assert!((0..count).all(|at| rows[at] == at) && rows.get(count).is_none());
            assert_eq!((rows.len(), rows.is_empty(), rows.iter().len()), (count, count == 0, count));
            assert_eq!(format!("{rows:?}"), format!("{all:?}"));
            assert_eq!(serde_json::to_string(&rows).unwrap(), serde_json::to_string(&all).unwrap());
        }
    }
}
