//! Requests, pages and transfers that arrive over time: response times compared with closed forms, arrivals with their
//! distribution.

use crate::text::run;
use lightlag_sim::RunResult;
use lightlag_sim::results::PageSummary;

/// Returns a scenario with a link of 50 ms and a flow with this traffic.
fn link(rate: &str, traffic: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"client\"]\nrate = \"{rate}\"\ndelay = \"50 ms\"\nqueue = \"10000 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\ntraffic = {{ {traffic} }}\n"
    )
}

fn responses(result: &RunResult) -> PageSummary {
    result.summary.flows[0].responses.as_deref().copied().unwrap()
}

fn pages(result: &RunResult) -> PageSummary {
    result.summary.flows[0].pages.as_deref().copied().unwrap()
}

/// Returns the transmission time of `bytes` at 8 Mbit/s, in seconds.
fn at_8_mbit(bytes: u32) -> f64 {
    f64::from(bytes) / 1e6
}

#[test]
fn a_response_takes_a_round_trip_and_its_transmissions() {
    let result = run(&link("8 Mbit/s", "kind = \"requests\", response = \"10 kB\", think = \"2 s\", count = 3"));
    // Request: 300 B and 52 of headers. Response: seven segments, within the initial window.
    let response = 0.1 + at_8_mbit(352) + at_8_mbit(10_000 + 7 * 52);
    // To open: SYN and SYN-ACK of 60 B; the ACK of 52 B leaves before the request.
    let open = 0.1 + 2.0 * at_8_mbit(60) + at_8_mbit(52);
    let times = &result.responses.duration_s;
    for (found, expected) in times.iter().zip([open + response, response, response]) {
        assert!((found - expected).abs() < 1e-9, "{times:?}: {found} is not {expected}");
    }
    assert_eq!(result.responses.bytes, [10_000; 3]);
    let second = open + response + 2.0;
    assert!((result.responses.time_s[1] - second).abs() < 1e-9, "it thinks for 2 s: {:?}", result.responses);
    let (flow, summary) = (&result.summary.flows[0], responses(&result));
    assert_eq!((summary.count, summary.request_bytes, flow.delivered_bytes), (3, 900, 30_000));
    assert_eq!(summary.p95_s, Some(times[0]));
    assert!((summary.mean_s.unwrap() - (open + 3.0 * response) / 3.0).abs() < 1e-9);
    assert_eq!((flow.finish_s, flow.failure), (Some(result.summary.simulated_s), None));
    assert!(flow.pages.is_none() && flow.sent_segments == 21, "{flow:?}");
}

#[test]
fn a_server_takes_its_time() {
    let traffic = "kind = \"requests\", response = \"1 kB\", server_time = \"70 ms\", think = \"1 s\", count = 2";
    let result = run(&link("8 Mbit/s", traffic));
    let expected = 0.1 + at_8_mbit(352) + 0.07 + at_8_mbit(1_052);
    assert!((result.responses.duration_s[1] - expected).abs() < 1e-9, "{:?}", result.responses);
}

#[test]
fn a_long_response_is_a_transfer_in_slow_start() {
    // 100 segments of 1448 B: 10, 20, 40 and 30 of them in four round trips, where an ACK lets two leave for each that
    // it covers.
    let traffic = "kind = \"requests\", response = \"144800 B\", count = 1";
    let keys = "tcp = { delayed_ack = false, pacing = false, tso = false, congestion = \"newreno\" }\n";
    let result = run(&(link("1 Gbit/s", traffic) + keys));
    let took = responses(&result).mean_s.unwrap();
    // Two round trips until the first segment arrives, three more for the rest.
    assert!((0.5..0.503).contains(&took), "{took}");
}

#[test]
fn a_page_takes_round_trips() {
    // At 1 Gbit/s and 100 ms there and back only round trips count.
    let page = |more: &str| {
        let traffic = format!("kind = \"web\", html = \"5 kB\", object = \"5 kB\", count = 1, {more}");
        let result = run(&link("1 Gbit/s", &traffic));
        let summary = pages(&result);
        assert_eq!((summary.count, result.responses.time_s.len()), (1, 1));
        (summary.mean_s.unwrap(), result)
    };
    for (more, round_trips, connections) in [
        // Opening, the first object, then the other on the same connection.
        ("objects = 1", 3.0, 1),
        // The others on new connections, which must be opened.
        ("objects = 6", 4.0, 6),
        // Seven objects: the first connection is free again when the others are open.
        ("objects = 7", 4.0, 6),
        // A second round on each of six connections: the first has three.
        ("objects = 13", 5.0, 6),
        ("objects = 4, connections = 1", 6.0, 1),
        ("objects = 4, connections = 2", 5.0, 2),
        // Two responses fit into the initial window together, four do not.
        ("objects = 2, http = \"2\"", 3.0, 1),
        ("objects = 4, http = \"2\"", 4.0, 1),
    ] {
        let (took, result) = page(more);
        let expected = 0.1 * round_trips;
        assert!((expected..expected + 0.002).contains(&took), "{more}: {took}, not {round_trips} round trips");
        let flows = &result.summary.flows;
        let used = flows.iter().filter(|flow| flow.delivered_bytes > 0).count();
        assert_eq!(used, connections, "{more}");
        assert!(flows.iter().skip(1).all(|flow| flow.pages.is_none()));
        let objects: u64 = more.split([' ', ',']).nth(2).unwrap().parse().unwrap();
        assert_eq!(flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>(), 5_000 * (1 + objects), "{more}");
        assert_eq!(pages(&result).request_bytes, 300 * (1 + objects));
    }
}

#[test]
fn later_pages_find_their_connections_open() {
    let traffic = "kind = \"web\", html = \"5 kB\", object = \"5 kB\", objects = 6, think = \"1 s\", count = 3";
    let result = run(&link("1 Gbit/s", traffic));
    for (took, round_trips) in result.responses.duration_s.iter().zip([4.0, 2.0, 2.0]) {
        assert!((0.1 * round_trips..0.1 * round_trips + 0.002).contains(took), "{:?}", result.responses);
    }
    assert_eq!(result.responses.bytes, [35_000; 3]);
    let names: Vec<&str> = result.summary.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["f", "f.2", "f.3", "f.4", "f.5", "f.6"]);
    assert!(result.summary.flows.iter().all(|flow| flow.finish_s.is_some() && flow.failure.is_none()));
}

#[test]
fn pages_are_the_same_whatever_the_network_does() {
    let traffic = "kind = \"web\", html = { distribution = \"lognormal\", median = \"8 kB\", sigma = 1 }, \
                   objects = { distribution = \"uniform\", min = 1, max = 20 }, \
                   object = { distribution = \"pareto\", mean = \"12 kB\", shape = 1.2, max = \"1 MB\" }, \
                   think = { distribution = \"exponential\", mean = \"1 s\" }, count = 20";
    let clean = run(&link("10 Mbit/s", traffic));
    let lossy = run(&link("2 Mbit/s", traffic).replace("delay", "loss = 0.02\ndelay"));
    assert!(lossy.summary.links[0].dropped_error > 10);
    assert_eq!(clean.responses.bytes, lossy.responses.bytes);
    assert_eq!(clean.responses.bytes.len(), 20);
    assert!(pages(&lossy).mean_s > pages(&clean).mean_s);
    let delivered = |result: &RunResult| result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>();
    assert_eq!(delivered(&lossy), lossy.responses.bytes.iter().sum::<u64>());
}

#[test]
fn a_client_without_a_reply_aborts() {
    let text = link("1 Mbit/s", "kind = \"web\", html = \"5 kB\", object = \"5 kB\", objects = 3, count = 1");
    let text = text.replace("delay", "loss = { backward = 1 }\ndelay") + "tcp = { syn_retries = 2 }\n";
    let result = run(&text);
    let flow = &result.summary.flows[0];
    assert!(flow.failure.is_some() && flow.finish_s.is_none(), "{flow:?}");
    assert_eq!(flow.pages.as_deref().unwrap().count, 0);
    assert!(result.summary.simulated_s < 10.0, "and the run is over: {}", result.summary.simulated_s);
}

#[test]
fn a_dialogue_stops_at_its_time() {
    let result = run(&link("8 Mbit/s", "kind = \"requests\", response = \"1 kB\", think = \"1 s\", stop = \"5 s\""));
    assert_eq!(responses(&result).count, 5, "{:?}", result.responses);
    assert!(result.summary.simulated_s < 5.0);
    let endless = run(&link("8 Mbit/s", "kind = \"requests\", response = \"1 kB\", think = \"1 s\""));
    assert_eq!(endless.summary.simulated_s, 600.0);
    assert_eq!(endless.summary.flows[0].finish_s, None);
}

#[test]
fn transfers_arrive_as_poisson_and_load_the_link() {
    let size = "size = { distribution = \"exponential\", mean = \"20 kB\" }";
    let result = run(&link("8 Mbit/s", &format!("kind = \"transfers\", load = 0.5, {size}")));
    let flows = &result.summary.flows;
    // 0.5 · 8 Mbit/s / 160 kbit = 25 a second for 600 s: 15,000 ± 2.576·√15,000.
    assert!(flows.len().abs_diff(15_000) < 316, "{} transfers", flows.len());
    let bytes: u64 = flows.iter().map(|flow| flow.delivered_bytes).sum();
    // A sum of 15,000 exponential sizes: relative deviation √(2/15,000).
    let load = bytes as f64 * 8.0 / 8e6 / 600.0;
    assert!((load - 0.5).abs() < 2.576 * 0.5 * (2.0_f64 / 15_000.0).sqrt(), "{load}");
    assert_eq!(flows[0].name, "f.1");
    let starts: Vec<f64> = flows.iter().map(|flow| flow.start_s).collect();
    assert!(starts.is_sorted());
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let squares = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / gaps.len() as f64;
    // The deviation of an exponential distribution is its mean: ratio 1 ± 2.576·√(2/n).
    assert!((squares.sqrt() / mean - 1.0).abs() < 2.576 * (2.0_f64 / 15_000.0).sqrt(), "{}", squares.sqrt() / mean);
    assert!(flows.iter().filter(|flow| flow.finish_s.is_none()).count() < 20, "half of the link is free");
}

#[test]
fn transfers_are_counted_and_stopped() {
    let text = link("8 Mbit/s", "kind = \"transfers\", every = \"1 s\", size = \"10 kB\", count = 7");
    let result = run(&text);
    assert_eq!(result.summary.flows.len(), 7);
    assert!(result.summary.flows.iter().all(|flow| flow.delivered_bytes == 10_000 && flow.finish_s.is_some()));
    assert!(result.summary.simulated_s < 60.0, "the run ends with the last of them");
    let stopped = run(&link("8 Mbit/s", "kind = \"transfers\", every = \"100 ms\", size = \"10 kB\", stop = \"9 s\""));
    let last = stopped.summary.flows.iter().next_back().unwrap().start_s;
    assert!(last < 9.0 && stopped.summary.flows.len().abs_diff(90) < 25, "{last}");
}

#[test]
fn another_seed_draws_other_arrivals() {
    let traffic =
        "kind = \"transfers\", every = \"1 s\", size = { distribution = \"uniform\", min = \"1 B\", max = \"9 kB\" }";
    let text = link("8 Mbit/s", traffic);
    let starts = |text: &str| run(text).summary.flows.iter().map(|flow| flow.start_s).collect::<Vec<_>>();
    assert_eq!(starts(&text), starts(&text));
    assert_ne!(starts(&text), starts(&format!("seed = 2\n{text}")));
}

#[test]
fn fast_open_saves_a_round_trip_of_each_first_request() {
    // RFC 7413: with a known cookie the request is sent with the SYN; the link of 50 ms has a round-trip time of 100
    // ms.
    let traffic = "kind = \"requests\", response = \"10 kB\", think = \"2 s\", count = 3";
    let first = |tcp: &str| run(&(link("1 Gbit/s", traffic) + tcp)).responses.duration_s;
    let (plain, known) = (first(""), first("tcp = { fast_open = \"cookie known\" }\n"));
    assert!((plain[0] - known[0] - 0.1).abs() < 1e-4, "{plain:?} {known:?}");
    assert!((plain[1] - known[1]).abs() < 1e-4 && (plain[2] - known[2]).abs() < 1e-4, "{plain:?} {known:?}");
    // The first connection between the two hosts fetches the cookie.
    assert!((first("tcp = { fast_open = true }\n")[0] - plain[0]).abs() < 1e-4);
}

#[test]
fn later_connections_between_two_hosts_open_fast() {
    let flow = |name: &str, start: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"server\"\nto = \"client\"\nstart = \"{start}\"\n\
             traffic = {{ kind = \"requests\", response = \"10 kB\", count = 1 }}\ntcp = {{ fast_open = true }}\n"
        )
    };
    let text = link("1 Gbit/s", "kind = \"requests\", response = \"1 kB\", count = 1");
    let result = run(&(text + &flow("first", "5 s") + &flow("second", "10 s")));
    let took: Vec<f64> =
        (1..3).map(|at| result.summary.flows[at].responses.as_deref().unwrap().mean_s.unwrap()).collect();
    assert!((took[0] - took[1] - 0.1).abs() < 1e-4, "{took:?}");
}
