//! A flood of SYNs from invented addresses (RFC 4987).

use crate::world::{CLIENT, Pipe, SERVER, World, socket_address};
use lightlag_core::Duration;
use lightlag_host::{SocketError, SocketId};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions, Timestamps};
use lightlag_wire::{Addresses, IpFields};
use std::net::SocketAddr;

/// Backlog of the listener: one more connection than this may be half open.
const BACKLOG: usize = 128;

/// Sends a segment from an invented address to the server.
fn inject(world: &mut World, number: u32, segment: &Segment) {
    let [_, _, high, low] = number.to_be_bytes();
    let source = SocketAddr::from(([10, 66, high, low], 1_024 + (number % 60_000) as u16));
    let addresses = Addresses { source, destination: socket_address(SERVER, 80) };
    let mut packet = Vec::new();
    lightlag_wire::encode(&mut packet, &addresses, &IpFields::default(), segment, &[]);
    world.stacks[SERVER].packet_in(world.now, &packet);
    while world.stacks[SERVER].poll_packet(world.now, &mut packet) {}
}

/// Returns a listener after a flood of this number of SYNs.
fn flooded(syns: u32) -> (World, SocketId) {
    let mut world = World::new(Pipe::CLEAN, |_, _| {});
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), BACKLOG).unwrap();
    let offer = SynOptions { mss: Some(1_460), window_scale: Some(7), sack_permitted: true };
    for number in 0..syns {
        let syn = Segment::new(SeqNumber(number.wrapping_mul(2_654_435_761)), SeqNumber(0), 64_240, Flags::SYN);
        let stamps = Timestamps { value: number, echo: 0 };
        inject(&mut world, number, &syn.with_syn_options(offer).with_timestamps(stamps));
    }
    (world, listener)
}

#[test]
fn a_flood_gets_cookies_and_costs_no_memory() {
    let (mut world, listener) = flooded(20_000);
    let counters = *world.stacks[SERVER].counters();
    assert_eq!((counters.cookies_sent, counters.refused_syns), (20_000 - BACKLOG as u64 - 1, 0));
    assert_eq!(world.stacks[SERVER].active_connections(), BACKLOG + 1);
    // Guesses at a cookie.
    for number in 0..5_000_u32 {
        let guess = SeqNumber(number.wrapping_mul(0x9e37_79b9));
        inject(&mut world, number + 30_000, &Segment::new(SeqNumber(1), guess, 1_000, Flags::ACK));
    }
    assert_eq!(world.stacks[SERVER].counters().cookies_taken, 0);
    assert_eq!(world.stacks[SERVER].accept(listener), Err(SocketError::WouldBlock));
    assert_eq!(world.stacks[SERVER].active_connections(), BACKLOG + 1);
}

#[test]
fn a_client_that_completes_the_handshake_is_served_during_a_flood() {
    let (mut world, listener) = flooded(1_000);
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(Duration::from_millis(100));
    assert_eq!(world.stacks[SERVER].counters().cookies_taken, 1);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    for (host, socket) in [(CLIENT, client), (SERVER, server)] {
        let info = world.stacks[host].info(world.now, socket).unwrap();
        assert!(info.timestamps && info.sack && info.scales.is_some(), "timestamps keep the options");
        assert_eq!(info.snd_mss, 1_448);
    }
    let data: Vec<u8> = (0..300_000_u32).map(|byte| byte as u8).collect();
    assert!(world.send((CLIENT, client), (SERVER, server), &data) == data);
    assert!(world.send((SERVER, server), (CLIENT, client), &data) == data);
}

#[test]
fn without_timestamps_a_cookie_keeps_the_mss_alone() {
    let mut world = World::new(Pipe::CLEAN, |host, config| config.tcp.timestamps = host == SERVER);
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 0).unwrap();
    inject(&mut world, 1, &Segment::new(SeqNumber(1), SeqNumber(0), 64_240, Flags::SYN));
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(Duration::from_millis(100));
    let server = world.stacks[SERVER].accept(listener).unwrap();
    let info = world.stacks[SERVER].info(world.now, server).unwrap();
    assert_eq!((info.sack, info.scales, info.snd_mss), (false, None, 1_460));
    let info = world.stacks[CLIENT].info(world.now, client).unwrap();
    assert_eq!((info.sack, info.scales), (false, None), "the client was notified");
    let data = vec![7; 50_000];
    assert!(world.send((CLIENT, client), (SERVER, server), &data) == data);
}

#[test]
fn half_open_connections_end_and_the_next_need_no_cookie() {
    let (mut world, listener) = flooded(200);
    world.connected[CLIENT] = false;
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(Duration::from_millis(15));
    assert_eq!(world.stacks[SERVER].counters().cookies_sent, 200 - BACKLOG as u64);
    world.run(Duration::from_secs(200));
    assert_eq!(world.stacks[SERVER].active_connections(), 0);
    let sent = world.stacks[SERVER].counters().cookies_sent;
    world.connected[CLIENT] = true;
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(Duration::from_millis(100));
    assert!(world.stacks[SERVER].accept(listener).is_ok());
    assert_eq!(world.stacks[SERVER].counters().cookies_sent, sent);
}
