//! The calls of the socket interface, and their effect on packets.

use crate::world::{CLIENT, Pipe, SERVER, World, address, pattern, socket_address};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{Shutdown, SocketError, SocketOption, Writing};
use lightlag_tcp::State;
use std::net::{IpAddr, SocketAddr};

fn world() -> World {
    World::new(Pipe::CLEAN, |_, _| {})
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_port_without_listener_refuses() {
    let mut world = world();
    let socket = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 81)).unwrap();
    assert_eq!(world.stacks[CLIENT].write(world.now, socket, b"x"), Err(SocketError::WouldBlock));
    world.run(SECOND);
    assert!(world.stacks[CLIENT].readiness(socket).unwrap().error);
    assert_eq!(world.stacks[CLIENT].write(world.now, socket, b"x"), Err(SocketError::Refused));
    assert_eq!(
        world.stacks[CLIENT].write(world.now, socket, b"x"),
        Err(SocketError::BrokenPipe),
        "it is reported once"
    );
    assert_eq!(world.stacks[SERVER].counters().resets, 1);
    assert_eq!(world.stacks[CLIENT].counters().resets, 0, "a reset gets no reset");
}

#[test]
fn a_host_that_is_not_there_times_out() {
    let mut world = world();
    world.connected[SERVER] = false;
    let socket = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 80)).unwrap();
    assert_eq!(
        world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 80)),
        Err(SocketError::InProgress)
    );
    world.run(Duration::from_secs(300));
    assert_eq!(world.stacks[CLIENT].take_error(socket), Ok(Some(SocketError::TimedOut)));
    assert_eq!(world.stacks[CLIENT].state(socket), Ok(State::Closed));
}

#[test]
fn several_connections_share_a_listener() {
    let mut world = world();
    let listener = world.stacks[SERVER].listen(SocketAddr::new(IpAddr::from([0, 0, 0, 0]), 80), 10).unwrap();
    let clients: Vec<_> = (0..5)
        .map(|_| {
            let socket = world.stacks[CLIENT].socket();
            world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 80)).unwrap();
            socket
        })
        .collect();
    world.run(SECOND);
    for (number, client) in (0_u8..).zip(&clients) {
        assert_eq!(world.stacks[CLIENT].write(world.now, *client, &[number; 3]), Ok(3));
    }
    world.run(SECOND);
    let mut seen = Vec::new();
    while let Ok(server) = world.stacks[SERVER].accept(listener) {
        let mut data = [0; 8];
        assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(3));
        seen.push(data[0]);
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    assert_eq!(world.stacks[SERVER].accept(listener), Err(SocketError::WouldBlock));
}

#[test]
fn a_full_backlog_drops_syns_until_somebody_accepts() {
    let mut world = World::new(Pipe::CLEAN, |_, config| config.syn_cookies = lightlag_host::SynCookies::Never);
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 1).unwrap();
    for _ in 0..3 {
        let socket = world.stacks[CLIENT].socket();
        world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 80)).unwrap();
    }
    world.run(Duration::from_millis(500));
    assert_eq!(world.stacks[SERVER].counters().refused_syns, 1);
    assert!(world.stacks[SERVER].accept(listener).is_ok() && world.stacks[SERVER].accept(listener).is_ok());
    world.run(Duration::from_secs(10));
    assert!(world.stacks[SERVER].accept(listener).is_ok(), "the SYN was retransmitted");
}

#[test]
fn the_end_of_a_stream_is_read_once_all_data_are() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, b"all").unwrap();
    world.stacks[CLIENT].shutdown(client, Shutdown::Write).unwrap();
    assert_eq!(world.stacks[CLIENT].write(world.now, client, b"more"), Err(SocketError::BrokenPipe));
    world.run(SECOND);
    let mut data = [0; 8];
    assert!(world.stacks[SERVER].readiness(server).unwrap().peer_closed);
    assert_eq!(world.stacks[SERVER].peek(server, &mut data), Ok(3));
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(3));
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(0));
    assert_eq!(world.stacks[SERVER].write(world.now, server, b"back"), Ok(4), "the other half is open");
    world.run(SECOND);
    assert_eq!(world.stacks[CLIENT].read(client, &mut data), Ok(4));
    world.stacks[SERVER].close(world.now, server).unwrap();
    world.run(SECOND);
    assert_eq!(world.stacks[CLIENT].state(client), Ok(State::TimeWait));
    assert_eq!(world.stacks[SERVER].state(server), Err(SocketError::BadSocket));
}

#[test]
fn time_wait_ends_and_its_addresses_are_free_before_for_a_newer_connection() {
    let mut world = world();
    let (client, server, listener) = world.connect(false);
    let port = world.stacks[CLIENT].addresses(client).unwrap().0.unwrap().port();
    world.stacks[SERVER].close(world.now, server).unwrap();
    world.run(SECOND);
    world.stacks[CLIENT].close(world.now, client).unwrap();
    world.run(SECOND);
    // The server is in TIME-WAIT; the client uses the same port again.
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].bind(client, socket_address(CLIENT, port)).unwrap();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).expect("a new connection");
    let data = pattern(10_000, 1);
    assert!(world.send((CLIENT, client), (SERVER, server), &data) == data);
    world.stacks[SERVER].close(world.now, server).unwrap();
    world.stacks[CLIENT].close(world.now, client).unwrap();
    world.run(Duration::from_secs(61));
    let again = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].bind(again, socket_address(CLIENT, port)).unwrap();
    world.stacks[CLIENT].connect(world.now, again, socket_address(SERVER, 80)).unwrap();
    world.run(SECOND);
    assert!(world.stacks[SERVER].accept(listener).is_ok());
}

#[test]
fn unread_data_turns_a_close_into_a_reset() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, b"unread").unwrap();
    world.run(SECOND);
    world.stacks[SERVER].close(world.now, server).unwrap();
    world.run(SECOND);
    let mut data = [0; 8];
    assert_eq!(world.stacks[CLIENT].read(client, &mut data), Err(SocketError::Reset));
    assert_eq!(world.stacks[CLIENT].read(client, &mut data), Ok(0));
}

#[test]
fn data_that_arrived_before_a_reset_can_be_read() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, b"last words").unwrap();
    world.run(SECOND);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::Linger(Some(Duration::ZERO))).unwrap();
    assert_eq!(world.stacks[CLIENT].close(world.now, client), Ok(None));
    world.run(SECOND);
    let mut data = [0; 16];
    assert!(world.stacks[SERVER].readiness(server).unwrap().error);
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(10));
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Err(SocketError::Reset));
}

#[test]
fn linger_waits_for_the_acknowledgement() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, b"data").unwrap();
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::Linger(Some(SECOND))).unwrap();
    let until = world.stacks[CLIENT].close(world.now, client).unwrap();
    assert_eq!(until, Some(world.now + SECOND));
    assert!(world.stacks[CLIENT].lingers(client));
    world.run(Duration::from_millis(100));
    assert!(!world.stacks[CLIENT].lingers(client));
    assert_eq!(world.stacks[SERVER].read(server, &mut [0; 8]), Ok(4));
}

#[test]
fn closing_a_listener_resets_who_waits() {
    let mut world = world();
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(SECOND);
    world.stacks[SERVER].close(world.now, listener).unwrap();
    world.run(SECOND);
    assert_eq!(world.stacks[CLIENT].take_error(client), Ok(Some(SocketError::Reset)));
    assert!(world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).is_ok(), "the port is free again");
}

#[test]
fn addresses_in_use_and_foreign_addresses_are_rejected() {
    let mut world = world();
    let stack = &mut world.stacks[SERVER];
    stack.listen(socket_address(SERVER, 80), 5).unwrap();
    assert_eq!(stack.listen(socket_address(SERVER, 80), 5), Err(SocketError::AddressInUse));
    assert_eq!(stack.listen(SocketAddr::new([0, 0, 0, 0].into(), 80), 5), Err(SocketError::AddressInUse));
    assert!(stack.listen(SocketAddr::new(address(SERVER, true), 80), 5).is_ok(), "the IPv6 address is free");
    assert_eq!(stack.listen(socket_address(CLIENT, 80), 5), Err(SocketError::AddressNotAvailable));
    let socket = stack.socket();
    assert_eq!(stack.listen_on(socket, 5), Err(SocketError::Invalid), "it has no address");
    assert_eq!(stack.read(socket, &mut [0]), Err(SocketError::NotConnected));
    assert_eq!(stack.accept(socket), Err(SocketError::Invalid));
    assert_eq!(stack.connect(world.now, socket, socket_address(CLIENT, 0)), Err(SocketError::Invalid));
}

#[test]
fn a_cork_holds_small_segments_until_it_is_pulled_or_a_timeout_passes() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    let set =
        |world: &mut World, on| world.stacks[CLIENT].set_option(world.now, client, &SocketOption::Cork(on)).unwrap();
    set(&mut world, true);
    world.stacks[CLIENT].write(world.now, client, &[1; 1_448 + 100]).unwrap();
    world.run(Duration::from_millis(100));
    assert_eq!(world.stacks[SERVER].queued(server).unwrap().0, 1_448);
    set(&mut world, false);
    world.run(Duration::from_millis(50));
    assert_eq!(world.stacks[SERVER].queued(server).unwrap().0, 1_548);
    set(&mut world, true);
    world.stacks[CLIENT].write(world.now, client, &[1; 100]).unwrap();
    world.run(Duration::from_millis(190));
    assert_eq!(world.stacks[SERVER].queued(server).unwrap().0, 1_548);
    // RTO = SRTT + 200 ms.
    world.run(Duration::from_millis(100));
    assert_eq!(world.stacks[SERVER].queued(server).unwrap().0, 1_648);
}

#[test]
fn nagle_holds_the_second_small_segment_and_no_delay_does_not() {
    for (no_delay, segments) in [(false, 1), (true, 3)] {
        let mut world = world();
        let (client, _, _) = world.connect(false);
        world.stacks[CLIENT].set_option(world.now, client, &SocketOption::NoDelay(no_delay)).unwrap();
        for _ in 0..3 {
            world.stacks[CLIENT].write(world.now, client, b"x").unwrap();
            world.flush();
        }
        assert_eq!(world.stacks[CLIENT].info(world.now, client).unwrap().data_segs_out, segments);
    }
}

#[test]
fn keep_alive_notices_that_the_peer_is_gone() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    for option in [
        SocketOption::KeepAlive(true),
        SocketOption::KeepIdle(Duration::from_secs(10)),
        SocketOption::KeepInterval(SECOND),
        SocketOption::KeepCount(3),
    ] {
        world.stacks[CLIENT].set_option(world.now, client, &option).unwrap();
    }
    world.run(Duration::from_secs(60));
    assert_eq!(world.stacks[CLIENT].state(client), Ok(State::Established), "the peer answers");
    world.connected[SERVER] = false;
    world.run(Duration::from_secs(30));
    assert_eq!(world.stacks[CLIENT].take_error(client), Ok(Some(SocketError::TimedOut)));
}

#[test]
fn options_out_of_range_or_set_too_late_are_rejected() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    let stack = &mut world.stacks[CLIENT];
    let fresh = stack.socket();
    for option in
        [SocketOption::MaxSegment(87), SocketOption::KeepCount(0), SocketOption::KeepIdle(Duration::from_millis(1))]
    {
        assert_eq!(stack.set_option(world.now, fresh, &option), Err(SocketError::BadOption));
    }
    assert_eq!(stack.set_option(world.now, client, &SocketOption::MaxSegment(500)), Err(SocketError::Invalid));
    stack.set_option(world.now, fresh, &SocketOption::SendBuffer(Bytes(1))).unwrap();
    assert_eq!(stack.settings(fresh).unwrap().send_buffer, Some(Bytes(4_608)));
    assert!(stack.set_option(world.now, client, &SocketOption::Congestion("bbr".parse().unwrap())).is_ok());
    stack.write(world.now, client, b"x").unwrap();
    world.flush();
    let late = world.stacks[CLIENT].set_option(world.now, client, &SocketOption::Congestion("vegas".parse().unwrap()));
    assert_eq!(late, Err(SocketError::NotSupported));
}

#[test]
fn a_maximum_segment_is_stored() {
    let mut world = world();
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::MaxSegment(536)).unwrap();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    let data = pattern(10_000, 1);
    assert!(world.send((SERVER, server), (CLIENT, client), &data) == data);
    assert_eq!(world.stacks[CLIENT].info(world.now, client).unwrap().rcv_mss, 524);
}

#[test]
fn a_send_buffer_takes_no_more_once_it_is_full() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::SendBuffer(Bytes(5_000))).unwrap();
    // The buffer that was started is filled, up to half the peer's window, in addition to the data that left meanwhile.
    let taken = world.stacks[CLIENT].write(world.now, client, &[0; 80_000]).unwrap();
    assert!((5_000..=10 * 1_448 + 65_535 / 2).contains(&taken), "{taken}");
    assert_eq!(world.stacks[CLIENT].write(world.now, client, &[0; 8_000]), Err(SocketError::WouldBlock));
    assert!(!world.stacks[CLIENT].readiness(client).unwrap().writable);
    world.run(SECOND);
    assert!(world.stacks[CLIENT].readiness(client).unwrap().writable);
    assert_eq!(world.stacks[SERVER].queued(server).unwrap().0, taken as u64);
}

#[test]
fn packets_for_others_and_broken_ones_are_counted() {
    let mut world = world();
    let socket = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, socket, socket_address(7, 80)).unwrap();
    world.flush();
    world.run(Duration::from_millis(100));
    assert_eq!(world.stacks[SERVER].counters().not_for_us, 1);
    for packet in [&b""[..], b"hello", &[0x45; 30], &[0x60; 39]] {
        world.stacks[SERVER].packet_in(world.now, packet);
    }
    assert_eq!(world.stacks[SERVER].counters().bad_packets, 4);
    assert_eq!(world.stacks[SERVER].counters().resets, 0);
}

#[test]
fn a_router_without_a_route_ends_only_an_opening_connection() {
    use lightlag_wire::icmp::{self, Error};
    let mut world = world();
    let (client, server, _) = world.connect(false);
    let opening = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, opening, socket_address(9, 80)).unwrap();
    let (mut packet, mut complaint) = (Vec::new(), Vec::new());
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    icmp::encode(&mut complaint, [10, 9, 0, 254].into(), Error::HostUnreachable, &packet).unwrap();
    world.stacks[CLIENT].packet_in(world.now, &complaint);
    assert_eq!(world.stacks[CLIENT].take_error(opening), Ok(Some(SocketError::HostUnreachable)));
    world.stacks[CLIENT].write(world.now, client, b"data").unwrap();
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    icmp::encode(&mut complaint, [10, 9, 0, 254].into(), Error::HostUnreachable, &packet).unwrap();
    world.stacks[CLIENT].packet_in(world.now, &complaint);
    world.run(Duration::from_secs(5));
    assert_eq!(world.stacks[SERVER].read(server, &mut [0; 8]), Ok(4), "the data was retransmitted");
}

#[test]
fn two_sockets_may_open_to_each_other_simultaneously() {
    let mut world = world();
    let ends = [CLIENT, SERVER].map(|host| {
        let stack = &mut world.stacks[host];
        let socket = stack.socket();
        stack.bind(socket, socket_address(host, 7)).unwrap();
        stack.connect(world.now, socket, socket_address(1 - host, 7)).unwrap();
        socket
    });
    world.run(SECOND);
    for host in [CLIENT, SERVER] {
        assert_eq!(world.stacks[host].state(ends[host]), Ok(State::Established));
    }
    let data = pattern(10_000, 1);
    assert!(world.send((CLIENT, ends[0]), (SERVER, ends[1]), &data) == data);
}

/// Returns the lengths and PSH flags of the segments with data that a host sends now.
fn leaving(world: &mut World, host: usize) -> Vec<(u16, bool)> {
    let (mut packet, mut segments) = (Vec::new(), Vec::new());
    while world.stacks[host].poll_packet(world.now, &mut packet) {
        let segment = lightlag_wire::decode(&packet).unwrap().segment;
        if segment.len > 0 {
            segments.push((segment.len, segment.flags.has(lightlag_tcp::segment::Flags::PSH)));
        }
    }
    segments
}

#[test]
fn the_last_segment_of_a_burst_and_of_a_write_requests_a_push() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::NoDelay(true)).unwrap();
    world.stacks[CLIENT].write(world.now, client, &[0; 5 * 1_448 + 10]).unwrap();
    let full = 1_448;
    // Two segments a burst on such a slow path; the last one ends the write.
    let expected = [(full, false), (full, true), (full, false), (full, true), (full, false), (10, true)];
    assert_eq!(leaving(&mut world, CLIENT), expected);
}

const MORE: Writing = Writing { more: true, ends_record: false };

#[test]
fn more_to_come_delays_partial_segments_and_requests_no_push() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    let set = |world: &mut World| {
        world.stacks[CLIENT].set_option(world.now, client, &SocketOption::NoDelay(true)).unwrap();
    };
    set(&mut world);
    assert_eq!(world.stacks[CLIENT].write_with(world.now, client, &[0; 1_548], MORE), Ok(1_548));
    assert_eq!(leaving(&mut world, CLIENT), [(1_448, false)]);
    set(&mut world);
    assert_eq!(leaving(&mut world, CLIENT), [(100, false)], "TCP_NODELAY lets it go");
    world.stacks[CLIENT].write_with(world.now, client, &[0; 20], MORE).unwrap();
    world.stacks[CLIENT].write(world.now, client, &[0; 20]).unwrap();
    assert_eq!(leaving(&mut world, CLIENT), [(40, true)], "likewise a write without MSG_MORE");
}

#[test]
fn the_limit_of_unsent_data_bounds_writes_and_notifies_a_writer_at_half_of_it() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::NotSentLimit(Bytes(4_000))).unwrap();
    world.connected[SERVER] = false;
    // The first ten segments are sent; the kernel's buffer, which holds half the peer's window, is filled.
    let taken = world.stacks[CLIENT].write(world.now, client, &[0; 200_000]).unwrap() as u64;
    world.flush();
    let unsent = world.stacks[CLIENT].info(world.now, client).unwrap().notsent_bytes;
    assert_eq!(taken - unsent, 14_480);
    assert!((4_000..40_000).contains(&unsent), "{unsent}");
    let before = world.stacks[CLIENT].readiness(client).unwrap();
    assert!(!before.writable);
    assert_eq!(world.stacks[CLIENT].write(world.now, client, &[0; 10]), Err(SocketError::WouldBlock));
    world.connected[SERVER] = true;
    world.run(Duration::from_secs(3));
    let after = world.stacks[CLIENT].readiness(client).unwrap();
    assert!(after.writable);
    assert_eq!(after.releases, before.releases + 1, "reported once");
}

#[test]
fn each_arrival_notifies_a_reader_once() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    let arrivals = |world: &mut World| world.stacks[SERVER].readiness(server).unwrap().arrivals;
    let first = arrivals(&mut world);
    for count in 1..3 {
        world.stacks[CLIENT].write(world.now, client, b"data").unwrap();
        world.run(SECOND);
        assert_eq!(arrivals(&mut world), first + count);
    }
    world.stacks[SERVER].read(server, &mut [0; 3]).unwrap();
    world.run(SECOND);
    assert_eq!(arrivals(&mut world), first + 2, "reading does not count as an arrival");
    world.stacks[CLIENT].shutdown(client, Shutdown::Write).unwrap();
    world.run(SECOND);
    assert_eq!(arrivals(&mut world), first + 3);
}

#[test]
fn a_record_ends_its_segment_and_its_buffer() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    let record = Writing { more: false, ends_record: true };
    for bytes in [2_000, 400, 400] {
        world.stacks[CLIENT].write_with(world.now, client, &vec![0; bytes], record).unwrap();
    }
    world.stacks[CLIENT].write(world.now, client, &[0; 1_448]).unwrap();
    let expected = [(1_448, false), (552, true), (400, true), (400, true), (1_448, true)];
    assert_eq!(leaving(&mut world, CLIENT), expected);
}

#[test]
fn times_of_business_count_until_everything_is_acknowledged() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    let opened = world.now;
    world.run(SECOND);
    let info = |world: &World, host: usize, socket| world.stacks[host].info(world.now, socket).unwrap();
    assert_eq!(info(&world, CLIENT, client).busy_time, Duration::ZERO);
    assert!(info(&world, SERVER, server).last_data_recv >= SECOND, "since the handshake, {opened:?}");
    world.stacks[CLIENT].write(world.now, client, &[0; 3 * 1_448]).unwrap();
    world.run(SECOND);
    // One round trip of 20 ms; the first ACKs are not delayed.
    assert_eq!(info(&world, CLIENT, client).busy_time, Duration::from_millis(20));
    assert_eq!(info(&world, CLIENT, client).sndbuf_limited, Duration::ZERO);
    assert!(info(&world, SERVER, server).last_data_recv < SECOND);
}

#[test]
fn a_small_send_buffer_is_reported_as_a_limit() {
    let mut world = world();
    let (client, server, _) = world.connect(false);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::SendBuffer(Bytes(5_000))).unwrap();
    let end = world.now + SECOND;
    while world.now < end {
        if world.stacks[CLIENT].readiness(client).unwrap().writable {
            let _ = world.stacks[CLIENT].write(world.now, client, &[0; 60_000]);
        }
        let _ = world.stacks[SERVER].read(server, &mut [0; 100_000]);
        world.step(end);
    }
    let info = world.stacks[CLIENT].info(world.now, client).unwrap();
    assert!(info.sndbuf_limited > Duration::ZERO && info.sndbuf_limited <= info.busy_time, "{:?}", info.sndbuf_limited);
    assert!(info.busy_time <= SECOND);
}

#[test]
fn the_user_timeout_ends_a_connection_without_a_reply() {
    let mut world = world();
    let (client, _, _) = world.connect(false);
    world.stacks[CLIENT].set_option(world.now, client, &SocketOption::UserTimeout(Duration::from_secs(3))).unwrap();
    world.connected = [false; 2];
    world.stacks[CLIENT].write(world.now, client, b"x").unwrap();
    world.run(Duration::from_secs(2));
    assert_eq!(world.stacks[CLIENT].take_error(client), Ok(None));
    world.run(Duration::from_secs(2));
    assert_eq!(world.stacks[CLIENT].take_error(client), Ok(Some(SocketError::TimedOut)));
}

#[test]
fn a_host_does_not_reach_itself() {
    let mut world = world();
    let stack = &mut world.stacks[CLIENT];
    let socket = stack.socket();
    assert_eq!(stack.connect(world.now, socket, socket_address(CLIENT, 80)), Err(SocketError::NetworkUnreachable));
}
