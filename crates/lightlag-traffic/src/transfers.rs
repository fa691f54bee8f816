//! Transfers that arrive in a Poisson process: independently of each other and of the state of the network (an open
//! loop).

use crate::kind::{TrafficKind, count, stop};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Varied};

/// Maximum load by transfers, as a multiple of the rate of a link.
const MOST_LOAD: f64 = 100.0;

/// Transfers that arrive at random times, each as a separate flow.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfers {
    /// Size of each transfer.
    pub size: Varied<Bytes>,
    /// Mean interval between arrivals. Either this or the load is given.
    pub every: Option<Duration>,
    /// Payload of the transfers as a fraction of the rate of the slowest link on the path.
    pub load: Option<f64>,
    /// Number of transfers; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when arrivals stop; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for Transfers {
    fn default() -> Self {
        Self { size: Varied::constant(Bytes(100_000)), every: None, load: None, count: None, stop: None }
    }
}

impl Described for Transfers {
    const ABOUT: &'static str = "Transfers that arrive at random times, each as a separate flow.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::drawn_size("size", |of: &mut Self| &mut of.size)
                .about("Size of each transfer.")
                .required("specify the size of a transfer, such as \"100 kB\""),
            Setting::time_above_zero(
                "every",
                |of: &mut Self| &mut of.every,
                "0 s is not a valid interval between transfers; write a time such as \"1 s\"",
            )
            .about("Mean interval between two transfers; or give the load.")
            .checked(|config| {
                let is_missing = config.every.is_none() && config.load.is_none();
                is_missing.then_some("is missing; specify the rate of arrivals with every or load")
            }),
            Setting::number("load", |of: &mut Self| &mut of.load, 0, MOST_LOAD)
                .about("Payload of the transfers as a fraction of the rate of the slowest link on their path.")
                .checked(|of| match (of.every, of.load) {
                    (_, Some(0.0)) => Some("is not a valid load; write a fraction of the link above 0, such as 0.5"),
                    (Some(_), Some(_)) => {
                        Some("cannot be combined with every, because each determines the other; remove one")
                    }
                    _ => None,
                }),
            count(|of: &mut Self| &mut of.count).about("Number of transfers; unlimited if omitted."),
            stop(|of: &mut Self| &mut of.stop).about("Time of the run when arrivals stop."),
        ]
    }
}

impl TrafficKind for Transfers {
    fn is_random(&self) -> bool {
        true
    }

    /// Returns true, as each transfer is a separate flow that ends.
    fn ends(&self) -> bool {
        false
    }
}
