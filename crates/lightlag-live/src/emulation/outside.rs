//! The environment of an emulation: TUN devices and the wall clock, or replacements for tests.

use crate::Clock;
use crate::tun::{Tun, TunError, WriteResult};
use lightlag_core::Instant;
use std::os::fd::AsFd;

/// The devices and the clock of an emulation.
pub trait Outside {
    /// Returns the time since the start.
    fn now(&self) -> Instant;

    /// Waits until a device may have a packet, or until `until`.
    fn wait(&mut self, until: Instant);

    /// Reads the next packet of a device, if there is one.
    ///
    /// # Errors
    /// If the device is gone.
    fn read(&mut self, device: usize, buffer: &mut [u8]) -> Result<Option<usize>, TunError>;

    /// Writes a packet to a device.
    ///
    /// # Errors
    /// If the device is gone.
    fn write(&mut self, device: usize, packet: &[u8]) -> Result<WriteResult, TunError>;

    /// Checks that all devices still exist. Called several times a second.
    ///
    /// # Errors
    /// If one is gone.
    fn check(&mut self) -> Result<(), TunError>;
}

/// Real TUN devices and the wall clock.
pub struct Devices {
    clock: Clock,
    tuns: Vec<Tun>,
}

impl Devices {
    /// Takes open devices, and starts the clock.
    pub fn new(tuns: Vec<Tun>) -> Self {
        Self { clock: Clock::start(), tuns }
    }
}

impl Outside for Devices {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn wait(&mut self, until: Instant) {
        let descriptors: Vec<_> = self.tuns.iter().map(AsFd::as_fd).collect();
        self.clock.wait(&descriptors, until);
    }

    fn read(&mut self, device: usize, buffer: &mut [u8]) -> Result<Option<usize>, TunError> {
        self.tuns[device].read(buffer)
    }

    fn write(&mut self, device: usize, packet: &[u8]) -> Result<WriteResult, TunError> {
        self.tuns[device].write(packet)
    }

    fn check(&mut self) -> Result<(), TunError> {
        self.tuns.iter().try_for_each(Tun::check)
    }
}
