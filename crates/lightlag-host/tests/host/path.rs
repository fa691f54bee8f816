//! Errors that routers report about segments in flight: RFC 1191, RFC 8201, RFC 5927, RFC 5461.

use super::world::{CLIENT, Pipe, SERVER, World, pattern};
use lightlag_control::congestion::Choice;
use lightlag_core::Duration;
use lightlag_host::{Counters, SocketError, SocketId};
use lightlag_wire::icmp::{self, Error};
use std::net::IpAddr;

fn world(congestion: &str) -> World {
    let choice: Choice = congestion.parse().unwrap();
    World::new(Pipe::CLEAN, |_, config| config.tcp.congestion = choice.clone())
}

fn router(v6: bool) -> IpAddr {
    if v6 { IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, 0xfe]) } else { IpAddr::from([10, 9, 0, 254]) }
}

fn counters(world: &World) -> Counters {
    *world.stacks[CLIENT].counters()
}

/// Delivers an ICMP error of the router about this packet to the client.
fn complain(world: &mut World, error: Error, packet: &[u8]) {
    let mut complaint = Vec::new();
    icmp::encode(&mut complaint, router(packet[0] >> 4 == 6), error, packet).unwrap();
    world.stacks[CLIENT].packet_in(world.now, &complaint);
}

/// Returns the packets that the client sends now.
fn leaving(world: &mut World) -> Vec<Vec<u8>> {
    let (mut packet, mut packets) = (Vec::new(), Vec::new());
    while world.stacks[CLIENT].poll_packet(world.now, &mut packet) {
        packets.push(packet.clone());
    }
    packets
}

/// Sends `data` to the server over a link with this MTU, whose router reports `reported_mtu` for larger packets.
/// Returns the data that arrived.
fn through(
    world: &mut World,
    client: SocketId,
    server: SocketId,
    data: &[u8],
    mtu: usize,
    reported_mtu: u32,
) -> Vec<u8> {
    let (mut written, mut arrived, mut buffer) = (0, Vec::new(), [0; 10_000]);
    let end = world.now + Duration::from_secs(600);
    while arrived.len() < data.len() {
        if let Ok(len) = world.stacks[CLIENT].write(world.now, client, &data[written..]) {
            written += len;
        }
        for packet in leaving(world) {
            if packet.len() > mtu {
                complain(world, Error::PacketTooBig { mtu: reported_mtu }, &packet);
            } else {
                world.stacks[SERVER].packet_in(world.now, &packet);
            }
        }
        while let Ok(len) = world.stacks[SERVER].read(server, &mut buffer) {
            arrived.extend_from_slice(&buffer[..len]);
        }
        let before = world.now;
        world.step(end);
        assert!(world.now < end, "{} of {} bytes after {:?}", arrived.len(), data.len(), before);
    }
    arrived
}

#[test]
fn a_smaller_path_is_filled_with_smaller_segments() {
    for congestion in ["reno", "cubic", "bbr"] {
        for (v6, mtu, reported_mtu, full) in
            [(false, 1_000, 1_000, 948), (true, 1_300, 1_300, 1_228), (false, 552, 0, 500)]
        {
            let mut world = world(congestion);
            let (client, server, _) = world.connect(v6);
            let data = pattern(300_000, 3);
            assert_eq!(through(&mut world, client, server, &data, mtu, reported_mtu), data, "{congestion} {mtu}");
            let info = world.stacks[CLIENT].info(world.now, client).unwrap();
            assert_eq!(info.snd_mss, full, "{congestion} {mtu}");
            assert_eq!(info.timeouts, 0, "{congestion} {mtu}: it waits for no timer");
            assert_eq!(counters(&world).smaller_paths, 1);
        }
    }
}

#[test]
fn the_window_stays_and_outstanding_data_is_sent_immediately() {
    let mut world = world("reno");
    let (client, _, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, &[1; 4 * 1_448]).unwrap();
    let packets = leaving(&mut world);
    let before = world.stacks[CLIENT].info(world.now, client).unwrap();
    complain(&mut world, Error::PacketTooBig { mtu: 1_052 }, &packets[1]);
    let lengths: Vec<u16> = leaving(&mut world).iter().map(|p| lightlag_wire::decode(p).unwrap().segment.len).collect();
    assert_eq!(lengths, [1_000, 448, 1_000, 448, 1_000, 448, 1_000, 448]);
    let after = world.stacks[CLIENT].info(world.now, client).unwrap();
    // Ten segments of 1,448 bytes are 14 full ones of 1,000.
    assert_eq!((before.snd_cwnd, after.snd_cwnd), (10, 14));
    assert_eq!((after.snd_ssthresh, after.total_retrans), (before.snd_ssthresh, 8));
}

#[test]
fn a_forged_complaint_is_counted_and_changes_nothing() {
    let mut world = world("cubic");
    let (client, _, _) = world.connect(false);
    world.stacks[CLIENT].write(world.now, client, &[1; 3_000]).unwrap();
    let packets = leaving(&mut world);
    // A number before the data in flight, and one after it (RFC 5927 §4.1).
    for change in [-1, 3_000] {
        let mut forged = packets[0].clone();
        let seq = u32::from_be_bytes([forged[24], forged[25], forged[26], forged[27]]);
        forged[24..28].copy_from_slice(&seq.wrapping_add_signed(change).to_be_bytes());
        complain(&mut world, Error::PacketTooBig { mtu: 600 }, &forged);
        complain(&mut world, Error::PortUnreachable, &forged);
    }
    assert_eq!((counters(&world).stray_icmp, counters(&world).smaller_paths), (4, 0));
    // A path with a larger MTU, and one with a smaller MTU than any path has.
    complain(&mut world, Error::PacketTooBig { mtu: 9_000 }, &packets[0]);
    assert_eq!(world.stacks[CLIENT].info(world.now, client).unwrap().snd_mss, 1_448);
    complain(&mut world, Error::PacketTooBig { mtu: 68 }, &packets[0]);
    assert_eq!(world.stacks[CLIENT].info(world.now, client).unwrap().snd_mss, 500);
    assert_eq!((counters(&world).stray_icmp, counters(&world).smaller_paths), (4, 1));
}

#[test]
fn an_unreachable_peer_is_the_reason_of_a_timeout_only() {
    for heard in [false, true] {
        let mut world = world("cubic");
        let (client, _, _) = world.connect(false);
        world.stacks[CLIENT].write(world.now, client, b"data").unwrap();
        let packets = leaving(&mut world);
        complain(&mut world, Error::PortUnreachable, &packets[0]);
        assert_eq!(world.stacks[CLIENT].take_error(client), Ok(None), "it is no more than a hint");
        if heard {
            world.run(Duration::from_secs(5));
            world.stacks[CLIENT].write(world.now, client, b"data").unwrap();
        }
        world.connected = [false; 2];
        world.run(Duration::from_secs(3_000));
        let told = if heard { SocketError::TimedOut } else { SocketError::Refused };
        assert_eq!(world.stacks[CLIENT].take_error(client), Ok(Some(told)));
    }
}
