//! A sink: writes every message that arrives at its node by UDP into a connection.

use crate::kind::TrafficKind;
use lightlag_core::Bytes;
use lightlag_core::params::{Described, Setting};

/// Settings of a sink.
#[derive(Clone, PartialEq, Debug)]
pub struct Collect {
    /// Maximum number of bytes stored until the far end of the connection has acknowledged them.
    pub buffer: Bytes,
}

impl Default for Collect {
    fn default() -> Self {
        Self { buffer: Bytes(65_536) }
    }
}

impl Described for Collect {
    const ABOUT: &'static str = "Messages that arrive at the node over UDP.";

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::size("buffer", |of: &mut Self| &mut of.buffer).about(
            "Maximum number of bytes that are stored until the receiver has acknowledged them. A message that does not \
             fit is dropped.",
        )]
    }
}

impl TrafficKind for Collect {
    fn is_random(&self) -> bool {
        false
    }

    fn ends(&self) -> bool {
        false
    }
}
