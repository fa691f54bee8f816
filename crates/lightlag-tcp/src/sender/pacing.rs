//! Pacing: the time when the next segment is sent, if the window alone does not determine it.
//!
//! An algorithm that paces sets the rate itself. With the option `pacing`, the rate for any other algorithm is 2 ×
//! cwnd/SRTT in slow start, so that the window can double, and 1.2 × cwnd/SRTT afterwards, so that the window can be
//! used completely (the factors of Linux).
//!
//! A sender that sends bursts like Linux (`tso`) also paces them like Linux (`net/ipv4/tcp_output.c`:
//! `tcp_update_skb_after_send`, described in our own words): pacing starts with the tenth segment, and if a burst is
//! sent late, the next one is sent earlier, by at most half of the pacing delay.

use super::Sender;
use crate::config::Config;
use crate::scoreboard::Chunk;
use lightlag_core::{Duration, Instant};

const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;

/// Number of segments that a sender with bursts sends without pacing; the burst that contains the last of them is paced
/// (Linux).
const UNPACED: u64 = 10;

impl Sender {
    /// Delays the segment after `chunk` according to the pacing rate.
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

    /// Returns the size in bytes of the burst that starts with this new data; 0 if the burst started before.
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
