//! Limits of the state that peers can create on a host.

use crate::world::{CLIENT, Pipe, SERVER, World, socket_address};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{Limits, SocketError, SocketId};

/// Returns a server with these limits, and its listener.
fn limited(limits: Limits) -> (World, SocketId) {
    let mut world = World::new(Pipe::CLEAN, |host, config| {
        if host == SERVER {
            config.limits = limits;
        }
    });
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 128).unwrap();
    (world, listener)
}

/// Starts a connection from the client.
fn connect(world: &mut World) -> SocketId {
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    client
}

/// Runs for this time, and enforces the limits ten times per second.
fn run(world: &mut World, time: Duration) {
    for _ in 0..time.as_nanos() / 100_000_000 {
        world.run(Duration::from_millis(100));
        world.stacks[SERVER].enforce_limits(world.now);
    }
}

#[test]
fn a_full_host_drops_a_syn_and_accepts_its_retransmission_once_it_has_capacity() {
    let (mut world, listener) = limited(Limits { connections: 2, ..Limits::default() });
    let clients: Vec<SocketId> = (0..3).map(|_| connect(&mut world)).collect();
    run(&mut world, Duration::from_millis(500));
    let servers: Vec<SocketId> = (0..2).map(|_| world.stacks[SERVER].accept(listener).unwrap()).collect();
    assert_eq!(world.stacks[SERVER].accept(listener), Err(SocketError::WouldBlock));
    assert_eq!(world.stacks[SERVER].counters().refused_syns, 1);
    assert_eq!(world.stacks[SERVER].counters().resets, 0);
    world.stacks[CLIENT].abort(world.now, clients[0]).unwrap();
    run(&mut world, Duration::from_millis(100));
    world.stacks[SERVER].close(world.now, servers[0]).unwrap();
    run(&mut world, Duration::from_secs(5));
    assert!(world.stacks[SERVER].accept(listener).is_ok());
    assert_eq!(world.stacks[SERVER].counters().evicted, 0);
}

#[test]
fn an_idle_connection_of_a_full_host_is_evicted() {
    let limits = Limits { connections: 2, idle: Duration::from_secs(60), ..Limits::default() };
    let (mut world, listener) = limited(limits);
    let clients = [connect(&mut world), connect(&mut world)];
    run(&mut world, Duration::from_secs(59));
    let servers: Vec<SocketId> = (0..2).map(|_| world.stacks[SERVER].accept(listener).unwrap()).collect();
    world.stacks[CLIENT].write(world.now, clients[0], b"progress").unwrap();
    run(&mut world, Duration::from_secs(2));
    assert_eq!(world.stacks[SERVER].counters().evicted, 0, "no one waits");
    connect(&mut world);
    run(&mut world, Duration::from_millis(500));
    let mut data = [0; 10];
    assert_eq!(world.stacks[SERVER].read(servers[0], &mut data), Ok(8));
    assert_eq!(world.stacks[SERVER].read(servers[1], &mut data), Err(SocketError::Evicted));
    assert_eq!(world.stacks[CLIENT].take_error(clients[1]), Ok(Some(SocketError::Reset)));
    world.stacks[SERVER].close(world.now, servers[1]).unwrap();
    run(&mut world, Duration::from_secs(5));
    assert!(world.stacks[SERVER].accept(listener).is_ok());
}

#[test]
fn a_peer_that_keeps_its_window_closed_is_reset() {
    let limits = Limits { closed_window: Duration::from_secs(120), ..Limits::default() };
    let (mut world, listener) = limited(limits);
    let client = connect(&mut world);
    run(&mut world, Duration::from_millis(100));
    let server = world.stacks[SERVER].accept(listener).unwrap();
    let mut written = 0;
    // The client does not read, so its buffer fills; it acknowledges each probe.
    for _ in 0..50 {
        written += world.stacks[SERVER].write(world.now, server, &[7; 100_000]).unwrap_or(0);
        run(&mut world, Duration::from_millis(100));
    }
    assert!(written > 100_000);
    run(&mut world, Duration::from_secs(110));
    assert_eq!(world.stacks[SERVER].take_error(server), Ok(None));
    run(&mut world, Duration::from_secs(20));
    assert_eq!(world.stacks[SERVER].take_error(server), Ok(Some(SocketError::Stalled)));
    assert_eq!(world.stacks[SERVER].counters().evicted, 1);
    assert_eq!(world.stacks[CLIENT].take_error(client), Ok(Some(SocketError::Reset)));
}

#[test]
fn a_closed_window_of_an_orphan_does_not_last_for_ever() {
    let limits = Limits { closed_window: Duration::from_secs(120), ..Limits::default() };
    let (mut world, listener) = limited(limits);
    connect(&mut world);
    run(&mut world, Duration::from_millis(100));
    let server = world.stacks[SERVER].accept(listener).unwrap();
    for _ in 0..50 {
        let _ = world.stacks[SERVER].write(world.now, server, &[7; 100_000]);
        run(&mut world, Duration::from_millis(100));
    }
    world.stacks[SERVER].close(world.now, server).unwrap();
    run(&mut world, Duration::from_secs(150));
    assert_eq!(world.stacks[SERVER].active_connections(), 0);
}

#[test]
fn buffers_beyond_the_limit_cost_the_connection_that_waits_longest() {
    let limits = Limits { memory: Bytes(100_000), ..Limits::default() };
    let (mut world, listener) = limited(limits);
    let clients = [connect(&mut world), connect(&mut world)];
    run(&mut world, Duration::from_millis(100));
    let servers: Vec<SocketId> = (0..2).map(|_| world.stacks[SERVER].accept(listener).unwrap()).collect();
    for client in clients {
        // Two rings of 64 KiB are more than 100,000 bytes.
        world.stacks[CLIENT].write(world.now, client, &[7; 60_000]).unwrap();
        run(&mut world, Duration::from_millis(500));
    }
    let mut data = vec![0; 60_000];
    assert_eq!(world.stacks[SERVER].take_error(servers[0]), Ok(Some(SocketError::Evicted)));
    assert!(world.stacks[SERVER].read(servers[1], &mut data).is_ok_and(|len| len > 0));
    assert_eq!(world.stacks[SERVER].counters().evicted, 1);
}

#[test]
fn buffers_that_hold_nothing_are_freed_before_a_connection_is_reset() {
    let limits = Limits { memory: Bytes(100_000), ..Limits::default() };
    let (mut world, listener) = limited(limits);
    let mut sent = vec![7; 60_000];
    for _ in 0..4 {
        let client = connect(&mut world);
        run(&mut world, Duration::from_millis(100));
        let server = world.stacks[SERVER].accept(listener).unwrap();
        for round in 0..3 {
            // The buffers that were freed are filled again.
            sent.fill(round);
            for (from, to) in [((CLIENT, client), (SERVER, server)), ((SERVER, server), (CLIENT, client))] {
                let mut read = Vec::new();
                let mut written = 0;
                while read.len() < sent.len() {
                    written += world.stacks[from.0].write(world.now, from.1, &sent[written..]).unwrap_or(0);
                    run(&mut world, Duration::from_millis(100));
                    let mut data = vec![0; sent.len()];
                    let len = world.stacks[to.0].read(to.1, &mut data).unwrap_or(0);
                    read.extend_from_slice(&data[..len]);
                }
                assert!(read == sent);
                run(&mut world, Duration::from_millis(500));
            }
        }
    }
    assert_eq!(world.stacks[SERVER].counters().evicted, 0);
}

#[test]
fn connections_beyond_the_limit_do_not_stay_in_time_wait() {
    let (mut world, listener) = limited(Limits { time_wait: 1, ..Limits::default() });
    let clients = [connect(&mut world), connect(&mut world)];
    run(&mut world, Duration::from_millis(100));
    for _ in 0..2 {
        let server = world.stacks[SERVER].accept(listener).unwrap();
        world.stacks[SERVER].close(world.now, server).unwrap();
    }
    run(&mut world, Duration::from_millis(100));
    for client in clients {
        world.stacks[CLIENT].close(world.now, client).unwrap();
    }
    run(&mut world, Duration::from_millis(100));
    assert_eq!(world.stacks[SERVER].connections_in_time_wait(), 1);
    run(&mut world, Duration::from_secs(61));
    assert_eq!(world.stacks[SERVER].connections_in_time_wait(), 0);
}
