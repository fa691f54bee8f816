//! Storage for the contents of packets that do not fit in a [`Packet`].
//!
//! One arena serves all connections of a partition. Contents move to the arena of another partition with
//! [`Arena::detach`] and [`Arena::attach`]. Slots of different partitions have different indices, so handles stay valid
//! when [`Arena::join`] merges the arenas. A packet with a handle owns its slot until it is delivered
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
#[derive(Debug)]
pub struct Arena {
    slots: Vec<Slot>,
    /// Handles have the index `offset + stride * i` for slot `i`. Free slots are listed by `i`.
    stride: u32,
    offset: u32,
    free: Vec<u32>,
    /// Whether contents stay after a packet was delivered or dropped, because links duplicate packets.
    retains: bool,
    /// Contents that are being built or read.
    scratch: Contents,
}

impl Default for Arena {
    fn default() -> Self {
        Self { slots: Vec::new(), stride: 1, offset: 0, free: Vec::new(), retains: false, scratch: Contents::default() }
    }
}

impl Arena {
    /// Creates an arena without memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes this the arena of a partition, one of `partitions`, before any packet was sent.
    ///
    /// # Panics
    /// If the arena holds contents.
    pub fn set_partition(&mut self, number: u16, partitions: usize) {
        assert!(self.slots.is_empty(), "no packet is in transit");
        (self.offset, self.stride) = (number.into(), partitions as u32);
    }

    /// Merges the arenas of all partitions, this one and `others`, into this one. Handles stay valid.
    pub fn join(&mut self, others: impl IntoIterator<Item = Self>) {
        let retains = self.retains;
        let mut whole = Self { retains, ..Self::default() };
        for arena in std::iter::once(std::mem::take(self)).chain(others) {
            for (slot, index) in arena.slots.into_iter().zip((arena.offset as usize..).step_by(arena.stride as usize)) {
                if index >= whole.slots.len() {
                    whole.slots.resize_with(index + 1, Slot::default);
                }
                whole.slots[index] = slot;
            }
        }
        let is_free = |index: &u32| !whole.slots[*index as usize].is_used;
        whole.free = (0..whole.slots.len() as u32).filter(is_free).collect();
        *self = whole;
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
        let handle = Handle::new(self.offset + self.stride * index, slot.generation);
        let packet = Packet::of_handle(handle, contents);
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
                std::mem::swap(&mut self.slot(handle).contents, contents);
                self.free(handle);
            }
        }
    }

    #[inline]
    fn place(&self, handle: Handle) -> usize {
        // Only partitions divide.
        if self.stride == 1 { handle.index() as usize } else { (handle.index() / self.stride) as usize }
    }

    fn slot(&mut self, handle: Handle) -> &mut Slot {
        debug_assert!(handle.index() % self.stride == self.offset, "the contents are in this partition");
        let place = self.place(handle);
        let slot = &mut self.slots[place];
        assert!(slot.is_used && slot.generation == handle.generation(), "the contents of a packet are taken once");
        slot
    }

    fn free(&mut self, handle: Handle) {
        let place = self.place(handle);
        self.slots[place].is_used = false;
        self.free.push(place as u32);
    }

    /// Frees the contents of a packet that was dropped.
    ///
    /// # Panics
    /// If the contents were taken before.
    pub fn release(&mut self, packet: &Packet) {
        if let Some(handle) = packet.handle().filter(|_| !self.retains) {
            self.slot(handle);
            self.free(handle);
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
                let slot = &self.slots[self.place(handle)];
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

    /// Returns the contents of a packet that crosses to another partition, and frees its slot; `None` if it has none.
    pub fn detach(&mut self, packet: &Packet) -> Option<Box<Contents>> {
        packet.handle()?;
        if self.retains {
            return self.detach_copy(packet);
        }
        let mut contents = Box::<Contents>::default();
        self.take(packet, &mut contents, EcnCounts::default());
        Some(contents)
    }

    /// Returns a copy of the contents of a packet for another partition; `None` if it has none.
    pub fn detach_copy(&self, packet: &Packet) -> Option<Box<Contents>> {
        packet.handle().map(|_| Box::new(self.copy(packet)))
    }

    /// Returns the packet with its contents in this arena, after [`Self::detach`] in another partition.
    pub fn attach(&mut self, packet: &Packet, mut contents: Box<Contents>) -> Packet {
        packet.with_handle_of(&self.store(&mut contents))
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
            let moved = match arena.detach(&packet) {
                Some(contents) => other.attach(&packet, contents),
                None => packet,
            };
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

    #[test]
    fn handles_stay_valid_when_partitions_join() {
        let stored = |count| contents(None, vec![], vec![Frame::MaxData(count)]);
        let mut arenas: Vec<Arena> = (0..3).map(|_| Arena::new()).collect();
        (0..).zip(&mut arenas).for_each(|(number, arena)| arena.set_partition(number, 3));
        let mut packets: Vec<(u64, Packet)> = Vec::new();
        for count in 0..20 {
            packets.push((count, arenas[count as usize % 3].pack(&mut stored(count))));
        }
        // The last partition has more packets than the others, and one of them has crossed a border.
        packets.extend((20..40).map(|count| (count, arenas[2].pack(&mut stored(count)))));
        let contents = arenas[0].detach(&packets[0].1).expect("stored contents");
        packets[0].1 = arenas[1].attach(&packets[0].1, contents);
        let mut whole = arenas.remove(0);
        whole.join(arenas);
        assert_eq!(whole.used(), packets.len());
        packets.push((40, whole.pack(&mut stored(40))));
        for (count, packet) in packets {
            assert_eq!(whole.copy(&packet), stored(count));
            whole.release(&packet);
        }
        assert_eq!(whole.used(), 0);
    }
}
