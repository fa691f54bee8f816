//! The rate that a radio is given.

use lightlag_core::params::{Described, Setting};

/// It has no parameters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fixed {}

impl Described for Fixed {
    const ABOUT: &'static str = "Every frame of data leaves at the radio's `rate`.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}
