//! The native format of BonnMotion (Aschenbruck et al., SIMUTools 2010): line i is a sequence of `time x y` or
//! `time x y z` for node i. Lines that start with # are comments.

use super::{Draft, PathError, Paths, append, finish, lines, metres, time};
use crate::{Fix, Vector};

pub(super) fn read(bytes: &[u8], dimension: u32) -> Result<Paths, PathError> {
    let mut drafts = Vec::new();
    for (line, text) in lines(bytes)? {
        if text.starts_with('#') {
            continue;
        }
        let node = drafts.len().to_string();
        let fixes = places(text, dimension, &node).map_err(|message| PathError { line, message })?;
        drafts.push(Draft { node, fixes, line });
    }
    if drafts.is_empty() {
        let message = "the file has no node; each line is the path of one node".to_owned();
        return Err(PathError { line: 1, message });
    }
    finish(drafts)
}

fn places(line: &str, dimension: u32, node: &str) -> Result<Vec<Fix>, String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (width, form, other) = if dimension == 3 { (4, "time x y z", 2) } else { (3, "time x y", 3) };
    if fields.is_empty() {
        return Err(format!("node {node} has no position"));
    }
    if !fields.len().is_multiple_of(width) {
        let fits_other = fields.len().is_multiple_of(other + 1);
        let hint = if fits_other { format!("; did you mean dimension = {other}?") } else { String::new() };
        return Err(format!("{} numbers are not a sequence of {form}{hint}", fields.len()));
    }
    let mut fixes: Vec<Fix> = Vec::with_capacity(fields.len() / width);
    for fields in fields.chunks_exact(width) {
        let z = fields.get(3).map_or(Ok(0.0), |z| metres("z", z))?;
        let place = Vector::new(metres("x", fields[1])?, metres("y", fields[2])?, z);
        let fix = Fix { at: time("time", fields[0])?, place };
        // BonnMotion writes a pause of no length as a repeated position.
        if fixes.last() != Some(&fix) {
            append(&mut fixes, fix, node)?;
        }
    }
    Ok(fixes)
}
