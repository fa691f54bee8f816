//! Emulation: real packets pass through a simulated network in real time. TUN devices and simulated hosts are attached
//! to its nodes.
//!
//! A packet read from a device enters the network at the time of the read, and a packet of a host when the host sends
//! it. The network computes when the packet reaches its destination, if it does; at that time it is written to a device
//! or passed to a host. Time inside the network is exact: a packet that crosses several links, or waits in a queue,
//! does not depend on when the loop runs. The delay that the loop adds is measured at the destination, as the
//! *lateness* of a delivery.
//!
//! `lightlag emulate` has two devices, with or without hosts; `lightlag serve-tcp` and `connect` have one device and at
//! least one host, and may have no network, in which case device and host exchange packets directly.

mod directory;
mod error;
mod handle;
mod network;
mod options;
mod outside;
mod plan;

pub use directory::Prefix;
pub use error::{EmulationError, OptionsError};
pub use handle::Handle;
pub use network::NetworkPlan;
pub use options::{DeviceOptions, EmulationOptions};
pub use outside::{Devices, Outside};
pub use plan::{EmulationEnd, EmulationPlan};

use crate::packet::Fault;
use crate::serve::{Event, Host, HostError, HostPlan};
use crate::statistics::{HostCounters, LATE, PacketCounters, Snapshot, seconds};
use crate::tun::{LARGEST_PACKET, WriteResult};
use directory::{Directory, Edge};
use lightlag_core::{Duration, Instant};
use network::{EmulatedNetwork, Losses};

/// Interval between two publications of the statistics, and between two checks for a request to stop.
const TICK: Duration = Duration::from_millis(50);

/// Maximum number of packets that are read from each device before hosts run.
const BATCH: usize = 256;

/// Maximum time for the last segments of closed connections to be acknowledged after the last host has finished.
const GRACE: Duration = Duration::from_secs(5);

/// A simulated network between real devices and simulated hosts.
pub struct Emulation {
    network: Option<EmulatedNetwork>,
    directory: Directory,
    hosts: Vec<Host>,
    devices: usize,
    end: EmulationEnd,
    /// Counters by source: devices, then hosts.
    directions: Vec<PacketCounters>,
    stalls: u64,
    longest_stall: Duration,
    /// Time when the loop last checked for work, or the later time when its last sleep was due to end.
    looked: Instant,
    /// Time when all hosts had finished.
    finished: Option<Instant>,
    buffer: Vec<u8>,
    packet: Vec<u8>,
}

impl Emulation {
    /// Prepares the network and the hosts. `addresses` are the kernel's addresses on each device.
    ///
    /// # Errors
    /// If a file that a host sends cannot be opened, or a device lacks the address by which packets of hosts would find
    /// it.
    pub fn new(plan: &EmulationPlan, addresses: &[Vec<Prefix>]) -> Result<Self, EmulationError> {
        if let Some((device, _)) = plan.devices.iter().zip(addresses).find(|(_, known)| known.is_empty())
            && plan.devices.len() > 1
            && !plan.hosts.is_empty()
        {
            return Err(EmulationError::NoAddress(device.place()));
        }
        let own: Vec<_> = plan.hosts.iter().map(HostPlan::address).collect();
        Ok(Self {
            network: plan.network.as_ref().map(EmulatedNetwork::new),
            directory: Directory::new(addresses, &own),
            hosts: plan.hosts.iter().map(Host::new).collect::<Result<_, HostError>>()?,
            devices: addresses.len(),
            end: plan.end,
            directions: vec![PacketCounters::default(); addresses.len() + own.len()],
            stalls: 0,
            longest_stall: Duration::ZERO,
            looked: Instant::ZERO,
            finished: None,
            buffer: vec![0; LARGEST_PACKET],
            packet: Vec::new(),
        })
    }

    /// Moves packets until the planned end, a request to stop, or an error; then resets the connections of hosts.
    ///
    /// # Errors
    /// If a device is gone, or a host failed. The statistics are in `handle`, as after any other end.
    pub fn run(&mut self, outside: &mut dyn Outside, handle: &Handle) -> Result<(), EmulationError> {
        let result = self.forward(outside, handle);
        self.reset_hosts(outside);
        handle.set_snapshot(self.snapshot(outside.now()));
        result
    }

    fn forward(&mut self, outside: &mut dyn Outside, handle: &Handle) -> Result<(), EmulationError> {
        self.looked = outside.now();
        for host in &mut self.hosts {
            let address = host.begin(self.looked)?;
            handle.push(Event::Ready { address: address.to_string() });
        }
        let end = if let EmulationEnd::After(time) = self.end { Instant::ZERO + time } else { Instant::MAX };
        let mut tick = Instant::ZERO;
        loop {
            let now = self.look(outside);
            self.transmit(outside, now)?;
            if now >= end {
                return Ok(());
            }
            if now >= tick {
                if handle.is_stopped() {
                    return Ok(());
                }
                outside.check()?;
                self.hosts.iter_mut().for_each(|host| host.enforce_limits(now));
                handle.offer_snapshot(|| self.snapshot(now));
                tick = now + TICK;
            }
            let is_busy = self.receive(outside)?;
            self.drive(outside, handle)?;
            if self.end == EmulationEnd::WithHosts && self.hosts_have_finished(outside.now()) {
                return Ok(());
            }
            if !is_busy {
                self.sleep(outside, tick.min(end));
            }
        }
    }

    /// Returns the present time. Counts a stall if the loop should have checked more than [`LATE`] ago.
    fn look(&mut self, outside: &dyn Outside) -> Instant {
        let now = outside.now();
        let gap = now.since(self.looked);
        if gap > LATE {
            self.stalls += 1;
            self.longest_stall = self.longest_stall.max(gap);
        }
        self.looked = now;
        now
    }

    /// Waits for a packet or the next deadline, but not beyond `latest`.
    fn sleep(&mut self, outside: &mut dyn Outside, latest: Instant) {
        let hosts = self.hosts.iter().filter_map(Host::deadline);
        let network = self.network.as_ref().and_then(EmulatedNetwork::next_event);
        let until = hosts.chain(network).fold(latest, Instant::min);
        outside.wait(until);
        // After waking for a packet the loop cannot know how long that had waited; after waking for a deadline it can.
        self.looked = until.min(outside.now()).max(self.looked);
    }

    /// Reads packets from the devices in turn. Returns true if more may be waiting.
    fn receive(&mut self, outside: &mut dyn Outside) -> Result<bool, EmulationError> {
        for _ in 0..BATCH {
            let mut is_empty = true;
            for device in 0..self.devices {
                is_empty &= !self.take(outside, device)?;
            }
            if is_empty {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Moves one packet from a device into the network. Returns true if there was one.
    fn take(&mut self, outside: &mut dyn Outside, device: usize) -> Result<bool, EmulationError> {
        let Some(size) = outside.read(device, &mut self.buffer)? else { return Ok(false) };
        let now = self.look(outside);
        // Earlier events must be processed before it.
        self.transmit(outside, now)?;
        let packet = std::mem::take(&mut self.buffer);
        self.send(outside, now, Edge::Device(device), &packet[..size])?;
        self.buffer = packet;
        if !self.hosts.is_empty() {
            // Replies are sent before the next packet is read, as in a kernel.
            self.transmit(outside, now)?;
        }
        Ok(true)
    }

    /// Runs the hosts: their timers, their applications, and the transmission of the resulting packets.
    fn drive(&mut self, outside: &mut dyn Outside, handle: &Handle) -> Result<(), EmulationError> {
        if self.hosts.is_empty() {
            return Ok(());
        }
        let now = outside.now();
        for host in &mut self.hosts {
            host.drive(now, &mut |event| handle.push(event))?;
        }
        self.transmit(outside, now)
    }

    /// Delivers every packet that is due by `now`, and sends the packets of hosts.
    fn transmit(&mut self, outside: &mut dyn Outside, now: Instant) -> Result<(), EmulationError> {
        let mut answers = Vec::new();
        while let Some(arrival) = self.network.as_mut().and_then(|network| network.receive(now)) {
            let lateness = outside.now().since(arrival.due);
            self.deliver(outside, now, arrival.source, arrival.to, &arrival.bytes, lateness)?;
            if let Edge::Host(host) = arrival.to {
                let mut answer = Vec::new();
                while self.hosts[host].poll_packet(now, &mut answer) {
                    answers.push((host, std::mem::take(&mut answer)));
                }
            }
        }
        // The network accepts packets once everything that is due has been taken from it.
        for (host, answer) in &answers {
            self.send(outside, now, Edge::Host(*host), answer)?;
        }
        for host in 0..self.hosts.len() {
            let mut packet = std::mem::take(&mut self.packet);
            while self.hosts[host].poll_packet(now, &mut packet) {
                self.send(outside, now, Edge::Host(host), &packet)?;
            }
            self.packet = packet;
        }
        Ok(())
    }

    /// Sends a packet of a device or host into the network. Without a network, the packet goes directly to the other
    /// side.
    fn send(
        &mut self,
        outside: &mut dyn Outside,
        now: Instant,
        from: Edge,
        bytes: &[u8],
    ) -> Result<(), EmulationError> {
        let source = self.source(from);
        let taken = &mut self.directions[source].taken;
        *taken = (taken.0 + 1, taken.1 + bytes.len() as u64);
        let Some(network) = &mut self.network else {
            let to = if let Edge::Host(_) = from { Edge::Device(0) } else { Edge::Host(0) };
            return self.deliver(outside, now, source, to, bytes, Duration::ZERO);
        };
        let sent = match self.directory.find(from, bytes) {
            Some(to) => network.send(now, from, to, source, bytes),
            None => crate::packet::envelope(bytes).map(|_| self.directions[source].unroutable += 1),
        };
        match sent {
            Ok(()) => {}
            Err(Fault::NotIp) => self.directions[source].not_ip += 1,
            Err(Fault::Truncated) => self.directions[source].truncated += 1,
        }
        Ok(())
    }

    /// Writes a packet to a device, or passes it to a host.
    fn deliver(
        &mut self,
        outside: &mut dyn Outside,
        now: Instant,
        source: usize,
        to: Edge,
        bytes: &[u8],
        lateness: Duration,
    ) -> Result<(), EmulationError> {
        let written = match to {
            Edge::Device(device) => outside.write(device, bytes)?,
            Edge::Host(host) => {
                self.hosts[host].packet_in(now, bytes);
                WriteResult::Taken
            }
        };
        match written {
            WriteResult::Taken => self.directions[source].deliver(bytes.len(), lateness),
            WriteResult::Refused => self.directions[source].refused += 1,
        }
        Ok(())
    }

    /// Returns the index of the counters of a device or host.
    fn source(&self, edge: Edge) -> usize {
        match edge {
            Edge::Device(device) => device,
            Edge::Host(host) => self.devices + host,
        }
    }

    /// Returns true if all hosts have finished and either their last segments are acknowledged or [`GRACE`] has passed.
    fn hosts_have_finished(&mut self, now: Instant) -> bool {
        if !self.hosts.iter().all(Host::is_done) {
            return false;
        }
        let since = *self.finished.get_or_insert(now);
        now.since(since) > GRACE || self.hosts.iter().all(Host::is_quiet)
    }

    /// Resets the open connections of hosts. The resets bypass the network; they are lost if a device no longer exists.
    fn reset_hosts(&mut self, outside: &mut dyn Outside) {
        let now = outside.now();
        let mut packet = Vec::new();
        for (index, host) in self.hosts.iter_mut().enumerate() {
            host.reset(now);
            while host.poll_packet(now, &mut packet) {
                if let Some(Edge::Device(device)) = self.directory.find(Edge::Host(index), &packet) {
                    let _ = outside.write(device, &packet);
                }
            }
        }
    }

    fn snapshot(&mut self, now: Instant) -> Snapshot {
        Snapshot {
            elapsed_s: seconds(now),
            links: self.network.as_mut().map(|network| network.links(now)).unwrap_or_default(),
            directions: self.directions.iter().map(Into::into).collect(),
            host_counters: (!self.hosts.is_empty()).then(|| self.host_counters(now)),
            stalls: self.stalls,
            longest_stall_us: self.longest_stall.as_nanos() as f64 / 1000.0,
        }
    }

    fn host_counters(&mut self, now: Instant) -> HostCounters {
        let Losses { lost, dropped, marked } =
            self.network.as_mut().map(|network| network.losses(now)).unwrap_or_default();
        let mut counters = HostCounters {
            lost_on_path: lost,
            dropped_by_queue: dropped,
            marked_by_queue: marked,
            ..HostCounters::default()
        };
        for from in &self.directions {
            counters.refused_by_device += from.refused;
            counters.bad_packets += from.not_ip + from.truncated;
            counters.not_for_us += from.unroutable;
        }
        self.hosts.iter().for_each(|host| host.add_to(&mut counters));
        counters
    }
}

#[cfg(test)]
mod tests;
