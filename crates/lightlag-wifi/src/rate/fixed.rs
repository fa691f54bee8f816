//! Fixed rate: the one in the settings of the radio.

use lightlag_core::params::{Described, Setting};

/// A fixed rate, which has no settings of its own.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fixed {}

impl Described for Fixed {
    const ABOUT: &'static str = "Every data frame is sent at the radio's `rate`.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}
