//! The kinds of media.

use super::Load;
use lightlag_net::StationId;
use lightlag_net::medium::Medium;
use lightlag_scenario::{Medium as Planned, MediumPlan};
use lightlag_wifi::Wifi;
use std::ops::{Deref, DerefMut};

/// A medium of any kind. What all have in common is behind the trait; captures and results look at the kind.
#[derive(Debug)]
pub(crate) enum AnyMedium {
    /// A channel of 802.11.
    Wifi(Box<Wifi<Load>>),
}

impl AnyMedium {
    /// The medium of a network, in a run with this seed.
    pub(super) fn new(planned: &Planned, seed: u64) -> Self {
        match &planned.plan {
            MediumPlan::Wifi(wifi) => {
                Self::Wifi(Box::new(Wifi::new(&wifi.config, wifi.stations.clone(), seed, &planned.name)))
            }
        }
    }

    /// Starts reporting the frames that one of these stations sends or understands.
    pub(super) fn watch(&mut self, stations: impl IntoIterator<Item = StationId>) {
        match self {
            Self::Wifi(wifi) => wifi.watch(stations),
        }
    }
}

impl Deref for AnyMedium {
    type Target = dyn Medium<Load>;

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
