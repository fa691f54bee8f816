//! Discovery of the path MTU by probes of PING and PADDING (RFC 8899, RFC 9000 §14.3).
//!
//! A probe that is acknowledged raises the size of datagrams. One that is lost is repeated up to [`MAX_PROBES`] times,
//! and does not count as congestion. The search starts again after the raise timer. Losses of nothing but large
//! packets, without an acknowledgement of one between, show a black hole: the size returns to the base.

use super::Connection;
use super::permit::Permit;
use crate::arena::Arena;
use crate::config::MtuSearch;
use crate::contents::{Part, TAG};
use crate::frame::Frame;
use crate::kind::{Kind, SpaceId};
use crate::number::encoded_len;
use crate::packet::Packet;
use lightlag_core::Instant;

/// Number of probes of one size (MAX_PROBES of RFC 8899 §5.1.2).
pub const MAX_PROBES: u8 = 3;

/// Number of loss events that show a black hole (from memory: quinn).
const BLACK_HOLE: u8 = 3;

/// State of the discovery.
#[derive(Debug)]
pub(super) struct Mtu {
    /// Largest size that may work.
    high: u16,
    /// Size that is being probed; `None` if the search is complete.
    size: Option<u16>,
    is_due: bool,
    /// Probes of this size that were lost.
    lost: u8,
    /// Time when the search starts again.
    pub(super) raise_at: Instant,
    /// Whether packets above the base size, and others, were lost in the current event; events with only the former.
    lost_large: bool,
    lost_small: bool,
    events: u8,
}

impl Connection {
    /// Returns the UDP payload of a full datagram in bytes.
    #[inline(always)]
    pub fn datagram_size(&self) -> u16 {
        self.datagram
    }

    /// Returns true while the search for the path MTU looks for a larger datagram.
    pub fn searches_mtu(&self) -> bool {
        self.mtu.as_ref().is_some_and(|mtu| mtu.size.is_some())
    }

    fn set_datagram(&mut self, size: u16) {
        self.datagram = size;
        self.control.set_datagram(size.into());
    }

    /// Starts the search, or starts it again on another path.
    pub(super) fn start_mtu(&mut self) {
        let Some(rules) = self.config.mtu else { return };
        self.set_datagram(self.config.datagram);
        self.mtu = Some(Box::new(Mtu {
            high: rules.max,
            size: None,
            is_due: false,
            lost: 0,
            raise_at: Instant::MAX,
            lost_large: false,
            lost_small: false,
            events: 0,
        }));
        let low = self.datagram;
        self.search_mtu(Instant::MAX, low);
    }

    /// Chooses the next size to probe after `last`, or completes the search until `raise_at`.
    fn search_mtu(&mut self, raise_at: Instant, last: u16) {
        let (Some(mtu), Some(rules)) = (&mut self.mtu, self.config.mtu) else { return };
        let (low, high) = (self.datagram, mtu.high);
        let size = match rules.search {
            _ if high <= low => None,
            MtuSearch::Binary(min) => {
                let middle = low + (high - low) / 2;
                if middle.abs_diff(last) >= min {
                    Some(middle)
                } else {
                    Some(high).filter(|_| high.saturating_sub(last) >= min)
                }
            }
            MtuSearch::Step(step) => Some(low.saturating_add(step).min(high)),
        };
        (mtu.size, mtu.is_due, mtu.lost) = (size, size.is_some(), 0);
        mtu.raise_at = if size.is_some() { Instant::MAX } else { raise_at };
        self.rare_timer = self.rare_timer.min(mtu.raise_at);
        self.is_extra_due |= size.is_some();
    }

    #[inline(always)]
    pub(super) fn mtu_is_due(&self) -> bool {
        self.mtu.as_ref().is_some_and(|mtu| mtu.is_due)
    }

    /// Returns a probe if one is due and may be sent.
    #[cold]
    pub(super) fn poll_mtu(&mut self, now: Instant, arena: &mut Arena) -> Option<Packet> {
        let size = self.mtu.as_ref().filter(|mtu| mtu.is_due)?.size?;
        if !self.is_plain_path() || self.permit(now) != Permit::Granted {
            return None;
        }
        let sent = &self.spaces[SpaceId::Application as usize].sent;
        if self.next_skip == Some(sent.next()) {
            return None;
        }
        let (number, number_len) = (sent.next(), encoded_len(sent.next(), sent.largest_acked()));
        let header = self.header_lengths(Kind::OneRtt).header(Kind::OneRtt, number_len);
        let mut contents = arena.scratch();
        contents.clear();
        contents.frames.extend([Frame::Ping, Frame::Padding((u64::from(size) - header - TAG - 1) as u16)]);
        let (spin, key_phase) = (self.spin, self.next_key_phase(Kind::OneRtt, number));
        contents.parts.push(Part { number, number_len, size, spin, key_phase, frames: 2, ..Part::default() });
        let packet = self.dispatch(now, arena, &mut contents);
        arena.put_back(contents);
        self.spaces[SpaceId::Application as usize].sent.mark_probe();
        if let Some(mtu) = &mut self.mtu {
            mtu.is_due = false;
        }
        Some(packet)
    }

    fn is_plain_path(&self) -> bool {
        self.is_confirmed && self.handshake.is_validated
    }

    /// Notes that a probe of `size` bytes was acknowledged.
    #[cold]
    pub(super) fn mtu_acked(&mut self, now: Instant, size: u16) {
        let Some(rules) = self.config.mtu else { return };
        if self.mtu.as_ref().is_some_and(|mtu| mtu.size == Some(size)) {
            self.set_datagram(size);
            self.counters.mtu_changes += 1;
            self.search_mtu(now + rules.raise, size);
        }
    }

    /// Notes that a probe of `size` bytes was lost.
    #[cold]
    pub(super) fn mtu_lost(&mut self, now: Instant, size: u16) {
        let (Some(mtu), Some(rules)) = (&mut self.mtu, self.config.mtu) else { return };
        if mtu.size != Some(size) {
            return;
        }
        mtu.lost += 1;
        mtu.is_due = mtu.lost < MAX_PROBES;
        self.is_extra_due = true;
        if !mtu.is_due {
            mtu.high = match rules.search {
                MtuSearch::Binary(_) => size - 1,
                MtuSearch::Step(_) => self.datagram,
            };
            self.search_mtu(now + rules.raise, size);
        }
    }

    /// Notes a lost packet of data.
    #[inline]
    pub(super) fn mtu_suspect(&mut self, size: u16) {
        if let Some(mtu) = &mut self.mtu {
            let is_large = size > self.config.datagram;
            (mtu.lost_large, mtu.lost_small) = (mtu.lost_large | is_large, mtu.lost_small | !is_large);
        }
    }

    /// Notes that a packet of `size` bytes has passed.
    #[inline(always)]
    pub(super) fn mtu_passed(&mut self, size: u16) {
        if let Some(mtu) = &mut self.mtu
            && size > self.config.datagram
        {
            mtu.events = 0;
        }
    }

    /// Ends an event of losses.
    #[inline]
    pub(super) fn mtu_judge(&mut self, now: Instant) {
        let Some(mtu) = &mut self.mtu else { return };
        let (large, small) = (std::mem::take(&mut mtu.lost_large), std::mem::take(&mut mtu.lost_small));
        if !large || small {
            return;
        }
        mtu.events += 1;
        if let Some(pause) = self.config.mtu.and_then(|rules| rules.black_hole)
            && mtu.events >= BLACK_HOLE
        {
            (mtu.events, mtu.size, mtu.is_due, mtu.raise_at) = (0, None, false, now + pause);
            self.rare_timer = self.rare_timer.min(now + pause);
            self.counters.black_holes += 1;
            self.set_datagram(self.config.datagram);
        }
    }

    /// Starts the search again after the raise timer.
    pub(super) fn mtu_timer_fired(&mut self) {
        if let (Some(mtu), Some(rules)) = (&mut self.mtu, self.config.mtu) {
            mtu.high = rules.max;
            let low = self.datagram;
            self.search_mtu(self.now + rules.raise, low);
        }
    }
}
