//! The places of stations.

use lightlag_mobility::Vector;
use lightlag_net::StationId;

/// A station and its place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Place {
    /// The number of the station.
    pub station: StationId,
    /// Its place.
    pub at: Vector,
}

/// The places of many stations, by coordinate.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// To the east, in metres.
    pub x: &'a [f64],
    /// To the north, in metres.
    pub y: &'a [f64],
    /// Up, in metres.
    pub z: &'a [f64],
    /// The numbers of the stations; without them each has its index.
    pub stations: Option<&'a [StationId]>,
}

impl Places<'_> {
    pub(super) fn get(&self, index: usize) -> Place {
        let station = self.stations.map_or(StationId::at(index), |stations| stations[index]);
        Place { station, at: Vector::new(self.x[index], self.y[index], self.z[index]) }
    }

    /// The squares of the distances between a place and each of these, in square metres.
    pub fn squares(&self, from: Vector, out: &mut [f64]) {
        let count = out.len();
        let (x, y, z) = (&self.x[..count], &self.y[..count], &self.z[..count]);
        for i in 0..count {
            let (dx, dy, dz) = (x[i] - from.x, y[i] - from.y, z[i] - from.z);
            out[i] = dx * dx + dy * dy + dz * dz;
        }
    }
}
