//! The parameters of OLSR, RFC 3626 §18.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Unit};

/// The willingness of a node to relay for others: WILL_NEVER to WILL_ALWAYS (RFC 3626 §18.8).
pub(super) const NEVER: u8 = 0;
pub(super) const ALWAYS: u8 = 7;
const WILLINGNESS: &[&str] = &["never", "1", "low", "default", "4", "5", "high", "always"];

/// The parameters of OLSR. Links and neighbours expire after three HELLO intervals, the topology after three TC
/// intervals (RFC 3626 §18.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Interval between two HELLOs.
    pub hello_interval: Duration,
    /// Interval between two TCs.
    pub tc_interval: Duration,
    /// Time for which a message is remembered.
    pub duplicate_hold: Duration,
    /// Maximum random delay of a message. Messages that become due in the meantime are sent in the same packet.
    pub jitter: Duration,
    /// The willingness to relay for others.
    pub willingness: u8,
    /// Whether the loss of a frame at the link layer removes the link (RFC 3626 §13).
    pub link_feedback: bool,
    /// Minimum signal-to-noise ratio of a packet that counts as a sign of a link, in dB.
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
    /// NEIGHB_HOLD_TIME: lifetime of a link, three HELLO intervals.
    pub(super) fn neighbour_hold(&self) -> Duration {
        self.hello_interval * 3
    }

    /// TOP_HOLD_TIME: lifetime of a topology entry, three TC intervals.
    pub(super) fn topology_hold(&self) -> Duration {
        self.tc_interval * 3
    }
}

impl Described for Config {
    const ABOUT: &'static str = "Optimized Link State Routing (RFC 3626). Nodes report the neighbours that they \
        receive in HELLOs. Each node selects relays among its neighbours that reach all nodes two hops away, and only \
        relays report links and forward reports. Every node computes shortest paths by hops.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("hello_interval", |c: &mut Self| &mut c.hello_interval).about("Time between two HELLOs."),
            Setting::time("tc_interval", |c: &mut Self| &mut c.tc_interval).about("Time between two TCs."),
            Setting::time("duplicate_hold", |c: &mut Self| &mut c.duplicate_hold)
                .about("Time for which a message is stored to detect duplicates."),
            Setting::time_or_zero("jitter", |c: &mut Self| &mut c.jitter)
                .about("Maximum random delay of a message. Messages due in the meantime share its packet.")
                .checked(|c| {
                    // RFC 3626 §18.2 takes a quarter of the interval. Beyond a half, HELLOs could come in the wrong
                    // order.
                    (c.jitter > c.hello_interval / 2).then_some("is more than half of hello_interval; reduce it")
                }),
            Setting::word(
                "willingness",
                "a willingness",
                WILLINGNESS,
                |c: &Self| usize::from(c.willingness),
                |c, index| c.willingness = index as u8,
            )
            .about("Willingness to relay for others."),
            Setting::flag("link_feedback", |c: &mut Self| &mut c.link_feedback)
                .about("Whether a frame dropped by the link layer removes the link (RFC 3626 §13)."),
            Setting::quantity("min_snr", |c: &mut Self| &mut c.min_snr, Unit::Decibel, -100.0, 100.0)
                .about("Minimum signal-to-noise ratio of a packet that indicates a link, in dB."),
        ]
    }
}
