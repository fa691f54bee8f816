//! A peer that sends single segments, including segments that a correct TCP never sends.

use super::world::{SERVER, World, address, socket_address};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{SocketError, SocketId};
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_tcp::{Profile, Segment};
use lightlag_wire::{Addresses, IpFields};
use std::net::SocketAddr;

/// The peer's port number.
const PORT: u16 = 4_000;

/// The peer's end of a connection to the server. The test determines each of its segments.
pub struct Peer {
    /// The sequence number that is expected in the server's next segment.
    pub expected: SeqNumber,
}

impl Peer {
    fn end() -> SocketAddr {
        ([10, 9, 0, 7], PORT).into()
    }

    /// Returns the peer and the accepted connection. The peer's data starts at sequence number 1.
    pub fn connect(world: &mut World) -> (Self, SocketId) {
        Self::connect_with(world, b"")
    }

    /// Opens a connection like [`Self::connect`], with this data in the SYN.
    pub fn connect_with(world: &mut World, early: &[u8]) -> (Self, SocketId) {
        let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
        let mut peer = Self { expected: SeqNumber(0) };
        peer.send(world, 0, Flags::SYN, early);
        let answer = peer.segments(world);
        peer.expected = answer[0].seq.plus(1);
        peer.send(world, 1, Flags::ACK, b"");
        (peer, world.stacks[SERVER].accept(listener).unwrap())
    }

    /// Sends a segment from the peer to the server.
    pub fn send(&self, world: &mut World, seq: u32, flags: Flags, payload: &[u8]) {
        let addresses = Addresses { source: Self::end(), destination: SocketAddr::new(address(SERVER, false), 80) };
        let mut segment = Segment::new(SeqNumber(seq), self.expected, 60_000, flags);
        segment.len = payload.len() as u16;
        let mut packet = Vec::new();
        lightlag_wire::encode(&mut packet, &addresses, &IpFields::default(), &segment, payload);
        world.stacks[SERVER].packet_in(world.now, &packet);
    }

    /// Returns the packets that the server sends now.
    pub fn packets(&self, world: &mut World) -> Vec<Vec<u8>> {
        let (mut packet, mut packets) = (Vec::new(), Vec::new());
        while world.stacks[SERVER].poll_packet(world.now, &mut packet) {
            packets.push(packet.clone());
        }
        packets
    }

    /// Returns the segments of [`Self::packets`].
    pub fn segments(&self, world: &mut World) -> Vec<Segment> {
        self.packets(world).iter().map(|packet| lightlag_wire::decode(packet).unwrap().segment).collect()
    }
}

#[test]
fn data_of_the_syn_is_read_where_the_profile_keeps_it() {
    for (profile, kept) in [(Profile::Rfc, true), (Profile::Linux, false)] {
        let mut world = World::new(super::world::Pipe::CLEAN, |_, config| config.tcp = profile.config());
        let (peer, server) = Peer::connect_with(&mut world, &[7; 300]);
        let mut data = [0; 1_000];
        let read = world.stacks[SERVER].read(server, &mut data);
        assert_eq!(read, if kept { Ok(300) } else { Err(SocketError::WouldBlock) }, "{profile:?}");
        let next = if kept { 301 } else { 1 };
        peer.send(&mut world, next, Flags::ACK, &[8; 200]);
        assert_eq!(world.stacks[SERVER].read(server, &mut data[300..]), Ok(200));
        assert!(!kept || data[..300] == [7; 300]);
        assert_eq!(data[300..500], [8; 200]);
    }
}

#[test]
fn a_segment_that_ends_beyond_the_window_is_read_entirely_if_it_is_accepted_entirely() {
    let mut world = World::new(super::world::Pipe::CLEAN, |_, config| {
        config.tcp.receive_buffer = Bytes(4_000);
        config.tcp.receive_buffer_initial = None;
    });
    let (peer, socket) = Peer::connect(&mut world);
    let data: Vec<u8> = (1..=4_100).map(|number| (number % 251) as u8).collect();
    let mut received: Vec<u8> = Vec::new();
    for range in [0..1_990, 1_990..4_100] {
        peer.send(&mut world, 1 + range.start as u32, Flags::PSH.with(Flags::ACK), &data[range]);
        let window = peer.segments(&mut world).last().map_or(0, |segment| segment.window);
        assert!(window < 2_110, "{window}");
        let mut part = [0; 4_096];
        let len = world.stacks[SERVER].read(socket, &mut part).unwrap();
        received.extend(&part[..len]);
    }
    assert_eq!(received, data);
}

#[test]
fn data_beyond_the_fin_of_a_peer_is_never_read() {
    let mut world = World::new(super::world::Pipe::CLEAN, |_, _| {});
    let (peer, server) = Peer::connect(&mut world);
    peer.send(&mut world, 2, Flags::ACK, &[7; 1_000]);
    peer.send(&mut world, 1, Flags(Flags::ACK.0 | Flags::FIN.0), &[7; 500]);
    let mut data = [0; 2_000];
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(500));
    assert_eq!(data[..500], [7; 500]);
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(0), "the end");
}

#[test]
fn the_information_counts_late_and_duplicate_data() {
    let mut world = World::new(super::world::Pipe::CLEAN, |_, _| {});
    let (peer, server) = Peer::connect(&mut world);
    for seq in [1, 2_001, 1_001] {
        world.now += Duration::from_millis(10);
        peer.send(&mut world, seq, Flags::ACK, &[7; 1_000]);
    }
    world.stacks[SERVER].write(world.now, server, &[1; 100]).unwrap();
    peer.packets(&mut world);
    world.now += Duration::from_millis(50);
    let info = world.stacks[SERVER].info(world.now, server).unwrap();
    assert_eq!((info.rcv_ooopack, info.data_segs_in, info.bytes_received), (1, 3, 3_000));
    assert_eq!(info.last_data_recv, Duration::from_millis(50));
    assert_eq!((info.last_ack_recv, info.last_data_sent), (info.last_data_recv, info.last_data_recv));
}

#[test]
fn the_information_of_a_sender_counts_reordering_and_duplicates() {
    let pipe = super::world::Pipe { jitter: Duration::from_millis(2), twice: 0.2, ..super::world::Pipe::CLEAN };
    let mut world = World::new(pipe, |_, _| {});
    let (client, server, _) = world.connect(false);
    let data = super::world::pattern(400_000, 5);
    let arrived = world.send((super::world::CLIENT, client), (SERVER, server), &data);
    assert_eq!(arrived, data);
    let (sender, receiver) = (&world.stacks[super::world::CLIENT], &world.stacks[SERVER]);
    let sent = sender.info(world.now, client).unwrap();
    let received = receiver.info(world.now, server).unwrap();
    assert!(sent.reord_seen > 10 && sent.dsack_dups > 10, "{sent:?}");
    assert!(received.rcv_ooopack > 10 && received.dsack_dups == 0, "{received:?}");
}
