//! The kinds of media.

use super::FramePayload;
use lightlag_access::{RandomAccess, Rcs2};
use lightlag_net::medium::Medium;
use lightlag_scenario::{Medium as Planned, MediumKind, MediumPlan};
use lightlag_wifi::Wifi;
use std::ops::{Deref, DerefMut};

/// A medium of any kind. The trait provides the common functions; captures and results match on the kind.
#[derive(Debug)]
pub(crate) enum AnyMedium {
    /// An 802.11 channel.
    Wifi(Box<Wifi<FramePayload>>),
    /// The return link of a satellite beam.
    Rcs2(Box<Rcs2<FramePayload>>),
    /// Random access to a satellite.
    RandomAccess(Box<RandomAccess<FramePayload>>),
}

impl AnyMedium {
    /// Returns the medium that was planned, for a run with this seed.
    pub(super) fn new(planned: &Planned, seed: u64) -> Self {
        match &planned.plan {
            MediumPlan::Wifi(wifi) => {
                Self::Wifi(Box::new(Wifi::new(&wifi.config, wifi.stations.clone(), seed, &planned.name)))
            }
            MediumPlan::Rcs2(beam) => {
                Self::Rcs2(Box::new(Rcs2::new(&beam.config, &beam.stations, beam.hub, seed, &planned.name)))
            }
            MediumPlan::RandomAccess(access) => {
                let stations = access.motions.len();
                let medium = RandomAccess::new(&access.config, stations, access.hub, seed, &planned.name);
                Self::RandomAccess(Box::new(medium))
            }
        }
    }

    /// Returns the memory of a station of this kind with its interface in bytes, without the tables of its agent, as
    /// measured by `tests/estimate.rs`.
    pub(crate) fn station_memory(kind: &MediumKind) -> u64 {
        match kind {
            MediumKind::Wifi(_) => 5_265,
            MediumKind::Rcs2(_) => 2_720,
            MediumKind::RandomAccess(_) => 2_800,
        }
    }
}

impl Deref for AnyMedium {
    type Target = dyn Medium<FramePayload>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Wifi(wifi) => wifi.as_ref(),
            Self::Rcs2(beam) => beam.as_ref(),
            Self::RandomAccess(access) => access.as_ref(),
        }
    }
}

impl DerefMut for AnyMedium {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Wifi(wifi) => wifi.as_mut(),
            Self::Rcs2(beam) => beam.as_mut(),
            Self::RandomAccess(access) => access.as_mut(),
        }
    }
}
