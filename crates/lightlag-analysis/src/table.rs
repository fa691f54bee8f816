//! The columns of recorded tables that an analysis uses.

use std::collections::BTreeMap;

/// Columns of a recorded table, by name.
#[derive(Clone, Debug, Default)]
pub struct RecordedColumns {
    /// Numeric columns; missing values are NaN.
    pub numbers: BTreeMap<String, Vec<f64>>,
    /// Columns of strings.
    pub texts: BTreeMap<String, Texts>,
}

/// A column of strings; each distinct string is stored once.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    rows: Vec<usize>,
}

impl Texts {
    /// Appends the string of the next row.
    pub fn push(&mut self, text: &str) {
        let number = self.numbers.get(text).copied().unwrap_or_else(|| {
            self.numbers.insert(text.to_owned(), self.names.len());
            self.names.push(text.to_owned());
            self.names.len() - 1
        });
        self.rows.push(number);
    }

    /// Returns the string in a row.
    pub fn at(&self, row: usize) -> &str {
        &self.names[self.rows[row]]
    }

    /// Returns the distinct strings in order of first appearance, each with the rows that have it.
    pub fn parts(&self) -> Vec<(&str, Vec<usize>)> {
        let mut parts: Vec<_> = self.names.iter().map(|name| (name.as_str(), Vec::new())).collect();
        self.rows.iter().enumerate().for_each(|(row, number)| parts[*number].1.push(row));
        parts
    }
}

impl RecordedColumns {
    /// Returns the values of a numeric column in these rows; NaN if the column is missing.
    pub(crate) fn values(&self, column: &str, rows: &[usize]) -> Vec<f64> {
        let values = self.numbers.get(column);
        rows.iter().map(|row| values.map_or(f64::NAN, |values| values[*row])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_text_are_found_in_order_of_appearance() {
        let mut texts = Texts::default();
        ["b", "a", "b", "c"].iter().for_each(|text| texts.push(text));
        assert_eq!(texts.parts(), [("b", vec![0, 2]), ("a", vec![1]), ("c", vec![3])]);
        assert_eq!(texts.at(2), "b");
    }
}
