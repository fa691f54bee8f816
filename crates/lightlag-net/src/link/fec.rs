//! Forward error correction of a link: a systematic (n, k) block code over packets.
//!
//! The transmitter groups k data packets into a block and adds n − k repair packets, which have the size of the largest
//! packet in the block. The code is maximum distance separable, such as Reed-Solomon (RFC 6865 for packets of any size;
//! DVB's MPE-FEC, ETSI EN 301 192 §9.3): any k of the n packets recover all data, and fewer recover nothing beyond the
//! data packets that arrived. A lost packet cannot be recovered if at least n − k of the other n − 1 packets are also
//! lost. If packets are lost independently with probability p, the residual loss is therefore
//!
//! `p · P(Bin(n − 1, p) ≥ n − k)`
//!
//! Repair packets are sent directly after the last packet of their block, before packets that wait, and the loss model
//! of the link applies to them. A block that is not full closes when it is `flush` old and no packet waits for
//! transmission. With k' data packets it has ⌈k' (n − k) / k⌉ repair packets.

use crate::{EndpointId, NodeId, Packet, PacketFlags};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Rate};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Maximum number of packets in a block: the length of a Reed-Solomon code over symbols of 8 bits.
const MAX_BLOCK: u32 = 255;

/// An (n, k) block code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCode {
    /// Number of data packets in a full block, k.
    pub data: u32,
    /// Number of repair packets of a full block, n − k.
    pub repair: u32,
    /// Maximum age of a block. A block that is not full by then is closed.
    pub flush: Duration,
    /// Whether data packets wait for lost packets of their block until those are recovered or abandoned.
    pub in_order: bool,
}

impl Default for BlockCode {
    fn default() -> Self {
        Self { data: 10, repair: 2, flush: Duration::from_millis(50), in_order: true }
    }
}

impl BlockCode {
    /// Returns the number of repair packets of a block with this number of data packets.
    fn repair_for(&self, data: u32) -> u32 {
        (data * self.repair).div_ceil(self.data)
    }

    /// Returns the rate that remains for data if all packets have the same size: k / n of the link's rate.
    #[must_use]
    pub fn data_rate(&self, rate: Rate) -> Rate {
        let bits = u128::from(rate.as_bps()) * u128::from(self.data) / u128::from(self.data + self.repair);
        Rate::from_bps(bits.max(1) as u64).unwrap_or(rate)
    }
}

impl Described for BlockCode {
    const ABOUT: &'static str = "Forward error correction by a systematic Reed-Solomon code over packets: any `data` \
                                 packets of a block restore all its data.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::count("data", |c: &mut Self| &mut c.data, MAX_BLOCK - 1, "a number of packets", "")
                .about("Data packets in a full block, k.")
                .required("give the number of data packets in a block, such as 10"),
            Setting::count_or_zero("repair", |c: &mut Self| &mut c.repair, MAX_BLOCK - 1, "a number of packets")
                .about("Repair packets of a full block, n - k: the code rate is data / (data + repair). Zero switches the code off.")
                .required("give the number of repair packets of a block, such as 2")
                .checked(|c| {
                    (c.data + c.repair > MAX_BLOCK)
                        .then_some("and data exceed 255 packets, the maximum Reed-Solomon block; use a shorter block")
                }),
            Setting::time("flush", |c: &mut Self| &mut c.flush)
                .about("Maximum age of an incomplete block while no packet waits for transmission; the block then \
                        closes."),
            Setting::flag("in_order", |c: &mut Self| &mut c.in_order)
                .about("Whether data waits until the lost data before it in its block is repaired or abandoned."),
        ]
    }
}

/// The block that currently receives data packets from the encoder.
struct OpenBlock {
    data: u32,
    /// Size of the largest packet in the block, in bytes.
    size: u16,
    flush: Instant,
}

/// The block whose packets are arriving.
struct ArrivingBlock<B> {
    /// Packets that are not delivered yet, in the order of transmission: lost packets, and later data packets.
    waiting: VecDeque<Packet<B>>,
    /// Number of lost data packets in `waiting`.
    lost: u32,
    /// Number of repair packets of the block that arrived.
    repair_arrived: u32,
    repair_lost: u32,
    /// Whether more packets of the block were lost than the code can recover.
    is_given_up: bool,
}

impl<B> Default for ArrivingBlock<B> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), lost: 0, repair_arrived: 0, repair_lost: 0, is_given_up: false }
    }
}

/// Encoder and decoder of a link direction. The packets of a block arrive in order, and lost ones arrive marked as
/// damaged.
pub(super) struct Codec<B> {
    code: BlockCode,
    open: Option<OpenBlock>,
    /// Number of repair packets of the last closed block that are not sent yet.
    unsent: u32,
    size: u16,
    /// Number of repair packets of each closed block whose last packet has not arrived.
    closed: VecDeque<u32>,
    /// Number of repair packets in transmission or in propagation.
    repair_in_flight: usize,
    arriving: ArrivingBlock<B>,
    /// Packets to be delivered at `released`.
    ready: VecDeque<Packet<B>>,
    released: Instant,
    /// Number of repair packets sent.
    pub(super) sent: u64,
    /// Number of lost data packets that were recovered.
    pub(super) repaired: u64,
}

impl<B: Clone + Default> Codec<B> {
    pub(super) fn new(code: BlockCode) -> Self {
        Self {
            code,
            open: None,
            unsent: 0,
            size: 0,
            closed: VecDeque::new(),
            repair_in_flight: 0,
            arriving: ArrivingBlock::default(),
            ready: VecDeque::new(),
            released: Instant::ZERO,
            sent: 0,
            repaired: 0,
        }
    }

    /// Adds a data packet of this size, whose transmission starts now, to the open block.
    pub(super) fn encode(&mut self, start: Instant, size: u16) {
        let flush = start + self.code.flush;
        let block = self.open.get_or_insert(OpenBlock { data: 0, size: 0, flush });
        block.data += 1;
        block.size = block.size.max(size);
        if block.data == self.code.data {
            self.close();
        }
    }

    /// Returns when the open block is closed if no packet waits for transmission.
    pub(super) fn flush_time(&self) -> Option<Instant> {
        self.open.as_ref().map(|block| block.flush)
    }

    /// Closes the open block if it is old enough. Called only when no packet waits for transmission.
    pub(super) fn flush(&mut self, now: Instant) {
        if self.flush_time().is_some_and(|flush| flush <= now) {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(OpenBlock { data, size, .. }) = self.open.take() else { return };
        self.unsent = self.code.repair_for(data);
        self.size = size;
        self.closed.push_back(self.unsent);
    }

    /// Returns the number of repair packets that wait for transmission, and the size of each.
    pub(super) fn unsent(&self) -> (u64, u64) {
        (self.unsent.into(), self.size.into())
    }

    /// Removes and returns the next repair packet that waits for transmission.
    pub(super) fn next_repair(&mut self) -> Option<Packet<B>> {
        self.unsent = self.unsent.checked_sub(1)?;
        self.sent += 1;
        self.repair_in_flight += 1;
        Some(Packet::new(
            NodeId::default(),
            EndpointId(0),
            self.size,
            PacketFlags::default().with_repair(),
            B::default(),
        ))
    }

    /// Returns the number of data packets that have arrived but wait for delivery, minus the number of repair packets
    /// in flight.
    pub(super) fn undelivered(&self) -> isize {
        (self.arriving.waiting.len() + self.ready.len()) as isize - self.repair_in_flight as isize
    }

    /// Returns the time of the delivery of decoded packets, if there are any.
    pub(super) fn delivery_time(&self) -> Option<Instant> {
        (!self.ready.is_empty()).then_some(self.released)
    }

    /// Removes and returns the next packet to be delivered; it is damaged if it could not be recovered.
    pub(super) fn next_delivery(&mut self) -> Option<Packet<B>> {
        self.ready.pop_front()
    }

    /// Decodes a packet that arrives now.
    pub(super) fn decode(&mut self, now: Instant, packet: Packet<B>) {
        self.released = now;
        if packet.flags.is_repair() {
            self.decode_repair(packet.flags.is_corrupted());
        } else {
            self.decode_data(packet);
        }
    }

    fn decode_data(&mut self, packet: Packet<B>) {
        let block = &mut self.arriving;
        let is_lost = packet.flags.is_corrupted();
        let waits = !block.is_given_up && (is_lost || (self.code.in_order && block.lost > 0));
        if !waits {
            self.ready.push_back(packet);
            return;
        }
        block.waiting.push_back(packet);
        block.lost += u32::from(is_lost);
        if block.lost > self.code.repair {
            self.give_up();
        }
    }

    fn decode_repair(&mut self, is_lost: bool) {
        self.repair_in_flight -= 1;
        // Repair packets carry the length of their block, which may be shorter than a full one.
        let repair = self.closed.front().copied().unwrap_or_default();
        let block = &mut self.arriving;
        if is_lost {
            block.repair_lost += 1;
        } else {
            block.repair_arrived += 1;
        }
        let is_last = block.repair_arrived + block.repair_lost == repair;
        if block.lost > 0 && block.repair_arrived >= block.lost {
            self.repair();
        } else if block.lost > 0 && block.lost + block.repair_lost > repair {
            self.give_up();
        }
        if is_last {
            self.closed.pop_front();
            self.arriving = ArrivingBlock { waiting: std::mem::take(&mut self.arriving.waiting), ..Default::default() };
        }
    }

    /// Recovers the lost packets of the block and delivers all waiting ones, since k packets of the block have arrived.
    fn repair(&mut self) {
        let block = &mut self.arriving;
        self.repaired += u64::from(block.lost);
        block.lost = 0;
        self.ready.extend(block.waiting.drain(..).map(|mut packet| {
            packet.flags.repair();
            packet
        }));
    }

    /// Delivers all waiting packets of the block, lost ones as damaged, since k packets of the block can no longer
    /// arrive.
    fn give_up(&mut self) {
        let block = &mut self.arriving;
        block.is_given_up = true;
        block.lost = 0;
        self.ready.extend(block.waiting.drain(..));
    }
}
