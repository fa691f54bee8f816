//! Frames of media as they are written to captures; there is one submodule for each kind of medium.

mod wifi;

use super::{Air, AnyMedium, Media};
use crate::tap::Tap;
use lightlag_net::InterfaceId;

impl Media {
    /// Enables reporting of the frames of these interfaces.
    pub(crate) fn watch(&mut self, interfaces: &[InterfaceId]) {
        for (number, air) in self.shared.iter_mut().enumerate() {
            let here = interfaces.iter().map(|interface| &self.interfaces[interface.index()]);
            let stations = here.filter(|interface| interface.medium == number).map(|interface| interface.station);
            match &mut air.medium {
                AnyMedium::Wifi(wifi) => wifi.watch(stations),
                // Packets are captured at their nodes; bursts have no capture format.
                AnyMedium::Rcs2(_) | AnyMedium::RandomAccess(_) => {}
            }
        }
    }

    /// Reports the frames of watched interfaces to a tap.
    pub(crate) fn report_frames(&mut self, tap: &mut impl Tap) {
        for (number, Air { medium, nodes, first, .. }) in self.shared.iter_mut().enumerate() {
            match medium {
                AnyMedium::Wifi(wifi) => wifi::report(wifi, number, nodes, *first, tap),
                AnyMedium::Rcs2(_) | AnyMedium::RandomAccess(_) => {}
            }
        }
    }
}
