//! Data in a SYN (RFC 7413): cookies, the application's view before the handshake is complete, and paths or servers
//! that do not support it.

use crate::world::{CLIENT, Pipe, SERVER, World, address, pattern, socket_address};
use lightlag_core::{Duration, Instant};
use lightlag_host::{FastOpen, HostConfig, Keys, Shutdown, SocketError, SocketId, SocketOption};
use lightlag_tcp::State;
use lightlag_tcp::config::TimerGranularity;
use lightlag_tcp::fast_open::Refusal;
use lightlag_tcp::segment::Flags;
use lightlag_wire::icmp::{self, Error};

const SECOND: Duration = Duration::from_secs(1);

fn everywhere(_: usize, config: &mut HostConfig) {
    config.fast_open = FastOpen { server: true, all_listeners: true, ..FastOpen::default() };
}

fn world() -> World {
    World::new(Pipe::CLEAN, everywhere)
}

/// Opens a connection with this data. Returns the number of bytes sent with the SYN.
fn open(world: &mut World, data: &[u8]) -> (SocketId, usize) {
    let socket = world.stacks[CLIENT].socket();
    let to = socket_address(SERVER, 80);
    let len = world.stacks[CLIENT].connect_with(world.now, socket, Some(to), data, false).unwrap();
    (socket, len)
}

/// Returns a listener whose cookie the client has cached.
fn acquainted(world: &mut World) -> SocketId {
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
    let (socket, len) = open(world, b"too early");
    assert_eq!(len, 0, "the first SYN only requests a cookie");
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    let info = world.stacks[CLIENT].info(world.now, socket).unwrap();
    assert_eq!((info.syn_data, info.fast_open_refusal), (false, Refusal::NoCookie));
    world.stacks[CLIENT].close(world.now, socket).unwrap();
    world.stacks[SERVER].close(world.now, server).unwrap();
    world.run(SECOND);
    listener
}

fn read(world: &mut World, host: usize, socket: SocketId) -> Result<Vec<u8>, SocketError> {
    let mut data = vec![0; 100_000];
    let len = world.stacks[host].read(socket, &mut data)?;
    data.truncate(len);
    Ok(data)
}

#[test]
fn after_the_first_connection_a_request_takes_one_round_trip() {
    let mut world = world();
    let listener = acquainted(&mut world);
    let start = world.now;
    let (client, len) = open(&mut world, b"request");
    assert_eq!(len, 7);
    assert_eq!(world.stacks[CLIENT].write(world.now, client, b"more"), Err(SocketError::WouldBlock));
    while world.now < start + Duration::from_millis(10) {
        assert!(world.step(start + SECOND));
    }
    let server = world.stacks[SERVER].accept(listener).expect("before the client's ACK");
    assert_eq!(read(&mut world, SERVER, server).unwrap(), b"request");
    let info = world.stacks[SERVER].info(world.now, server).unwrap();
    assert_eq!((info.state, info.syn_data, info.delivered), (State::SynReceived, true, 0));
    world.stacks[SERVER].write(world.now, server, b"answer").unwrap();
    while world.now < start + Duration::from_millis(20) {
        assert!(world.step(start + SECOND));
    }
    assert_eq!(read(&mut world, CLIENT, client).unwrap(), b"answer", "one round trip after the SYN");
    world.run(SECOND);
    let info = world.stacks[CLIENT].info(world.now, client).unwrap();
    assert_eq!((info.syn_data, info.fast_open_refusal, info.delivered), (true, Refusal::None, 1));
    assert_eq!(world.stacks[SERVER].info(world.now, server).unwrap().state, State::Established);
}

#[test]
fn data_beyond_the_space_in_the_syn_follows() {
    let mut world = world();
    let listener = acquainted(&mut world);
    let data = pattern(5_000, 3);
    let (client, len) = open(&mut world, &data);
    assert_eq!(len, 1_420, "the server's MSS less 40");
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    let rest = world.send((CLIENT, client), (SERVER, server), &data[len..]);
    assert!(rest == data);
}

#[test]
fn a_connect_that_is_put_off_opens_with_the_first_write() {
    let mut world = world();
    let listener = acquainted(&mut world);
    let stack = &mut world.stacks[CLIENT];
    let socket = stack.socket();
    stack.set_option(world.now, socket, &SocketOption::FastOpenConnect(true)).unwrap();
    stack.connect(world.now, socket, socket_address(SERVER, 80)).unwrap();
    assert!(stack.is_deferred(socket) && stack.readiness(socket).unwrap().writable);
    assert!(!stack.poll_packet(world.now, &mut Vec::new()), "nothing leaves yet");
    assert_eq!(stack.connect(world.now, socket, socket_address(SERVER, 80)), Err(SocketError::AlreadyConnected));
    assert_eq!(stack.read(socket, &mut [0; 8]), Err(SocketError::WouldBlock));
    assert_eq!(stack.write(world.now, socket, b"request"), Ok(7));
    assert!(!stack.is_deferred(socket));
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    assert_eq!(read(&mut world, SERVER, server).unwrap(), b"request");
    // A socket that never writes closes silently, and its addresses are free again.
    let unused = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].set_option(world.now, unused, &SocketOption::FastOpenConnect(true)).unwrap();
    world.stacks[CLIENT].connect(world.now, unused, socket_address(SERVER, 80)).unwrap();
    world.stacks[CLIENT].close(world.now, unused).unwrap();
    assert!(!world.stacks[CLIENT].poll_packet(world.now, &mut Vec::new()));
}

#[test]
fn without_a_cookie_a_connect_is_not_put_off() {
    let mut world = world();
    let socket = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].set_option(world.now, socket, &SocketOption::FastOpenConnect(true)).unwrap();
    world.stacks[CLIENT].connect(world.now, socket, socket_address(SERVER, 80)).unwrap();
    let mut packet = Vec::new();
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    let asked = lightlag_wire::decode(&packet).unwrap().segment.cookie();
    assert!(asked.is_some_and(|cookie| cookie.is_request()));
}

#[test]
fn hosts_may_do_without_cookies() {
    let mut world = World::new(Pipe::CLEAN, |_, config| {
        config.fast_open = FastOpen {
            server: true,
            all_listeners: true,
            client_without_cookie: true,
            server_without_cookie: true,
            ..FastOpen::default()
        };
    });
    let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
    let (_, len) = open(&mut world, b"instant");
    assert_eq!(len, 7);
    world.run(Duration::from_millis(10));
    let server = world.stacks[SERVER].accept(listener).unwrap();
    assert_eq!(read(&mut world, SERVER, server).unwrap(), b"instant");
}

#[test]
fn a_cookie_of_another_key_costs_a_round_trip_and_no_data() {
    let mut world = world();
    let listener = acquainted(&mut world);
    let keys = Keys::from_bytes(&[9; 16]).unwrap();
    world.stacks[SERVER].set_option(world.now, listener, &SocketOption::FastOpenKeys(keys)).unwrap();
    for (taken, refusal) in [(false, Refusal::NotAcknowledged), (true, Refusal::None)] {
        let (client, len) = open(&mut world, b"request");
        assert_eq!(len, 7);
        world.run(Duration::from_millis(10));
        assert_eq!(world.stacks[SERVER].accept(listener).is_ok(), taken, "the answer brought the right cookie");
        world.run(SECOND);
        let info = world.stacks[CLIENT].info(world.now, client).unwrap();
        assert_eq!((info.syn_data, info.fast_open_refusal), (taken, refusal));
        assert_eq!(info.total_retrans, u64::from(!taken), "it was retransmitted immediately");
        if !taken {
            let server = world.stacks[SERVER].accept(listener).unwrap();
            assert_eq!(read(&mut world, SERVER, server).unwrap(), b"request", "once");
            assert_eq!(read(&mut world, SERVER, server), Err(SocketError::WouldBlock));
        }
    }
}

#[test]
fn a_backup_key_takes_old_cookies_and_gives_new_ones() {
    let old = Keys::from_bytes(&[9; 16]).unwrap();
    let both = Keys { primary: [1, 2], backup: Some(old.primary) };
    let new = Keys { backup: None, ..both };
    let mut world = World::new(Pipe::CLEAN, |host, config| {
        everywhere(host, config);
        config.fast_open.keys = Some(old);
    });
    let listener = acquainted(&mut world);
    for keys in [both, new] {
        world.stacks[SERVER].set_option(world.now, listener, &SocketOption::FastOpenKeys(keys)).unwrap();
        open(&mut world, b"request");
        world.run(Duration::from_millis(10));
        assert!(world.stacks[SERVER].accept(listener).is_ok(), "{keys:?}");
        world.run(SECOND);
    }
}

#[test]
fn a_listener_limits_the_unconfirmed_clients_with_data() {
    let mut world = world();
    let listener = acquainted(&mut world);
    world.stacks[SERVER].set_option(world.now, listener, &SocketOption::FastOpen(2)).unwrap();
    world.connected[CLIENT] = false;
    let clients: Vec<_> = (0..4).map(|_| open(&mut world, b"request").0).collect();
    world.run(Duration::from_millis(10));
    let mut accepted: Vec<_> = std::iter::from_fn(|| world.stacks[SERVER].accept(listener).ok()).collect();
    assert_eq!(accepted.len(), 2);
    world.connected[CLIENT] = true;
    world.run(Duration::from_secs(3));
    accepted.extend(std::iter::from_fn(|| world.stacks[SERVER].accept(listener).ok()));
    assert_eq!(accepted.len(), 4, "the other connections were opened normally");
    for socket in accepted {
        assert_eq!(read(&mut world, SERVER, socket).unwrap(), b"request");
    }
    let taken = |client: &SocketId| world.stacks[CLIENT].info(world.now, *client).unwrap().syn_data;
    assert_eq!(clients.iter().filter(|client| taken(client)).count(), 2);
}

#[test]
fn a_reset_connection_counts_for_a_minute() {
    let mut world = world();
    let listener = acquainted(&mut world);
    world.stacks[SERVER].set_option(world.now, listener, &SocketOption::FastOpen(1)).unwrap();
    let early = |world: &mut World| {
        let (client, _) = open(world, b"request");
        world.run(Duration::from_millis(10));
        let accepted = world.stacks[SERVER].accept(listener).ok();
        (client, accepted)
    };
    let (client, accepted) = early(&mut world);
    let accepted = accepted.expect("the first");
    // The SYN-ACK finds no socket, so a reset is sent.
    world.stacks[CLIENT].close(world.now, client).unwrap();
    world.run(SECOND);
    assert_eq!(read(&mut world, SERVER, accepted).unwrap(), b"request", "it is read all the same");
    assert_eq!(read(&mut world, SERVER, accepted), Err(SocketError::Reset));
    assert_eq!(early(&mut world).1, None);
    world.run(Duration::from_secs(60));
    let _ = world.stacks[SERVER].accept(listener);
    assert!(early(&mut world).1.is_some());
}

#[test]
fn only_the_syn_ack_is_retransmitted_before_its_ack() {
    let mut world = World::new(Pipe::CLEAN, |host, config| {
        everywhere(host, config);
        config.tcp.timer_granularity = TimerGranularity::Exact;
    });
    let listener = acquainted(&mut world);
    open(&mut world, b"request");
    let mut packet = Vec::new();
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    let stack = &mut world.stacks[SERVER];
    stack.packet_in(world.now, &packet);
    let server = stack.accept(listener).unwrap();
    let mut now = world.now;
    let sent = |stack: &mut lightlag_host::Stack, now: Instant| {
        let (mut packet, mut segments) = (Vec::new(), Vec::new());
        while stack.poll_packet(now, &mut packet) {
            let segment = lightlag_wire::decode(&packet).unwrap().segment;
            segments.push((segment.flags.has(Flags::SYN), segment.len));
        }
        segments
    };
    assert_eq!(sent(stack, now), [(true, 0)]);
    stack.write(now, server, b"answer").unwrap();
    assert_eq!(sent(stack, now), [(false, 6)]);
    for wait in [1_u64, 2, 4] {
        now += Duration::from_secs(wait);
        while stack.poll_timeout().is_some_and(|next| next < now) {
            let next = stack.poll_timeout().unwrap_or(now);
            stack.handle_timeout(next);
            assert_eq!(sent(stack, next), [], "nothing before its time");
        }
        stack.handle_timeout(now);
        assert_eq!(sent(stack, now), [(true, 0)], "after {wait} s");
    }
}

#[test]
fn a_router_ends_an_unaccepted_connection_but_its_data_stays() {
    let mut world = world();
    let listener = acquainted(&mut world);
    for accepted in [false, true] {
        open(&mut world, b"request");
        let (mut packet, mut complaint) = (Vec::new(), Vec::new());
        assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
        let stack = &mut world.stacks[SERVER];
        stack.packet_in(world.now, &packet);
        let before = if accepted { stack.accept(listener).ok() } else { None };
        assert!(stack.poll_packet(world.now, &mut packet));
        icmp::encode(&mut complaint, [10, 9, 0, 254].into(), Error::HostUnreachable, &packet).unwrap();
        stack.packet_in(world.now, &complaint);
        let server = before.unwrap_or_else(|| stack.accept(listener).unwrap());
        assert_eq!(read(&mut world, SERVER, server).unwrap(), b"request");
        let told = if accepted { SocketError::WouldBlock } else { SocketError::HostUnreachable };
        assert_eq!(read(&mut world, SERVER, server), Err(told));
        let stack = &mut world.stacks[SERVER];
        assert_eq!(stack.write(world.now, server, b"answer").is_ok(), accepted);
    }
}

#[test]
fn a_router_ends_a_handshake_without_a_waiter() {
    let mut world = World::new(Pipe::CLEAN, |_, _| {});
    world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
    let client = world.stacks[CLIENT].socket();
    world.stacks[CLIENT].connect(world.now, client, socket_address(SERVER, 80)).unwrap();
    let (mut packet, mut complaint) = (Vec::new(), Vec::new());
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    let stack = &mut world.stacks[SERVER];
    stack.packet_in(world.now, &packet);
    assert!(stack.poll_packet(world.now, &mut packet));
    icmp::encode(&mut complaint, [10, 9, 0, 254].into(), Error::HostUnreachable, &packet).unwrap();
    stack.packet_in(world.now, &complaint);
    assert!(!stack.poll_packet(world.now, &mut Vec::new()), "silently");
    assert_eq!((stack.active_connections(), stack.poll_timeout()), (0, None));
    assert_eq!(stack.counters().unreachable, 1);
}

#[test]
fn data_that_is_too_big_for_the_path_is_sent_after_a_plain_syn() {
    let mut world = world();
    let listener = acquainted(&mut world);
    let data = pattern(1_200, 2);
    let (client, len) = open(&mut world, &data);
    assert_eq!(len, 1_200);
    let (mut packet, mut complaint) = (Vec::new(), Vec::new());
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    icmp::encode(&mut complaint, [10, 9, 0, 254].into(), Error::PacketTooBig { mtu: 840 }, &packet).unwrap();
    world.stacks[CLIENT].packet_in(world.now, &complaint);
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet), "immediately");
    let again = lightlag_wire::decode(&packet).unwrap().segment;
    assert_eq!((again.len, again.cookie(), again.syn_options().mss), (0, None, Some(800)));
    world.stacks[SERVER].packet_in(world.now, &packet);
    world.run(SECOND);
    let server = world.stacks[SERVER].accept(listener).unwrap();
    assert!(read(&mut world, SERVER, server).unwrap() == data);
    assert!(world.stacks[CLIENT].info(world.now, client).unwrap().rcv_mss == 0, "nothing came back");
}

#[test]
fn a_path_that_swallows_data_is_spared_for_a_while() {
    let mut world = World::new(Pipe::CLEAN, |host, config| {
        everywhere(host, config);
        config.fast_open.rest = Duration::from_secs(1_000);
    });
    acquainted(&mut world);
    world.connected[SERVER] = false;
    let (_, len) = open(&mut world, b"request");
    assert_eq!(len, 7);
    // The third timeout in a row comes after 1 + 1 + 1 s.
    world.run(Duration::from_millis(2_900));
    assert_eq!(open(&mut world, b"request").1, 7);
    world.run(Duration::from_millis(200));
    let (_, len) = open(&mut world, b"request");
    let mut packet = Vec::new();
    assert!(world.stacks[CLIENT].poll_packet(world.now, &mut packet));
    assert_eq!((len, lightlag_wire::decode(&packet).unwrap().segment.cookie()), (0, None), "a plain SYN");
    world.run(Duration::from_secs(5_000));
    assert_eq!(open(&mut world, b"request").1, 7);
}

#[test]
fn calls_report_that_a_host_has_no_fast_open() {
    let mut world = World::new(Pipe::CLEAN, |_, config| config.fast_open.client = false);
    let stack = &mut world.stacks[CLIENT];
    let socket = stack.socket();
    let to = socket_address(SERVER, 80);
    assert_eq!(stack.connect_with(world.now, socket, Some(to), b"x", false), Err(SocketError::NotSupported));
    let put_off = SocketOption::FastOpenConnect(true);
    assert_eq!(stack.set_option(world.now, socket, &put_off), Err(SocketError::NotSupported));
    let listener = stack.listen((address(CLIENT, false), 80).into(), 1).unwrap();
    assert_eq!(stack.connect_with(world.now, listener, Some(to), b"x", false), Err(SocketError::NotSupported));
    assert_eq!(stack.set_option(world.now, socket, &SocketOption::SynCount(0)), Err(SocketError::BadOption));
}

#[test]
fn nothing_is_lost_nor_read_twice_whatever_the_pipe_does() {
    for seed in 0..40 {
        let pipe = Pipe { loss: 0.2, twice: 0.1, jitter: Duration::from_millis(8), ..Pipe::CLEAN };
        let mut world = World::new(pipe, everywhere).with_seed(seed);
        let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
        for round in 0..3 {
            let (request, reply) = (pattern(3_000, seed), pattern(20_000, seed + 1_000));
            let (client, len) = open(&mut world, &request);
            let end = world.now + Duration::from_secs(600);
            let server = loop {
                match world.stacks[SERVER].accept(listener) {
                    Ok(server) => break server,
                    Err(_) => assert!(world.step(end), "seed {seed}, round {round}: no connection"),
                }
            };
            let back = world.send((SERVER, server), (CLIENT, client), &reply);
            let there = world.send((CLIENT, client), (SERVER, server), &request[len..]);
            assert!(there == request && back == reply, "seed {seed}, round {round}");
            world.stacks[CLIENT].shutdown(client, Shutdown::Both).unwrap();
            world.run(SECOND);
            world.stacks[CLIENT].close(world.now, client).unwrap();
            world.stacks[SERVER].close(world.now, server).unwrap();
            world.run(Duration::from_secs(10));
        }
    }
}
