//! Real packets through a simulated network, in real time.
//!
//! A packet read from one device enters the network at the time of the read. The network computes when it reaches the
//! other end, if it does, and at that time the packet is written to the other device. Time inside the network is exact:
//! a packet that crosses several links, or waits in a queue, does not depend on when the loop looks. The delay that the
//! loop adds is measured at the far end, as the *lateness* of a delivery.

use crate::packet::{self, Fault};
use crate::statistics::{Direction, LATE, LinkSnapshot, Snapshot, seconds};
use crate::tun::{LARGEST_PACKET, TunError, Written};
use crate::{Clock, Tun};
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_net::{LinkId, NodeId, Packet, PacketFlags};
use lightlag_scenario::Network;
use lightlag_sim::Emulator;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The period in which statistics are published and a request to stop is noticed.
const TICK: Duration = Duration::from_millis(50);

/// One of the two devices.
pub type Side = usize;

/// The surroundings of an emulation: two devices and a clock.
pub trait Outside {
    /// The time since the start.
    fn now(&self) -> Instant;

    /// Waits until a device may have a packet, or until `until`.
    fn wait(&mut self, until: Instant);

    /// Reads the next packet of a device, if there is one.
    ///
    /// # Errors
    /// If the device is gone.
    fn read(&mut self, side: Side, buffer: &mut [u8]) -> Result<Option<usize>, TunError>;

    /// Writes a packet to a device.
    ///
    /// # Errors
    /// If the device is gone.
    fn write(&mut self, side: Side, packet: &[u8]) -> Result<Written, TunError>;

    /// Checks that both devices still exist. Called now and then.
    ///
    /// # Errors
    /// If one is gone.
    fn check(&mut self) -> Result<(), TunError>;
}

/// Two TUN devices and the wall clock.
pub struct Devices {
    clock: Clock,
    tuns: [Tun; 2],
}

impl Devices {
    /// Starts the clock of two devices.
    pub fn new(tuns: [Tun; 2]) -> Self {
        Self { clock: Clock::start(), tuns }
    }
}

impl Outside for Devices {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn wait(&mut self, until: Instant) {
        let [a, b] = &self.tuns;
        self.clock.wait([a.as_fd(), b.as_fd()], until);
    }

    fn read(&mut self, side: Side, buffer: &mut [u8]) -> Result<Option<usize>, TunError> {
        self.tuns[side].read(buffer)
    }

    fn write(&mut self, side: Side, packet: &[u8]) -> Result<Written, TunError> {
        self.tuns[side].write(packet)
    }

    fn check(&mut self) -> Result<(), TunError> {
        self.tuns.iter().try_for_each(Tun::check)
    }
}

/// The handle by which the owner of a running emulation talks to it.
#[derive(Debug, Default)]
pub struct Handle {
    stop: AtomicBool,
    snapshot: Mutex<Snapshot>,
}

impl Handle {
    /// Asks the emulation to end, which takes at most 50 ms.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The latest statistics: at most 50 ms old while it runs, final at its end.
    ///
    /// # Panics
    /// Never: no thread panics while holding the lock.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().expect("nobody panics while holding it").clone()
    }
}

/// A link direction that packets cross.
struct Watched {
    link: LinkId,
    name: String,
    direction: Side,
}

/// A simulated network between two real devices.
pub struct Emulation {
    path: Emulator<Arc<[u8]>>,
    ends: [NodeId; 2],
    watched: Vec<Watched>,
    directions: [Direction; 2],
    stalls: u64,
    longest_stall: Duration,
    buffer: Vec<u8>,
}

impl Emulation {
    /// Prepares the network, with the first device at the first of the `ends` and the second at the other.
    ///
    /// # Panics
    /// If no route joins the ends, they are the same node, or the network has radio media.
    pub fn new(network: &Network, ends: [NodeId; 2], seed: u64) -> Self {
        let [a, b] = ends;
        network.check_wired().expect("links alone join the nodes");
        assert!(a != b && network.routes.at_start().reaches(a, b), "the ends are two nodes that reach each other");
        let way = |from, to| network.routes.at_start().path(from, to).expect("they reach each other");
        let watched = |direction, links: Vec<LinkId>| {
            let watch =
                move |link: LinkId| Watched { link, name: network.links[link.0 as usize].name.clone(), direction };
            links.into_iter().map(watch)
        };
        Self {
            path: Emulator::new(network, seed),
            ends,
            watched: watched(0, way(a, b)).chain(watched(1, way(b, a))).collect(),
            directions: Default::default(),
            stalls: 0,
            longest_stall: Duration::ZERO,
            buffer: vec![0; LARGEST_PACKET],
        }
    }

    /// Forwards packets until `end` (for ever without one), until it is asked to stop, or until a device is gone.
    ///
    /// # Errors
    /// If a device is gone. The statistics are in `handle`, as after any other end.
    pub fn run(&mut self, outside: &mut dyn Outside, handle: &Handle, end: Option<Instant>) -> Result<(), TunError> {
        let result = self.forward(outside, handle, end.unwrap_or(Instant::MAX));
        *handle.snapshot.lock().expect("nobody panics while holding it") = self.snapshot(outside.now());
        result
    }

    fn forward(&mut self, outside: &mut dyn Outside, handle: &Handle, end: Instant) -> Result<(), TunError> {
        let mut tick = Instant::ZERO;
        // The time at which the loop last looked, or should have looked.
        let mut looked = outside.now();
        loop {
            let now = outside.now();
            self.note_stall(now.since(looked));
            looked = now;
            self.deliver(outside, now)?;
            if now >= end {
                return Ok(());
            }
            if now >= tick {
                if handle.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                outside.check()?;
                self.publish(handle, now);
                tick = now + TICK;
            }
            let any = self.take(outside, 0)? | self.take(outside, 1)?;
            if !any {
                let until = self.path.next_event().unwrap_or(Instant::MAX).min(tick).min(end);
                outside.wait(until);
                // After waking for a packet the loop cannot know how long that had waited; after waking for a deadline
                // it can.
                looked = until.min(outside.now()).max(looked);
            }
        }
    }

    fn note_stall(&mut self, gap: Duration) {
        if gap > LATE {
            self.stalls += 1;
            self.longest_stall = self.longest_stall.max(gap);
        }
    }

    /// Delivers every packet that is due by `now`.
    fn deliver(&mut self, outside: &mut dyn Outside, now: Instant) -> Result<(), TunError> {
        while let Some((due, packet)) = self.path.next_delivery(now) {
            let side = usize::from(packet.destination == self.ends[1]);
            let direction = 1 - side;
            let mut bytes = packet.body;
            if packet.flags.ecn() == Codepoint::Ce {
                packet::mark(Arc::make_mut(&mut bytes));
            }
            let lateness = outside.now().since(due);
            match outside.write(side, &bytes)? {
                Written::Taken => self.directions[direction].deliver(bytes.len(), lateness),
                Written::Refused => self.directions[direction].refused += 1,
            }
        }
        Ok(())
    }

    /// Moves one packet from a device into the network. Returns whether there was one.
    fn take(&mut self, outside: &mut dyn Outside, side: Side) -> Result<bool, TunError> {
        let Some(size) = outside.read(side, &mut self.buffer)? else { return Ok(false) };
        let now = outside.now();
        // Everything due before it came must have happened before.
        self.deliver(outside, now)?;
        let bytes = &self.buffer[..size];
        let direction = &mut self.directions[side];
        direction.taken.0 += 1;
        direction.taken.1 += size as u64;
        match packet::envelope(bytes) {
            Ok(envelope) => {
                let size = u16::try_from(size).expect("the buffer holds no more");
                let flags = PacketFlags::new(envelope.carries_payload).with_ecn(envelope.ecn);
                let packet = Packet::new(self.ends[1 - side], envelope.flow, size, flags, Arc::from(bytes));
                self.path.send(now, self.ends[side], packet);
            }
            Err(Fault::NotIp) => direction.not_ip += 1,
            Err(Fault::Truncated) => direction.truncated += 1,
        }
        Ok(true)
    }

    /// Publishes a snapshot, unless the owner is reading the last one.
    fn publish(&mut self, handle: &Handle, now: Instant) {
        if let Ok(mut place) = handle.snapshot.try_lock() {
            *place = self.snapshot(now);
        }
    }

    fn snapshot(&mut self, now: Instant) -> Snapshot {
        let counted: Vec<_> = self.path.links(now).collect();
        let links = self.watched.iter().map(|Watched { link, name, direction }| {
            let (counters, backlog) = counted[link.0 as usize];
            LinkSnapshot {
                name: name.clone(),
                direction: *direction,
                offered: counters.offered,
                delivered: counters.delivered,
                dropped_queue: counters.dropped_queue,
                dropped_aqm: counters.dropped_aqm,
                dropped_error: counters.dropped_error + counters.dropped_outage,
                marked: counters.marked,
                duplicated: counters.duplicated,
                reordered: counters.reordered,
                queue_packets: backlog.packets,
                max_queue_packets: counters.max_queue,
            }
        });
        Snapshot {
            elapsed_s: seconds(now),
            links: links.collect(),
            directions: self.directions.iter().map(Into::into).collect(),
            stalls: self.stalls,
            longest_stall_us: self.longest_stall.as_nanos() as f64 / 1000.0,
        }
    }
}

#[cfg(test)]
mod tests;
