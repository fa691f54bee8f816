//! Transfers data over a link with as little else as possible, to count instructions of both ends per datagram:
//! `valgrind --tool=callgrind target/release/examples/cost PROFILE MEGABYTES LOSS CONGESTION [ranges]`. The functions
//! `build`, `handle` and `expire` contain all work of the connections.

use lightlag_control::congestion::Choice;
use lightlag_core::{Codepoint, Duration, Instant, RandomStream};
use lightlag_quic::credit::UNLIMITED;
use lightlag_quic::received::PingRule;
use lightlag_quic::{Arena, Connection, Packet, Parameters, Profile};
use lightlag_transport::Stream;
use std::collections::VecDeque;
use std::sync::Arc;

/// 100 Mbit/s and 20 ms in each direction.
const NANOS_PER_BYTE: u64 = 80;
const DELAY: Duration = Duration::from_millis(20);

struct Link {
    queue: VecDeque<(Instant, Packet)>,
    free: Instant,
}

#[inline(never)]
fn build(end: &mut Connection, now: Instant, arena: &mut Arena) -> Option<Packet> {
    end.poll_packet(now, arena)
}

#[inline(never)]
fn handle(end: &mut Connection, now: Instant, packet: &Packet, arena: &mut Arena) {
    end.handle_packet(now, packet, Codepoint::NotEct, arena);
}

#[inline(never)]
fn expire(end: &mut Connection, now: Instant) {
    end.handle_timeout(now);
}

#[inline(never)]
fn deadline(end: &Connection) -> Instant {
    end.poll_timeout().unwrap_or(Instant::MAX)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default: &str| arguments.get(index).cloned().unwrap_or(default.to_owned());
    let mut config = Profile::named(&argument(0, "rfc9002")).expect("the name of a profile").config();
    let bytes = argument(1, "20").parse::<u64>().expect("a number of megabytes") * 1_000_000;
    let loss: f64 = argument(2, "0").parse().expect("a probability");
    config.congestion = Choice::named(&argument(3, "cubic"));
    if argument(4, "") == "ranges" {
        // Nothing that the receiver sends is acknowledged, so that its ranges stay open.
        config.ack.ping = PingRule::Never;
        (config.flow.stream, config.flow.connection) = (UNLIMITED, UNLIMITED);
    }
    let parameters = Parameters::of(&config);
    let config = Arc::new(config);
    let mut ends = [Connection::client(config.clone(), parameters, 0), Connection::server(config, parameters, 0)];
    let mut links = [(); 2].map(|()| Link { queue: VecDeque::with_capacity(1 << 16), free: Instant::ZERO });
    let (mut arena, mut now, mut random) = (Arena::new(), Instant::ZERO, RandomStream::new(1, "loss"));
    ends[1].write(bytes);
    ends[1].close();
    ends[0].open(now);
    let (mut events, mut dropped) = (0u64, 0u64);
    let mut active = 0;
    loop {
        while let Some(packet) = build(&mut ends[active], now, &mut arena) {
            let link = &mut links[active];
            // One loss at the start ends slow start.
            if loss > 0.0 && random.uniform() < loss || ends[active].counters().datagrams == 400 {
                arena.release(&packet);
                dropped += 1;
                continue;
            }
            link.free = link.free.max(now) + Duration::from_nanos((u64::from(packet.size()) + 28) * NANOS_PER_BYTE);
            link.queue.push_back((link.free + DELAY, packet));
        }
        if ends[0].received() == bytes {
            break;
        }
        let arrivals = [0, 1].map(|from: usize| links[from].queue.front().map_or(Instant::MAX, |front| front.0));
        let deadlines = [deadline(&ends[0]), deadline(&ends[1])];
        now = now.max(arrivals[0].min(arrivals[1]).min(deadlines[0]).min(deadlines[1]));
        events += 1;
        if let Some(from) = [0, 1].into_iter().find(|from| arrivals[*from] <= now) {
            let (_, packet) = links[from].queue.pop_front().expect("a packet that arrives");
            active = 1 - from;
            handle(&mut ends[active], now, &packet, &mut arena);
        } else {
            active = usize::from(deadlines[0] > now);
            expire(&mut ends[active], now);
        }
    }
    let [client, server] = [ends[0].counters(), ends[1].counters()];
    println!(
        "{:.3} s, {events} events, {dropped} drops, {} bytes a connection",
        now.as_secs_f64(),
        size_of::<Connection>()
    );
    println!("server: {server:?}\nclient: {client:?}");
}
