//! Rows in pairs.

use serde::{Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};
use std::iter::FusedIterator;
use std::ops::{Index, Range};

/// The rows of a table of the summary, in their order.
///
/// They stand in memory in pairs. Rows are made from the last to the first, as the links and connections go of which they tell, and
/// a pair finds room where a connection stood. All rows in one piece would need as much memory again.
#[derive(Clone)]
pub struct Rows<R> {
    /// The first row, if their number is odd.
    odd: Option<R>,
    /// The others, the last pair first.
    pairs: Vec<Box<[R; 2]>>,
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self { odd: None, pairs: Vec::new() }
    }
}

impl<R> Rows<R> {
    /// No rows yet, and at most so many later.
    pub(super) fn with_capacity(most: usize) -> Self {
        Self { odd: None, pairs: Vec::with_capacity(most / 2) }
    }

    /// Adds a row before all others.
    pub(super) fn push_front(&mut self, row: R) {
        match self.odd.take() {
            None => self.odd = Some(row),
            Some(second) => self.pairs.push(Box::new([row, second])),
        }
    }

    /// Number of the rows.
    pub fn len(&self) -> usize {
        2 * self.pairs.len() + self.odd.iter().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row with this number, if there are so many.
    pub fn get(&self, at: usize) -> Option<&R> {
        match at.checked_sub(self.odd.iter().len()) {
            None => self.odd.as_ref(),
            Some(at) => self.pairs.iter().nth_back(at / 2).map(|pair| &pair[at % 2]),
        }
    }

    /// All of them.
    pub fn iter(&self) -> Iter<'_, R> {
        Iter { rows: self, rest: 0..self.len() }
    }
}

impl<R> Index<usize> for Rows<R> {
    type Output = R;

    fn index(&self, at: usize) -> &R {
        self.get(at).unwrap_or_else(|| panic!("row {at} of {}", self.len()))
    }
}

impl<'a, R> IntoIterator for &'a Rows<R> {
    type Item = &'a R;
    type IntoIter = Iter<'a, R>;

    fn into_iter(self) -> Iter<'a, R> {
        self.iter()
    }
}

impl<R: Debug> Debug for Rows<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<R: Serialize> Serialize for Rows<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

/// The rows of a table, one after the other.
#[derive(Debug)]
pub struct Iter<'a, R> {
    rows: &'a Rows<R>,
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
            let mut rows = Rows::with_capacity(count);
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
