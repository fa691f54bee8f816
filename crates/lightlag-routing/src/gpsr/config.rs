//! The parameters of GPSR.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The planar graph around voids.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Planar {
    /// Gabriel graph.
    #[default]
    Gabriel,
    /// Relative neighbourhood graph.
    RelativeNeighbourhood,
}

/// The fate of a packet that no neighbour brings nearer to its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Void {
    /// It goes around the void.
    #[default]
    Perimeter,
    /// It is dropped.
    Drop,
}

/// The parameters of GPSR.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The mean time between two beacons, B; each waits for 0.5 B to 1.5 B.
    pub beacon_interval: Duration,
    /// The time after which a silent neighbour is lost.
    pub neighbour_timeout: Duration,
    /// The planar graph around voids.
    pub planar: Planar,
    /// The fate of a packet that no neighbour brings nearer to its destination.
    pub void: Void,
    /// The standard deviation of each coordinate of a destination's position, in metres.
    pub location_error: f64,
    /// How long a destination's position is used before it is asked for again.
    pub location_age: Duration,
    /// Whether a neighbour that the link layer could not reach is lost, and the packet goes another way.
    pub link_feedback: bool,
    /// The least signal-to-noise ratio of a beacon that is taken for a sign of a link, in dB.
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
    const ABOUT: &'static str = "Greedy Perimeter Stateless Routing (Karp and Kung 2000). A packet goes to the neighbour \
        nearest to its destination, and around voids by the right-hand rule on a planar graph. Nodes know the positions of \
        their neighbours from beacons, and origins those of destinations from an oracle.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("beacon_interval", |c: &mut Self| &mut c.beacon_interval)
                .about("The mean time between two beacons, B; each waits for 0.5 B to 1.5 B."),
            Setting::time("neighbour_timeout", |c: &mut Self| &mut c.neighbour_timeout)
                .about("The time after which a silent neighbour is lost.")
                .checked(|c| {
                    let is_short = c.neighbour_timeout < c.beacon_interval * 3 / 2;
                    is_short.then_some("is below 1.5 beacon intervals, the longest wait for a beacon; choose more")
                }),
            Setting::word(
                "planar",
                "a planar graph",
                &["gabriel", "rng"],
                |c: &Self| c.planar as usize,
                |c, index| c.planar = [Planar::Gabriel, Planar::RelativeNeighbourhood][index],
            )
            .about("The planar graph around voids."),
            Setting::word(
                "void",
                "a way at a void",
                &["perimeter", "drop"],
                |c: &Self| c.void as usize,
                |c, index| c.void = [Void::Perimeter, Void::Drop][index],
            )
            .about("The fate of a packet that no neighbour brings nearer to its destination."),
            Setting::quantity("location_error", |c: &mut Self| &mut c.location_error, Unit::Metre, 0.0, 1e6)
                .about("The standard deviation of each coordinate of a destination's position, in metres."),
            Setting::time_or_zero("location_age", |c: &mut Self| &mut c.location_age)
                .about("How long a destination's position is used before it is asked for again."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback).about(
                "Whether a neighbour that the link layer could not reach is lost, and the packet goes another way.",
            ),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("The least signal-to-noise ratio of a beacon that is taken for a sign of a link, in dB."),
        ]
    }
}
