//! Flows over constellations: the ways of packets, their times, and what handovers do to them.

mod text;

use lightlag_sim::RunResult;
use lightlag_sim::results::DropCause;
use text::run;

/// Hypatia's shell of Kuiper with two of its stations: by slant limit, from the year 2000 on.
fn kuiper(more: &str, flow: &str) -> String {
    format!(
        r#"
        duration = "130 s"
        record = {{ drops = true }}
        [constellation]
        start = "2000-01-01T00:00:00Z"
        shells = [{{ name = "k", height = "630 km", revolutions = 14.80, inclination = "51.9 deg", planes = 34, slots = 34, phasing = "alternating" }}]
        elevation = "30 deg"
        visibility = "slant"
        isl = {{ rate = "10 Mbit/s", queue = "100 packets" }}
        uplink = {{ rate = "10 Mbit/s", queue = "100 packets" }}
        downlink = {{ rate = "10 Mbit/s", queue = "100 packets" }}
        {more}
        [[stations]]
        name = "Manila"
        latitude = "14.6042 deg"
        longitude = "120.9822 deg"
        [[stations]]
        name = "Dalian"
        latitude = "38.913811 deg"
        longitude = "121.602322 deg"
        [[flows]]
        from = "Manila"
        to = "Dalian"
        {flow}
        "#
    )
}

/// The ways of a flow: when each began, and the nodes between its ends.
fn ways(result: &RunResult) -> Vec<(f64, Vec<u32>)> {
    let paths = &result.paths;
    let mut ways: Vec<(f64, Vec<u32>)> = Vec::new();
    for row in 0..paths.time_s.len() {
        if paths.hop[row] == 0 {
            ways.push((paths.time_s[row], Vec::new()));
        } else if paths.hop[row] < paths.hops[row] {
            ways.last_mut().unwrap().1.push(paths.node[row] - 4);
        }
    }
    ways
}

#[test]
fn the_way_changes_when_it_does_in_hypatia() {
    let result = run(&kuiper("", "traffic = { kind = \"constant\", rate = \"100 kbit/s\" }\ntransport = \"udp\""));
    let found = ways(&result);
    let expected: [(f64, &[u32]); 6] = [
        (0.0, &[184, 183, 217]),
        (18.0, &[218, 217]),
        (27.6, &[648, 649, 650, 616]),
        (74.3, &[218, 217, 216, 250]),
        (125.9, &[647, 648, 649, 650, 616]),
        (128.7, &[647, 648, 649, 615]),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((at, way), (time, satellites)) in found.iter().zip(expected) {
        assert_eq!(way, satellites);
        assert!(*at <= time && time - at < 0.1001, "{at} s, Hypatia's step is at {time} s");
    }
    // Hypatia's round trips go from 25.235 to 48.159 ms; a datagram takes half, and 1.2 ms on each of three to six links.
    let datagrams = result.summary.flows[0].datagrams.as_ref().unwrap();
    assert_eq!(datagrams.lost, 0);
    let mean = datagrams.mean_delay_s.unwrap();
    assert!((0.0150..0.0260).contains(&mean), "{mean}");
}

#[test]
fn the_round_trip_of_tcp_is_that_of_the_light() {
    let flow = "transfer = \"2 MB\"\ntcp = { receive_buffer = \"64 KiB\" }";
    let result = run(&kuiper("", flow));
    let flow = &result.summary.flows[0];
    assert_eq!(flow.delivered_bytes, 2_000_000);
    // At the start the round trip is 29.423 ms (Hypatia's stored series), and a SYN takes 40 µs on each of eight links.
    let least = flow.min_rtt_s.unwrap();
    assert!((0.0294..0.0302).contains(&least), "{least}");
}

/// A flow that fills the queues while the way changes.
fn handed_over(handover: &str) -> RunResult {
    let text = kuiper(
        &format!("handover = {{ {handover} }}"),
        "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"9.9 Mbit/s\" }",
    );
    // Satellites that send more slowly than the station: their queues are full at each handover.
    run(&text.replace("downlink = { rate = \"10 Mbit/s\"", "downlink = { rate = \"8 Mbit/s\""))
}

fn dropped(result: &RunResult, cause: DropCause) -> usize {
    result.drops.cause.iter().filter(|of| **of == cause).count()
}

#[test]
fn packets_that_wait_at_a_handover_go_on_as_they_are_told() {
    let requeued = handed_over("waiting = \"requeue\"");
    let kept = handed_over("waiting = \"keep\"");
    let lost = handed_over("waiting = \"drop\"");
    for (result, least, most) in [(&requeued, 0, 0), (&kept, 0, 0), (&lost, 300, 600)] {
        let dropped = dropped(result, DropCause::NoRoute);
        assert!((least..=most).contains(&dropped), "{dropped}");
    }
    let delivered = |result: &RunResult| result.summary.flows[0].delivered_bytes;
    assert!(delivered(&kept) >= delivered(&requeued) && delivered(&requeued) > delivered(&lost));
}

#[test]
fn what_is_in_flight_may_be_lost_and_a_pause_holds_packets() {
    let whole = handed_over("");
    let hit = handed_over("lose_in_flight = true");
    assert_eq!(dropped(&whole, DropCause::Error), 0);
    let lost = dropped(&hit, DropCause::Error);
    assert!((10..200).contains(&lost), "five handovers at both ends, some ms of flight at 8 to 10 Mbit/s: {lost}");
    let mean = |result: &RunResult| result.summary.flows[0].datagrams.as_ref().unwrap().mean_delay_s.unwrap();
    let quick = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"100 kbit/s\" }";
    let (steady, paused) = (run(&kuiper("", quick)), run(&kuiper("handover = { pause = \"2 s\" }", quick)));
    // The dish turns four times, with the far end in three of them: the packets of 2 s wait for one on average, in 130 s.
    let longer = mean(&paused) - mean(&steady);
    assert!((0.058..0.068).contains(&longer), "{longer}");
}

#[test]
fn a_station_that_sees_no_satellite_waits() {
    // From the north pole no satellite at 53° is above 30°.
    let text = kuiper("", "transfer = \"100 kB\"").replace("14.6042 deg", "89 deg");
    let result = run(&text);
    let flow = &result.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.finish_s), (0, None));
    assert_eq!(ways(&result), [(0.0, vec![])], "one outage, from the start on");
}

#[test]
fn hosts_behind_stations_exchange_flows() {
    let text = kuiper("", "transfer = \"300 kB\"")
        .replace("from = \"Manila\"", "from = \"host\"")
        .replace("to = \"Dalian\"", "to = \"server\"")
        + "[[links]]\nbetween = [\"host\", \"Manila\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
           [[links]]\nbetween = [\"Dalian\", \"server\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n";
    let result = run(&text);
    assert_eq!(result.summary.flows[0].delivered_bytes, 300_000);
    assert_eq!(result.summary.links[0].name, "host->Manila");
    assert!(result.summary.links[0].carried_bytes > 300_000);
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let text = kuiper("uplink_loss = 0", "transfer = \"5 MB\"").replace("uplink_loss = 0", "");
    let lossy = text.replace("uplink = { rate", "uplink = { loss = 0.01, rate");
    assert_eq!(run(&lossy).summary.result_hash, run(&lossy).summary.result_hash);
    assert_ne!(run(&lossy).summary.result_hash, run(&text).summary.result_hash);
}
