//! Rows that are made from the last to the first.

/// The rows that stand in one piece of memory until all are there: so few find room where the connections stood that went.
const ROWS: usize = 2;

/// Rows that come from the last to the first.
pub(super) struct Backward<R> {
    groups: Vec<Vec<R>>,
}

impl<R> Backward<R> {
    /// No rows yet, and at most so many later.
    pub(super) fn new(most: usize) -> Self {
        Self { groups: Vec::with_capacity(most.div_ceil(ROWS)) }
    }

    pub(super) fn push(&mut self, row: R) {
        if self.groups.last().is_none_or(|group| group.len() == ROWS) {
            self.groups.push(Vec::with_capacity(ROWS));
        }
        self.groups.last_mut().expect("there is a group").push(row);
    }

    /// All rows, from the first to the last.
    pub(super) fn into_rows(self) -> Vec<R> {
        let mut rows = Vec::with_capacity(self.groups.iter().map(Vec::len).sum());
        rows.extend(self.groups.into_iter().rev().flat_map(|group| group.into_iter().rev()));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_out_in_their_order() {
        for count in 0..6 {
            let mut rows = Backward::new(count);
            (0..count).rev().for_each(|row| rows.push(row));
            assert_eq!(rows.into_rows(), (0..count).collect::<Vec<usize>>());
        }
    }
}
