//! Frames through the air: from their sender to all who hear them, and the packets in them to those for whom they are.

use super::access::{Access, State};
use super::aggregate::Mpdu;
use super::frame::{Aired, Frame, Kind, OnAir, Peer};
use super::hearing::{End, Hearing, Sent};
use super::record::Record;
use super::station::StationState;
use super::{AHEAD, CACHED, PHY_HEADER, Wifi};
use crate::class::Class;
use crate::phy::timing::{ACK_SIZE, CCA_TIME};
use crate::phy::{BasicRates, Mode, Timing};
use crate::propagation::decibels::decibels;
use lightlag_core::random::mix;
use lightlag_core::{Bytes, Duration, Instant, prefetch};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event};

/// A frame that is about to leave.
pub(super) struct Outgoing<P> {
    pub(super) to: Addressee,
    pub(super) kind: Kind,
    pub(super) mode: Mode,
    pub(super) size: u32,
    pub(super) reserves: Duration,
    /// The exchange of the frame that it answers.
    pub(super) answers: Option<u64>,
    /// The ratio of signal to noise with which that one arrived.
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
    /// A frame without a packet.
    pub(super) fn control(to: Addressee, kind: Kind, mode: Mode, size: u32, reserves: Duration) -> Self {
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
    /// A frame leaves a station; its end there.
    pub(super) fn send(&mut self, at: StationId, start: Instant, outgoing: Outgoing<P>) -> Instant {
        let Outgoing { to, kind, mode, size, reserves, answers, .. } = outgoing;
        let Outgoing { packet, sequence, is_retry, bitmap, payload, mpdus, class, answered, .. } = outgoing;
        let airtime = mode.duration(Bytes(size.into()));
        let end = start + airtime;
        let largest = mpdus.iter().map(|mpdu| mpdu.bytes).max();
        let sent = self.sent(mode, size, largest);
        let state = &mut self.stations[at.index()];
        state.sent += 1;
        let number = state.sent;
        let exchange = answers.unwrap_or(u64::from(at.0) << 40 | number);
        match (kind, to) {
            (Kind::Data, Addressee::One(_)) => state.counters.unicast_airtime += airtime,
            (Kind::Data, Addressee::All) => state.counters.broadcast_airtime += airtime,
            _ => state.counters.control_airtime += airtime,
        }
        self.hearings[at.index()].send(start, end);
        state.access.occupy(start, end);
        let mut hearers = self.lists.pop().unwrap_or_default();
        let mut last = end;
        let frame = self.next_frame;
        self.next_frame += 1;
        let Self { reach, stations, hearings, background, now, .. } = self;
        let receptions = if reach.is_lasting() {
            reach.receptions(at, start, exchange)
        } else {
            let mut levels = background.room();
            let (receptions, travels) = reach.loud(at, start, exchange, &mut levels);
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
            let record = Record { frame, arrival: start + reception.travels, end: end + reception.travels, power };
            if hearing.add(record, *now, &mut state.access, background) {
                hearers.push(reception.station);
                last = last.max(record.end);
                if hearing.is_loud(power) {
                    state.put_off(record.arrival + CCA_TIME, record.end + reserves);
                }
            }
        }
        let frame_on_air = Box::new(Frame {
            from: at,
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
        if self.watched.get(at.index()).is_some_and(|watched| *watched) {
            self.tell(at, &frame_on_air, start, None, |_| true);
        }
        self.frames.push(OnAir { start, end: last, number: frame, frame: frame_on_air });
        end
    }

    /// A frame of this mode and size for those who hear it; if it is an A-MPDU, with so many bytes in the largest of its MPDUs.
    fn sent(&mut self, mode: Mode, size: u32, largest: Option<u32>) -> Sent {
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

    /// A frame has ended at all of its hearers.
    pub(super) fn frame_ends(&mut self, now: Instant, number: u64, frame: &Frame<P>) {
        let is_large = self.stations.len() > CACHED;
        for (place, hearer) in frame.hearers.iter().enumerate() {
            if is_large {
                self.prefetch(&frame.hearers[place..]);
            }
            let (state, hearing) = (&mut self.stations[hearer.index()], &mut self.hearings[hearer.index()]);
            let drawn = |index: u64| draw(self.draws, frame.from, frame.number | index << 40, *hearer);
            let tools = (&self.curves, &mut self.background);
            let end = hearing.end_at(now, number, &mut state.access, (&frame.sent, &frame.mpdus), tools, drawn);
            if let End::Heard { arrival, header, arrived, ratio, overlapped } = end {
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

    /// Fetches what the end of a frame needs from memory at its next hearers.
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

    /// Tells of a frame at a station that is watched; `ratio`: of its power to the noise, where it was received; `arrived`:
    /// whether the MPDU with this index was understood.
    #[cold]
    fn tell(
        &mut self,
        at: StationId,
        frame: &Frame<P>,
        start: Instant,
        ratio: Option<f64>,
        arrived: impl Fn(usize) -> bool,
    ) {
        let noise_dbm = decibels(self.hearings[at.index()].noise());
        let whole = Aired {
            at,
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

    /// A station has understood a frame, or those parts of it that `arrived` tells, from `arrival` on, with this ratio of its
    /// power to the noise.
    fn understood(
        &mut self,
        now: Instant,
        at: StationId,
        frame: &Frame<P>,
        (arrival, arrived, ratio): (Instant, u64, f64),
    ) {
        let end = arrival + frame.length;
        if self.watched.get(at.index()).is_some_and(|watched| *watched) {
            self.tell(at, frame, arrival, Some(ratio), |index| arrived >> index & 1 == 1);
        }
        if !frame.concerns(at) {
            let (hearing, state) = (&mut self.hearings[at.index()], &mut self.stations[at.index()]);
            return reserve(self.timing, frame, end, (hearing, &mut state.access));
        }
        let is_mine = frame.to == Addressee::One(at);
        let answer_at = end + self.timing.sifs;
        match frame.kind {
            Kind::Data if frame.mpdus.is_empty() => {
                if frame.sequence > 0 && self.stations[at.index()].reorders(frame.peer()) {
                    self.receive_numbered(now, at, frame.peer(), (frame.packet, frame.sequence), ratio);
                } else {
                    self.receive(at, frame, ratio);
                }
                if is_mine {
                    self.answer(at, answer_at, (frame, ratio), Kind::Ack, Duration::ZERO);
                }
            }
            Kind::Data => {
                self.confirm(at, frame.peer());
                for (_, mpdu) in frame.mpdus.iter().enumerate().filter(|(index, _)| arrived >> index & 1 == 1) {
                    self.receive_numbered(now, at, frame.peer(), (mpdu.packet, mpdu.sequence), ratio);
                }
                self.acknowledge_block(at, answer_at, (frame, ratio), frame.mpdus[0].sequence);
            }
            Kind::BlockAckRequest if !self.stations[at.index()].reorders(frame.peer()) => {}
            Kind::BlockAckRequest => {
                let Self { stations, events, .. } = self;
                let reordered = stations[at.index()].reordered(frame.peer());
                reordered.skip(frame.sequence, |event| events.push_back(event));
                self.acknowledge_block(at, answer_at, (frame, ratio), frame.sequence);
            }
            Kind::BlockAck => {
                if self.stations[at.index()].access.state.awaits_answer() {
                    self.block_acknowledged(at, now, answer_at, frame.answered);
                }
            }
            Kind::Rts => {
                if !self.hearings[at.index()].is_reserved(now) {
                    let cts = self.answer_time(frame.sent.mode, ACK_SIZE);
                    let reserves = frame.reserves.saturating_sub(self.timing.sifs + cts);
                    self.answer(at, answer_at, (frame, ratio), Kind::Cts, reserves);
                }
            }
            Kind::Cts => {
                let StationState { access, class, .. } = &mut self.stations[at.index()];
                let class = *class;
                if access.state.awaits_answer() {
                    access.allowed(class);
                    self.send_data(at, answer_at);
                }
            }
            Kind::AddBlockAckRequest | Kind::AddBlockAckResponse => {
                self.answer(at, answer_at, (frame, ratio), Kind::Ack, Duration::ZERO);
                self.hear_action(at, now, frame);
            }
            Kind::Ack if self.stations[at.index()].acts => {
                if self.stations[at.index()].access.state.awaits_answer() {
                    self.action_acknowledged(at, now, answer_at);
                }
            }
            Kind::Ack => {
                if self.stations[at.index()].access.state.awaits_answer() {
                    self.learn(at, 1, frame.answered);
                    self.acknowledged(at, now, answer_at);
                }
            }
        }
    }

    /// A packet under a block acknowledgement has arrived, perhaps again: its number at its sender, and among those for
    /// this station.
    fn receive_numbered(
        &mut self,
        now: Instant,
        at: StationId,
        peer: Peer,
        (number, sequence): (u64, u64),
        ratio: f64,
    ) {
        self.stations[at.index()].counters.received += 1;
        let queue = &mut self.stations[peer.station.index()].queues[peer.class];
        let Some(pending) = queue.get_mut(number).filter(|of| !of.arrived) else {
            let Self { stations, events, .. } = self;
            let state = &mut stations[at.index()];
            // It may have arrived before the agreement.
            if state.agreements.is_some() {
                state.reordered(peer).repeat(sequence, |event| events.push_back(event));
            }
            return;
        };
        pending.arrived = true;
        let (to, payload) = (pending.msdu.to, pending.msdu.payload.clone());
        let snr_db = decibels(ratio) as f32;
        let event = Event::Received { at, from: peer.station, to, payload, snr_db };
        let Self { stations, events, changed, .. } = self;
        let state = &mut stations[at.index()];
        let reordered = state.reordered(peer);
        reordered.arrive(now, sequence, event, |event| events.push_back(event));
        if let Some(late) = reordered.late()
            && state.release.is_none_or(|release| late < release)
        {
            state.release = Some(late);
            changed.push(at);
        }
    }

    /// A packet has arrived, perhaps again.
    fn receive(&mut self, at: StationId, frame: &Frame<P>, ratio: f64) {
        let state = &mut self.stations[at.index()];
        state.counters.received += 1;
        let peer = frame.peer();
        // A frame for all is sent once.
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
        self.events.push_back(Event::Received { at, from, to: frame.to, payload, snr_db });
    }

    /// Packets that have waited too long for those before them are released.
    pub(super) fn release_late(&mut self, at: StationId, now: Instant) {
        let state = &mut self.stations[at.index()];
        for (_, reordered) in &mut state.reordered {
            reordered.release_late(now, |event| self.events.push_back(event));
        }
        state.release = state.reordered.iter().filter_map(|(_, reordered)| reordered.late()).min();
    }
}

/// A station has understood a frame for others, which ended at `end`: the medium is theirs.
fn reserve<P>(timing: Timing, frame: &Frame<P>, end: Instant, (hearing, access): (&mut Hearing, &mut Access)) {
    let until = end + frame.reserves;
    if frame.kind == Kind::Rts {
        let cts = BasicRates::MANDATORY.answer(frame.sent.mode).duration(ACK_SIZE);
        let lapses = end + (timing.sifs + timing.slot) * 2 + cts + PHY_HEADER;
        hearing.reserve_provisionally(end, lapses, until, access);
    } else {
        hearing.reserve(end, until, access);
    }
}

/// A number in [0, 1) for a frame at a receiver: the same whatever others do.
#[inline]
fn draw(draws: u64, from: StationId, frame: u64, at: StationId) -> f64 {
    let bits = mix(mix(draws ^ (u64::from(from.0) << 32 | u64::from(at.0))) ^ frame);
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
