//! Windows of quinn and aioquic, which count single packets, and of picoquic, which handle complete acknowledgements.

use super::{Control, Delivered};
use crate::aioquic::AioquicWindow;
use crate::config::Config;
use crate::details::Windows;
use crate::packet_window::{PacketWindow, Report};
use crate::picoquic::{PicoquicWindow, Seed};
use crate::quinn::QuinnWindow;
use crate::rtt::Rtt;
use crate::sent::{SentFlags, SentPacket};
use lightlag_control::congestion::careful_resume::ResumeRule;
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_control::congestion::{Cause, Phase};
use lightlag_core::Instant;

/// Returns the window of quinn, aioquic or picoquic, if the profile has one, the algorithm has its default parameters,
/// and all losses are congestion.
pub(super) fn packet_window(config: &Config, bytes: u64, datagram: u64) -> Option<Box<dyn PacketWindow>> {
    let is_cubic = config.congestion.name() == "cubic";
    let is_resumed = config.careful_resume.is_some_and(|saved| saved.rule == ResumeRule::Rfc9959);
    if !config.has_plain_window() || config.loss_assumption != LossAssumption::Congestion || is_resumed {
        return None;
    }
    match config.details.windows {
        Windows::Product => None,
        Windows::Quinn => Some(Box::new(QuinnWindow::new(is_cubic, bytes, datagram))),
        Windows::Aioquic => Some(Box::new(AioquicWindow::new(is_cubic, bytes, datagram))),
        Windows::Picoquic => Some(Box::new(PicoquicWindow::new(is_cubic, bytes, datagram).with_seed(Seed::of(config)))),
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

    /// Reports a packet in flight that is acknowledged for the first time to a window that counts packets, whether it
    /// elicits acknowledgements or not.
    pub(crate) fn packet_counted(&mut self, now: Instant, packet: &SentPacket, rtt: &Rtt) {
        if let Some(packets) = &mut self.packets {
            packets.packet_acked(now, packet.time, packet.size.into(), self.is_limited, rtt.smoothed());
        }
        self.copy_window();
    }

    /// Reports that packets were lost, the last of them sent at `sent`, with `in_flight` bytes still in flight.
    pub(crate) fn lost_at(&mut self, now: Instant, sent: Instant, cause: Cause, in_flight: u64) {
        self.react(now, sent, cause, false, in_flight);
        self.copy_window();
    }

    /// Reports the round-trip sample of an acknowledgement, in seconds, to a window that has counted its packets.
    pub(crate) fn sampled(&mut self, now: f64, rtt: f64) {
        if let Some(packets) = &mut self.packets {
            packets.sampled(now, rtt);
        }
        self.copy_window();
    }

    /// Reports that an acknowledgement covers packets that had been found lost; `newest`: transmission time of the packet
    /// sent last among its packets.
    #[cold]
    pub(crate) fn packets_spurious(&mut self, now: Instant, newest: Instant, rtt: &Rtt) {
        let Some(packets) = &mut self.packets else { return };
        self.undone += u64::from(packets.packet_spurious(now, newest, rtt.smoothed()));
        self.copy_window();
    }

    /// Returns true if a window that counts packets decides.
    pub(crate) fn counts_packets(&self) -> bool {
        self.packets.is_some()
    }

    /// Reacts to losses and marks with a window that has counted the packets.
    pub(super) fn acknowledged_by_packets(&mut self, now: Instant, delivered: &Delivered, ended: bool, rtt: &Rtt) {
        if ended {
            self.phase = Phase::Open;
        }
        let report = Report {
            acked: delivered.bytes,
            sent: delivered.largest_sent,
            rtt: delivered.rtt,
            is_marked: delivered.marked > 0,
            is_persistent: delivered.persistent,
            is_blocked: !self.permits(delivered.prior_inflight) && self.departure <= now,
            ..self.report_of_losses(now, rtt)
        };
        if self.takes_report(&report) {
            return self.copy_window();
        }
        if let (Some(packets), Some(rtt)) = (&mut self.packets, delivered.rtt) {
            packets.sampled(now.as_secs_f64(), rtt.as_secs_f64());
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

    /// Returns the time when pacing permits a full datagram; `now` or earlier: immediately. The bucket is not updated:
    /// it is filled at the rate and up to the size that apply when the next packet is sent.
    #[cold]
    pub(super) fn next_departure(&self, now: Instant, rtt: &Rtt) -> Instant {
        let mut bucket = self.bucket;
        self.pace(rtt).map_or(now, |pace| bucket.departure(now, self.datagram, &pace))
    }

    /// Returns a report without an acknowledgement.
    pub(super) fn report_of_losses(&self, now: Instant, rtt: &Rtt) -> Report {
        Report {
            now,
            acked: 0,
            sent: Instant::ZERO,
            rtt: None,
            srtt: rtt.smoothed(),
            min_rtt: rtt.min(),
            is_marked: false,
            is_persistent: false,
            is_blocked: false,
            limited: self.limited_at,
        }
    }

    /// Passes a report to a window that handles complete reports. Returns false if there is none.
    pub(super) fn takes_report(&mut self, report: &Report) -> bool {
        let Some(is_reduced) = self.packets.as_mut().and_then(|packets| packets.report(report)) else { return false };
        if is_reduced {
            (self.recovery_start, self.phase) = (Some(report.now), Phase::Recovery);
            self.episodes += 1;
        }
        true
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
