//! The departure time of the next segment, if it does not follow from the window alone.
//!
//! An algorithm that paces has its own rate. With `pacing` any other one gets twice cwnd/SRTT in slow start, so that
//! the window can double, and 1.2 times that afterwards, so that it can be used (the factors of Linux).
//!
//! A sender that makes bursts like Linux (`tso`) also paces them like Linux (`net/ipv4/tcp_output.c`:
//! `tcp_update_skb_after_send`, described in our own words): not before the tenth segment, and a burst that leaves late
//! brings the next one forward, by at most half of its duration.

use super::Sender;
use crate::config::Config;
use crate::scoreboard::Chunk;
use lightlag_core::{Duration, Instant};

const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;

/// Segments that leave before pacing starts, if the sender makes bursts; the burst of the last one is paced (Linux).
const UNPACED: u64 = 10;

impl Sender {
    /// Schedules the next segment after this one, by the pacing rate.
    #[inline(never)]
    pub(super) fn pace(&mut self, now: Instant, chunk: Chunk, again: bool, config: &Config) {
        if self.needs.bursts {
            return self.count_in_burst(now, chunk.len);
        }
        let bytes = match again {
            true => self.special.used_extra().and_then(|extra| extra.paced_repair.take()).unwrap_or(chunk.len.into()),
            false if config.tso => self.begun_burst(chunk),
            false => u64::from(chunk.len),
        };
        if bytes == 0 {
            return;
        }
        let Some(congestion) = &self.congestion else { return };
        let rate = congestion.departures().and_then(|departures| departures.pacing_rate());
        let time = match rate {
            Some(rate) => rate.time_to_send(lightlag_core::Bytes(bytes)),
            None if config.pacing && !self.rtt.srtt().is_zero() => {
                let gain = if self.cwnd < congestion.ssthresh() { SLOW_START } else { AVOIDANCE };
                let share = bytes as f64 / (gain * self.window() as f64);
                Duration::from_secs_f64(self.rtt.srtt().as_secs_f64() * share)
            }
            None => return,
        };
        if config.tso {
            let sent = self.board.nxt().max(self.burst_end());
            let paced = sent >= UNPACED * u64::from(self.segment_size);
            self.special.pacer_mut().sent_burst(now, if paced { time } else { Duration::ZERO });
        } else {
            self.special.pacer_mut().sent(now, time);
        }
    }

    /// Bytes of the burst that starts with this new data; none if it started before.
    fn begun_burst(&self, chunk: Chunk) -> u64 {
        if chunk.start == self.burst_start {
            self.burst_len.max(chunk.len).into()
        } else if (self.burst_start..self.burst_end()).contains(&chunk.start) {
            0
        } else {
            chunk.len.into()
        }
    }
}
