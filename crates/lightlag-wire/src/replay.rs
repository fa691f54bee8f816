//! Infers the behaviour of a sender from a capture, so that it can be replayed packet by packet.
//!
//! Data packets are numbered from 1 in the order of transmission, as a link counts them. A capture contains packets but
//! no drops, so losses are inferred:
//!
//! - If data is seen again, its previous copy was lost, unless a D-SACK reports that both copies arrived (RFC 2883), or
//!   the ACK follows the second copy in less than a round trip (the idea of RFC 3522).
//! - If sequence numbers are skipped and their data does not follow soon, it was lost before the capture. These packets
//!   are numbered at the time when the hole appears.
//! - In a capture at the receiver, every packet seen has arrived, so only holes are losses. Such a capture cannot show
//!   how often a retransmission was lost in transit.
//!
//! A packet longer than a full segment was segmented by the network card after the capture, and counts as these
//! segments. A loss at the end that was never repaired cannot be detected.
//!
//! When slow start fills the queue, hundreds of packets are lost, one in two, while the round-trip time is longest
//! (`overflow`). These losses are attributed to the queue and not to packet numbers, because another sender fills the
//! queue with other packets.
//!
//! Messages that an application exchanges before it starts to send (`opening`) are left out, because they show neither
//! the window nor the path.

mod opening;
mod overflow;
mod path;
#[cfg(test)]
mod tests;

use crate::analysis::{Cause, ConnectionReport, Observation, SegmentKind, Side, vantage};
use lightlag_core::Instant;
use path::Times;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

pub use crate::analysis::Vantage;
pub use path::Path;

/// The reasons why a connection cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// The handshake is missing, so options and the round-trip time are unknown.
    #[error("its {0} is not in the capture: start the capture before the connection")]
    NoHandshake(&'static str),
    /// The packets of the handshake were truncated, so options are unknown.
    #[error("the capture cuts the options of its {0}: record at least 128 bytes of each packet (tcpdump -s 128)")]
    CutHandshake(&'static str),
    /// The capture lacks the times of packets.
    #[error("the capture has packets without a time (simple packet blocks): record it with times")]
    NoTimes,
    /// Neither side sends data.
    #[error("neither side sends data on it")]
    NoData,
    /// The capture has packets of only one side.
    #[error("the capture holds only one direction of it: capture at a point that both directions pass")]
    OneDirection,
    /// More data is missing than a network would lose.
    #[error("{bytes} bytes in a row are missing from it: the capture has a gap; use a part without one")]
    Gap {
        /// Number of bytes that are missing in a row.
        bytes: i64,
    },
    /// The connection has too many packets to fit into memory.
    #[error("it has more than {MOST_TRANSMISSIONS} data packets: use a shorter part of the capture")]
    TooLong,
}

/// Maximum number of consecutive missing full segments that count as lost. If more are missing, they were not captured.
/// The limit is a window of 95 MB with segments of 1448 bytes.
const MOST_IN_A_HOLE: i64 = 65_536;

/// Maximum number of data packets of a connection; each needs 40 bytes of memory. A packet longer than a segment counts
/// as several, so even a small file can contain very many.
const MOST_TRANSMISSIONS: usize = if cfg!(test) { 1 << 17 } else { 1 << 24 };

/// One transmission of a data packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transmission {
    /// Time in the capture, or the time when its absence was detected.
    pub at: Instant,
    /// Offset of the first byte; data starts at 1.
    pub start: i64,
    /// Number of data bytes.
    pub len: u32,
    /// Whether its data was sent before.
    pub again: bool,
    /// Whether the packet was lost.
    pub lost: bool,
}

/// A period during which a sender recovered from losses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Episode {
    /// Time of the first retransmission, in seconds after the first data.
    pub begin_s: f64,
    /// Time until all data sent before the period was acknowledged, in seconds; null if the capture ends earlier.
    pub duration_s: Option<f64>,
    /// The cause of the first retransmission.
    pub cause: Cause,
    /// Bytes in flight when the period started.
    pub flight_bytes: u64,
    /// Number of retransmissions during the period.
    pub retransmissions: u64,
}

/// The behaviour of a sender on one connection.
#[derive(Clone, Debug, Serialize)]
pub struct Sending {
    /// Index of the connection.
    pub connection: u64,
    /// The side that sent the data.
    pub sender: Side,
    /// The capture point.
    pub vantage: Vantage,
    /// The path between the two ends.
    pub path: Path,
    /// Payload of a full segment in bytes.
    pub full_segment: u32,
    /// Bytes that the sender sent before the transfer, such as a cookie, a greeting or keys. They are not replayed.
    pub opening_bytes: u64,
    /// Bytes of data that the sender sent after the opening, as far as the capture shows.
    pub transfer_bytes: u64,
    /// Whether the sender closed its direction.
    pub complete: bool,
    /// Number of segments sent in the first round trip; null if the transfer ended within it.
    pub initial_window: Option<u64>,
    /// Maximum window that the receiver advertised, in bytes.
    pub receive_window: u64,
    /// First window that the receiver advertised, in bytes: from its SYN, or from a later segment if the SYN cannot
    /// contain it.
    pub first_receive_window: u64,
    /// Time from the SYN to the first data, in seconds.
    pub first_data_s: f64,
    /// Time from the first data to the ACK of the last data in seconds, or to the last data itself if that ACK is
    /// missing.
    pub duration_s: f64,
    /// Numbers of the lost data packets.
    pub lost: Vec<u64>,
    /// Numbers of the lost packets that a full queue dropped, if the capture shows that a queue overflowed.
    pub overflowed: Vec<u64>,
    /// Number of retransmitted data packets.
    pub retransmissions: u64,
    /// The periods of recovery.
    pub episodes: Vec<Episode>,
    /// All transmissions of data packets.
    #[serde(skip)]
    pub transmissions: Vec<Transmission>,
    /// Each advance of the cumulative ACK: its time in the capture, and the acknowledged offset.
    #[serde(skip)]
    pub acks: Vec<(Instant, i64)>,
}

impl Sending {
    /// Infers the behaviour of the sender of a connection, which is the side with more data. `rows` has all packets of
    /// the connection in capture order, and `connection` is the report on it.
    ///
    /// # Errors
    /// If the capture lacks data that a replay needs.
    pub fn infer(rows: &[Observation], connection: &ConnectionReport) -> Result<Self, ReplayError> {
        let (forward, backward) = (&connection.forward, &connection.backward);
        if forward.counts.packets == 0 || backward.counts.packets == 0 {
            return Err(ReplayError::OneDirection);
        }
        let client_sends = forward.counts.unique_bytes >= backward.counts.unique_bytes;
        let (sender, own) = if client_sends { (Side::Client, forward) } else { (Side::Server, backward) };
        if own.counts.unique_bytes == 0 {
            return Err(ReplayError::NoData);
        }
        for (direction, name) in [(forward, "SYN"), (backward, "SYN-ACK")] {
            if direction.handshake.is_none() {
                let is_cut = direction.counts.cut_headers > 0;
                return Err(if is_cut { ReplayError::CutHandshake(name) } else { ReplayError::NoHandshake(name) });
            }
        }
        if !connection.has_times {
            return Err(ReplayError::NoTimes);
        }
        let full_segment = path::full_segment(connection);
        let base_rtt = vantage::from(forward, backward, connection.initial_rtt_s).min_rtt_s.unwrap_or(0.0);
        let vantage = connection.vantage.unwrap_or(Vantage::Sender);
        let opening = opening::len(rows, sender, full_segment, base_rtt);
        let mut walk = ReplayWalk::new(full_segment, vantage, base_rtt);
        for row in rows {
            if row.side == sender {
                let start = row.start - opening;
                if start + i64::from(row.len) > 1 || row.len == 0 {
                    walk.sent(&Observation { start, ..*row })?;
                }
            } else {
                let twice = row.twice.map(|(from, to)| (from - opening, to - opening));
                walk.answered(&Observation { ack: row.ack.map(|ack| ack - opening), twice, ..*row });
            }
        }
        if walk.transmissions.is_empty() {
            // All data lies before the first numbers of the connection.
            return Err(ReplayError::NoData);
        }
        let times = Times { delivered: &walk.delivered, repairs: &mut walk.repairs };
        let path = Path::infer(connection, sender, vantage, base_rtt, full_segment, times);
        Ok(Self { opening_bytes: opening as u64, ..walk.finish(connection, rows, sender, path) })
    }
}

/// The state while the packets of a connection are processed in order.
struct ReplayWalk {
    full_segment: u32,
    vantage: Vantage,
    base_rtt: f64,
    transmissions: Vec<Transmission>,
    /// The latest transmission of each interval of data: by start offset, the end offset and the index of the
    /// transmission.
    latest: BTreeMap<i64, (i64, usize)>,
    /// Lost transmissions, each with the index of the retransmission that revealed the loss.
    lost: Vec<(usize, usize)>,
    /// Retransmissions that are not acknowledged yet, as end offset and index.
    unproven: BTreeSet<(i64, usize)>,
    highest: i64,
    acked: i64,
    acks: Vec<(Instant, i64)>,
    /// Total bytes that had arrived by each time.
    delivered: Vec<(Instant, u64)>,
    /// Round-trip times in seconds, each with the time when the packet was at the queue, or a constant time later.
    round_trips: Vec<(Instant, f64)>,
    /// Times from a hole to its repair in seconds, which are round-trip times.
    repairs: Vec<f64>,
    arrived: u64,
    episodes: Vec<Episode>,
    /// Offset where the current period of recovery ends.
    recovery_point: Option<i64>,
    complete: bool,
    last_data: Option<Instant>,
    first_data: Option<Instant>,
}

impl ReplayWalk {
    fn new(full_segment: u32, vantage: Vantage, base_rtt: f64) -> Self {
        Self {
            full_segment,
            vantage,
            base_rtt,
            transmissions: Vec::new(),
            latest: BTreeMap::new(),
            lost: Vec::new(),
            unproven: BTreeSet::new(),
            highest: 1,
            acked: 1,
            acks: Vec::new(),
            delivered: Vec::new(),
            round_trips: Vec::new(),
            repairs: Vec::new(),
            arrived: 0,
            episodes: Vec::new(),
            recovery_point: None,
            complete: false,
            last_data: None,
            first_data: None,
        }
    }

    /// Processes a packet of the sender.
    fn sent(&mut self, row: &Observation) -> Result<(), ReplayError> {
        self.complete |= row.flags.has(lightlag_tcp::segment::Flags::FIN);
        if row.len == 0 || matches!(row.kind, SegmentKind::KeepAlive) {
            return Ok(());
        }
        self.first_data.get_or_insert(row.at);
        self.last_data = Some(row.at);
        if self.vantage == Vantage::Receiver {
            self.arrived += u64::from(row.unique);
            self.delivered.push((row.at, self.arrived));
            // The packet left the queue just before it came here, as did the one after a hole.
            self.round_trips.extend(row.rtt.map(|rtt| (row.at, rtt.as_secs_f64())));
        }
        if row.kind == SegmentKind::OutOfOrder {
            self.overtaken(row);
            if row.start + i64::from(row.len) <= self.highest {
                return Ok(());
            }
            // Only a FIN arrived before it.
        }
        if row.start > self.highest {
            self.hole(row.at, row.start)?;
        }
        let again = matches!(row.kind, SegmentKind::Retransmission(_));
        if let SegmentKind::Retransmission(cause) = row.kind {
            self.filled(row);
            self.episode(row, cause);
        }
        let end = row.start + i64::from(row.len);
        if self.transmissions.len() + (row.len / self.full_segment) as usize > MOST_TRANSMISSIONS {
            return Err(ReplayError::TooLong);
        }
        let mut from = if row.kind == SegmentKind::OutOfOrder { self.highest.max(row.start) } else { row.start };
        while from < end {
            let to = (from + i64::from(self.full_segment)).min(end);
            self.transmit(row.at, from, to, again);
            from = to;
        }
        self.highest = self.highest.max(end);
        Ok(())
    }

    /// Records a round-trip time in a capture at the receiver: the first repair of a period arrives a round trip after
    /// its hole appeared.
    fn filled(&mut self, row: &Observation) {
        if self.vantage != Vantage::Receiver || self.recovery_point.is_some() {
            return;
        }
        let holes = self.overlapping(row.start, row.start + i64::from(row.len));
        if let Some(hole) = holes.into_iter().map(|index| self.transmissions[index]).find(|hole| hole.lost) {
            let rtt = row.at.since(hole.at).as_secs_f64();
            self.repairs.push(rtt);
            self.round_trips.push((hole.at, rtt));
        }
    }

    /// Marks data as not lost that was only overtaken by later data before the capture.
    fn overtaken(&mut self, row: &Observation) {
        let end = row.start + i64::from(row.len);
        let over: Vec<usize> = self.overlapping(row.start, end);
        for index in over {
            self.transmissions[index].lost = false;
        }
    }

    /// Records that the data below `start` was lost before the capture.
    fn hole(&mut self, time: Instant, start: i64) -> Result<(), ReplayError> {
        let bytes = start - self.highest;
        if bytes > MOST_IN_A_HOLE * i64::from(self.full_segment) {
            return Err(ReplayError::Gap { bytes });
        }
        let mut from = self.highest;
        while from < start {
            let to = (from + i64::from(self.full_segment)).min(start);
            self.transmissions.push(Transmission {
                at: time,
                start: from,
                len: (to - from) as u32,
                again: false,
                lost: true,
            });
            self.latest.insert(from, (to, self.transmissions.len() - 1));
            from = to;
        }
        self.highest = start;
        Ok(())
    }

    fn transmit(&mut self, time: Instant, from: i64, to: i64, again: bool) {
        let index = self.transmissions.len();
        if again && self.vantage != Vantage::Receiver {
            for before in self.overlapping(from, to) {
                self.transmissions[before].lost = true;
                self.lost.push((before, index));
            }
            self.unproven.insert((to, index));
        }
        self.transmissions.push(Transmission { at: time, start: from, len: (to - from) as u32, again, lost: false });
        while let Some((inside, (end, before))) =
            self.latest.range(from + 1..to).next().map(|(at, entry)| (*at, *entry))
        {
            self.latest.remove(&inside);
            if end > to {
                self.latest.insert(to, (end, before));
            }
        }
        self.latest.insert(from, (to, index));
    }

    /// Returns the indices of the latest transmissions of the data from `from` to `to`.
    fn overlapping(&self, from: i64, to: i64) -> Vec<usize> {
        let first = self.latest.range(..=from).next_back().filter(|(_, (end, _))| *end > from);
        let first = first.map_or(from, |(start, _)| *start);
        self.latest.range(first..to).map(|(_, (_, index))| *index).collect()
    }

    /// Marks the transmissions as not lost whose loss the retransmission `index` had suggested.
    fn take_back(&mut self, index: usize) {
        for (before, _) in self.lost.extract_if(.., |(_, copy)| *copy == index) {
            self.transmissions[before].lost = false;
        }
    }

    /// Processes a packet of the receiver.
    fn answered(&mut self, row: &Observation) {
        if let Some((from, to)) = row.twice {
            let copy = self.lost.iter().rev().map(|(_, copy)| *copy).find(|copy| {
                let sent = &self.transmissions[*copy];
                sent.start < to && from < sent.start + i64::from(sent.len)
            });
            copy.into_iter().for_each(|copy| self.take_back(copy));
        }
        let Some(ack) = row.ack else { return };
        if self.vantage != Vantage::Receiver
            && let Some(rtt) = row.rtt
        {
            let sent = Instant::from_nanos(row.at.as_nanos().saturating_sub(rtt.as_nanos()));
            self.round_trips.push((sent, rtt.as_secs_f64()));
        }
        if self.vantage != Vantage::Receiver && self.first_data.is_some() {
            let arrived = ((self.highest - 1) as u64).saturating_sub(row.other_in_flight);
            if arrived > self.arrived {
                self.arrived = arrived;
                self.delivered.push((row.at, arrived));
            }
        }
        if ack <= self.acked {
            return;
        }
        self.acked = ack;
        self.acks.push((row.at, ack));
        while let Some((end, index)) = self.unproven.first().copied().filter(|(end, _)| *end <= ack) {
            self.unproven.remove(&(end, index));
            // The ACK arrived sooner than the second copy can have arrived and been answered: the first copy arrived.
            let waited = row.at.since(self.transmissions[index].at).as_secs_f64();
            if self.vantage == Vantage::Sender && waited < 0.9 * self.base_rtt {
                self.take_back(index);
            }
        }
        if self.recovery_point.is_some_and(|point| ack >= point) {
            self.recovery_point = None;
            let first = self.first_data.unwrap_or(row.at);
            if let Some(episode) = self.episodes.last_mut() {
                episode.duration_s = Some(row.at.since(first).as_secs_f64() - episode.begin_s);
            }
        }
    }

    /// Adds a retransmission to the current period of recovery, or starts a new one. A new period starts if the cause
    /// differs from the cause of the current period and either is a timeout or follows a tail loss probe.
    fn episode(&mut self, row: &Observation, cause: Cause) {
        let running = self.recovery_point.and(self.episodes.last_mut());
        let begin_s = row.at.since(self.first_data.unwrap_or(row.at)).as_secs_f64();
        let other = running.as_ref().is_none_or(|running| {
            running.cause != cause && (cause == Cause::Timeout || running.cause == Cause::TailProbe)
        });
        if other {
            if let Some(running) = running {
                running.duration_s = Some(begin_s - running.begin_s);
            }
            let flight = row.in_flight;
            self.episodes.push(Episode { begin_s, duration_s: None, cause, flight_bytes: flight, retransmissions: 0 });
            self.recovery_point = Some(self.highest);
        }
        if let Some(episode) = self.episodes.last_mut() {
            episode.retransmissions += 1;
        }
    }

    fn finish(mut self, connection: &ConnectionReport, rows: &[Observation], sender: Side, path: Path) -> Sending {
        let seconds = |from: Instant, to: Instant| to.since(from).as_secs_f64();
        let first_data = self.first_data.unwrap_or(Instant::ZERO);
        let syn = rows.first().map_or(first_data, |row| row.at);
        let end = self.acks.iter().find(|(_, ack)| *ack >= self.highest).map(|(at, _)| *at);
        let end = end.filter(|_| self.vantage != Vantage::Receiver).or(self.last_data).unwrap_or(first_data);
        let within = |sent: &&Transmission| seconds(first_data, sent.at) < 0.95 * path.base_rtt_s;
        let first_round: u64 = self.transmissions.iter().take_while(within).map(|sent| u64::from(sent.len)).sum();
        let transfer_bytes = (self.highest - 1) as u64;
        let is_syn = |row: &&Observation| row.flags.has(lightlag_tcp::segment::Flags::SYN);
        let answers = || rows.iter().filter(|row| row.side != sender);
        // A SYN cannot show more than 65,535 bytes, as its window is not scaled.
        let is_whole = |row: &&Observation| !is_syn(row) || row.window.is_some_and(|window| window < u16::MAX.into());
        let first_window = answers().filter(is_whole).chain(answers()).find_map(|row| row.window);
        self.round_trips.sort_by_key(|(at, _)| *at);
        let overflowed = overflow::numbers(&self.transmissions, &self.round_trips, &path);
        let lost = self.transmissions.iter().enumerate().filter(|(_, sent)| sent.lost);
        Sending {
            connection: connection.number,
            sender,
            vantage: self.vantage,
            path,
            full_segment: self.full_segment,
            opening_bytes: 0,
            transfer_bytes,
            complete: self.complete,
            initial_window: (first_round < transfer_bytes)
                .then(|| first_round.div_ceil(u64::from(self.full_segment)).max(1)),
            receive_window: answers().filter_map(|row| row.window).max().unwrap_or(0),
            first_receive_window: first_window.unwrap_or(0),
            first_data_s: seconds(syn, first_data),
            duration_s: seconds(first_data, end),
            lost: lost.map(|(index, _)| index as u64 + 1).collect(),
            overflowed,
            retransmissions: self.transmissions.iter().filter(|sent| sent.again).count() as u64,
            episodes: self.episodes,
            transmissions: self.transmissions,
            acks: self.acks,
        }
    }
}
