//! Short scenarios for edge cases: settings that a user may choose, and the behaviour that must result.

use crate::text::run;
use lightlag_sim::{Control, RunResult, Simulation, results::FlowSummary};

/// Runs one flow over one link of 100 ms each way. `link` and `flow` are further lines of their tables.
fn one_flow(link: &str, flow: &str) -> RunResult {
    run(&format!(
        r#"
        name = "behaviour"
        duration = "60 s"

        [[links]]
        between = ["a", "b"]
        delay = "100 ms"
        {link}

        [[flows]]
        from = "a"
        to = "b"
        {flow}
        "#
    ))
}

fn first(result: &RunResult) -> &FlowSummary {
    &result.summary.flows[0]
}

/// Returns the sum of the times in the account of a flow, in seconds.
fn accounted(flow: &FlowSummary) -> f64 {
    let l = flow.limited_s;
    l.cwnd + l.rwnd + l.application + l.pacing + l.recovery + l.timeout
}

#[test]
fn a_transfer_of_one_segment_takes_one_and_a_half_round_trips() {
    let result = one_flow(r#"rate = "10 Mbit/s""#, r#"transfer = "1000 B""#);
    let flow = first(&result);
    // SYN and SYN-ACK of 60 B: 48 µs each; the ACK of 52 B 41.6 µs; 1052 B: 841.6 µs.
    let finish = 0.3 + (2.0 * 48.0 + 41.6 + 841.6) * 1e-6;
    assert!((flow.finish_s.unwrap() - finish).abs() < 1e-9, "{:?}", flow.finish_s);
    assert_eq!(flow.delivered_bytes, 1000);
    assert_eq!(flow.retransmitted_segments, 0);
    assert!((flow.goodput_bps - 8000.0 / finish).abs() < 1e-6);
    assert_eq!(result.summary.simulated_s, flow.finish_s.unwrap(), "the run ends with its only transfer");
}

#[test]
fn a_single_byte_is_a_transfer() {
    let result = one_flow(r#"rate = "10 Mbit/s""#, r#"transfer = "1 B""#);
    assert_eq!(first(&result).delivered_bytes, 1);
    assert!(first(&result).finish_s.is_some());
}

#[test]
fn a_slow_return_link_slows_the_ack_clock() {
    // 1000:1 rates. ACKs of 52 B at 10 kbit/s: 24 a second; each lets two segments of 1448 B go. A window of
    // 138 segments puts 69 ACKs at most into the return queue: none is dropped.
    let asymmetric = r#"rate = { forward = "10 Mbit/s", backward = "10 kbit/s" }"#;
    let flow = r#"tcp = { profile = "rfc", delayed_ack = { segments = 2 }, receive_buffer = "200 kB" }"#;
    let result = one_flow(asymmetric, flow);
    let clocked = 60.0 * 10_000.0 / (52.0 * 8.0) * 2.0 * 1448.0;
    // The data released by the ACKs of 60 s, plus or minus the window in transit.
    let delivered = first(&result).delivered_bytes as f64;
    assert!((delivered - clocked).abs() < 200_000.0, "{delivered} of {clocked}");
    assert!(result.summary.links[1].utilisation > 0.98, "the return link is the bottleneck");
    assert!(result.summary.links[0].utilisation < 0.1);
}

#[test]
fn lost_acks_cost_no_retransmissions_while_later_ones_arrive() {
    let result = one_flow(
        "rate = \"10 Mbit/s\"\nqueue = \"1000 packets\"\nloss = { forward = 0, backward = 0.1 }",
        r#"tcp = { profile = "rfc", congestion = "newreno", receive_buffer = "200 kB" }"#,
    );
    let flow = first(&result);
    assert!(result.summary.links[1].dropped_error > 100, "{} ACKs are lost", result.summary.links[1].dropped_error);
    assert_eq!(flow.retransmitted_segments, 0, "cumulative ACKs repair each other");
    assert!(flow.delivered_bytes > 10_000_000);
}

#[test]
fn a_queue_of_one_packet_still_delivers() {
    let result = one_flow("rate = \"10 Mbit/s\"\nqueue = \"1 packets\"", r#"transfer = "300 kB""#);
    assert_eq!(first(&result).delivered_bytes, 300_000);
    assert!(result.summary.links[0].dropped_queue > 0);
    assert_eq!(result.summary.links[0].max_queue_packets, 1);
}

#[test]
fn a_connection_that_cannot_be_established_is_aborted() {
    let result = run(r#"
        name = "no way"
        duration = "1 h"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "100 ms"
        loss = 1.0

        [[flows]]
        from = "a"
        to = "b"
        transfer = "1 MB"
    "#);
    let flow = first(&result);
    assert_eq!((flow.finish_s, flow.delivered_bytes), (None, 0));
    assert_eq!(flow.failure, Some("the SYN was not answered"));
    assert!(flow.timeouts >= 3, "the SYN is retransmitted: {}", flow.timeouts);
    assert!(
        result.summary.simulated_s < 600.0,
        "it ends when the connection is aborted: {}",
        result.summary.simulated_s
    );
}

#[test]
fn a_transfer_that_has_arrived_has_finished_although_its_sender_gets_no_ack() {
    // Every ACK after the SYN-ACK is lost, until the sender aborts; another transfer prevents the end of the run.
    let dead = vec![r#""0.25 s""#; 1000].join(", ");
    let result = run(&format!(
        r#"
        name = "last words"
        duration = "2000 s"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "100 ms"
        loss = {{ forward = 0, backward = {{ at = [{dead}] }} }}
        [[links]]
        between = ["c", "d"]
        rate = "10 kbit/s"
        delay = "10 ms"

        [[flows]]
        from = "a"
        to = "b"
        transfer = "2 kB"
        [[flows]]
        from = "c"
        to = "d"
        transfer = "1 GB"
        "#
    ));
    let flow = first(&result);
    assert_eq!(flow.delivered_bytes, 2000);
    assert!(flow.finish_s.is_some_and(|finish| finish < 0.4), "{flow:?}");
    assert!(flow.timeouts > 10, "{flow:?}");
}

#[test]
fn nothing_arrives_when_no_ack_returns() {
    let result = one_flow("rate = \"10 Mbit/s\"\nloss = { forward = 0, backward = 1 }", r#"transfer = "1 MB""#);
    assert_eq!(first(&result).finish_s, None);
    assert_eq!(first(&result).delivered_bytes, 0, "the SYN-ACK never arrives");
}

#[test]
fn a_flow_that_would_start_after_the_end_does_nothing() {
    let result = run(r#"
        name = "too late"
        duration = "5 s"

        [[links]]
        between = ["a", "b"]
        rate = "1 Mbit/s"
        delay = "10 ms"

        [[flows]]
        name = "now"
        from = "a"
        to = "b"
        [[flows]]
        name = "late"
        from = "a"
        to = "b"
        start = "6 s"
        transfer = "1 kB"
    "#);
    let flows: Vec<_> = result.summary.flows.iter().collect();
    let [now, late] = flows[..] else { panic!("two flows") };
    assert!(now.delivered_bytes > 500_000);
    assert_eq!((late.sent_segments, late.delivered_bytes, late.finish_s, late.goodput_bps), (0, 0, None, 0.0));
    assert_eq!(accounted(late), 0.0);
    assert_eq!(result.summary.simulated_s, 5.0);
}

#[test]
fn a_flow_starts_at_its_start_time() {
    let result = one_flow(r#"rate = "10 Mbit/s""#, "transfer = \"1000 B\"\nstart = \"1.2 s\"");
    let flow = first(&result);
    assert_eq!(flow.start_s, 1.2);
    assert!((flow.finish_s.unwrap() - 1.5).abs() < 0.002, "{:?}", flow.finish_s);
    assert!((flow.goodput_bps - 8000.0 / (flow.finish_s.unwrap() - 1.2)).abs() < 1e-6, "from its start");
}

#[test]
fn the_account_names_the_receive_window() {
    let flow = r#"tcp = { receive_buffer = "20 kB", congestion = "newreno" }"#;
    let result = one_flow("rate = \"10 Mbit/s\"\nqueue = \"1000 packets\"", flow);
    let limited = first(&result).limited_s;
    assert!(limited.rwnd > 55.0, "{limited:?}");
    assert!((accounted(first(&result)) - 60.0).abs() < 1e-6, "{limited:?}");
}

#[test]
fn the_account_names_the_congestion_window() {
    let flow = r#"tcp = { congestion = "newreno", receive_buffer = "16 MiB" }"#;
    let result =
        one_flow("rate = \"100 Mbit/s\"\nqueue = \"1000 packets\"\nloss = { forward = 0.0001, backward = 0 }", flow);
    let limited = first(&result).limited_s;
    assert!(limited.cwnd > 45.0, "{limited:?}");
    assert!(limited.rwnd < 1.0 && limited.timeout < 5.0, "{limited:?}");
    assert!((accounted(first(&result)) - 60.0).abs() < 1e-6, "{limited:?}");
}

#[test]
fn the_account_names_the_application() {
    // A second transfer keeps the run going for 60 s after the first has ended.
    let result = run(r#"
        name = "idle"
        duration = "60 s"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        [[links]]
        between = ["c", "d"]
        rate = "10 kbit/s"
        delay = "10 ms"

        [[flows]]
        from = "a"
        to = "b"
        transfer = "100 kB"
        [[flows]]
        from = "c"
        to = "d"
        transfer = "1 GB"
    "#);
    let flow = first(&result);
    assert!(flow.finish_s.unwrap() < 1.0);
    let limited = flow.limited_s;
    assert!(limited.cwnd + limited.rwnd + limited.recovery + limited.timeout < 1.0, "{limited:?}");
    assert!(accounted(flow) >= flow.finish_s.unwrap() - 1e-9, "{limited:?}");
}

#[test]
fn the_account_names_the_timeout() {
    // The only data segment leaves behind an ACK of 41.6 µs at 200.096 ms, and is lost. RTO: 1 s, above 3·RTT.
    let lost = r#"loss = { forward = { at = ["0.2001 s"] }, backward = 0 }"#;
    let result = one_flow(
        &format!("rate = \"10 Mbit/s\"\n{lost}"),
        "transfer = \"1448 B\"\ntcp = { profile = \"rfc\", initial_window = 1, tlp = false }",
    );
    let flow = first(&result);
    assert_eq!((flow.timeouts, flow.retransmitted_segments), (1, 1), "{flow:?}");
    // The wait, and the repair until the segment arrives at 0.2 + 1 + 0.1 s.
    assert!((flow.limited_s.timeout - 1.1).abs() < 0.01, "{:?}", flow.limited_s);
    assert!((accounted(flow) - flow.finish_s.unwrap()).abs() < 1e-6, "{:?}", flow.limited_s);
}

#[test]
fn a_thousand_flows_of_a_star_all_finish() {
    let mut text = String::from("name = \"star\"\nduration = \"120 s\"\nrecord = { trace = \"off\" }\n");
    for leaf in 0..1000 {
        text += &format!(
            "[[links]]\nbetween = [\"leaf{leaf}\", \"hub\"]\nrate = \"100 Mbit/s\"\ndelay = \"{} ms\"\n",
            1 + leaf % 50
        );
    }
    text += "[[links]]\nbetween = [\"hub\", \"server\"]\nrate = \"1 Gbit/s\"\ndelay = \"20 ms\"\nqueue = \"1 bdp\"\n";
    for leaf in 0..1000 {
        text += &format!("[[flows]]\nfrom = \"leaf{leaf}\"\nto = \"server\"\ntransfer = \"50 kB\"\n");
    }
    let result = run(&text);
    assert_eq!(result.summary.flows.len(), 1000);
    for flow in &result.summary.flows {
        assert_eq!(flow.delivered_bytes, 50_000, "{flow:?}");
    }
    // 1000 · 50 kB at the payload rate of 1 Gbit/s take at least 0.41 s.
    let last = result.summary.flows.iter().filter_map(|flow| flow.finish_s).fold(0.0, f64::max);
    assert!(last > 0.41 && last < 20.0, "the last finished at {last} s");
}

#[test]
fn flows_in_opposite_directions_share_the_link_with_their_acks() {
    let result = run(r#"
        name = "both ways"
        duration = "60 s"

        [defaults.tcp]
        profile = "rfc"
        receive_buffer = "200 kB"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "20 ms"

        [[flows]]
        from = "a"
        to = "b"
        [[flows]]
        from = "b"
        to = "a"
    "#);
    // Full duplex: each direction carries 1500 B for a segment and half an ACK of 52 B for one of the other flow.
    // ACKs wait after data and arrive in bursts, so one queue may run dry while the other is full (Zhang, Shenker and
    // Clark, SIGCOMM 1991).
    let share = 10e6 * 1448.0 / (1500.0 + 26.0);
    for flow in &result.summary.flows {
        assert!(flow.goodput_bps <= share && flow.goodput_bps > 0.8 * share, "{} of {share}", flow.goodput_bps);
    }
}

#[test]
fn packets_cross_a_chain_by_the_shortest_path() {
    // The detour over d is shorter in hops but longer in delay.
    let result = run(r#"
        name = "detour"
        duration = "10 s"

        [[links]]
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        [[links]]
        between = ["b", "c"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        [[links]]
        between = ["a", "c"]
        rate = "10 Mbit/s"
        delay = "50 ms"

        [[flows]]
        from = "a"
        to = "c"
        transfer = "100 kB"
    "#);
    let carried: Vec<u64> = result.summary.links.iter().map(|link| link.carried_bytes).collect();
    assert!(carried[0] > 100_000 && carried[2] > 100_000 && carried[4] == 0, "{carried:?}");
    // 10 ms each way and two serialisations of 48 µs each way.
    assert!((first(&result).min_rtt_s.unwrap() - 0.020_192).abs() < 1e-9, "{:?}", first(&result).min_rtt_s);
}

#[test]
fn a_transfer_longer_than_the_sequence_space_arrives_completely() {
    // 2³² sequence numbers are 4.29 GB.
    let result = run(r#"
        name = "wrap"
        duration = "60 s"
        record = { trace = "off" }

        [[links]]
        between = ["a", "b"]
        rate = "100 Gbit/s"
        delay = "1 ms"

        [[flows]]
        from = "a"
        to = "b"
        transfer = "5 GB"
        tcp = { mss = "8960 B", congestion = "newreno" }
    "#);
    let flow = first(&result);
    assert_eq!((flow.delivered_bytes, flow.retransmitted_segments), (5_000_000_000, 0), "{flow:?}");
}

#[test]
fn a_run_that_is_stopped_keeps_what_happened() {
    let text = r#"
        name = "stopped"
        duration = "1000 s"

        [[links]]
        between = ["a", "b"]
        rate = "100 Mbit/s"
        delay = "10 ms"

        [[flows]]
        from = "a"
        to = "b"
    "#;
    let scenario = lightlag_scenario::parse_toml(text, &[]).unwrap();
    let mut reports = Vec::new();
    let result = Simulation::new(&scenario, None).unwrap().run(&mut |progress| {
        reports.push(progress.now);
        if reports.len() < 3 { Control::Continue } else { Control::Stop }
    });
    assert!(result.interrupted && reports.is_sorted());
    assert_eq!(result.summary.simulated_s, reports[2].as_secs_f64());
    // 3·2¹⁶ events, two for each segment or a little more than that.
    let flow = first(&result);
    assert!(flow.sent_segments > 50_000 && flow.delivered_bytes > 50_000 * 1448, "{flow:?}");
    assert!((accounted(flow) - result.summary.simulated_s).abs() < 1e-6);
    assert!((result.trace.time_s.last().unwrap() - result.summary.simulated_s).abs() < 0.11);
}

/// Returns the time when 30 MB have arrived over a link of 50 Mbit/s and 600 ms of round-trip time, with this receive
/// buffer and these losses.
fn geostationary(buffer: &str, loss: &str) -> f64 {
    let result = run(&format!(
        r#"
        name = "geostationary"
        duration = "300 s"

        [[links]]
        between = ["a", "b"]
        rate = "50 Mbit/s"
        delay = "300 ms"
        queue = "1 bdp"
        {loss}

        [[flows]]
        from = "a"
        to = "b"
        transfer = "30 MB"
        tcp = {{ receive_buffer = {buffer}, congestion = "cubic" }}
        "#
    ));
    first(&result).finish_s.unwrap()
}

#[test]
fn an_automatic_receive_buffer_does_not_hold_back_slow_start_over_a_satellite() {
    for loss in ["", "loss = 0.0005"] {
        let (fixed, auto) = (geostationary("\"16 MB\"", loss), geostationary("\"auto\"", loss));
        assert!(auto < 1.02 * fixed, "{auto} s with an automatic buffer, {fixed} s with a fixed one");
    }
    // What it does not grow to holds the flow back: 64 kB a round trip.
    let small = geostationary("{ auto = { initial = \"64 kB\", max = \"64 kB\" } }", "");
    assert!(small > 30e6 / 64e3 * 0.55, "{small}");
}

/// Returns the results of a flow of 1 MB over a path of 10 Mbit/s, to an application that reads as `reader` specifies.
fn read_by(reader: &str, tcp: &str, link: &str) -> FlowSummary {
    let flow = format!("transfer = \"1 MB\"\nreader = {reader}\ntcp = {{ {tcp} }}");
    first(&one_flow(&format!("rate = \"10 Mbit/s\"\n{link}"), &flow)).clone()
}

#[test]
fn a_slow_reader_sets_the_pace() {
    // The last byte arrives when all but a buffer was read: 900 kB at 100 kB/s.
    for profile in ["linux", "rfc", "ns3"] {
        let tcp = format!("profile = \"{profile}\", receive_buffer = \"100 kB\"");
        let flow = read_by(r#"{ rate = "100 kB/s" }"#, &tcp, "");
        let finish = flow.finish_s.unwrap();
        assert!((9.0..9.8).contains(&finish), "{profile}: {finish}");
        assert_eq!((flow.retransmitted_segments, flow.timeouts), (0, 0), "{profile}");
        assert!(flow.limited_s.rwnd > 7.0, "{profile}: {:?}", flow.limited_s);
    }
}

#[test]
fn a_reader_that_takes_bursts_opens_the_window_in_steps() {
    // 50 kB fill the buffer, and every second frees 50 kB more: 19 times.
    let tcp = "receive_buffer = \"50 kB\"";
    let finish = read_by(r#"{ burst = "64 kB", every = "1 s" }"#, tcp, "").finish_s.unwrap();
    assert!((19.0..20.5).contains(&finish), "{finish}");
    // A reader that is faster than the path changes nothing.
    let fast = read_by(r#"{ rate = "1 GB/s" }"#, tcp, "").finish_s.unwrap();
    let at_once = first(&one_flow("rate = \"10 Mbit/s\"", "transfer = \"1 MB\"\ntcp = { receive_buffer = \"50 kB\" }"))
        .finish_s
        .unwrap();
    assert!((fast - at_once).abs() < 0.05 * at_once, "{fast} {at_once}");
}

#[test]
fn lost_window_updates_end_in_no_deadlock() {
    for profile in ["linux", "rfc", "inet", "ns3"] {
        let tcp = format!("profile = \"{profile}\", receive_buffer = \"20 kB\"");
        for reader in [r#"{ rate = "400 kB/s" }"#, r#"{ burst = "1 MB", every = "100 ms" }"#] {
            let flow = read_by(reader, &tcp, "loss = { forward = 0, backward = 0.3 }");
            assert!(flow.finish_s.is_some() || flow.delivered_bytes > 300_000, "{profile} {reader}: {flow:?}");
        }
    }
}

#[test]
fn a_reader_is_one_of_two() {
    for reader in
        ["{ }", r#"{ rate = "1 kB/s", every = "1 s" }"#, r#"{ burst = "1 kB" }"#, r#"{ burst = "0 B", every = "1 s" }"#]
    {
        let text = format!(
            "name = \"reader\"\nduration = \"1 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"\nreader = {reader}\n"
        );
        let errors = lightlag_scenario::parse_toml(&text, &[]).unwrap_err();
        assert!(errors.iter().any(|error| error.path == "flows[0].reader"), "{reader}: {errors:?}");
    }
}

#[test]
fn packets_with_these_numbers_are_lost_and_no_other() {
    // The tenth packet with payload is segment 10, in the initial window: its retransmission is the 21st at the latest.
    let link = |loss: &str| format!("rate = \"10 Mbit/s\"\nloss = {loss}");
    let transfer = r#"transfer = "100 kB""#;
    let result = one_flow(&link("{ packets = [10], direction = \"forward\" }"), transfer);
    assert_eq!(result.drops.time_s.len(), 1);
    assert_eq!(first(&result).retransmitted_segments, 1);
    // The other direction carries no payload, so nothing has a number there.
    let both = one_flow(&link("{ packets = [10] }"), transfer);
    assert_eq!(both.summary.result_hash, result.summary.result_hash);
    // One that nothing reaches changes nothing.
    let none = one_flow(&link("{ packets = [1000] }"), transfer);
    assert_eq!(none.summary.result_hash, one_flow(&link("0"), transfer).summary.result_hash);
}

#[test]
fn a_retransmission_has_a_number_of_its_own() {
    // Without congestion the order is known: 1 to 10, then the ten after the first ACKs. Losing every packet from 5 to
    // 9 and from 30 to 40 also loses some retransmissions: each loss is one drop, and the received data is complete.
    let result = one_flow(
        "rate = \"10 Mbit/s\"\nloss = { packets = [5, 6, 7, 8, 9, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40] }",
        r#"transfer = "200 kB""#,
    );
    assert_eq!(result.drops.time_s.len(), 16);
    assert_eq!(first(&result).delivered_bytes, 200_000);
}

#[test]
fn each_ack_of_a_sender_has_a_row_if_requested() {
    let text = |record: &str| {
        format!(
            "name = \"acks\"\nduration = \"60 s\"\n{record}\n[[links]]\nbetween = [\"a\", \"b\"]\ndelay = \"50 ms\"\n\
             rate = \"10 Mbit/s\"\nloss = {{ packets = [15, 60], direction = \"forward\" }}\n\
             [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"200 kB\"\n"
        )
    };
    let (with, without) =
        (run(&text("record = { acks = true, trace = \"off\" }")), run(&text("record = { trace = \"off\" }")));
    assert_eq!(with.summary.flows[0].finish_s, without.summary.flows[0].finish_s, "watching changes nothing");
    assert!(without.acks.time_s.is_empty());
    let acks = &with.acks;
    // The SYN-ACK opens the connection; the last ACK is still in transit when the run ends.
    assert_eq!((acks.snd_una[0], acks.inflight_bytes[0]), (0, 10 * 1448));
    assert!(acks.snd_una.is_sorted() && acks.snd_nxt.is_sorted() && acks.time_s.is_sorted());
    assert!(acks.snd_una.iter().zip(&acks.snd_nxt).all(|(una, nxt)| una <= nxt));
    // Two losses far apart: disorder, then recovery, twice.
    let mut states = acks.state.clone();
    states.dedup();
    assert_eq!(states, [0, 1, 2, 0, 1, 2, 0]);
    assert!(acks.ssthresh_bytes[0].is_nan() && !acks.ssthresh_bytes.last().unwrap().is_nan());
}
