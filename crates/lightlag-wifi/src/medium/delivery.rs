//! Delivery of frames from their sender to all receivers in range, and of the packets in them to their destinations.

use super::access::{Access, State};
use super::aggregate::Mpdu;
use super::frame::{Aired, Frame, FrameKind, OnAir, Peer};
use super::hearing::{Hearing, ReceptionEnd, Sent};
use super::record::FrameReception;
use super::station::StationState;
use super::{AHEAD, CACHED, PHY_HEADER, Wifi};
use crate::class::Class;
use crate::phy::timing::{ACK_SIZE, CCA_TIME};
use crate::phy::{BasicRates, PhyMode, Timing};
use crate::propagation::decibels::decibels;
use lightlag_core::random::mix;
use lightlag_core::{Bytes, Duration, Instant, prefetch};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};

/// A frame that is about to be sent.
pub(super) struct Outgoing<P> {
    pub(super) to: Addressee,
    pub(super) kind: FrameKind,
    pub(super) mode: PhyMode,
    pub(super) size: u32,
    pub(super) reserves: Duration,
    /// ID of the exchange if the frame is a reply.
    pub(super) answers: Option<u64>,
    /// Signal-to-noise ratio with which the frame that it replies to was received.
    pub(super) answered: Option<f64>,
    pub(super) packet: u64,
    pub(super) sequence: u64,
    pub(super) is_retry: bool,
    pub(super) bitmap: u64,
    pub(super) payload: Option<P>,
    pub(super) mpdus: Vec<Mpdu<P>>,
    pub(super) class: usize,
}

impl<P> Outgoing<P> {
    /// Creates a control frame, which carries no packet.
    pub(super) fn control(to: Addressee, kind: FrameKind, mode: PhyMode, size: u32, reserves: Duration) -> Self {
        Self {
            to,
            kind,
            mode,
            size,
            reserves,
            answers: None,
            answered: None,
            packet: 0,
            sequence: 0,
            is_retry: false,
            bitmap: 0,
            payload: None,
            mpdus: Vec::new(),
            class: 0,
        }
    }
}

impl<P: Clone> Wifi<P> {
    /// Sends a frame from a station. Returns its end at the sender.
    pub(super) fn send(&mut self, station_id: StationId, start: Instant, outgoing: Outgoing<P>) -> Instant {
        let Outgoing { to, kind, mode, size, reserves, answers, .. } = outgoing;
        let Outgoing { packet, sequence, is_retry, bitmap, payload, mpdus, class, answered, .. } = outgoing;
        let airtime = mode.duration(Bytes(size.into()));
        let end = start + airtime;
        let largest = mpdus.iter().map(|mpdu| mpdu.bytes).max();
        let sent = self.sent(mode, size, largest);
        let state = &mut self.stations[station_id.index()];
        state.sent += 1;
        let number = state.sent;
        let exchange = answers.unwrap_or(u64::from(station_id.0) << 40 | number);
        match (kind, to) {
            (FrameKind::Data, Addressee::One(_)) => state.counters.unicast_airtime += airtime,
            (FrameKind::Data, Addressee::All) => state.counters.broadcast_airtime += airtime,
            _ => state.counters.control_airtime += airtime,
        }
        self.hearings[station_id.index()].send(start, end);
        state.access.occupy(start, end);
        let mut hearers = self.lists.pop().unwrap_or_default();
        let mut last = end;
        let frame = self.next_frame;
        self.next_frame += 1;
        let Self { reach, stations, hearings, background, now, .. } = self;
        let receptions = if reach.is_lasting() {
            reach.receptions(station_id, start, exchange)
        } else {
            let mut levels = background.room();
            let (receptions, travels) = reach.loud(station_id, start, exchange, &mut levels);
            background.add(frame, (start, end), travels, levels);
            receptions
        };
        for (place, reception) in receptions.iter().enumerate() {
            if let Some(soon) = receptions.get(place + AHEAD)
                && receptions.len() > CACHED
            {
                hearings[soon.station.index()].prefetch_place();
            }
            let (state, hearing) = (&mut stations[reception.station.index()], &mut hearings[reception.station.index()]);
            let power = reception.power;
            let record =
                FrameReception { frame, arrival: start + reception.travels, end: end + reception.travels, power };
            if hearing.add(record, *now, &mut state.access, background) {
                hearers.push(reception.station);
                last = last.max(record.end);
                if hearing.is_loud(power) {
                    state.put_off(record.arrival + CCA_TIME, record.end + reserves);
                }
            }
        }
        let frame_on_air = Box::new(Frame {
            from: station_id,
            to,
            kind,
            sent,
            number,
            packet,
            sequence,
            bitmap,
            mpdus,
            class,
            answered,
            exchange,
            length: airtime,
            is_retry,
            reserves,
            hearers,
            payload,
        });
        if self.watched.get(station_id.index()).is_some_and(|watched| *watched) {
            self.tell(station_id, &frame_on_air, start, None, |_| true);
        }
        self.frames.push(OnAir { start, end: last, number: frame, frame: frame_on_air });
        end
    }

    /// Returns the properties of a frame that determine its reception. For an A-MPDU, `largest` is the size of its
    /// largest MPDU in bytes.
    fn sent(&mut self, mode: PhyMode, size: u32, largest: Option<u32>) -> Sent {
        let carried = mode.carried_bits(Bytes(size.into()));
        let bits = largest.map_or(carried as u32, |bytes| 8 * bytes).next_power_of_two();
        let known = self.levels.iter().find(|(of, most, _)| (*of, *most) == (mode, bits)).map(|(_, _, levels)| *levels);
        let [safe, certain_header] = known.unwrap_or_else(|| {
            let levels = [self.curves.safe_sinr(mode, bits), self.curves.certain_header_sinr(mode)];
            self.levels.push((mode, bits, levels));
            levels
        });
        Sent { mode, size, bits: carried as f64, headers: mode.header_duration(), safe, certain_header }
    }

    /// Handles the end of a frame at all of its receivers.
    pub(super) fn frame_ends(&mut self, now: Instant, number: u64, frame: &Frame<P>) {
        let is_large = self.stations.len() > CACHED;
        for (index, hearer) in frame.hearers.iter().enumerate() {
            if is_large {
                self.prefetch(&frame.hearers[index..]);
            }
            let (state, hearing) = (&mut self.stations[hearer.index()], &mut self.hearings[hearer.index()]);
            let drawn = |index: u64| draw(self.draws, frame.from, frame.number | index << 40, *hearer);
            let tools = (&self.curves, &mut self.background);
            let end = hearing.end_at(now, number, &mut state.access, (&frame.sent, &frame.mpdus), tools, drawn);
            if let ReceptionEnd::Heard { arrival, header, arrived, ratio, overlapped } = end {
                let ended = arrival + frame.length;
                if header {
                    state.access.received(ended, arrived != 0);
                }
                if arrived == 0 {
                    let lost = if overlapped { &mut state.counters.collisions } else { &mut state.counters.errors };
                    *lost += 1;
                } else if frame.concerns(*hearer) || !self.watched.is_empty() {
                    self.understood(now, *hearer, frame, (arrival, arrived, ratio));
                } else {
                    reserve(self.timing, frame, ended, (hearing, &mut state.access));
                }
            }
            let state = &self.stations[hearer.index()];
            debug_assert!(
                state.wake.is_some() || state.access.state != State::Idle || state.next_access(now).is_none()
            );
            match state.access.state {
                State::Idle if state.wake.is_some() => self.contend(*hearer, now),
                State::Receiving if !self.hearings[hearer.index()].is_receiving(now) => self.unanswered(*hearer, now),
                _ => {}
            }
        }
    }

    /// Prefetches the memory that the end of a frame needs for its next receivers.
    #[inline]
    fn prefetch(&self, hearers: &[StationId]) {
        if let Some(second) = hearers.get(2) {
            let state = &self.stations[second.index()];
            prefetch(std::ptr::from_ref(&self.hearings[second.index()]));
            prefetch(std::ptr::from_ref(&state.access.busy_until));
            prefetch(std::ptr::from_ref(&state.wake));
        }
        if let Some(first) = hearers.get(1) {
            self.hearings[first.index()].prefetch_records();
        }
    }

    /// Reports a frame at a watched station. `ratio` is its signal-to-noise ratio if it was received; `arrived` returns
    /// whether the MPDU with this index was decoded.
    #[cold]
    fn tell(
        &mut self,
        station: StationId,
        frame: &Frame<P>,
        start: Instant,
        ratio: Option<f64>,
        arrived: impl Fn(usize) -> bool,
    ) {
        let noise_dbm = decibels(self.hearings[station.index()].noise());
        let whole = Aired {
            at: station,
            from: frame.from,
            to: frame.to,
            kind: frame.kind,
            class: Class::ALL[frame.class],
            mode: frame.sent.mode,
            start,
            length: frame.length,
            reserves: frame.reserves,
            packet: if frame.sequence > 0 { frame.sequence } else { frame.packet },
            bitmap: frame.bitmap,
            aggregate: None,
            is_retry: frame.is_retry,
            payload: frame.payload.clone(),
            power_dbm: ratio.map(|ratio| noise_dbm + decibels(ratio)),
            noise_dbm,
        };
        let last = frame.mpdus.len().saturating_sub(1);
        for (index, mpdu) in frame.mpdus.iter().enumerate().filter(|(index, _)| arrived(*index)) {
            let aggregate = Some((frame.number, index == last));
            let (packet, is_retry, payload) = (mpdu.sequence, mpdu.is_retry, mpdu.payload.clone());
            self.aired.push_back(Aired { packet, is_retry, payload, aggregate, ..whole.clone() });
        }
        if frame.mpdus.is_empty() {
            self.aired.push_back(whole);
        }
    }

    /// Handles a frame that a station has decoded. `arrival` is its start there, `arrived` has a bit for each MPDU that
    /// was decoded, and `ratio` is the signal-to-noise ratio.
    fn understood(
        &mut self,
        now: Instant,
        station: StationId,
        frame: &Frame<P>,
        (arrival, arrived, ratio): (Instant, u64, f64),
    ) {
        let end = arrival + frame.length;
        if self.watched.get(station.index()).is_some_and(|watched| *watched) {
            self.tell(station, frame, arrival, Some(ratio), |index| arrived >> index & 1 == 1);
        }
        if !frame.concerns(station) {
            let (hearing, state) = (&mut self.hearings[station.index()], &mut self.stations[station.index()]);
            return reserve(self.timing, frame, end, (hearing, &mut state.access));
        }
        let is_mine = frame.to == Addressee::One(station);
        let answer_at = end + self.timing.sifs;
        match frame.kind {
            FrameKind::Data if frame.mpdus.is_empty() => {
                if frame.sequence > 0 && self.stations[station.index()].reorders(frame.peer()) {
                    self.receive_numbered(now, station, frame.peer(), (frame.packet, frame.sequence), ratio);
                } else {
                    self.receive(station, frame, ratio);
                }
                if is_mine {
                    self.answer(station, answer_at, (frame, ratio), FrameKind::Ack, Duration::ZERO);
                }
            }
            FrameKind::Data => {
                self.confirm(station, frame.peer());
                for (_, mpdu) in frame.mpdus.iter().enumerate().filter(|(index, _)| arrived >> index & 1 == 1) {
                    self.receive_numbered(now, station, frame.peer(), (mpdu.packet, mpdu.sequence), ratio);
                }
                self.acknowledge_block(station, answer_at, (frame, ratio), frame.mpdus[0].sequence);
            }
            FrameKind::BlockAckRequest if !self.stations[station.index()].reorders(frame.peer()) => {}
            FrameKind::BlockAckRequest => {
                let Self { stations, events, .. } = self;
                let reordered = stations[station.index()].reordered(frame.peer());
                reordered.skip(frame.sequence, |event| events.push_back(event));
                self.acknowledge_block(station, answer_at, (frame, ratio), frame.sequence);
            }
            FrameKind::BlockAck => {
                if self.stations[station.index()].access.state.awaits_answer() {
                    self.block_acknowledged(station, now, answer_at, frame.answered);
                }
            }
            FrameKind::Rts => {
                if !self.hearings[station.index()].is_reserved(now) {
                    let cts = self.answer_time(frame.sent.mode, ACK_SIZE);
                    let reserves = frame.reserves.saturating_sub(self.timing.sifs + cts);
                    self.answer(station, answer_at, (frame, ratio), FrameKind::Cts, reserves);
                }
            }
            FrameKind::Cts => {
                let StationState { access, class, .. } = &mut self.stations[station.index()];
                let class = *class;
                if access.state.awaits_answer() {
                    access.allowed(class);
                    self.send_data(station, answer_at);
                }
            }
            FrameKind::AddBlockAckRequest | FrameKind::AddBlockAckResponse => {
                self.answer(station, answer_at, (frame, ratio), FrameKind::Ack, Duration::ZERO);
                self.hear_action(station, now, frame);
            }
            FrameKind::Ack if self.stations[station.index()].acts => {
                if self.stations[station.index()].access.state.awaits_answer() {
                    self.action_acknowledged(station, now, answer_at);
                }
            }
            FrameKind::Ack => {
                if self.stations[station.index()].access.state.awaits_answer() {
                    self.learn(station, 1, frame.answered);
                    self.acknowledged(station, now, answer_at);
                }
            }
        }
    }

    /// Handles a packet that has arrived under a block acknowledgement, perhaps again. `number` is its index at its
    /// sender, `sequence` its sequence number for this station.
    fn receive_numbered(
        &mut self,
        now: Instant,
        station_id: StationId,
        peer: Peer,
        (number, sequence): (u64, u64),
        ratio: f64,
    ) {
        self.stations[station_id.index()].counters.received += 1;
        let queue = &mut self.stations[peer.station.index()].queues[peer.class];
        let Some(pending) = queue.get_mut(number).filter(|of| !of.arrived) else {
            let Self { stations, events, .. } = self;
            let state = &mut stations[station_id.index()];
            // It may have arrived before the agreement.
            if state.agreements.is_some() {
                state.reordered(peer).repeat(sequence, |event| events.push_back(event));
            }
            return;
        };
        pending.arrived = true;
        let (to, payload) = (pending.msdu.to, pending.msdu.payload.clone());
        let snr_db = decibels(ratio) as f32;
        let event = Event::Received { at: station_id, from: peer.station, to, payload, snr_db };
        let Self { stations, events, changed, .. } = self;
        let state = &mut stations[station_id.index()];
        let reordered = state.reordered(peer);
        reordered.arrive(now, sequence, event, |event| events.push_back(event));
        if let Some(late) = reordered.late()
            && state.release.is_none_or(|release| late < release)
        {
            state.release = Some(late);
            changed.push(station_id);
        }
    }

    /// Handles a packet that has arrived without a block acknowledgement, perhaps again.
    fn receive(&mut self, station: StationId, frame: &Frame<P>, ratio: f64) {
        let state = &mut self.stations[station.index()];
        state.counters.received += 1;
        let peer = frame.peer();
        // A broadcast frame is sent once.
        if frame.to != Addressee::All {
            match state.heard.iter_mut().find(|(of, _)| *of == peer) {
                Some((_, last)) if *last == frame.packet => return,
                Some((_, last)) => *last = frame.packet,
                None => state.heard.push((peer, frame.packet)),
            }
        }
        let payload = match (&frame.payload, frame.to) {
            (Some(payload), Addressee::All) => payload.clone(),
            _ => match self.stations[frame.from.index()].queues[frame.class].get_mut(frame.packet) {
                Some(pending) => {
                    pending.arrived = true;
                    pending.msdu.payload.clone()
                }
                None => return,
            },
        };
        let from = frame.from;
        let snr_db = decibels(ratio) as f32;
        self.events.push_back(Event::Received { at: station, from, to: frame.to, payload, snr_db });
    }

    /// Releases packets that have waited too long for earlier ones.
    pub(super) fn release_late(&mut self, station: StationId, now: Instant) {
        let state = &mut self.stations[station.index()];
        for (_, reordered) in &mut state.reordered {
            reordered.release_late(now, |event| self.events.push_back(event));
        }
        state.release = state.reordered.iter().filter_map(|(_, reordered)| reordered.late()).min();
    }
}

/// Handles a frame for other stations that a station has decoded and that ended at `end`: it reserves the medium.
fn reserve<P>(timing: Timing, frame: &Frame<P>, end: Instant, (hearing, access): (&mut Hearing, &mut Access)) {
    let until = end + frame.reserves;
    if frame.kind == FrameKind::Rts {
        let cts = BasicRates::MANDATORY.answer(frame.sent.mode).duration(ACK_SIZE);
        let lapses = end + (timing.sifs + timing.slot) * 2 + cts + PHY_HEADER;
        hearing.reserve_provisionally(end, lapses, until, access);
    } else {
        hearing.reserve(end, until, access);
    }
}

/// Returns a random number in [0, 1) for a frame at a receiver. It does not depend on other frames and stations.
#[inline]
fn draw(draws: u64, from: StationId, frame: u64, station: StationId) -> f64 {
    let bits = mix(mix(draws ^ (u64::from(from.0) << 32 | u64::from(station.0))) ^ frame);
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
