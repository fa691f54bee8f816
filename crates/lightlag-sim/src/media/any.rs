//! The kinds of media.

use super::FramePayload;
use lightlag_net::medium::Medium;
use lightlag_scenario::{Medium as Planned, MediumKind, MediumPlan};
use lightlag_wifi::Wifi;
use std::ops::{Deref, DerefMut};

/// A medium of any kind. The trait provides the common functions; captures and results match on the kind.
#[derive(Debug)]
pub(crate) enum AnyMedium {
    /// An 802.11 channel.
    Wifi(Box<Wifi<FramePayload>>),
}

impl AnyMedium {
    /// Returns the medium that was planned, for a run with this seed.
    pub(super) fn new(planned: &Planned, seed: u64) -> Self {
        match &planned.plan {
            MediumPlan::Wifi(wifi) => {
                Self::Wifi(Box::new(Wifi::new(&wifi.config, wifi.stations.clone(), seed, &planned.name)))
            }
        }
    }

    /// Returns the memory of a station of this kind with its interface in bytes, without the tables of its agent, as
    /// measured by `tests/estimate.rs`.
    pub(crate) fn station_memory(kind: &MediumKind) -> u64 {
        match kind {
            MediumKind::Wifi(_) => 5_265,
        }
    }
}

impl Deref for AnyMedium {
    type Target = dyn Medium<FramePayload>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Wifi(wifi) => wifi.as_ref(),
        }
    }
}

impl DerefMut for AnyMedium {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Wifi(wifi) => wifi.as_mut(),
        }
    }
}
