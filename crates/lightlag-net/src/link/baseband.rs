//! Baseband frames of DVB-S2 (BBFRAMEs): packets are encapsulated, and departures are quantised to frames.
//!
//! **Frames.** A carrier is a continuous sequence of frames (ETSI EN 302 307-1 §5.5). The frame that starts now takes
//! the waiting packets until its data field is full, and is padded if nothing more waits. It has the MODCOD that the
//! link has at its start; a packet arrives one frame and the propagation delay later. If nothing waits, dummy frames of
//! 36 slots and a PLHEADER, 3,330 symbols, follow each other (§5.5.1), and a packet waits until the current one ends.
//!
//! **Encapsulation.** Generic stream encapsulation (GSE, ETSI TS 102 606-1 §4.2). A packet that does not fit continues in
//! the next frame; a CRC-32 in its last fragment protects the reassembly, so a lost frame loses every packet with a
//! fragment in it:
//!
//! | GSE packet | header | label | trailer |
//! |---|---:|---:|---:|
//! | complete packet | 2 B, protocol type of 2 B | 0 B, 3 B or 6 B | |
//! | start | 2 B, fragment ID of 1 B, total length of 2 B, protocol type of 2 B | 0 B, 3 B or 6 B | |
//! | continuation | 2 B, fragment ID of 1 B | | |
//! | end | 2 B, fragment ID of 1 B | | CRC-32 of 4 B |
//!
//! The length field has 12 bits: a GSE packet has at most 4,097 bytes, so larger packets have several in one frame.
//! Each packet carries its label; the reuse of the previous label is not modelled.
//!
//! **Hold.** With the packing threshold `hold`, a frame that the waiting packets do not fill is not sent before `hold` has
//! passed since the first of them arrived, or since the start of the previous frame if some stayed in the queue (RFC 4326
//! has this threshold for ULE). Dummy frames are sent meanwhile.
//!
//! **Resequencing.** With `resequencing`, the receiver keeps up to this number of frames after a lost one, and their packets
//! arrive with the next frame ([`Resequencer`]).

use super::timetable::TransmissionFate;
use crate::{FrameFormat, Packet, Resequencer};
use lightlag_core::{Duration, Instant, SymbolRate, settings};

/// Symbols of a dummy frame.
const DUMMY: u64 = 90 * 37;
/// Maximum size of a GSE packet, with its first two bytes.
const MAX_GSE: u32 = 4_097;
/// Size of the fields that every GSE packet has.
const FIXED: u32 = 2;
/// Size of the fragment ID.
const FRAGMENT_ID: u32 = 1;
/// Size of the field for the total length.
const TOTAL_LENGTH: u32 = 2;
/// Size of the protocol type.
const PROTOCOL: u32 = 2;
/// Size of the CRC-32.
const CRC: u32 = 4;

settings! {
    /// Encapsulation of packets in baseband frames.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct BasebandFrames {
        about "Baseband frames of DVB-S2 with GSE: packets depart in frames of the current MODCOD, fragmented or padded.";

        /// Size of the label of a packet, the address of its receiver: 0, 3 or 6 bytes.
        label: u32 = 6 => count_or_zero(6, "a number of bytes").unit("B").checked(|frames| {
            (!matches!(frames.label, 0 | 3 | 6)).then_some("is not the size of a label; write 0, 3 or 6")
        });
        /// Maximum time that packets wait for more of them to fill a frame.
        hold: Duration = Duration::ZERO => time_or_zero();
        /// Number of frames that the receiver keeps after a lost one, in case that one is only late; 0 for none.
        resequencing: u32 = 0 => count_or_zero(1000, "a number of frames");
    }
}

impl BasebandFrames {
    /// Returns the overhead of a complete packet in bytes.
    pub const fn complete(self) -> u32 {
        FIXED + PROTOCOL + self.label
    }

    /// Returns the overhead of the first fragment of a packet in bytes.
    pub const fn start(self) -> u32 {
        FIXED + FRAGMENT_ID + TOTAL_LENGTH + PROTOCOL + self.label
    }

    /// Returns the overhead of a fragment in the middle of a packet in bytes.
    pub const fn continuation(self) -> u32 {
        FIXED + FRAGMENT_ID
    }

    /// Returns the overhead of the last fragment of a packet in bytes.
    pub const fn end(self) -> u32 {
        FIXED + FRAGMENT_ID + CRC
    }

    /// Returns the next fragment of a packet with `left` bytes remaining for a frame with `room` bytes; `None` if nothing
    /// fits. `started`: the beginning of the packet was packed before.
    fn pack(self, room: u32, left: u32, started: bool) -> Option<Fragment> {
        let (last, other) = match started {
            true => (self.end(), self.continuation()),
            false => (self.complete(), self.start()),
        };
        let room = room.min(MAX_GSE);
        if left + last <= room {
            return Some(Fragment { bytes: left, overhead: last });
        }
        // At least one byte remains for the last fragment.
        let bytes = room.checked_sub(other)?.min(left.saturating_sub(1));
        (bytes > 0).then_some(Fragment { bytes, overhead: other })
    }
}

/// A fragment of a packet in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fragment {
    /// Bytes of the packet.
    bytes: u32,
    /// Bytes of headers and trailer.
    overhead: u32,
}

/// Totals of the frames of a link direction. The data fields of all frames hold `packet_bytes`, `overhead_bytes` and
/// `padding_bytes`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameTotals {
    /// Number of frames with packets.
    pub frames: u64,
    /// Number of dummy frames, including one that has started.
    pub dummies: u64,
    /// Bytes of packets.
    pub packet_bytes: u64,
    /// Bytes of the encapsulation.
    pub overhead_bytes: u64,
    /// Unused bytes of frames with packets.
    pub padding_bytes: u64,
}

/// A packet whose last fragment has not been sent yet.
#[derive(Clone, Debug)]
pub(super) struct Fragmented<B> {
    pub(super) packet: Packet<B>,
    /// Bytes that remain.
    pub(super) left: u32,
    /// Whether a fragment was sent.
    pub(super) started: bool,
    /// Fate of the fragments so far.
    pub(super) fate: TransmissionFate,
}

/// A frame that is being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFrame {
    /// Free bytes of its data field.
    pub(super) room: u32,
    /// Free bytes when it was opened.
    size: u32,
}

/// State of the frames of a link direction.
#[derive(Clone, Debug)]
pub(super) struct Framer<B> {
    frames: BasebandFrames,
    symbol_rate: SymbolRate,
    /// End of the last frame that was counted. Dummy frames follow it.
    clock: Instant,
    /// Fraction of a nanosecond beyond `clock`, in units of 1/symbol rate.
    remainder: u64,
    /// Time since which packets wait.
    since: Instant,
    /// Packet whose last fragment has not been sent yet.
    pub(super) serving: Option<Fragmented<B>>,
    /// Packets that are complete in the current frame, with the fate of their earlier fragments.
    pub(super) complete: Vec<(Packet<B>, TransmissionFate)>,
    /// Packets in frames that the receiver keeps after a lost one.
    resequencer: Option<Resequencer<(Packet<B>, TransmissionFate)>>,
    totals: FrameTotals,
}

impl<B> Framer<B> {
    /// Returns the state at the start of a frame at time zero.
    pub(super) fn new(frames: BasebandFrames, symbol_rate: SymbolRate) -> Self {
        Self {
            frames,
            symbol_rate,
            clock: Instant::ZERO,
            remainder: 0,
            since: Instant::ZERO,
            serving: None,
            complete: Vec::new(),
            resequencer: (frames.resequencing > 0).then(|| Resequencer::new(frames.resequencing)),
            totals: FrameTotals::default(),
        }
    }

    /// Advances the clock by this number of symbols.
    fn advance(&mut self, symbols: u64) {
        let (baud, work) = (u128::from(self.symbol_rate.as_baud()), u128::from(symbols) * 1_000_000_000);
        let work = work + u128::from(self.remainder);
        self.clock += Duration::from_nanos((work / baud) as u64);
        self.remainder = (work % baud) as u64;
    }

    /// Returns the number of dummy frames that end or have started after the clock and by `now`.
    fn dummies_until(&self, now: Instant) -> u64 {
        let nanos = u128::from(now.since(self.clock).as_nanos());
        let work = (nanos * u128::from(self.symbol_rate.as_baud())).saturating_sub(u128::from(self.remainder));
        work.div_ceil(u128::from(DUMMY) * 1_000_000_000) as u64
    }

    /// Returns the start of the first frame at or after `now`. Dummy frames fill the time until then.
    pub(super) fn boundary(&mut self, now: Instant) -> Instant {
        if self.clock < now {
            let dummies = self.dummies_until(now);
            self.totals.dummies += dummies;
            self.advance(dummies * DUMMY);
        }
        self.clock
    }

    /// Sends a dummy frame, and returns its end.
    pub(super) fn send_dummy(&mut self) -> Instant {
        self.totals.dummies += 1;
        self.advance(DUMMY);
        self.clock
    }

    /// Records that a packet arrived while none waited.
    pub(super) fn note_first(&mut self, now: Instant) {
        self.since = now;
    }

    /// Returns true if the waiting packets, in number and bytes, do not fill a frame yet, and may wait for more.
    pub(super) fn waits_for_more(&self, now: Instant, format: FrameFormat, (packets, bytes): (u64, u64)) -> bool {
        if self.frames.hold.is_zero() || now >= self.since + self.frames.hold {
            return false;
        }
        let rest = self.serving.as_ref().map_or(0, |serving| u64::from(serving.left + self.frames.end()));
        bytes + packets * u64::from(self.frames.complete()) + rest < u64::from(format.data_bytes())
    }

    /// Opens a frame.
    pub(super) fn open(format: FrameFormat) -> OpenFrame {
        OpenFrame { room: format.data_bytes(), size: format.data_bytes() }
    }

    /// Returns true if another packet can be started in the frame.
    pub(super) fn has_room(&self, frame: OpenFrame) -> bool {
        frame.room > self.frames.start()
    }

    /// Packs as much of the packet in service into the frame as fits. Returns false if the frame is full.
    pub(super) fn pack(&mut self, frame: &mut OpenFrame) -> bool {
        while let Some(serving) = &mut self.serving {
            let Some(fragment) = self.frames.pack(frame.room, serving.left, serving.started) else { return false };
            frame.room -= fragment.bytes + fragment.overhead;
            self.totals.packet_bytes += u64::from(fragment.bytes);
            self.totals.overhead_bytes += u64::from(fragment.overhead);
            (serving.left, serving.started) = (serving.left - fragment.bytes, true);
            if serving.left == 0
                && let Some(Fragmented { packet, fate, .. }) = self.serving.take()
            {
                self.complete.push((packet, fate));
            }
        }
        true
    }

    /// Returns true if the frame holds a fragment.
    pub(super) fn is_used(frame: OpenFrame) -> bool {
        frame.room < frame.size
    }

    /// Closes the frame, whose transmission starts now, and returns its end.
    pub(super) fn close(&mut self, frame: OpenFrame, format: FrameFormat) -> Instant {
        self.since = self.clock;
        self.totals.frames += 1;
        self.totals.padding_bytes += u64::from(frame.room);
        self.advance(u64::from(format.symbols));
        self.clock
    }

    /// Replaces the packets whose last fragment is in a frame by those that arrive with it. `is_lost`: the frame is lost.
    pub(super) fn pass(&mut self, is_lost: bool, packets: &mut Vec<(Packet<B>, TransmissionFate)>) {
        match &mut self.resequencer {
            None => {}
            Some(resequencer) if is_lost => resequencer.lost(),
            Some(resequencer) => *packets = resequencer.arrived(std::mem::take(packets)),
        }
    }

    /// Returns the number of packets that the receiver keeps.
    pub(super) fn kept(&self) -> usize {
        self.resequencer.as_ref().map_or(0, |resequencer| resequencer.items().count())
    }

    /// Returns the totals of a run that ended at `end`.
    pub(super) fn totals(&self, end: Instant) -> FrameTotals {
        FrameTotals { dummies: self.totals.dummies + self.dummies_until(end), ..self.totals }
    }
}

#[cfg(test)]
mod tests;
