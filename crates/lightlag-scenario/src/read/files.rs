//! The files named in a scenario: on disk, or passed in memory if there is no disk.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Arc;

/// Location of a scenario's files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Files {
    /// On disk.
    #[default]
    Disk,
    /// In memory, under the names that the scenario uses. The disk is not accessed.
    Given(Arc<BTreeMap<String, Vec<u8>>>),
}

impl Files {
    /// Opens a file, and also returns its length in bytes.
    ///
    /// # Errors
    /// A message to be appended to the name of the file.
    pub(crate) fn open(&self, file: &str) -> Result<(Box<dyn Read>, u64), String> {
        match self {
            Self::Disk => {
                let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
                let metadata = std::fs::metadata(file).map_err(unreadable)?;
                if !metadata.is_file() {
                    return Err("is not a file".to_owned());
                }
                Ok((Box::new(std::fs::File::open(file).map_err(unreadable)?), metadata.len()))
            }
            Self::Given(files) => {
                let bytes = files.get(file).ok_or_else(|| missing(files))?;
                Ok((Box::new(Cursor::new(bytes.clone())), bytes.len() as u64))
            }
        }
    }
}

fn missing(files: &BTreeMap<String, Vec<u8>>) -> String {
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    match names.as_slice() {
        [] => "was not given with the scenario; add the file to it".to_owned(),
        names => format!("was not given with the scenario; the files given are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_files_are_the_only_ones() {
        let there = file!();
        let given = Files::Given(Arc::new([("trace.csv".to_owned(), b"0,1\n".to_vec())].into()));
        let (mut file, length) = given.open("trace.csv").unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), length), ("0,1\n", 4));
        let Err(message) = given.open(there) else { panic!("it reads the disk") };
        assert_eq!(message, "was not given with the scenario; the files given are trace.csv");
    }
}
