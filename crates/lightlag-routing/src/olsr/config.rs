//! The parameters of OLSR, RFC 3626 §18.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The readiness of a node to relay for others: WILL_NEVER to WILL_ALWAYS (RFC 3626 §18.8).
pub(super) const NEVER: u8 = 0;
pub(super) const ALWAYS: u8 = 7;
const WILLINGNESS: &[&str] = &["never", "1", "low", "default", "4", "5", "high", "always"];

/// The parameters of OLSR. Links and neighbours are held for three HELLO intervals, the topology for three TC intervals
/// (RFC 3626 §18.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The time between two HELLOs.
    pub hello_interval: Duration,
    /// The time between two TCs.
    pub tc_interval: Duration,
    /// How long a message is remembered.
    pub duplicate_hold: Duration,
    /// The longest random delay of a message. Messages that are due in the meantime share its packet.
    pub jitter: Duration,
    /// The willingness to relay for others.
    pub willingness: u8,
    /// Whether a frame that the link layer gave up takes the link away (RFC 3626 §13).
    pub link_feedback: bool,
    /// The least signal-to-noise ratio of a packet that is taken for a sign of a link, in dB.
    pub min_snr: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            hello_interval: Duration::from_secs(2),
            tc_interval: Duration::from_secs(5),
            duplicate_hold: Duration::from_secs(30),
            jitter: Duration::from_millis(500),
            willingness: 3,
            link_feedback: false,
            min_snr: -100.0,
        }
    }
}

impl Config {
    /// NEIGHB_HOLD_TIME.
    pub(super) fn neighbour_hold(&self) -> Duration {
        self.hello_interval * 3
    }

    /// TOP_HOLD_TIME.
    pub(super) fn topology_hold(&self) -> Duration {
        self.tc_interval * 3
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Optimized Link State Routing (RFC 3626). Nodes tell their neighbours in HELLOs whom they hear. \
        Each node chooses relays among its neighbours that reach all nodes two hops away, and only relays report links and \
        pass reports on. Every node computes shortest paths by hops.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("hello_interval", |c: &mut Self| &mut c.hello_interval).about("The time between two HELLOs."),
            Setting::time("tc_interval", |c: &mut Self| &mut c.tc_interval).about("The time between two TCs."),
            Setting::time("duplicate_hold", |c: &mut Self| &mut c.duplicate_hold)
                .about("How long a message is remembered."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter)
                .about("The longest random delay of a message. Messages that are due in the meantime share its packet.")
                .checked(|c| {
                    // RFC 3626 §18.2 takes a quarter of the interval. Beyond a half, HELLOs could come in the wrong order.
                    (c.jitter > c.hello_interval / 2).then_some("is more than half of hello_interval; choose less")
                }),
            Setting::word(
                "willingness",
                "a willingness",
                WILLINGNESS,
                |c: &Self| usize::from(c.willingness),
                |c, index| c.willingness = index as u8,
            )
            .about("The willingness to relay for others."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback)
                .about("Whether a frame that the link layer gave up takes the link away (RFC 3626 §13)."),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("The least signal-to-noise ratio of a packet that is taken for a sign of a link, in dB."),
        ]
    }
}
