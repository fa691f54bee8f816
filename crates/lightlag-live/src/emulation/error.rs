//! Errors of an emulation and of its options.

use crate::serve::HostError;
use crate::tun::TunError;
use lightlag_scenario::ScenarioError;
use std::io;

/// The reason why an emulation failed.
#[derive(Debug, thiserror::Error)]
pub enum EmulationError {
    /// A TUN device failed.
    #[error(transparent)]
    Tun(#[from] TunError),
    /// A host failed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// There are several devices, and one of them has no address by which packets of hosts would find it.
    #[error("{0}: has no address, which hosts need to reach it; give --address ADDRESS/PREFIX ADDRESS/PREFIX")]
    NoAddress(String),
    /// The thread of the emulation cannot be started: its error.
    #[error("starting a thread: {0}")]
    Thread(#[from] io::Error),
}

/// The reason why options do not describe an emulation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OptionsError {
    /// The scenario has these errors.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Scenario(Vec<ScenarioError>),
    /// One line that names the option, its value and a fix.
    #[error("{0}")]
    Option(String),
}

impl From<String> for OptionsError {
    fn from(message: String) -> Self {
        Self::Option(message)
    }
}

impl From<&str> for OptionsError {
    fn from(message: &str) -> Self {
        Self::Option(message.to_owned())
    }
}
