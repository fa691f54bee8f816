use super::*;
use crate::segment::SeqNumber;

const SYN: Flags = Flags::SYN;

fn end(mode: EcnMode) -> Ecn {
    Ecn::new(mode, Ect::Ect0, false)
}

/// Returns two ends with these modes after the handshake. `syn` and `answer` are the codepoints with which the SYN and
/// the SYN-ACK arrived. `None` if ECN is not used.
fn handshake(client: EcnMode, server: EcnMode, syn: Codepoint, answer: Codepoint) -> Option<(Ecn, Ecn)> {
    let (mut client, mut server) = (end(client), end(server));
    server.arrives(syn);
    if !server.take_syn(client.offer()) {
        return None;
    }
    client.arrives(answer);
    client.take_answer(server.answer().0).then_some((client, server))
}

fn agreed(client: EcnMode, server: EcnMode) -> Option<Negotiated> {
    let (client, server) = handshake(client, server, Codepoint::NotEct, Codepoint::NotEct)?;
    assert_eq!(client.agreed, server.agreed);
    Some(client.agreed)
}

#[test]
fn both_endpoints_negotiate_what_both_support() {
    // RFC 9768 table 2.
    assert_eq!(agreed(EcnMode::Classic, EcnMode::Classic), Some(Negotiated::Classic));
    assert_eq!(agreed(EcnMode::Accecn, EcnMode::Accecn), Some(Negotiated::Accurate));
    assert_eq!(agreed(EcnMode::Accecn, EcnMode::Classic), Some(Negotiated::Classic));
    assert_eq!(agreed(EcnMode::Classic, EcnMode::Accecn), Some(Negotiated::Classic));
}

#[test]
fn a_peer_without_ecn_is_believed() {
    for mode in [EcnMode::Classic, EcnMode::Accecn] {
        assert!(!end(mode).take_syn(SYN));
        assert!(!end(mode).take_answer(SYN.with(Flags::ACK)));
        // A peer that only reflects the bits of the SYN: "broken" in table 2, not an ECN-setup SYN-ACK in RFC 3168
        // §6.1.1.
        assert!(!end(mode).take_answer(end(mode).offer()));
    }
    // The reserved combination of a SYN-ACK is also AccECN; after a classic offer it has ECE alone.
    let reserved = Flags::SYN.with(Flags::ACK).with(Flags::from_ace(0b101));
    let (mut accurate, mut classic) = (end(EcnMode::Accecn), end(EcnMode::Classic));
    assert!(accurate.take_answer(reserved) && classic.take_answer(reserved));
    assert_eq!((accurate.agreed, classic.agreed), (Negotiated::Accurate, Negotiated::Classic));
    // Bits of the future count as AccECN (RFC 9768 §3.1.3); for RFC 3168 they are not an ECN-setup SYN.
    assert!(end(EcnMode::Accecn).take_syn(Flags::AE) && !end(EcnMode::Classic).take_syn(Flags::AE));
}

#[test]
fn the_syn_ack_reports_how_the_syn_arrived() {
    // RFC 9768 table 2: AE, CWR, ECE of the SYN-ACK, and the same code on the ACK that ends the handshake.
    for (codepoint, code) in
        [(Codepoint::NotEct, 0b010), (Codepoint::Ect1, 0b011), (Codepoint::Ect0, 0b100), (Codepoint::Ce, 0b110)]
    {
        let (mut client, mut server) = handshake(EcnMode::Accecn, EcnMode::Accecn, codepoint, codepoint).unwrap();
        assert_eq!(server.answer().0.ace(), code);
        let greeting = client.echo();
        assert_eq!(greeting.ace(), code);
        server.take_greeting(greeting);
        // §3.2.2.1: counters start at 5, with a mark at 6, and are equal at both ends.
        let first = if codepoint == Codepoint::Ce { 6 } else { 5 };
        assert_eq!((client.received, server.seen), (first, first));
        assert_eq!((server.received, client.seen), (first, first));
        assert_eq!(client.echo().ace(), first);
    }
}

#[test]
fn a_cleared_greeting_means_that_nothing_can_be_marked() {
    let (_, mut server) = handshake(EcnMode::Accecn, EcnMode::Accecn, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    server.new_data(false);
    assert_eq!(server.leaving(), Codepoint::Ect0);
    server.take_greeting(Flags::ACK);
    server.new_data(false);
    assert_eq!(server.leaving(), Codepoint::NotEct);
}

#[test]
fn retransmitted_syns_request_less() {
    let offers = |mode| {
        let mut end = end(mode);
        [end.offer().ace(), end.offer().ace(), end.offer().ace()]
    };
    assert_eq!(offers(EcnMode::Classic), [0b011, 0, 0]);
    assert_eq!(offers(EcnMode::Accecn), [0b111, 0b111, 0]);
    // The SYN-ACK is first sent without its option, then without ECN.
    let mut telling = end(EcnMode::Accecn).with_accecn(AccecnOption::Sparse, false);
    telling.take_syn(SYN.with(Flags::from_ace(0b111)));
    let answers = [telling.answer(), telling.answer(), telling.answer()];
    assert_eq!(answers.map(|(flags, _)| flags.ace()), [0b010, 0b010, 0]);
    assert_eq!(
        answers.map(|(_, option)| option.map(|bytes| bytes.fields().to_vec())),
        [Some(vec![1, 0, 1]), None, None]
    );
}

fn ack(flags: Flags) -> Segment {
    Segment::new(SeqNumber::default(), SeqNumber::default(), 0, flags)
}

fn arrives(end: &mut Ecn, codepoint: Codepoint, flags: Flags, nxt: u64, delayed: bool) -> Urgency {
    end.arrives(codepoint);
    end.received(flags, 1_000, nxt, delayed)
}

#[test]
fn a_mark_is_echoed_until_the_window_was_reduced() {
    // RFC 3168 §6.1.3.
    let (_, mut end) = handshake(EcnMode::Classic, EcnMode::Classic, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    assert_eq!(end.echo(), Flags::default());
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 0, false), Urgency::Now);
    for _ in 0..3 {
        assert_eq!(end.echo(), Flags::ECE);
        assert_eq!(arrives(&mut end, Codepoint::Ect0, Flags::ACK, 0, false), Urgency::Usual);
    }
    // The packet with CWR is marked itself: the echo continues for that new mark.
    arrives(&mut end, Codepoint::Ce, Flags::ACK.with(Flags::CWR), 0, false);
    assert_eq!(end.echo(), Flags::ECE);
    arrives(&mut end, Codepoint::Ect0, Flags::ACK.with(Flags::CWR), 0, false);
    assert_eq!(end.echo(), Flags::default());
    // A segment without data is not ECN-capable, whatever its header has.
    end.arrives(Codepoint::Ce);
    assert_eq!(end.received(Flags::ACK, 0, 0, false), Urgency::Usual);
    assert_eq!(end.echo(), Flags::default());
}

#[test]
fn exact_echoes_follow_the_marks() {
    // RFC 8257 §3.2: at a change the delayed ACK is sent with the old state, then another one immediately with the new.
    let mut end = Ecn::new(EcnMode::Classic, Ect::Ect0, true);
    end.take_syn(SYN.with(Flags::ECE).with(Flags::CWR));
    assert_eq!(arrives(&mut end, Codepoint::Ect0, Flags::ACK, 0, false), Urgency::Usual);
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 1_000, true), Urgency::Now);
    assert_eq!((end.take_prior(), end.echo()), (Some((1_000, false)), Flags::ECE));
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 2_000, false), Urgency::Usual);
    assert_eq!((end.take_prior(), end.echo()), (None, Flags::ECE));
    assert_eq!(arrives(&mut end, Codepoint::Ect0, Flags::ACK, 3_000, false), Urgency::Now);
    assert_eq!((end.take_prior(), end.echo()), (None, Flags::default()), "nothing was delayed");
    // Every packet is ECN-capable.
    assert_eq!(end.leaving(), Codepoint::Ect0);
}

#[test]
fn the_counter_counts_marked_packets_of_any_kind() {
    // RFC 9768 §3.2.2, §3.2.2.5.1: an ACK for the first mark after unmarked packets, and for every second mark.
    let (mut sender, mut end) =
        handshake(EcnMode::Accecn, EcnMode::Accecn, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 0, false), Urgency::Now);
    assert_eq!(sender.echoed(&ack(end.echo()), true), (true, MarkReport::Counter(1)));
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 0, false), Urgency::Usual);
    assert_eq!(arrives(&mut end, Codepoint::Ce, Flags::ACK, 0, false), Urgency::Now);
    let flags = end.echo();
    assert_eq!(flags.ace(), 0, "5 + 3 wraps");
    assert_eq!(sender.echoed(&ack(flags), false), (false, MarkReport::None), "an old ACK");
    assert_eq!(sender.echoed(&ack(flags), true), (true, MarkReport::Counter(2)));
    assert_eq!(sender.echoed(&ack(flags), true), (false, MarkReport::Counter(0)));
    end.arrives(Codepoint::Ce);
    assert_eq!(end.received(Flags::ACK, 0, 0, false), Urgency::Usual);
    assert_eq!(sender.echoed(&ack(end.echo()), true), (true, MarkReport::Counter(1)));
}

#[test]
fn cwr_marks_the_first_new_data_after_a_reduction() {
    let (mut classic, _) = handshake(EcnMode::Classic, EcnMode::Classic, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    assert_eq!((classic.new_data(true), classic.new_data(false)), (Flags::CWR, Flags::default()));
    // Its bit belongs to the counter in AccECN.
    let (mut accurate, _) = handshake(EcnMode::Accecn, EcnMode::Accecn, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    assert_eq!(accurate.new_data(true), Flags::default());
}

#[test]
fn pure_acks_with_marks_do_not_cause_endless_acks() {
    // RFC 9768 §3.2.2.5.1: n is at least 3 if no data waits for an ACK.
    let (_, mut end) = handshake(EcnMode::Accecn, EcnMode::Accecn, Codepoint::NotEct, Codepoint::NotEct).unwrap();
    end.arrives(Codepoint::Ce);
    let urgencies: Vec<_> = (0..3).map(|_| end.received(Flags::ACK, 0, 0, false)).collect();
    assert_eq!(urgencies, [Urgency::Usual, Urgency::Usual, Urgency::Now]);
}

#[test]
fn linux_marks_every_segment_after_the_handshake() {
    let mut client = end(EcnMode::Accecn).with_accecn(AccecnOption::Off, true);
    client.offer();
    assert_eq!(client.leaving(), Codepoint::NotEct);
    assert!(client.take_answer(SYN.with(Flags::ACK).with(Flags::from_ace(0b010))));
    client.echo();
    assert_eq!(client.leaving(), Codepoint::Ect0);
    let mut classic = end(EcnMode::Classic).with_accecn(AccecnOption::Off, true);
    assert!(classic.take_answer(SYN.with(Flags::ACK).with(Flags::ECE)));
    classic.echo();
    assert_eq!(classic.leaving(), Codepoint::NotEct);
}
