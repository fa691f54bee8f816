//! A peer of single segments, for what no right TCP does.

use super::world::{SERVER, World, address, socket_address};
use lightlag_host::SocketId;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_wire::{Addresses, IpFields};
use std::net::SocketAddr;

/// The peer's port.
const PORT: u16 = 4_000;

/// The end of a connection to the server that a test plays itself.
pub struct Peer {
    /// The next number that the server sends.
    pub expected: SeqNumber,
}

impl Peer {
    fn end() -> SocketAddr {
        ([10, 9, 0, 7], PORT).into()
    }

    /// An accepted connection; the peer's data begins with number 1.
    pub fn connect(world: &mut World) -> (Self, SocketId) {
        let listener = world.stacks[SERVER].listen(socket_address(SERVER, 80), 5).unwrap();
        let mut peer = Self { expected: SeqNumber(0) };
        peer.send(world, 0, Flags::SYN, b"");
        let answer = peer.segments(world);
        peer.expected = answer[0].seq.plus(1);
        peer.send(world, 1, Flags::ACK, b"");
        (peer, world.stacks[SERVER].accept(listener).unwrap())
    }

    /// A segment of the peer.
    pub fn send(&self, world: &mut World, seq: u32, flags: Flags, payload: &[u8]) {
        let addresses = Addresses { source: Self::end(), destination: SocketAddr::new(address(SERVER, false), 80) };
        let mut segment = Segment::new(SeqNumber(seq), self.expected, 60_000, flags);
        segment.len = payload.len() as u16;
        let mut packet = Vec::new();
        lightlag_wire::encode(&mut packet, &addresses, &IpFields::default(), &segment, payload);
        world.stacks[SERVER].packet_in(world.now, &packet);
    }

    /// What the server sends now.
    pub fn packets(&self, world: &mut World) -> Vec<Vec<u8>> {
        let (mut packet, mut found) = (Vec::new(), Vec::new());
        while world.stacks[SERVER].poll_packet(world.now, &mut packet) {
            found.push(packet.clone());
        }
        found
    }

    /// As [`Self::packets`], read.
    pub fn segments(&self, world: &mut World) -> Vec<Segment> {
        self.packets(world).iter().map(|packet| lightlag_wire::decode(packet).unwrap().segment).collect()
    }
}

#[test]
fn what_a_peer_sends_beyond_its_fin_is_never_read() {
    let mut world = World::new(super::world::Pipe::CLEAN, |_, _| {});
    let (peer, server) = Peer::connect(&mut world);
    peer.send(&mut world, 2, Flags::ACK, &[7; 1_000]);
    peer.send(&mut world, 1, Flags(Flags::ACK.0 | Flags::FIN.0), &[7; 500]);
    let mut data = [0; 2_000];
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(500));
    assert_eq!(data[..500], [7; 500]);
    assert_eq!(world.stacks[SERVER].read(server, &mut data), Ok(0), "the end");
}
