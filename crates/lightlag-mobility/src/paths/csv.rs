//! CSV: one row per position of a node.
//!
//! The header names the columns in any order: `time`, `node` and either `x`, `y`, `z` or `lat`, `lon`, `alt`, each with
//! or without its unit as a suffix (`time_s`, `x_m`, `lat_deg`). Rows of different nodes may alternate.

use super::geodesy::{Geodetic, Local};
use super::{Draft, PathError, Paths, append, finish, lines, metres, number, time};
use crate::{Fix, Vector};
use std::collections::BTreeMap;

/// Names of the columns, without and with their units.
const COLUMNS: [(&str, &str); 8] = [
    ("time", "time_s"),
    ("node", "node"),
    ("x", "x_m"),
    ("y", "y_m"),
    ("z", "z_m"),
    ("lat", "lat_deg"),
    ("lon", "lon_deg"),
    ("alt", "alt_m"),
];

/// The kind of coordinates in a file, with their three columns.
enum CoordinateKind {
    Local([usize; 3]),
    Geodetic([usize; 3]),
}

struct Header {
    columns: usize,
    time: usize,
    node: usize,
    kind: CoordinateKind,
}

pub(super) fn read(bytes: &[u8]) -> Result<Paths, PathError> {
    let mut lines = lines(bytes)?;
    let fail = |line: usize, message: String| PathError { line, message };
    let Some((_, first)) = lines.next() else {
        let message = "the file is empty; it starts with a header such as time,node,x,y,z";
        return Err(fail(1, message.to_owned()));
    };
    let header = header(first).map_err(|message| fail(1, message))?;
    let mut drafts: Vec<Draft> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut local = None;
    for (line, row) in lines {
        let (node, fix) = place(row, &header, &mut local).map_err(|message| fail(line, message))?;
        let index = *known.entry(node.to_owned()).or_insert_with(|| {
            drafts.push(Draft { node: node.to_owned(), fixes: Vec::new(), line });
            drafts.len() - 1
        });
        append(&mut drafts[index].fixes, fix, node).map_err(|message| fail(line, message))?;
    }
    if drafts.is_empty() {
        return Err(fail(1, "there is no row after the header".to_owned()));
    }
    finish(drafts)
}

fn header(line: &str) -> Result<Header, String> {
    let mut indices = [None; COLUMNS.len()];
    let mut columns = 0;
    for name in line.split(',').map(str::trim) {
        let Some(column) = COLUMNS.iter().position(|(short, long)| name == *short || name == *long) else {
            return Err(format!("{name:?} is not a column; there are time, node, x, y, z or lat, lon, alt"));
        };
        if indices[column].is_some() {
            return Err(format!("the column {name} is duplicated"));
        }
        indices[column] = Some(columns);
        columns += 1;
    }
    let required = |index: usize| {
        let name = COLUMNS[index].0;
        indices[index]
            .ok_or_else(|| format!("the column {name} is missing; a position has time, node, x, y, z or lat, lon, alt"))
    };
    let has_any = |from: usize| indices[from..from + 3].iter().any(Option::is_some);
    if has_any(2) && has_any(5) {
        return Err("x, y, z cannot be combined with lat, lon, alt; remove one kind".to_owned());
    }
    let kind = if has_any(5) {
        CoordinateKind::Geodetic([required(5)?, required(6)?, required(7)?])
    } else {
        CoordinateKind::Local([required(2)?, required(3)?, required(4)?])
    };
    Ok(Header { columns, time: required(0)?, node: required(1)?, kind })
}

/// Maximum absolute height, in metres.
const HIGHEST: f64 = 1e8;

fn height_of(field: &str) -> Result<f64, String> {
    let height = number("alt", field)?;
    let is_right = height.abs() <= HIGHEST;
    is_right.then_some(height).ok_or_else(|| format!("alt: {field} is not from -{HIGHEST} to {HIGHEST} m"))
}

/// Returns the name of a row's node, and its position. The first position in a file is the origin of local coordinates.
fn place<'a>(line: &'a str, header: &Header, local: &mut Option<Local>) -> Result<(&'a str, Fix), String> {
    let mut fields = [""; COLUMNS.len()];
    let mut count = 0;
    for field in line.split(',').map(str::trim) {
        if let Some(place) = fields.get_mut(count) {
            *place = field;
        }
        count += 1;
    }
    if count != header.columns {
        return Err(format!("{count} fields where the header has {}", header.columns));
    }
    let node = fields[header.node];
    if node.is_empty() {
        return Err("node: the name is empty".to_owned());
    }
    let instant = time("time", fields[header.time])?;
    let position = match header.kind {
        CoordinateKind::Local([x, y, z]) => {
            Vector::new(metres("x", fields[x])?, metres("y", fields[y])?, metres("z", fields[z])?)
        }
        CoordinateKind::Geodetic([latitude, longitude, height]) => {
            let angle = |name, field: &str, most: f64| {
                let angle = number(name, field)?;
                let is_right = angle.abs() <= most;
                is_right
                    .then_some(angle)
                    .ok_or_else(|| format!("{name}: {field} is not from -{most} to {most} degrees"))
            };
            let geodetic = Geodetic {
                latitude: angle("lat", fields[latitude], 90.0)?,
                longitude: angle("lon", fields[longitude], 180.0)?,
                height: height_of(fields[height])?,
            };
            local.get_or_insert_with(|| Local::at(geodetic)).place(geodetic)
        }
    };
    Ok((node, Fix { at: instant, place: position }))
}
