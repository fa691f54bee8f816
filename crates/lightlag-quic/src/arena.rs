//! Storage for the contents of packets that do not fit in a [`Packet`].
//!
//! One arena serves all connections of a partition. A packet with a handle owns its slot until it is delivered
//! (`take`) or dropped ([`Arena::release`]). Slots and their memory are reused, so a run does not allocate in
//! its steady state. A generation in the handle detects that a slot is used after it was freed.

use crate::contents::Contents;
use crate::frame::EcnCounts;
use crate::handle::Handle;
use crate::packet::Packet;

#[derive(Debug, Default)]
struct Slot {
    contents: Contents,
    generation: u32,
    is_used: bool,
}

/// The contents of packets in transit.
#[derive(Debug, Default)]
pub struct Arena {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Whether contents stay after a packet was delivered or dropped, because links duplicate packets.
    retains: bool,
    /// Contents that are being built or read.
    scratch: Contents,
}

impl Arena {
    /// Creates an arena without memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps contents until the end, for a network that may deliver a packet twice.
    pub fn retain(&mut self) {
        self.retains = true;
    }

    /// Returns the number of packets in transit whose contents are stored here; 0 if contents are retained.
    pub fn used(&self) -> usize {
        if self.retains { 0 } else { self.slots.len() - self.free.len() }
    }

    /// Returns empty contents for a caller that builds or reads a packet; [`Self::put_back`] returns the memory.
    #[inline(always)]
    pub(crate) fn scratch(&mut self) -> Contents {
        std::mem::take(&mut self.scratch)
    }

    /// Takes back the memory of [`Self::scratch`].
    #[inline(always)]
    pub(crate) fn put_back(&mut self, contents: Contents) {
        self.scratch = contents;
    }

    /// Returns a packet with `contents`, which are left in an unspecified state.
    #[inline]
    pub(crate) fn pack(&mut self, contents: &mut Contents) -> Packet {
        Packet::inline(contents).unwrap_or_else(|| self.store(contents))
    }

    fn store(&mut self, contents: &mut Contents) -> Packet {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            // Index 0 of generation 0 would be the handle that does not exist.
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.generation = Handle::next_generation(slot.generation);
        slot.is_used = true;
        let packet = Packet::of_handle(Handle::new(index, slot.generation), contents);
        std::mem::swap(&mut slot.contents, contents);
        packet
    }

    /// Moves the contents of `packet` to `contents`, and frees its slot if it has one. `counts` are the ECN counts that
    /// the receiver already has.
    ///
    /// # Panics
    /// If the contents were taken before.
    #[inline]
    pub(crate) fn take(&mut self, packet: &Packet, contents: &mut Contents, counts: EcnCounts) {
        match packet.handle() {
            None => packet.unpack(contents, counts),
            Some(handle) if self.retains => contents.clone_from(&self.slot(handle).contents),
            Some(handle) => {
                let slot = self.slot(handle);
                std::mem::swap(&mut slot.contents, contents);
                slot.is_used = false;
                self.free.push(handle.index());
            }
        }
    }

    fn slot(&mut self, handle: Handle) -> &mut Slot {
        let slot = &mut self.slots[handle.index() as usize];
        assert!(slot.is_used && slot.generation == handle.generation(), "the contents of a packet are taken once");
        slot
    }

    /// Frees the contents of a packet that was dropped.
    ///
    /// # Panics
    /// If the contents were taken before.
    pub fn release(&mut self, packet: &Packet) {
        if let Some(handle) = packet.handle().filter(|_| !self.retains) {
            self.slot(handle).is_used = false;
            self.free.push(handle.index());
        }
    }

    /// Returns a copy of the contents of `packet`, for captures and logs.
    ///
    /// # Panics
    /// If the contents were taken before.
    pub fn copy(&self, packet: &Packet) -> Contents {
        match packet.handle() {
            None => {
                let mut contents = Contents::default();
                packet.unpack(&mut contents, EcnCounts::default());
                contents
            }
            Some(handle) => {
                let slot = &self.slots[handle.index() as usize];
                let current = slot.is_used && slot.generation == handle.generation();
                assert!(current, "the contents of a packet are copied before they are taken");
                slot.contents.clone()
            }
        }
    }

    /// Returns a copy of `packet`, for a path that delivers it twice.
    pub fn duplicate(&mut self, packet: &Packet) -> Packet {
        if packet.handle().is_none() {
            return *packet;
        }
        let mut contents = self.copy(packet);
        packet.with_handle_of(&self.store(&mut contents))
    }

    /// Moves the contents of `packet` to another arena, for a packet that crosses from one partition to another.
    pub fn transfer(&mut self, packet: &Packet, to: &mut Self) -> Packet {
        let Some(handle) = packet.handle() else { return *packet };
        let slot = self.slot(handle);
        slot.is_used = false;
        let mut contents = std::mem::take(&mut slot.contents);
        self.free.push(handle.index());
        packet.with_handle_of(&to.store(&mut contents))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Part;
    use crate::frame::{AckHeader, Frame};
    use crate::kind::Kind;
    use crate::ranges::Range;
    use proptest::prelude::*;

    fn contents(ack: Option<AckHeader>, ranges: Vec<Range>, frames: Vec<Frame>) -> Contents {
        let part = Part {
            kind: Kind::OneRtt,
            number: 77,
            size: 1_200,
            ack,
            frames: frames.len() as u16,
            ranges: ranges.len() as u16,
            ..Part::default()
        };
        Contents { parts: vec![part], frames, ranges }
    }

    fn ranges(pairs: &[(u64, u64)]) -> (Vec<Range>, u64) {
        let (mut all, mut start) = (Vec::new(), 1);
        for (gap, len) in pairs {
            start += gap + 1;
            all.push(Range { start, end: start + len + 1 });
            start += len + 1;
        }
        all.reverse();
        (all, start)
    }

    proptest! {
        #[test]
        fn contents_survive_the_transit(
            pairs in prop::collection::vec((0u64..90_000, 0u64..90_000), 0..6),
            delay in 0u64..1 << 26,
            stream in 0u64..90_000,
            offset in 0u64..1 << 50,
            len in 0u16..1_400,
            control in any::<bool>(),
        ) {
            let (ranges, _) = ranges(&pairs);
            let mut frames = vec![Frame::Stream { stream, offset, len, fin: true, to_end: true }];
            if control {
                frames.push(Frame::MaxData(1 << 20));
            }
            let ack = (!ranges.is_empty()).then_some(AckHeader { delay, ecn: None });
            let fits = !control && stream < 65_536 && offset < 1 << 48 && (ack.is_none() || pairs.len() <= 3
                && delay < 1 << 24 && pairs.iter().rev().skip(1).all(|pair| pair.1 < 65_536)
                && pairs.iter().skip(1).all(|pair| pair.0 < 65_536));
            let sent = contents(ack, ranges, frames);
            let (mut arena, mut received) = (Arena::new(), Contents::default());
            let packet = arena.pack(&mut sent.clone());
            prop_assert_eq!(packet.handle().is_none(), fits);
            prop_assert_eq!(arena.used(), usize::from(!fits));
            prop_assert_eq!(packet.size(), 1_200);
            prop_assert_eq!(&arena.copy(&packet), &sent);
            let mut other = Arena::new();
            let moved = arena.transfer(&packet, &mut other);
            other.take(&moved, &mut received, EcnCounts::default());
            prop_assert_eq!(received, sent);
            prop_assert_eq!((arena.used(), other.used()), (0, 0));
        }
    }

    #[test]
    fn ecn_counts_are_completed_from_their_low_bits() {
        let counts = EcnCounts { ect0: 70_000, ect1: 65_540, ce: 3 };
        let ack = AckHeader { delay: 0, ecn: Some(counts) };
        let mut sent = contents(Some(ack), vec![Range { start: 3, end: 9 }], vec![]);
        let (mut arena, mut received) = (Arena::new(), Contents::default());
        let packet = arena.pack(&mut sent);
        assert!(packet.handle().is_none());
        arena.take(&packet, &mut received, EcnCounts { ect0: 69_000, ect1: 65_530, ce: 0 });
        assert_eq!(received.parts[0].ack.and_then(|ack| ack.ecn), Some(counts));
    }

    #[test]
    #[should_panic(expected = "taken once")]
    fn contents_cannot_be_taken_twice() {
        let mut sent = contents(None, vec![], vec![Frame::HandshakeDone]);
        let mut arena = Arena::new();
        let packet = arena.pack(&mut sent);
        arena.release(&packet);
        arena.take(&packet, &mut Contents::default(), EcnCounts::default());
    }
}
