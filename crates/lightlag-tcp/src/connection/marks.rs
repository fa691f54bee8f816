//! Congestion marks at the connection's edge: whose they are, and what they ask for.

use super::Connection;
use crate::config::Config;
use crate::ecn::{Codepoint, Ecn, Marks, Mode, Urgency};
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

#[cfg(test)]
mod tests;

impl Connection {
    /// What an end with this configuration needs for ECN; nothing if that is off.
    pub(super) fn ecn_of(config: &Config) -> Option<Box<Ecn>> {
        (config.ecn != Mode::Off)
            .then(|| Box::new(Ecn::new(config.ecn, config.ect, config.congestion.needs(false).exact_marks)))
    }

    /// A segment arrived in a packet with this ECN field.
    pub fn handle_packet(&mut self, now: Instant, segment: &Segment, codepoint: Codepoint) {
        if let Some(ecn) = &mut self.ecn {
            ecn.arrives(codepoint);
        }
        self.handle_segment(now, segment);
    }

    /// The ECN field of the packet that carries the segment which [`Self::poll_segment`] gave last: ECT on new data;
    /// not on pure ACKs, retransmissions and probes (RFC 3168 §6.1.4 to 6.1.6), unless the congestion control wants
    /// all packets to be markable (RFC 8257).
    pub fn codepoint(&self) -> Codepoint {
        self.ecn.as_ref().map_or(Codepoint::NotEct, |ecn| ecn.leaving())
    }

    /// The peer's SYN says whether it knows ECN; its SYN-ACK, which form.
    pub(super) fn agree_on_ecn(&mut self, flags: Flags) {
        let Some(ecn) = &mut self.ecn else { return };
        let agreed = if flags.has(Flags::ACK) { ecn.take_answer(flags) } else { ecn.take_syn(flags) };
        if !agreed {
            self.ecn = None;
        }
    }

    /// An acceptable segment arrived, whose data was not taken yet.
    #[inline(never)]
    pub(super) fn take_mark(&mut self, segment: &Segment) {
        let Some(ecn) = &mut self.ecn else { return };
        let delayed = self.receiver.deadline() != Instant::MAX;
        if ecn.received(segment.flags, segment.len, self.receiver.nxt(), delayed) == Urgency::Now {
            self.receiver.acknowledge_now();
        }
    }

    /// What an ACK up to `ack` echoes. A reordered one is not `newer`: its counter is of the past.
    #[inline(never)]
    pub(super) fn take_echo(&mut self, segment: &Segment, ack: u64) -> (bool, Marks) {
        let newer = ack > self.sender.board().una() || !segment.sack().is_empty();
        self.ecn.as_mut().map_or((false, Marks::None), |ecn| ecn.echoed(segment.flags, newer))
    }

    /// The ACK of what came before a change of marks, if one is due (RFC 8257 §3.2).
    #[inline(never)]
    pub(super) fn prior_ack(&mut self, now: Instant) -> Option<Segment> {
        let (nxt, echo) = self.ecn.as_mut()?.take_prior()?;
        self.account.statistics.acks_sent += 1;
        let (seq, ack) = (self.local.plus(self.sender.board().nxt() as u32), self.remote.plus(nxt as u32));
        let flags = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        Some(self.stamp(now, Segment::new(seq, ack, self.receiver.window_from(nxt), flags)))
    }
}
