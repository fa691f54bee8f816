//! The procedure of NB-IoT: a preamble, message 3 on a grant, and the data on another grant.
//!
//! Sensors know their distance from the satellite (TS 36.211 §10.1.5, release 17), so preambles of one opportunity
//! arrive simultaneously. A preamble has a random subcarrier. The gateway responds to each occupied subcarrier; two sensors
//! on one subcarrier send message 3 on the same grant, where both are lost. A response takes `response_delay`, and the
//! grant in it starts one round trip and `grant_delay` later. Grants take the first free tone of the data carriers.
//!
//! Times are times at the gateway.

use super::medium::{RandomAccess, Task};
use super::message::{Message, Transport};
use super::nb_iot::Coverage;
use crate::contention::{Contender, Scheme};
use lightlag_core::{Bytes, Duration, Instant};
use lightlag_net::queue::DropCause;
use std::collections::BTreeMap;

impl<P: Clone> RandomAccess<P> {
    /// Sends a preamble at the next opportunity.
    pub(super) fn send_preamble(&mut self, now: Instant, sensor: u32, mut message: Message<P>) {
        let nb_iot = &self.config.nb_iot;
        let class = self.stations[sensor as usize].variant;
        let Coverage { subcarriers, preambles, .. } = nb_iot.class(class);
        let (period, length) = (nb_iot.nprach_period, nb_iot.preamble(preambles));
        let opportunity = (now + self.config.delay).as_nanos().div_ceil(period.as_nanos());
        let start = Instant::ZERO + period * opportunity;
        if !self.fits(start, length) {
            return self.postpone(now, sensor, message);
        }
        message.attempts += 1;
        let contender = Contender::draw(Scheme::SlottedAloha, subcarriers, subcarriers, 1.0, &mut self.random);
        self.note_access(now, sensor, &message, length);
        let preambles = self.frames.entry((opportunity, class)).or_default();
        if preambles.is_empty() {
            self.tasks.add(start + length, Task::Frame(opportunity, class));
        }
        preambles.push((sensor, contender, message));
    }

    /// Returns true if a transmission that is received from `start` on falls into one pass.
    fn fits(&self, start: Instant, length: Duration) -> bool {
        let at_sensor = Instant::ZERO + start.since(Instant::ZERO).saturating_sub(self.config.delay);
        self.passes.as_ref().is_none_or(|passes| passes.fit(at_sensor, length) == Some(at_sensor))
    }

    /// Returns the earliest start of a transmission on the grant in the response to a reception that ends at `now`.
    fn earliest(&self, now: Instant) -> Instant {
        now + self.config.nb_iot.response_delay + self.config.delay * 2 + self.config.nb_iot.grant_delay
    }

    /// Answers the preambles of an opportunity.
    pub(super) fn answer_preambles(&mut self, now: Instant, opportunity: u64, class: u32) {
        let mut by_subcarrier: BTreeMap<u32, Vec<(u32, Message<P>)>> = BTreeMap::new();
        for (sensor, contender, message) in self.frames.remove(&(opportunity, class)).unwrap_or_default() {
            by_subcarrier.entry(contender.slots()[0]).or_default().push((sensor, message));
        }
        let length = self.config.nb_iot.message_3(self.config.nb_iot.class(class).data);
        let earliest = self.earliest(now);
        for mut senders in by_subcarrier.into_values() {
            let end = self.uplink.grant(earliest, length);
            let is_alone = senders.len() == 1;
            for (sensor, message) in senders.drain(..) {
                let counters = &mut self.stations[sensor as usize].counters;
                counters.note_decoded(u32::from(is_alone));
                counters.airtime += length;
                if is_alone {
                    self.tasks.add(end, Task::Identified(sensor, message));
                } else {
                    let timeout = end + self.config.delay + self.config.nb_iot.contention_timer;
                    self.tasks.add(timeout, Task::Missing(sensor, message));
                }
            }
        }
    }

    /// Grants capacity for the data of a sensor whose message 3 was received.
    pub(super) fn grant_data(&mut self, now: Instant, sensor: u32, message: Message<P>) {
        self.send_blocks(now, Transport { sensor, message, received: 0, transmissions: 0, is_decoded: false });
    }

    /// Returns the durations of the blocks that the gateway has not received.
    fn blocks_left(&self, transport: &Transport<P>) -> impl Iterator<Item = Duration> + use<'_, P> {
        let nb_iot = &self.config.nb_iot;
        let repetitions = nb_iot.class(self.stations[transport.sensor as usize].variant).data;
        let bytes = Bytes(u64::from(transport.message.packet.size) + u64::from(self.config.burst_overhead));
        nb_iot.blocks(bytes, repetitions).skip(transport.received as usize)
    }

    /// Sends the next block with HARQ, or else all blocks.
    fn send_blocks(&mut self, now: Instant, mut transport: Transport<P>) {
        let nb_iot = &self.config.nb_iot;
        let sent = if nb_iot.harq { 1 } else { usize::MAX };
        let blocks = self.blocks_left(&transport).take(sent);
        let (count, time) = blocks.fold((0_u32, Duration::ZERO), |(count, sum), block| (count + 1, sum + block));
        let error = nb_iot.block_error.value();
        transport.transmissions += 1;
        transport.is_decoded = error == 0.0 || (0..count).all(|_| self.random.uniform() >= error);
        let counters = &mut self.stations[transport.sensor as usize].counters;
        counters.bursts += u64::from(count);
        counters.airtime += time;
        let end = self.uplink.grant(self.earliest(now), time);
        self.tasks.add(end, Task::Blocks(Box::new(transport)));
    }

    /// Handles transport blocks at the gateway.
    pub(super) fn receive_blocks(&mut self, now: Instant, mut transport: Transport<P>) {
        let nb_iot = &self.config.nb_iot;
        if transport.is_decoded {
            (transport.received, transport.transmissions) = (transport.received + 1, 0);
            if nb_iot.harq && self.blocks_left(&transport).next().is_some() {
                return self.send_blocks(now, transport);
            }
            self.tasks.add(now + self.config.delay, Task::Next(transport.sensor));
            return self.receive(transport.sensor, transport.message);
        }
        if nb_iot.harq && transport.transmissions < nb_iot.harq_transmissions {
            return self.send_blocks(now, transport);
        }
        let state = &mut self.stations[transport.sensor as usize];
        state.outside -= 1;
        state.counters.dropped_retry += 1;
        self.drop_packet(transport.sensor, transport.message.packet, DropCause::Retry);
        self.tasks.add(now + self.config.delay, Task::Next(transport.sensor));
    }
}
