//! Requests and pages across proxies that split connections: times in closed form, bytes in both directions, and no
//! dialogue that hangs.

use crate::text::run;
use lightlag_sim::results::PageSummary;
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// One-way delays of the path from the client to the server, in seconds.
const DELAYS: [f64; 3] = [0.010, 0.290, 0.005];

/// Returns a path from a client over a satellite to a server, and a flow with this traffic.
fn path(traffic: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"far\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\nqueue = \"10000 packets\"\n\
         [[links]]\nbetween = [\"far\", \"near\"]\nrate = \"1 Gbit/s\"\ndelay = \"290 ms\"\nqueue = \"10000 packets\"\n\
         [[links]]\nbetween = [\"near\", \"client\"]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
         queue = \"10000 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\ntraffic = {{ {traffic} }}\n"
    )
}

fn proxy(node: &str, more: &str) -> String {
    format!("[[proxies]]\nnode = \"{node}\"\nbuffer = \"1 MB\"\n{more}\n")
}

fn both() -> String {
    proxy("far", "") + &proxy("near", "")
}

fn pages(result: &RunResult) -> PageSummary {
    let flow = &result.summary.flows[0];
    flow.pages.as_deref().or(flow.responses.as_deref()).copied().unwrap()
}

/// The proxies open their connections as soon as a SYN arrives. The handshakes of all legs then overlap, and only the
/// longest one delays the request: with d = 10, 290 and 5 ms, the request leaves the first proxy at 10 + 2·290 ms.
#[test]
fn a_request_waits_for_the_longest_handshake() {
    let traffic = "kind = \"requests\", response = \"1 kB\", think = \"2 s\", count = 2";
    let direct = run(&path(traffic)).responses.duration_s;
    let split = run(&(path(traffic) + &both())).responses.duration_s;
    let [near, satellite, far] = DELAYS;
    let round_trip = 2.0 * (near + satellite + far);
    for (found, expected) in [
        (direct[0], 2.0 * round_trip),
        (direct[1], round_trip),
        (split[0], 2.0 * near + 4.0 * satellite + 2.0 * far),
        (split[1], round_trip),
    ] {
        // Transmissions at 1 Gbit/s take less than 0.2 ms.
        assert!((expected..expected + 2e-4).contains(&found), "{found} is not {expected}");
    }
}

/// A proxy that waits for the handshake adds one: with d = n, s and f from the client to the server, the near proxy
/// connects at 3n, the far one at 3n + 3s, and the first request takes two round trips, as without proxies. If only one
/// of them waits, the handshakes of the other legs still overlap.
#[test]
fn proxies_that_wait_for_the_handshake_add_a_round_trip_per_leg() {
    const WAITS: &str = "opens = \"when-established\"";
    let traffic = "kind = \"requests\", response = \"1 kB\", think = \"2 s\", count = 2";
    let [near, satellite, far] = DELAYS;
    let round_trip = 2.0 * (near + satellite + far);
    for (of_far, of_near, first, starts) in [
        (WAITS, WAITS, 2.0 * round_trip, [3.0 * (near + satellite), 3.0 * near, 0.0]),
        (WAITS, "", 2.0 * near + 4.0 * (satellite + far), [near + 3.0 * satellite, near, 0.0]),
        ("", WAITS, 4.0 * (near + satellite) + 2.0 * far, [3.0 * near + satellite, 3.0 * near, 0.0]),
        ("opens = \"on-syn\"", "", 2.0 * near + 4.0 * satellite + 2.0 * far, [near + satellite, near, 0.0]),
    ] {
        let result = run(&(path(traffic) + &proxy("far", of_far) + &proxy("near", of_near)));
        for (found, expected) in result.responses.duration_s.iter().zip([first, round_trip]) {
            // Transmissions at 1 Gbit/s take less than 0.2 ms.
            assert!((expected..expected + 2e-4).contains(found), "{found} is not {expected}: {of_far} {of_near}");
        }
        for (leg, start) in result.summary.legs.iter().zip(starts) {
            assert!((leg.start_s.unwrap() - start).abs() < 1e-5, "{leg:?} does not start at {start}");
        }
    }
    // The server opens the connection of a transfer.
    let text = path(traffic).split("traffic =").next().unwrap().to_owned() + "transfer = \"1 kB\"\n";
    let result = run(&(text + &proxy("far", WAITS) + &proxy("near", WAITS)));
    for (leg, start) in result.summary.legs.iter().zip([0.0, 3.0 * far, 3.0 * (far + satellite)]) {
        assert!((leg.start_s.unwrap() - start).abs() < 1e-5, "{leg:?} does not start at {start}");
    }
    let end = result.summary.flows[0].finish_s.unwrap();
    let expected = 3.0 * (near + satellite + far);
    assert!((expected..expected + 2e-4).contains(&end), "{end} is not {expected}");
}

/// A response of 12,000 B has arrived when the program runs. A proxy that reads 8,192 B writes five full segments and one of 952 B.
/// With Nagle's algorithm in Minshall's form, the last segment of the rest waits until that one is acknowledged.
#[test]
fn a_small_segment_of_each_read_delays_the_next_one_with_nagle() {
    const READS: &str = "reads = { size = \"8192 B\", after = \"200 us\" }";
    const NAGLE: &str = "server = { nagle = true, minshall = true }";
    let traffic = "kind = \"requests\", response = \"12 kB\", count = 1";
    let text = path(traffic);
    let with = |keys: &str| {
        let result = run(&(text.clone() + &proxy("far", keys) + &proxy("near", "")));
        (result.responses.duration_s[0], result.summary.proxies[0].confirmed_bytes)
    };
    let (plain, _) = with("");
    let [_, satellite, _] = DELAYS;
    for (keys, wait) in [(READS, 0.0), (NAGLE, 0.0), (&*format!("{READS}\n{NAGLE}"), 2.0 * satellite)] {
        let (found, bytes) = with(keys);
        // The program runs 0.2 ms after each of three events.
        assert!((0.0..7e-4).contains(&(found - plain - wait)), "{found} instead of {plain} + {wait} with {keys}");
        assert_eq!(bytes, 12_000);
    }
}

/// The client never receives a SYN-ACK, or the proxy crashes before the handshake is complete.
#[test]
fn a_handshake_that_fails_opens_no_further_connection() {
    let requests = path("kind = \"requests\", response = \"1 kB\", count = 1");
    let deaf = requests.replacen("delay = \"10 ms\"", "delay = \"10 ms\"\nloss = { forward = 1 }", 1);
    for (text, keys, failure) in [
        (deaf, "client = { syn_retries = 2 }\nserver = { syn_retries = 2 }", "the SYN was not answered"),
        (requests, "crash = { at = \"20 ms\" }", "a host crashed"),
    ] {
        let text = text + "[defaults.tcp]\nsyn_retries = 2\n";
        let near = proxy("near", &format!("opens = \"when-established\"\n{keys}"));
        let result = run(&(text + &proxy("far", "") + &near));
        let flow = &result.summary.flows[0];
        assert_eq!((flow.failure, pages(&result).count), (Some(failure), 0));
        assert!(result.summary.simulated_s < 60.0, "{}", result.summary.simulated_s);
        let started: Vec<bool> = result.summary.legs.iter().map(|leg| leg.start_s.is_some()).collect();
        assert_eq!(started, [false, false, true]);
    }
}

#[test]
fn every_leg_and_every_proxy_has_its_rows() {
    let traffic = "kind = \"requests\", response = \"200 kB\", request = \"3 kB\", count = 3";
    let result = run(&(path(traffic) + &both()));
    let flow = &result.summary.flows[0];
    assert_eq!((flow.delivered_bytes, flow.failure, pages(&result).count), (600_000, None, 3));
    for proxy in &result.summary.proxies {
        assert_eq!((proxy.confirmed_bytes, proxy.request_bytes, proxy.lost_bytes), (600_000, 9_000, 0));
        assert!((1..=3_000).contains(&proxy.max_request_buffer_bytes), "{proxy:?}");
        assert!((1..=1_000_000).contains(&proxy.max_buffer_bytes), "{proxy:?}");
    }
    let legs = &result.summary.legs;
    let names: Vec<_> = legs.iter().map(|leg| (leg.leg, leg.from.as_str(), leg.to.as_str())).collect();
    assert_eq!(names, [(1, "server", "far"), (2, "far", "near"), (3, "near", "client")]);
    // The client opens the last leg; each proxy opens the next one when the SYN arrives.
    for (leg, start) in legs.iter().zip([0.3, 0.01, 0.0]) {
        assert!((leg.start_s.unwrap() - start).abs() < 1e-5, "{leg:?}");
        assert_eq!((leg.delivered_bytes, leg.finish_s), (600_000, flow.finish_s), "{leg:?}");
    }
    let round_trips: Vec<f64> = legs.iter().map(|leg| leg.min_rtt_s.unwrap()).collect();
    for (found, expected) in round_trips.iter().zip([0.01, 0.58, 0.02]) {
        assert!((expected..expected + 2e-3).contains(found), "{round_trips:?}");
    }
}

#[test]
fn all_connections_of_a_browser_are_split() {
    let traffic = "kind = \"web\", html = \"5 kB\", object = \"5 kB\", objects = 12, think = \"1 s\", count = 2";
    let result = run(&(path(traffic) + &both()));
    assert_eq!((pages(&result).count, pages(&result).request_bytes), (2, 2 * 13 * 300));
    let flows = &result.summary.flows;
    assert_eq!(flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>(), 2 * 13 * 5_000);
    assert!(flows.iter().all(|flow| flow.failure.is_none() && flow.finish_s.is_some()));
    assert_eq!((result.summary.proxies.len(), result.summary.legs.len()), (12, 18));
    let delivered = |leg: u64| {
        result.summary.legs.iter().filter(|row| row.leg == leg).map(|row| row.delivered_bytes).collect::<Vec<_>>()
    };
    let of_flows: Vec<u64> = flows.iter().map(|flow| flow.delivered_bytes).collect();
    assert!((1..=3).all(|leg| delivered(leg) == of_flows));
}

/// A pool saves the round trip of the satellite's handshake: 2·290 ms of a first request, and of a transfer in either
/// direction. Later requests are the same.
#[test]
fn a_pool_saves_the_handshake_between_two_proxies() {
    let pools = proxy("far", "pool = true") + &proxy("near", "pool = true");
    let requests = "kind = \"requests\", response = \"1 kB\", think = \"2 s\", count = 2";
    let text = path(requests).replace("name = \"f\"", "name = \"f\"\nstart = \"5 s\"");
    let result = run(&(text.clone() + &pools));
    let plain = run(&(text + &both()));
    let [first, second] = [0, 1].map(|row| plain.responses.duration_s[row] - result.responses.duration_s[row]);
    // The near proxy sends the header when the SYN arrives, but the request arrives there only 20 ms later.
    assert!((first - (0.58 - 0.02)).abs() < 1e-3 && second.abs() < 1e-6, "{first} {second}");
    assert_eq!(result.summary.flows[0].delivered_bytes, 2_000);
    for of_proxy in &result.summary.proxies {
        assert_eq!((of_proxy.confirmed_bytes, of_proxy.request_bytes), (2_000, 600));
    }
    for [from, to] in [["server", "client"], ["client", "server"]] {
        let flow = format!("from = \"{from}\"\nto = \"{to}\"\nstart = \"5 s\"\ntransfer = \"1 MB\"");
        let text = path(requests).replace("from = \"server\"\nto = \"client\"", &flow);
        let text = text.split("traffic =").next().unwrap().to_owned();
        let [pooled, plain] = [&pools, &both()].map(|proxies| run(&(text.clone() + proxies)));
        let [pooled_end, plain_end] = [&pooled, &plain].map(|result| result.summary.flows[0].finish_s.unwrap());
        // The first data arrives at the proxy a round trip of its leg after the SYN.
        let leg = if from == "server" { 0.01 } else { 0.02 };
        assert!((plain_end - pooled_end - (0.58 - leg)).abs() < 0.03, "{from}: {plain_end} {pooled_end}");
        assert_eq!(pooled.summary.flows[0].delivered_bytes, 1_000_000);
        for of_proxy in &pooled.summary.proxies {
            // The last two segments may not be acknowledged yet when the run ends.
            assert!((1_000_000 - 2 * 1_448..=1_000_000).contains(&of_proxy.confirmed_bytes), "{of_proxy:?}");
            assert!(of_proxy.acknowledged_bytes <= 1_000_000 && of_proxy.lost_bytes == 0, "{of_proxy:?}");
        }
    }
}

/// Request bodies fill the buffer of their own direction, and the window towards the client closes.
#[test]
fn uploads_in_requests_are_bounded_by_the_buffer() {
    let traffic = "kind = \"requests\", response = \"1 kB\", request = \"5 MB\", count = 1";
    let proxy = "[[proxies]]\nnode = \"near\"\nbuffer = \"64 kB\"\nclient = { receive_buffer = \"4 MB\" }\n\
                 server = { receive_buffer = \"64 kB\" }\n";
    let result = run(&(path(traffic) + proxy));
    let proxy = &result.summary.proxies[0];
    assert_eq!((proxy.request_bytes, proxy.max_request_buffer_bytes), (5_000_000, 64_000));
    // 64 kB per round trip of 590 ms, plus a response.
    let expected = 5e6 / 64e3 * 0.59;
    let took = result.responses.duration_s[0];
    assert!((0.95..1.1).contains(&(took / expected)), "{took} is not {expected}");
}

#[test]
fn a_crash_or_a_dead_leg_ends_the_dialogue_at_once() {
    let web = "kind = \"web\", html = \"5 kB\", object = \"5 kB\", objects = 12, think = \"100 s\", count = 5";
    let requests = "kind = \"requests\", response = \"1 kB\", think = \"100 s\", count = 5";
    for traffic in [web, requests] {
        // The crash happens while all connections are idle and the client thinks.
        let result = run(&(path(traffic) + &proxy("far", "crash = { at = \"50 s\" }") + &proxy("near", "")));
        let flow = &result.summary.flows[0];
        assert_eq!((flow.failure, flow.finish_s, pages(&result).count), (Some("a host crashed"), None, 1));
        assert!((50.0..51.0).contains(&result.summary.simulated_s), "{}", result.summary.simulated_s);
    }
    // The last leg never opens: the proxy near the server aborts it, and resets all legs.
    let dead = path(requests).replacen("delay = \"5 ms\"", "delay = \"5 ms\"\nloss = { backward = 1 }", 1);
    let result = run(&(dead + &proxy("far", "client = { syn_retries = 2 }") + &proxy("near", "")));
    let flow = &result.summary.flows[0];
    assert_eq!((flow.failure, pages(&result).count), (Some("the SYN was not answered"), 0));
    assert!(result.summary.simulated_s < 20.0, "{}", result.summary.simulated_s);
}

#[test]
fn partitions_do_not_change_split_dialogues() {
    let text = path("kind = \"web\", html = \"50 kB\", object = \"20 kB\", objects = 12, think = \"1 s\", count = 3");
    let text = text + &both() + "[[flows]]\nname = \"bulk\"\nfrom = \"client\"\nto = \"server\"\ntransfer = \"5 MB\"\n";
    let scenario = lightlag_scenario::parse_toml(&text, &[]).unwrap();
    let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
    for (lanes, threads) in [(2, 2), (4, 1)] {
        let simulation = Simulation::parallel(&scenario, None, Parallel { lanes, threads, always: true }).unwrap();
        let result = simulation.run(&mut |_| Control::Continue);
        assert_eq!(whole.summary.result_hash, result.summary.result_hash, "{lanes} partitions");
    }
}

/// Generates a chain of two to four links with proxies at some inner nodes, one of which may crash, and a dialogue.
/// Also returns the number of pages and the bytes of all requests and responses.
fn chains() -> impl Strategy<Value = (String, [u64; 3])> {
    let link = (200_u32..20_000, 0_u32..300, 0_u32..60, 5_u32..60);
    let proxy = (any::<bool>(), prop_oneof![64_u64..3_000, 3_000_u64..300_000], any::<bool>());
    let hops = prop::collection::vec((link, proxy), 2..5);
    let crash = prop_oneof![2 => Just(None), 1 => (0_u32..60_000).prop_map(Some)];
    let sizes = (1_u64..20_000, 1_u64..40_000, 1_u64..12, 1_u64..4);
    let form = (any::<bool>(), any::<bool>(), 0_u32..3_000, any::<bool>());
    (hops, crash, sizes, form, 1_u64..1_000_000).prop_map(|(hops, crash, sizes, form, seed)| {
        let (request, response, objects, count) = sizes;
        let defaults = "[defaults.tcp]\nretries = 40\nsyn_retries = 40\n";
        let mut text = format!("duration = \"20000 s\"\nseed = {seed}\n{defaults}");
        for (index, ((rate, delay, loss, queue), _)) in hops.iter().enumerate() {
            text += &format!(
                "[[links]]\nbetween = [\"n{index}\", \"n{}\"]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} ms\"\n\
                 queue = \"{queue} packets\"\nloss = {}\n",
                index + 1,
                f64::from(*loss) / 1000.0
            );
        }
        let (is_web, is_http_2, server_time, pools) = form;
        let count_proxies = hops.iter().skip(1).filter(|(_, (is_proxy, ..))| *is_proxy).count();
        let pools = pools && crash.is_none() && count_proxies > 1;
        let mut crash = crash.map(|ms| format!("crash = {{ at = \"{ms} ms\" }}\n")).unwrap_or_default();
        // A buffer of a few bytes passes a byte per round trip.
        let scale =
            hops.iter().skip(1).filter(|(_, (is_proxy, ..))| *is_proxy).map(|(_, (_, buffer, _))| *buffer).min();
        let [request, response] = [request, response].map(|bytes| bytes.min(20 * scale.unwrap_or(u64::MAX / 20)));
        for (index, (_, (is_proxy, buffer, waits))) in hops.iter().enumerate().skip(1) {
            if !is_proxy {
                continue;
            }
            let crash = std::mem::take(&mut crash);
            text += &format!("[[proxies]]\nnode = \"n{index}\"\nbuffer = \"{buffer} B\"\n{crash}");
            text += if pools { "pool = true\n" } else { "" };
            if buffer % 2 == 0 {
                text += &format!("reads = {{ size = \"{} B\" }}\n", buffer.min(&2_000));
            }
            text += if *waits { "opens = \"when-established\"\n" } else { "" };
        }
        let objects = if is_web { objects } else { 0 };
        let traffic = if is_web {
            let http = if is_http_2 { "2" } else { "1.1" };
            format!(
                "kind = \"web\", html = \"{response} B\", object = \"{response} B\", objects = {objects}, \
                 http = \"{http}\""
            )
        } else {
            format!("kind = \"requests\", response = \"{response} B\"")
        };
        text += &format!(
            "[[flows]]\nfrom = \"n0\"\nto = \"n{}\"\n\
             traffic = {{ {traffic}, request = \"{request} B\", count = {count}, think = \"1 s\", \
             server_time = \"{server_time} ms\" }}\n",
            hops.len()
        );
        (text, [count, count * (1 + objects) * request, count * (1 + objects) * response])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every byte of every request and response passes every proxy once (the run itself checks that packets are
    /// conserved), buffers never overflow, and each dialogue ends or fails, even if a proxy crashes.
    #[test]
    fn dialogues_pass_every_chain_of_proxies((text, [count, requests, responses]) in chains()) {
        let result = run(&text);
        let flow = &result.summary.flows[0];
        prop_assert!(flow.finish_s.is_some() || flow.failure.is_some(), "the dialogue hangs: {:#?}", result.summary);
        prop_assert!(flow.failure.is_none_or(|failure| failure == "a host crashed" && text.contains("crash")));
        let scenario = lightlag_scenario::parse_toml(&text, &[]).unwrap();
        let buffer = scenario.proxies.iter().map(|of| of.buffer.0).max().unwrap_or_default();
        for proxy in &result.summary.proxies {
            prop_assert!(proxy.max_buffer_bytes <= buffer && proxy.max_request_buffer_bytes <= buffer);
        }
        let delivered = result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>();
        if flow.failure.is_some() {
            prop_assert!(delivered <= responses);
            return Ok(());
        }
        prop_assert_eq!((pages(&result).count, pages(&result).request_bytes, delivered), (count, requests, responses));
        let nodes: BTreeSet<&str> = result.summary.proxies.iter().map(|of| of.node.as_str()).collect();
        for node in nodes {
            let at = || result.summary.proxies.iter().filter(|of| of.node == node);
            prop_assert_eq!(at().map(|of| of.request_bytes).sum::<u64>(), requests);
            // The last acknowledgement may still be delayed when the run ends.
            prop_assert!(at().map(|of| of.confirmed_bytes).sum::<u64>() <= responses);
        }
        let legs = &result.summary.legs;
        for leg in 1..=legs.iter().map(|of| of.leg).max().unwrap_or_default() {
            let delivered = legs.iter().filter(|of| of.leg == leg).map(|of| of.delivered_bytes);
            prop_assert_eq!(delivered.sum::<u64>(), responses);
        }
    }
}
