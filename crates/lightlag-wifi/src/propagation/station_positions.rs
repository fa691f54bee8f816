//! Positions of stations.

use lightlag_mobility::Vector;
use lightlag_net::StationId;

/// A station and its position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StationPosition {
    /// ID of the station.
    pub station: StationId,
    /// Its position.
    pub at: Vector,
}

/// The positions of many stations, with one slice per coordinate.
#[derive(Clone, Copy, Debug)]
pub struct StationPositions<'a> {
    /// Coordinates to the east, in metres.
    pub x: &'a [f64],
    /// Coordinates to the north, in metres.
    pub y: &'a [f64],
    /// Heights, in metres.
    pub z: &'a [f64],
    /// IDs of the stations; if `None`, each station's ID is its index.
    pub stations: Option<&'a [StationId]>,
}

impl StationPositions<'_> {
    pub(super) fn get(&self, index: usize) -> StationPosition {
        let station = self.stations.map_or(StationId::at(index), |stations| stations[index]);
        StationPosition { station, at: Vector::new(self.x[index], self.y[index], self.z[index]) }
    }

    /// Computes the squared distance between `from` and each of these positions, in square metres.
    pub fn squares(&self, from: Vector, out: &mut [f64]) {
        let count = out.len();
        let (x, y, z) = (&self.x[..count], &self.y[..count], &self.z[..count]);
        for i in 0..count {
            let (dx, dy, dz) = (x[i] - from.x, y[i] - from.y, z[i] - from.z);
            out[i] = dx * dx + dy * dy + dz * dz;
        }
    }
}
