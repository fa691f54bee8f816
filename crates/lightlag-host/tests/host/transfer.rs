//! Tests that bytes arrive as they were written, whatever the pipe does to the packets.

use crate::world::{CLIENT, Pipe, SERVER, World, pattern};
use lightlag_core::{Bytes, Duration};
use lightlag_host::SocketOption;
use lightlag_tcp::Options;
use proptest::prelude::*;

#[test]
fn a_megabyte_arrives_over_a_clean_pipe() {
    let mut world = World::new(Pipe::CLEAN, |_, _| {});
    let (client, server, _) = world.connect(false);
    let data = pattern(1_000_000, 1);
    assert!(world.send((CLIENT, client), (SERVER, server), &data) == data);
    world.run(Duration::from_secs(1));
    let info = world.stacks[CLIENT].info(world.now, client).unwrap();
    assert_eq!((info.bytes_acked, info.bytes_retrans, info.total_retrans), (1_000_000, 0, 0));
    assert_eq!((info.snd_mss, info.scales, info.timestamps, info.sack), (1448, Some((10, 10)), true, true));
    let info = world.stacks[SERVER].info(world.now, server).unwrap();
    assert_eq!((info.bytes_received, info.rcv_mss), (1_000_000, 1448));
}

#[test]
fn both_directions_simultaneously() {
    let mut world = World::new(Pipe { loss: 0.02, ..Pipe::CLEAN }, |_, _| {});
    let (client, server, _) = world.connect(true);
    let (there, back) = (pattern(300_000, 1), pattern(300_000, 2));
    let mut ends = [(CLIENT, client, &there, 0, Vec::new()), (SERVER, server, &back, 0, Vec::new())];
    let end = world.now + Duration::from_secs(3_600);
    while ends[0].4.len() < back.len() || ends[1].4.len() < there.len() {
        for (host, socket, data, written, arrived) in &mut ends {
            let stack = &mut world.stacks[*host];
            if let Ok(len) = stack.write(world.now, *socket, &data[*written..]) {
                *written += len;
            }
            let mut buffer = [0; 5_000];
            while let Ok(len @ 1..) = stack.read(*socket, &mut buffer) {
                arrived.extend_from_slice(&buffer[..len]);
            }
        }
        assert!(world.step(end));
    }
    assert!(ends[0].4 == back && ends[1].4 == there);
}

#[test]
fn a_reader_that_pauses_closes_the_window_and_opens_it_again() {
    let mut world = World::new(Pipe::CLEAN, |_, _| {});
    let (client, server, _) = world.connect(false);
    world.stacks[SERVER].set_option(world.now, server, &SocketOption::ReceiveBuffer(Bytes(20_000))).unwrap();
    let data = pattern(200_000, 3);
    let mut written = 0;
    for _ in 0..100 {
        if let Ok(len) = world.stacks[CLIENT].write(world.now, client, &data[written..]) {
            written += len;
        }
        world.run(Duration::from_millis(100));
    }
    let info = world.stacks[CLIENT].info(world.now, client).unwrap();
    assert_eq!(info.snd_wnd, 0, "the buffer is full");
    assert!(info.rwnd_limited > Duration::from_secs(9));
    let unread = world.stacks[SERVER].queued(server).unwrap().0;
    assert!((65_000..70_000).contains(&unread), "{unread}: the window offered first, and no more");
    assert!(world.send((CLIENT, client), (SERVER, server), &data[written..]) == data);
}

fn options() -> impl Strategy<Value = Options> {
    let bits = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let names = prop::sample::select(vec!["cubic", "newreno", "bbr", "hybla"]);
    (bits, names, 88_u64..3_000, 3_000_u64..300_000).prop_map(|((sack, stamps, scaling, ecn), name, mss, buffer)| {
        let mut text = format!("congestion = \"{name}\"\nsack = {sack}\ntimestamps = {stamps}\n");
        text += &format!("window_scaling = {scaling}\nmss = \"{mss} B\"\nreceive_buffer = \"{buffer} B\"\n");
        if ecn {
            text += "ecn = \"classic\"\n";
        }
        if !stamps {
            text += "eifel = false\n";
        }
        toml::from_str(&text).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn written_data_arrives(
        (client_options, server_options) in (options(), options()),
        (loss, twice, jitter) in (0.0..0.15, 0.0..0.1, 0_u64..40),
        (len, seed, v6) in (0_usize..200_000, any::<u64>(), any::<bool>()),
        upwards in any::<bool>(),
    ) {
        let pipe = Pipe { loss, twice, jitter: Duration::from_millis(jitter), ..Pipe::CLEAN };
        let options = [client_options, server_options];
        let mut world = World::new(pipe, |host, config| config.tcp = options[host].resolve().unwrap()).with_seed(seed);
        let (client, server, _) = world.connect(v6);
        let data = pattern(len, seed);
        let (from, to) = if upwards { ((CLIENT, client), (SERVER, server)) } else { ((SERVER, server), (CLIENT, client)) };
        prop_assert!(world.send(from, to, &data) == data);
    }
}
