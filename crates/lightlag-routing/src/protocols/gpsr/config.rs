//! The parameters of GPSR.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The planar graph that is used around voids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Planar {
    /// Gabriel graph.
    #[default]
    Gabriel,
    /// Relative neighbourhood graph.
    RelativeNeighbourhood,
}

/// The fate of a packet if no neighbour is nearer to its destination than the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Void {
    /// The packet goes around the void.
    #[default]
    Perimeter,
    /// The packet is dropped.
    Drop,
}

/// The parameters of GPSR.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Mean time between two beacons, B; each interval is random between 0.5 B and 1.5 B.
    pub beacon_interval: Duration,
    /// Maximum silence of a neighbour before it counts as lost.
    pub neighbour_timeout: Duration,
    /// The planar graph that is used around voids.
    pub planar: Planar,
    /// The fate of a packet if no neighbour is nearer to its destination than the node.
    pub void: Void,
    /// Standard deviation of the error of a destination's position, in metres per coordinate.
    pub location_error: f64,
    /// Maximum age of a destination's position before it is requested again.
    pub location_age: Duration,
    /// Whether the failure of a frame at the link layer removes the neighbour and routes the packet again.
    pub link_feedback: bool,
    /// Minimum signal-to-noise ratio of a beacon that counts as a sign of a link, in dB.
    pub min_snr: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            beacon_interval: Duration::from_secs(1),
            // Karp and Kung 2000: 4.5 B.
            neighbour_timeout: Duration::from_millis(4_500),
            planar: Planar::default(),
            void: Void::default(),
            location_error: 0.0,
            location_age: Duration::ZERO,
            link_feedback: true,
            min_snr: -100.0,
        }
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Greedy Perimeter Stateless Routing (Karp and Kung 2000). A packet is forwarded to \
        the neighbour nearest to its destination, and around voids by the right-hand rule on a planar graph. Nodes \
        learn the positions of their neighbours from beacons; an oracle gives origins the positions of destinations.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("beacon_interval", |c: &mut Self| &mut c.beacon_interval)
                .about("Mean time B between two beacons; each interval is 0.5 B to 1.5 B."),
            Setting::time("neighbour_timeout", |c: &mut Self| &mut c.neighbour_timeout)
                .about("Maximum time without a beacon before a neighbour is lost.")
                .checked(|c| {
                    let is_short = c.neighbour_timeout < c.beacon_interval * 3 / 2;
                    is_short.then_some("is below 1.5 beacon intervals, the maximum wait for a beacon; increase it")
                }),
            Setting::word(
                "planar",
                "a planar graph",
                &["gabriel", "rng"],
                |c: &Self| c.planar as usize,
                |c, index| c.planar = [Planar::Gabriel, Planar::RelativeNeighbourhood][index],
            )
            .about("Planar graph around voids."),
            Setting::word(
                "void",
                "a treatment of voids",
                &["perimeter", "drop"],
                |c: &Self| c.void as usize,
                |c, index| c.void = [Void::Perimeter, Void::Drop][index],
            )
            .about("Treatment of a packet if no neighbour is nearer to its destination."),
            Setting::quantity("location_error", |c: &mut Self| &mut c.location_error, Unit::Metre, 0.0, 1e6)
                .about("Standard deviation of each coordinate of a destination's position, in metres."),
            Setting::time_or_zero("location_age", |c: &mut Self| &mut c.location_age)
                .about("Maximum age of a destination's position before it is requested again."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback).about(
                "Whether a neighbour that the link layer cannot reach is removed, and the packet takes another path.",
            ),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("Minimum signal-to-noise ratio of a beacon that indicates a link, in dB."),
        ]
    }
}
