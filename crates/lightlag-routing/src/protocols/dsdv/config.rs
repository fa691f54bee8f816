//! The parameters of DSDV, with the defaults of ns-3.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The changes that a node passes on between two dumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Advertise {
    /// A route that is new, longer or shorter, after it has settled (Perkins and Bhagwat 1994).
    #[default]
    Changed,
    /// Every newer sequence number, within a millisecond, as in ns-3. A new route does not have to settle either.
    Newer,
}

/// The parameters of DSDV.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Interval between two dumps of the entire table.
    pub periodic_update: Duration,
    /// Settling time of a new route before it is advertised, as long as there is no better one.
    pub settling: Duration,
    /// Whether the settling time follows the mean of the times that routes took to settle.
    pub weighted_settling: bool,
    /// The changes that a node passes on between two dumps.
    pub advertise: Advertise,
    /// Number of a neighbour's dumps that may be missed before its routes expire.
    pub hold_times: u32,
    /// Maximum delay of the first dump.
    pub first_dump: Duration,
    /// Maximum random delay of a dump.
    pub jitter: Duration,
    /// Whether packets without a route wait for one.
    pub buffering: bool,
    /// Whether the loss of a frame at the link layer invalidates the routes through that neighbour.
    pub link_feedback: bool,
    /// Minimum signal-to-noise ratio of an update that counts as a sign of a link, in dB.
    pub min_snr: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            periodic_update: Duration::from_secs(15),
            settling: Duration::from_secs(5),
            weighted_settling: true,
            advertise: Advertise::default(),
            hold_times: 3,
            first_dump: Duration::from_millis(25),
            jitter: Duration::from_millis(25),
            buffering: true,
            link_feedback: false,
            min_snr: -100.0,
        }
    }
}

impl Config {
    /// Returns the maximum silence of a neighbour before it counts as lost.
    pub(super) fn hold(&self) -> Duration {
        self.periodic_update * u64::from(self.hold_times)
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Destination-Sequenced Distance Vector (Perkins and Bhagwat 1994, with the defaults \
        of ns-3). Nodes broadcast their tables periodically, and changes once they have settled. Sequence numbers of \
        the destinations keep routes free of loops.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("periodic_update", |c: &mut Self| &mut c.periodic_update)
                .about("Time between two dumps of the entire table."),
            Setting::time_or_zero("settling", |c: &mut Self| &mut c.settling)
                .about("Settling time of a new route before it is advertised, unless a better route is known."),
            Setting::flag("weighted_settling", |c: &mut Self| &mut c.weighted_settling)
                .about("Whether the settling time follows the mean of past settling times."),
            Setting::word(
                "advertise",
                "a choice of routes",
                &["changed", "newer"],
                |c: &Self| c.advertise as usize,
                |c, index| c.advertise = [Advertise::Changed, Advertise::Newer][index],
            )
            .about("Routes that a node advertises between two dumps."),
            Setting::count("hold_times", |c: &mut Self| &mut c.hold_times, 1000, "a number of dumps", "")
                .about("Maximum number of consecutive dumps of a neighbour that may be missed."),
            Setting::time_or_zero("first_dump", |c: &mut Self| &mut c.first_dump)
                .about("Maximum delay of the first dump."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter).about("Maximum random delay of a dump."),
            Setting::flag("buffering", |c: &mut Self| &mut c.buffering)
                .about("Whether packets without a route are queued until one exists."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback)
                .about("Whether a frame dropped by the link layer removes the routes over that neighbour."),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("Minimum signal-to-noise ratio of an update that indicates a link, in dB."),
        ]
    }
}
