use super::*;
use crate::Profile;
use crate::config::Scheme;
use crate::segment::{Flags, SackBlock, SynOptions, Timestamps};
use lightlag_transport::Failure;
use proptest::prelude::*;

mod adjusting;
mod closing;
mod low_priority;
mod probes;
mod resets;
mod send_buffer;

const LOCAL: SeqNumber = SeqNumber(1_000);
const REMOTE: SeqNumber = SeqNumber(9_000);

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn config() -> Config {
    Config { mss: 1_000, mss_is_payload: true, delayed_ack: None, ..Profile::Rfc.config() }
}

fn segment(seq: u32, ack: u32, len: u16, flags: Flags, value: u32) -> Segment {
    let mut segment = Segment::new(REMOTE.plus(seq), LOCAL.plus(ack), 60_000, flags);
    segment.len = len;
    segment.with_timestamps(Timestamps { value, echo: 0 })
}

/// Returns a client without window scaling, whose handshake took from 0 to 100 ms.
fn established(config: Config) -> Connection {
    let mut client = Connection::client(Arc::new(config), LOCAL);
    client.open(at(0));
    let syn = client.poll_segment(at(0)).unwrap();
    assert_eq!((syn.flags, syn.seq), (Flags::SYN, LOCAL));
    let offer = SynOptions { mss: Some(1_000), window_scale: None, sack_permitted: true };
    client.handle_segment(at(100), &segment(0, 1, 0, Flags::SYN.with(Flags::ACK), 500).with_syn_options(offer));
    let ack = client.poll_segment(at(100)).unwrap();
    assert_eq!((ack.flags, ack.ack), (Flags::ACK, REMOTE.plus(1)));
    client
}

fn drain(connection: &mut Connection, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| connection.poll_segment(now)).collect()
}

#[test]
fn the_syn_offers_the_configured_options() {
    let offer = |profile: Profile| {
        let mut client = Connection::client(Arc::new(profile.config()), LOCAL);
        client.open(at(0));
        client.poll_segment(at(0)).unwrap()
    };
    let linux = offer(Profile::Linux);
    assert_eq!((linux.header_len(), linux.syn_options().window_scale), (40, Some(10)));
    // 44 segments of 1460: as many as fit below 65,536.
    assert_eq!(linux.window, 64_240);
    // MSS alone.
    assert_eq!(offer(Profile::Inet).header_len(), 24);
}

#[test]
fn options_count_only_where_both_ends_offer_them() {
    let mut server = Connection::server(Arc::new(Profile::Linux.config()), LOCAL);
    let syn = Segment::new(REMOTE, SeqNumber(0), 4_096, Flags::SYN);
    server.handle_segment(at(0), &syn);
    let answer = server.poll_segment(at(0)).unwrap();
    assert_eq!(answer.syn_options(), SynOptions { mss: Some(1460), window_scale: None, sack_permitted: false });
    assert_eq!(answer.timestamps(), None);
    // RFC 9293 §3.7.1: 536 without an MSS option.
    assert_eq!(server.snapshot().segment_size, 536);
}

#[test]
fn timestamps_leave_1448_of_1460_unless_the_profile_counts_payload() {
    for (payload, size) in [(false, 988), (true, 1_000)] {
        let client = established(Config { mss_is_payload: payload, ..config() });
        assert_eq!(client.snapshot().segment_size, size);
    }
}

#[test]
fn the_handshake_gives_the_first_sample() {
    let client = established(config());
    assert_eq!(client.snapshot().srtt, Duration::from_millis(100));
    assert_eq!(client.min_rtt(), Some(Duration::from_millis(100)));
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn an_old_duplicate_after_a_wrap_is_acknowledged_and_dropped() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 1, 1_000, Flags::ACK, 600));
    assert_eq!((client.received(), drain(&mut client, at(200)).len()), (1_000, 1));
    client.handle_segment(at(300), &segment(1_001, 1, 1_000, Flags::ACK, 599));
    assert_eq!((client.received(), drain(&mut client, at(300)).len()), (1_000, 1));
    client.handle_segment(at(300), &segment(1_001, 1, 1_000, Flags::ACK, 600));
    assert_eq!(client.received(), 2_000);
}

#[test]
fn resets_and_syns_inside_the_window_are_challenged() {
    let mut client = established(config());
    for flags in [Flags::RST, Flags::SYN, Flags::SYN.with(Flags::ACK)] {
        client.handle_segment(at(200), &segment(501, 1, 0, flags, 600));
        assert_eq!(client.state(), State::Established);
        let answer = drain(&mut client, at(200));
        assert_eq!((answer.len(), answer[0].ack), (1, REMOTE.plus(1)));
    }
    // Outside the window a reset is ignored; at the exact number it counts.
    client.handle_segment(at(200), &segment(0, 1, 0, Flags::RST, 600));
    assert_eq!((client.state(), drain(&mut client, at(200)).len()), (State::Established, 0));
    client.handle_segment(at(200), &segment(1, 1, 0, Flags::RST, 600));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, Some(Failure::Reset)));
}

#[test]
fn an_ack_of_unsent_data_gets_an_ack_and_is_dropped() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 5_000, 1_000, Flags::ACK, 600));
    assert_eq!((client.received(), drain(&mut client, at(200)).len()), (0, 1));
}

#[test]
fn nothing_leaves_beyond_the_window_of_the_peer() {
    let mut client = established(Config { initial_window: 100, initial_window_bytes: None, ..config() });
    client.write(u64::MAX);
    // 60,000 bytes, unscaled.
    assert_eq!(drain(&mut client, at(100)).len(), 60);
    client.handle_segment(at(200), &segment(1, 10_001, 0, Flags::ACK, 600));
    assert_eq!(drain(&mut client, at(200)).len(), 10);
    assert_eq!(client.snapshot().peer_window, 60_000);
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut client = established(config());
    client.write(5_000);
    assert_eq!(drain(&mut client, at(100)).len(), 5);
    client.write(5_000);
    let mut closed = segment(1, 5_001, 0, Flags::ACK, 600);
    closed.window = 0;
    client.handle_segment(at(200), &closed);
    let mut now = at(200);
    let mut waits = Vec::new();
    for _ in 0..4 {
        assert_eq!(drain(&mut client, now).len(), 0);
        let next = client.poll_timeout().unwrap();
        waits.push(next.since(now));
        now = next;
        client.handle_timeout(now);
        let probe = drain(&mut client, now);
        // An old number, which the peer must acknowledge.
        assert_eq!((probe.len(), probe[0].len, probe[0].seq), (1, 0, LOCAL.plus(5_000)));
        client.handle_segment(now, &closed);
    }
    assert!(waits.windows(2).all(|pair| pair[1] > pair[0]), "{waits:?}");
    let statistics = client.statistics();
    assert_eq!((statistics.probes, statistics.timeouts), (4, 0));
    client.handle_segment(now, &segment(1, 5_001, 0, Flags::ACK, 600));
    assert_eq!(drain(&mut client, now).len(), 5);
}

#[test]
fn a_window_smaller_than_a_segment_is_used_in_the_end() {
    let mut client = established(config());
    client.write(10_000);
    assert_eq!(drain(&mut client, at(100)).len(), 10);
    client.write(5_000);
    let mut narrow = segment(1, 10_001, 0, Flags::ACK, 600);
    narrow.window = 300;
    client.handle_segment(at(200), &narrow);
    assert_eq!(drain(&mut client, at(200)).len(), 0, "silly window");
    let next = client.poll_timeout().unwrap();
    client.handle_timeout(next);
    let sent = drain(&mut client, next);
    assert_eq!((sent.len(), sent[0].len), (1, 300));
}

#[test]
fn nagle_holds_the_small_end_back_unless_the_application_closed() {
    for (nagle, close, segments) in [(true, false, 2), (true, true, 3), (false, false, 3)] {
        let mut client = established(Config { nagle, minshall: false, ..config() });
        client.write(2_500);
        if close {
            client.close();
        }
        assert_eq!(drain(&mut client, at(100)).len(), segments);
    }
}

#[test]
fn by_minshall_a_small_segment_waits_only_for_a_small_one() {
    let mut client = established(Config { nagle: true, minshall: true, ..config() });
    client.write(2_500);
    assert_eq!(drain(&mut client, at(100)).iter().map(|sent| sent.len).collect::<Vec<_>>(), [1_000, 1_000, 500]);
    client.write(300);
    assert!(drain(&mut client, at(110)).is_empty(), "500 bytes are in flight");
    client.handle_segment(at(200), &segment(1, 2_501, 0, Flags::ACK, 600));
    assert_eq!(drain(&mut client, at(200))[0].len, 300);
}

#[test]
fn both_may_open_simultaneously() {
    let config = Arc::new(config());
    let mut ends = [LOCAL, REMOTE].map(|initial| Connection::client(config.clone(), initial));
    let mut crossing = ends.each_mut().map(|end| {
        end.open(at(0));
        end.poll_segment(at(0)).unwrap()
    });
    for now in [at(50), at(100)] {
        let [a, b] = crossing;
        ends[0].handle_segment(now, &b);
        ends[1].handle_segment(now, &a);
        crossing = ends.each_mut().map(|end| end.poll_segment(now).unwrap_or_default());
    }
    for end in &ends {
        assert_eq!(end.state(), State::Established);
    }
}

#[test]
fn both_may_close_simultaneously() {
    let mut client = established(config());
    client.close();
    let fin = drain(&mut client, at(100));
    assert_eq!((fin.len(), fin[0].flags, client.state()), (1, Flags::FIN.with(Flags::ACK), State::FinWait1));
    client.handle_segment(at(150), &segment(1, 1, 0, Flags::FIN.with(Flags::ACK), 600));
    assert_eq!((client.state(), drain(&mut client, at(150)).len()), (State::Closing, 1));
    client.handle_segment(at(200), &segment(2, 2, 0, Flags::ACK, 600));
    assert_eq!(client.state(), State::TimeWait);
    assert_eq!(client.poll_timeout(), Some(at(200) + client.config.time_wait));
}

#[test]
fn a_peer_without_sack_is_repaired_by_new_reno() {
    let mut client = Connection::client(Arc::new(Config { recovery: Scheme::Sack, ..config() }), LOCAL);
    client.open(at(0));
    drain(&mut client, at(0));
    client.handle_segment(at(100), &segment(0, 1, 0, Flags::SYN.with(Flags::ACK), 500));
    client.write(20_000);
    drain(&mut client, at(100));
    for _ in 0..3 {
        client.handle_segment(at(200), &segment(1, 1, 0, Flags::ACK, 600));
        drain(&mut client, at(200));
    }
    assert_eq!(client.statistics().retransmitted_segments, 1);
}

#[test]
fn window_updates_are_not_duplicates() {
    let mut client = established(Config { sack: false, ..config() });
    client.write(10_000);
    drain(&mut client, at(100));
    for n in 0..5 {
        let mut update = segment(1, 1, 0, Flags::ACK, 600);
        update.window = 50_000 + n;
        client.handle_segment(at(200), &update);
        drain(&mut client, at(200));
    }
    assert_eq!(client.statistics().retransmitted_segments, 0);
}

#[test]
fn an_end_that_only_receives_has_no_sender_until_it_writes() {
    let mut server = Connection::server(Arc::new(config()), LOCAL);
    let offer = SynOptions { mss: Some(900), window_scale: None, sack_permitted: true };
    let syn = segment(0, 0, 0, Flags::SYN, 500).with_syn_options(offer);
    server.handle_segment(at(0), &syn);
    assert_eq!(drain(&mut server, at(0)).len(), 1);
    // The SYN-ACK has a timer nevertheless.
    assert!(server.sending.awake().is_none() && server.poll_timeout().is_some());
    server.handle_segment(at(80), &segment(1, 1, 0, Flags::ACK, 580));
    server.handle_segment(at(90), &segment(1, 1, 900, Flags::ACK, 590));
    server.handle_segment(at(91), &segment(1, 1, 900, Flags::ACK, 591));
    assert_eq!(drain(&mut server, at(91)).len(), 1);
    assert!(server.sending.awake().is_none());
    let (at_rest, counts) = (server.snapshot(), server.statistics());
    assert_eq!((at_rest.srtt, at_rest.peer_window), (Duration::from_millis(80), 60_000));
    assert_eq!((at_rest.segment_size, counts.acks_sent, counts.duplicate_bytes), (900, 2, 900));
    server.write(1);
    assert!(server.sending.awake().is_some());
    assert_eq!((server.snapshot(), server.statistics()), (at_rest, counts));
    assert_eq!(drain(&mut server, at(100)).iter().map(|segment| segment.len).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_connection_is_small() {
    // Both ends of 100,000 flows must fit in memory with everything else; an end that only receives has no sender.
    assert!(size_of::<Connection>() <= 272, "{}", size_of::<Connection>());
    // In this build it also counts the steps of its scoreboard.
    assert!(size_of::<Sender>() <= 696, "{}", size_of::<Sender>());
}

/// One event caused by a misbehaving peer or the clock: kind of event, sequence number, acknowledgement, length, flags,
/// TSval, SACK blocks.
type Happening = (u8, u32, u32, u16, u8, u32, Vec<(u32, u32)>);

fn happening() -> impl Strategy<Value = Happening> {
    let near = || prop_oneof![8 => 0u32..40_000, 1 => any::<u32>()];
    let blocks = proptest::collection::vec((near(), near()), 0..3);
    (0u8..8, near(), near(), 0u16..3_000, any::<u8>(), 400u32..700, blocks)
}

proptest! {
    /// For any sequence of arrivals: no panic, no timer in the past, and never more data sent than was written.
    #[test]
    fn a_strange_peer_breaks_nothing(
        sack in any::<bool>(), open in any::<bool>(), happenings in proptest::collection::vec(happening(), 1..120)
    ) {
        let config = Config { sack, ..config() };
        let mut end = if open { established(config) } else { Connection::server(Arc::new(config), LOCAL) };
        end.write(60_000);
        end.close();
        let mut now = at(100);
        for (kind, seq, ack, len, flags, value, blocks) in happenings {
            match (kind, end.poll_timeout()) {
                (0, Some(deadline)) => {
                    now = now.max(deadline);
                    end.handle_timeout(now);
                }
                _ => {
                    now += Duration::from_millis(u64::from(kind));
                    if end.poll_timeout().is_some_and(|deadline| deadline <= now) {
                        end.handle_timeout(now);
                    }
                    // Mostly plain ACKs and data.
                    let flags = if kind > 2 { Flags::ACK } else { Flags(u16::from(flags)) };
                    let blocks: Vec<SackBlock> =
                        blocks.iter().map(|(a, b)| SackBlock { start: LOCAL.plus(*a), end: LOCAL.plus(*b) }).collect();
                    end.handle_segment(now, &segment(seq, ack, len, flags, value).with_sack(&blocks));
                }
            }
            let sent = drain(&mut end, now);
            prop_assert!(sent.len() <= 200, "a burst of {} segments", sent.len());
            prop_assert!(end.poll_timeout().is_none_or(|deadline| deadline > now || deadline == end.receiver.deadline()));
            let snapshot = end.snapshot();
            prop_assert!(snapshot.snd_una <= snapshot.snd_nxt && snapshot.snd_nxt <= 60_000);
            prop_assert!(snapshot.inflight <= 2 * (snapshot.snd_nxt - snapshot.snd_una + 1));
        }
    }
}
