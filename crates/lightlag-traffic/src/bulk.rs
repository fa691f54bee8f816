//! Bulk traffic: all data is available immediately.

use crate::kind::TrafficKind;
use lightlag_core::params::{Described, Setting};

/// Bulk traffic: all data is available immediately.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bulk;

impl Described for Bulk {
    const ABOUT: &'static str = "All data at the start: `transfer` bytes, or an unlimited amount. This is the default.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl TrafficKind for Bulk {
    fn is_random(&self) -> bool {
        false
    }

    fn ends(&self) -> bool {
        false
    }
}
