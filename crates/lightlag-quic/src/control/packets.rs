//! Windows that count single packets, of quinn and aioquic.

use super::{Control, Delivered};
use crate::aioquic::AioquicWindow;
use crate::config::Config;
use crate::details::Windows;
use crate::quinn::{PacketWindow, QuinnWindow};
use crate::rtt::Rtt;
use crate::sent::{SentFlags, SentPacket};
use lightlag_control::congestion::{Cause, Choice, Phase};
use lightlag_core::Instant;

/// Returns the window of quinn or aioquic, if the profile has one and the algorithm has no parameters of its own.
pub(super) fn packet_window(config: &Config, bytes: u64, datagram: u64) -> Option<Box<dyn PacketWindow>> {
    let choice = &config.congestion;
    let is_own = *choice == config.profile.config().congestion;
    let is_plain = is_own || choice.name().parse::<Choice>().is_ok_and(|plain| plain == *choice);
    let is_cubic = choice.name() == "cubic";
    if !is_plain || config.careful_resume.is_some() || !is_cubic && !matches!(choice.name(), "newreno" | "reno") {
        return None;
    }
    match config.details.windows {
        Windows::Product => None,
        Windows::Quinn => Some(Box::new(QuinnWindow::new(is_cubic, bytes, datagram))),
        Windows::Aioquic => Some(Box::new(AioquicWindow::new(is_cubic, bytes, datagram))),
    }
}

impl Control {
    /// Reports a packet that is acknowledged for the first time to a window that counts packets.
    #[inline]
    pub(crate) fn count_packet(&mut self, now: Instant, packet: &SentPacket, rtt: &Rtt) {
        if let Some(packets) = &mut self.packets
            && packet.flags.has(SentFlags::ELICITING)
        {
            packets.packet_acked(now, packet.time, packet.size.into(), self.is_limited, rtt.smoothed());
        }
    }

    /// Reacts to losses and marks with a window that has counted the packets.
    pub(super) fn acknowledged_by_packets(&mut self, now: Instant, delivered: &Delivered, ended: bool) {
        if ended {
            self.phase = Phase::Open;
        }
        if let (Some(packets), Some(rtt)) = (&mut self.packets, delivered.rtt) {
            packets.sampled(now, rtt);
        }
        let inflight = delivered.inflight;
        if let Some(last) = delivered.last_lost {
            self.react(now, last, Cause::Loss, delivered.persistent, inflight);
        }
        if delivered.marked > 0 {
            self.react(now, delivered.largest_sent, Cause::Mark, false, inflight);
        }
        self.copy_window();
    }

    /// Reports a loss or a mark of a packet sent at `sent` to a window that counts packets.
    pub(super) fn react(&mut self, now: Instant, sent: Instant, cause: Cause, persistent: bool, in_flight: u64) {
        if self.packets.as_mut().is_some_and(|packets| packets.congestion(now, sent, persistent, in_flight)) {
            (self.recovery_start, self.phase) = (Some(now), Phase::Recovery);
            match cause {
                Cause::Mark => self.mark_reactions += 1,
                _ => self.episodes += 1,
            }
        }
    }
}
