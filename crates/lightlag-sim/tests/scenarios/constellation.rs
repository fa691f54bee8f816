//! Flows over constellations: the paths of packets, the times of path changes, and the effects of handovers.

use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::{DropCause, LinkSummary};

/// Returns a scenario with Hypatia's Kuiper shell and two of its ground stations. Visibility is limited by slant range,
/// and the time starts in the year 2000.
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

/// Returns the paths of a flow, each with its start time and the nodes between the flow's endpoints.
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
fn the_path_changes_when_it_does_in_hypatia() {
    let result = run(&kuiper("", "traffic = { kind = \"constant\", rate = \"100 kbit/s\" }\ntransport = \"udp\""));
    let paths = ways(&result);
    let expected: [(f64, &[u32]); 6] = [
        (0.0, &[184, 183, 217]),
        (18.0, &[218, 217]),
        (27.6, &[648, 649, 650, 616]),
        (74.3, &[218, 217, 216, 250]),
        (125.9, &[647, 648, 649, 650, 616]),
        (128.7, &[647, 648, 649, 615]),
    ];
    assert_eq!(paths.len(), expected.len(), "{paths:?}");
    for ((change_time, way), (time, satellites)) in paths.iter().zip(expected) {
        assert_eq!(way, satellites);
        assert!(*change_time <= time && time - change_time < 0.1001, "{change_time} s, Hypatia's step is at {time} s");
    }
    // Hypatia's round trips range from 25.235 to 48.159 ms; a datagram takes half, and 1.2 ms on each of three to six
    // links.
    let datagrams = result.summary.flows[0].datagrams.as_ref().unwrap();
    assert_eq!(datagrams.lost, 0);
    let mean = datagrams.mean_delay_s.unwrap();
    assert!((0.0150..0.0260).contains(&mean), "{mean}");
}

#[test]
fn the_round_trip_of_tcp_matches_light() {
    let flow = "transfer = \"2 MB\"\ntcp = { receive_buffer = \"64 KiB\" }";
    let result = run(&kuiper("", flow));
    let flow = &result.summary.flows[0];
    assert_eq!(flow.delivered_bytes, 2_000_000);
    // At the start the round trip is 29.423 ms (Hypatia's stored series), and a SYN takes 40 µs on each of eight links.
    let least = flow.min_rtt_s.unwrap();
    assert!((0.0294..0.0302).contains(&least), "{least}");
}

/// Runs a flow that fills the queues while the path changes, with these handover settings.
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
fn packets_that_wait_at_a_handover_continue_as_configured() {
    let requeued = handed_over("waiting = \"requeue\"");
    let kept = handed_over("waiting = \"keep\"");
    let lost = handed_over("waiting = \"drop\"");
    for (result, min, max) in [(&requeued, 0, 0), (&kept, 0, 0), (&lost, 300, 600)] {
        let dropped = dropped(result, DropCause::NoRoute);
        assert!((min..=max).contains(&dropped), "{dropped}");
    }
    let delivered = |result: &RunResult| result.summary.flows[0].delivered_bytes;
    assert!(delivered(&kept) >= delivered(&requeued) && delivered(&requeued) > delivered(&lost));
    let counted = |result: &RunResult, of: fn(&LinkSummary) -> u64| result.summary.links.iter().map(of).sum::<u64>();
    let withdrawn = [&requeued, &kept, &lost].map(|result| counted(result, |link| link.withdrawn));
    // A dish that turns preserves its queue; a satellite that hands over returns the waiting packets.
    assert!((100..=300).contains(&withdrawn[0]) && withdrawn[1..] == [0, 0], "{withdrawn:?}");
    let without_way = counted(&lost, |link| link.dropped_route) + lost.summary.expired_packets;
    assert_eq!(without_way, dropped(&lost, DropCause::NoRoute) as u64);
    assert_eq!(lost.summary.expired_packets, 0, "they waited at links");
}

#[test]
fn packets_that_were_sent_arrived_or_have_a_cause_at_a_link() {
    // Run until no packet is in transit.
    let flow = "transport = \"udp\"\ntransfer = \"100 MB\"\ntraffic = { kind = \"constant\", rate = \"9.9 Mbit/s\" }";
    let slow = "downlink = { loss = 1e-3, rate = \"8 Mbit/s\"";
    let (mut withdrawn, mut astray) = (0, 0);
    for handover in ["waiting = \"requeue\"", "waiting = \"keep\", lose_in_flight = true", "waiting = \"drop\""] {
        // 4° more than the minimum slant range: there are also outages.
        for visibility in ["visibility = \"slant\"\nelevation = \"30 deg\"", "elevation = \"36 deg\""] {
            let text = kuiper(&format!("handover = {{ {handover} }}"), flow)
                .replace("downlink = { rate = \"10 Mbit/s\"", slow)
                .replace("elevation = \"30 deg\"\n        visibility = \"slant\"", visibility);
            let result = run(&text);
            let counted = |of: fn(&LinkSummary) -> u64| result.summary.links.iter().map(of).sum::<u64>();
            let causes = [
                (DropCause::Queue, counted(|link| link.dropped_queue)),
                (DropCause::Error, counted(|link| link.dropped_error)),
                (DropCause::Outage, counted(|link| link.dropped_outage)),
                (DropCause::NoRoute, counted(|link| link.dropped_route) + result.summary.expired_packets),
            ];
            for (cause, count) in causes {
                assert_eq!(dropped(&result, cause) as u64, count, "{cause:?} with {handover}, {visibility}");
            }
            let flow = &result.summary.flows[0];
            let lost: u64 = causes.iter().map(|(_, count)| count).sum();
            assert_eq!(result.drops.cause.len() as u64, lost);
            assert_eq!(flow.datagrams.as_ref().unwrap().lost, lost);
            assert_eq!(flow.sent_segments, flow.delivered_bytes / 1_000 + lost, "{handover}, {visibility}");
            withdrawn += counted(|link| link.withdrawn);
            astray += causes[2].1;
        }
    }
    assert!(withdrawn > 0 && astray > 0, "{withdrawn} {astray}");
}

#[test]
fn idle_satellite_links_are_not_listed() {
    let result = run(&kuiper("", "transfer = \"300 kB\""));
    assert!(result.link_names().len() > 1156 * 5);
    let links = &result.summary.links;
    assert!((6..100).contains(&links.len()) && links.iter().all(|link| link.carried_bytes > 0), "{}", links.len());
    // Indices in tables count all links.
    assert!(result.link_names().contains(&links[0].name.as_str()));
}

#[test]
fn packets_in_flight_may_be_lost_and_a_pause_holds_packets() {
    let whole = handed_over("");
    let hit = handed_over("lose_in_flight = true");
    assert_eq!(dropped(&whole, DropCause::Outage), 0);
    let lost = dropped(&hit, DropCause::Outage);
    assert!((10..200).contains(&lost), "five handovers at both ends, some ms of flight at 8 to 10 Mbit/s: {lost}");
    let mean = |result: &RunResult| result.summary.flows[0].datagrams.as_ref().unwrap().mean_delay_s.unwrap();
    let quick = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"100 kbit/s\" }";
    let (steady, paused) = (run(&kuiper("", quick)), run(&kuiper("handover = { pause = \"2 s\" }", quick)));
    // The dish turns four times, with the far end in three of them: the packets of 2 s wait for one on average, in 130
    // s.
    let longer = mean(&paused) - mean(&steady);
    assert!((0.058..0.068).contains(&longer), "{longer}");
}

#[test]
fn a_station_without_a_visible_satellite_waits() {
    // From the north pole no satellite at 53° is above 30°.
    let text = kuiper("", "transfer = \"100 kB\"").replace("14.6042 deg", "89 deg");
    let result = run(&text);
    let flow = &result.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.finish_s), (0, None));
    assert_eq!(ways(&result), [(0.0, vec![])], "one outage, starting with the run");
}

#[test]
fn hosts_attached_to_stations_exchange_flows() {
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

#[test]
fn packets_that_are_sent_in_a_burst_after_a_handover_are_lost() {
    let quick = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\" }";
    let lost = |handover: &str| {
        let result = run(&kuiper(&format!("handover = {{ {handover} }}"), quick));
        (dropped(&result, DropCause::Outage), result.summary.result_hash)
    };
    // Up and down the dishes turn nine times in 130 s, and a packet leaves every 12 ms: 83 in a burst of a second.
    let (all, _) = lost("burst = \"1 s\"");
    assert!((500..850).contains(&all), "{all}");
    assert_eq!(lost("burst = \"1 s\", probability = 0").0, 0);
    let (some, hash) = lost("burst = \"1 s\", probability = 0.5");
    assert!((80..all).contains(&some), "{some} of {all}");
    assert_eq!(lost("burst = \"1 s\", probability = 0.5"), (some, hash));
}

#[test]
fn a_shell_without_links_is_bridged_by_stations_that_relay() {
    let relay = "[[stations]]\nname = \"Shanghai\"\nrelay = true\n[[stations]]\nname = \"Taipei\"\nrelay = true\n";
    let text = kuiper("isls = \"none\"", "transfer = \"200 kB\"");
    let alone = run(&text);
    assert_eq!(alone.summary.flows[0].delivered_bytes, 0, "no satellite is above both");
    let result = run(&text.replace("[[flows]]", &format!("{relay}[[flows]]")));
    assert_eq!(result.summary.flows[0].delivered_bytes, 200_000);
    let carried: u64 =
        result.summary.links.iter().filter(|link| link.name == "Taipei->sky").map(|link| link.carried_bytes).sum();
    let over = &result.paths;
    assert!(carried > 200_000 || over.hops.iter().all(|hops| *hops <= 4), "{carried} B over Taipei");
    assert!(over.hops.iter().all(|hops| hops % 2 == 0), "up and down, in turn: {:?}", over.hops);
}

#[test]
fn a_satellite_may_have_a_transmitter_for_each_station() {
    let three = "[[flows]]\nfrom = \"Manila\"\nto = \"other\"\ntransport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"6 Mbit/s\" }\n\
                 [[stations]]\nname = \"other\"\nlatitude = \"38.9 deg\"\nlongitude = \"121.7 deg\"\n";
    let flow = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"6 Mbit/s\" }";
    let text = kuiper("", flow)
        .replace("uplink = { rate = \"10", "uplink = { rate = \"20")
        .replace("isl = { rate = \"10", "isl = { rate = \"20")
        + three;
    let text = text.replace("duration = \"130 s\"", "duration = \"10 s\"");
    let goodput = |text: &str| {
        let result = run(text);
        result.summary.flows.iter().map(|flow| flow.delivered_bytes as f64 * 8.0 / 10e6).sum::<f64>()
    };
    // Both stations are below the same satellite: 12 Mbit/s through 10 Mbit/s, headers of 28 in 1500 bytes.
    let shared = goodput(&text);
    let each = goodput(&text.replace("downlink = {", "downlink = { shared = false,"));
    assert!((9.3..9.9).contains(&shared), "{shared}");
    assert!((11.7..12.01).contains(&each), "{each}");
}

#[test]
fn a_moving_station_is_handed_from_satellite_to_satellite() {
    let fixed = kuiper("", "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"100 kbit/s\" }");
    let course = "waypoints = [{ at = \"0 s\", latitude = \"14.6042 deg\", longitude = \"120.9822 deg\" }, \
                  { at = \"130 s\", latitude = \"38 deg\", longitude = \"121 deg\" }]";
    let coordinates = "latitude = \"14.6042 deg\"\n        longitude = \"120.9822 deg\"";
    assert!(fixed.contains(coordinates));
    let moving = run(&fixed.replace(coordinates, course));
    let datagrams = moving.summary.flows[0].datagrams.as_ref().unwrap();
    assert_eq!(datagrams.lost, 0);
    // At the end the stations are next to each other: up and down by one satellite.
    let last = ways(&moving).last().unwrap().1.clone();
    assert_eq!(last.len(), 1, "{:?}", ways(&moving));
}

#[test]
fn a_busy_link_is_left_for_another() {
    let flow = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"9 Mbit/s\" }";
    let steady = run(&kuiper("", flow));
    let swaying = run(&kuiper("load_penalty = \"20 ms\"", flow));
    assert!(ways(&swaying).len() > 5 * ways(&steady).len(), "the load follows the flow from path to path");
    let delivered = swaying.summary.flows[0].delivered_bytes;
    assert!(delivered > 130_000_000, "{delivered}");
}

#[test]
fn the_delay_of_a_scheduler_is_added_to_the_light_time() {
    let quick = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"100 kbit/s\" }";
    let mean = |more: &str| {
        let text = kuiper("", quick).replace("uplink = {", &format!("uplink = {{ {more}"));
        run(&text).summary.flows[0].datagrams.as_ref().unwrap().mean_delay_s.unwrap()
    };
    let plain = mean("");
    assert!((mean("delay = \"15 ms\", ") - plain - 0.015).abs() < 1e-6);
    let jitter = mean("delay = \"15 ms\", jitter = \"5 ms\", ");
    assert!((jitter - plain - 0.015).abs() < 0.001, "{jitter} {plain}");
    // A packet of 1028 bytes takes 8.224 ms at 1 Mbit/s, and a tenth of it at 10.
    let slow = mean("rates = [[\"30 deg\", \"1 Mbit/s\"], [\"89 deg\", \"10 Mbit/s\"]], ");
    assert!((slow - plain - 0.007_401_6).abs() < 1e-6, "{slow} {plain}");
}

#[test]
fn a_proxy_at_a_station_splits_connections() {
    let text = kuiper("", "transfer = \"300 kB\"").replace("from = \"Manila\"", "from = \"host\"")
        + "[[links]]\nbetween = [\"host\", \"Manila\"]\nrate = \"100 Mbit/s\"\ndelay = \"20 ms\"\n\
           [[proxies]]\nnode = \"Manila\"\nkind = \"split\"\nbuffer = \"1 MB\"\n";
    let result = run(&text);
    assert_eq!(result.summary.flows[0].delivered_bytes, 300_000);
    assert_eq!(result.summary.legs.len(), 2);
    // The second leg has only the propagation of light, without the 20 ms of the link.
    let least = result.summary.legs[1].min_rtt_s.unwrap();
    assert!((0.0294..0.0302).contains(&least), "{least}");
}
