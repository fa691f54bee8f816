//! The parameters of DSDV, with the defaults of ns-3.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The news that a node passes on between two dumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Advertise {
    /// A route that is new, longer or shorter, once it has settled (Perkins and Bhagwat 1994).
    #[default]
    Changed,
    /// Each newer number within a millisecond, as in ns-3. A new route does not settle either.
    Newer,
}

/// The parameters of DSDV.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The time between two dumps of the whole table.
    pub periodic_update: Duration,
    /// How long a new route settles before it is said, as long as nothing better is known.
    pub settling: Duration,
    /// Whether that time follows the mean of the times that routes took to settle.
    pub weighted_settling: bool,
    /// The news that a node passes on between two dumps.
    pub advertise: Advertise,
    /// The dumps of a neighbour that may be missed.
    pub hold_times: u32,
    /// The longest wait for the first dump.
    pub first_dump: Duration,
    /// The longest random delay of a dump.
    pub jitter: Duration,
    /// Whether packets without a route wait for one.
    pub buffering: bool,
    /// Whether a frame that the link layer gave up takes the routes over that neighbour away.
    pub link_feedback: bool,
    /// The least signal-to-noise ratio of an update that is taken for a sign of a link, in dB.
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
    /// The time after which a silent neighbour is lost.
    pub(super) fn hold(&self) -> Duration {
        self.periodic_update * u64::from(self.hold_times)
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Destination-Sequenced Distance Vector (Perkins and Bhagwat 1994, as ns-3 sets it). Nodes \
        broadcast their tables periodically, and changes once they have settled. Sequence numbers of the destinations keep \
        routes free of loops.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("periodic_update", |c: &mut Self| &mut c.periodic_update)
                .about("The time between two dumps of the whole table."),
            Setting::time_or_zero("settling", |c: &mut Self| &mut c.settling)
                .about("How long a new route settles before it is said, as long as nothing better is known."),
            Setting::flag("weighted_settling", |c: &mut Self| &mut c.weighted_settling)
                .about("Whether that time follows the mean of the times that routes took to settle."),
            Setting::word(
                "advertise",
                "a choice of news",
                &["changed", "newer"],
                |c: &Self| c.advertise as usize,
                |c, index| c.advertise = [Advertise::Changed, Advertise::Newer][index],
            )
            .about("The news that a node passes on between two dumps."),
            Setting::count("hold_times", |c: &mut Self| &mut c.hold_times, 1000, "a number of dumps", "")
                .about("The dumps of a neighbour that may be missed."),
            Setting::time_or_zero("first_dump", |c: &mut Self| &mut c.first_dump)
                .about("The longest wait for the first dump."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter).about("The longest random delay of a dump."),
            Setting::flag("buffering", |c: &mut Self| &mut c.buffering)
                .about("Whether packets without a route wait for one."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback)
                .about("Whether a frame that the link layer gave up takes the routes over that neighbour away."),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("The least signal-to-noise ratio of an update that is taken for a sign of a link, in dB."),
        ]
    }
}
