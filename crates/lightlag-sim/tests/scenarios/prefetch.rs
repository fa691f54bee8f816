//! Pairs of proxies that prefetch the objects of web pages: round trips in closed form, bounds, failures, and random
//! pages over random chains.

use crate::pages::{pages, run, scenario, written};
use lightlag_sim::results::{PrefetchSummary, ProxySummary};
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Returns a path from a server to a client over a satellite of 290 ms, with a page. The delays of the other links are
/// in milliseconds.
fn path(near: u32, far: u32, traffic: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"far\"]\nrate = \"1 Gbit/s\"\ndelay = \"{far} ms\"\nqueue = \"10000 packets\"\n\
         [[links]]\nbetween = [\"far\", \"near\"]\nrate = \"1 Gbit/s\"\ndelay = \"290 ms\"\nqueue = \"10000 packets\"\n\
         [[links]]\nbetween = [\"near\", \"client\"]\nrate = \"1 Gbit/s\"\ndelay = \"{near} ms\"\n\
         queue = \"10000 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\n\
         traffic = {{ kind = \"page\", file = \"page.json\", {traffic} }}\n"
    )
}

/// Returns the two proxies; the first one has these further keys.
fn pair(more: &str) -> String {
    format!("[[proxies]]\nnode = \"far\"\nbuffer = \"1 MB\"\n{more}\n[[proxies]]\nnode = \"near\"\nbuffer = \"1 MB\"\n")
}

/// Returns a page of objects of 1 kB. Each waits for the one before.
fn chain(levels: u32) -> String {
    let object = |level: u32| format!("{{\"id\": \"o{level}\", \"size\": 1000, \"after\": [\"o{}\"]}}", level - 1);
    let others: Vec<String> = (1..levels).map(object).collect();
    format!("{{\"objects\": [{{\"id\": \"o0\", \"size\": 1000}}, {}]}}", others.join(", "))
}

/// Returns a page of objects of this size that wait for the first one.
fn fan(objects: u32, size: u64) -> String {
    let others = (0..objects).map(|index| format!(", {{\"id\": \"o{index}\", \"size\": {size}}}"));
    format!("{{\"objects\": [{{\"id\": \"index\", \"size\": 1000}}{}]}}", others.collect::<String>())
}

fn of_node<'a>(result: &'a RunResult, node: &'a str) -> impl Iterator<Item = &'a ProxySummary> {
    result.summary.proxies.iter().filter(move |proxy| proxy.node == node)
}

/// Returns the sum of the rows about prefetched objects.
fn prefetched(result: &RunResult) -> PrefetchSummary {
    let rows = result.summary.proxies.iter().filter_map(|proxy| proxy.prefetched.as_deref());
    let sum = PrefetchSummary { objects: 0, bytes: 0, unused_bytes: 0, max_stored_bytes: 0 };
    rows.fold(sum, |sum, row| PrefetchSummary {
        objects: sum.objects + row.objects,
        bytes: sum.bytes + row.bytes,
        unused_bytes: sum.unused_bytes + row.unused_bytes,
        max_stored_bytes: sum.max_stored_bytes + row.max_stored_bytes,
    })
}

fn assert_takes(found: f64, expected: f64, what: &str) {
    assert!((expected..expected + 0.002).contains(&found), "{what}: {found} s is not {expected} s");
}

/// With the one-way delays n, s and f (client to proxy, satellite, proxy to server), the first object takes 2n + 4s + 2f
/// (`split_dialogues`), and each further level another 2(n + s + f). With prefetching, the first proxy fetches level
/// after level in 2f each, and the client fetches them from the second proxy in 2n each. Both happen at the same time,
/// so a level takes the longer one. If it is 2n, objects always wait for the client; if it is 2f, the client waits.
#[test]
fn a_level_of_dependencies_takes_no_round_trip_over_the_satellite() {
    let page = chain(5);
    for [near, far] in [[10, 5], [5, 40]] {
        let [n, s, f] = [f64::from(near) / 1e3, 0.29, f64::from(far) / 1e3];
        for http in ["1.1", "2"] {
            let text = path(near, far, &format!("http = \"{http}\", count = 1"));
            let first = 2.0 * n + 4.0 * s + 2.0 * f;
            let plain = run(&(text.clone() + &pair("")), &page);
            assert_takes(plain.responses.duration_s[0], first + 4.0 * 2.0 * (n + s + f), "without");
            let ahead = run(&(text + &pair("prefetch = true")), &page);
            assert_takes(ahead.responses.duration_s[0], first + 4.0 * (2.0 * n).max(2.0 * f), "with");
            assert_eq!(ahead.objects.prefetched, [false, true, true, true, true]);
            let PrefetchSummary { objects, bytes, unused_bytes, max_stored_bytes } = prefetched(&ahead);
            assert_eq!((objects, bytes, unused_bytes), (4, 4_000, 0));
            assert!((1_000..=4_000).contains(&max_stored_bytes), "{max_stored_bytes}");
            // Only the first request crosses the satellite.
            let requests = |node| of_node(&ahead, node).map(|proxy| proxy.request_bytes).sum::<u64>();
            assert_eq!((requests("near"), requests("far")), (300, 5 * 300));
        }
    }
}

/// Twelve objects on six connections of HTTP/1.1: the client opens five connections to the second proxy (2n), fetches
/// six objects (2n) and then the other six (2n). All have arrived there. Without prefetching, the connections
/// cross the satellite: 2n + 4s + 2f for the first six, and a round trip for the others.
#[test]
fn connections_of_the_client_do_not_wait_for_the_satellite() {
    let [n, s, f] = [0.01, 0.29, 0.005];
    let text = path(10, 5, "http = \"1.1\", count = 1");
    let first = 2.0 * n + 4.0 * s + 2.0 * f;
    let page = fan(12, 1_000);
    let plain = run(&(text.clone() + &pair("")), &page);
    assert_takes(plain.responses.duration_s[0], 2.0 * first + 2.0 * (n + s + f), "without");
    for more in ["prefetch = true", "prefetch = true\nserver = { initial_window = 100 }"] {
        let ahead = run(&(text.clone() + &pair(more)), &page);
        assert_takes(ahead.responses.duration_s[0], first + 6.0 * n, more);
        assert_eq!(prefetched(&ahead).objects, 12);
        // The proxy has used six connections to the server.
        let used = of_node(&ahead, "far").filter(|row| row.prefetched.as_ref().is_some_and(|of| of.objects > 0));
        assert_eq!(used.count(), 6);
    }
}

/// TLS hides the objects: the run is the same as without prefetching.
#[test]
fn with_tls_nothing_changes() {
    let text = path(10, 5, "http = \"2\", count = 2, think = \"1 s\"")
        .replace("delay = \"290 ms\"", "delay = \"290 ms\"\nloss = 0.05");
    for tls in ["1.2", "1.3", "1.3 0-RTT"] {
        let text = format!("{text}setup = {{ tls = \"{tls}\" }}\n");
        let [plain, ahead] = ["", "prefetch = true"].map(|more| run(&(text.clone() + &pair(more)), &fan(9, 20_000)));
        assert_eq!(plain.summary.result_hash, ahead.summary.result_hash, "{tls}");
        assert_eq!(format!("{:?}", plain.objects), format!("{:?}", ahead.objects), "{tls}");
        assert!(ahead.summary.proxies.iter().all(|proxy| proxy.prefetched.is_none()));
    }
    let clear = |more| run(&(text.clone() + &pair(more)), &fan(9, 20_000)).summary.result_hash;
    assert_ne!(clear(""), clear("prefetch = true"), "without TLS it does");
}

/// A buffer of 100 kB holds three objects of 30 kB, so each load prefetches three of ten.
#[test]
fn the_buffer_of_the_second_proxy_bounds_the_promises() {
    let text = path(10, 5, "http = \"2\", count = 2, think = \"1 s\"");
    let proxies = pair("prefetch = true").replace("\"near\"\nbuffer = \"1 MB\"", "\"near\"\nbuffer = \"100 kB\"");
    let result = run(&(text + &proxies), &fan(10, 30_000));
    let PrefetchSummary { objects, bytes, unused_bytes, max_stored_bytes } = prefetched(&result);
    assert_eq!((objects, bytes, unused_bytes), (6, 180_000, 0));
    assert!(max_stored_bytes <= 100_000, "{max_stored_bytes}");
    assert_eq!(result.objects.prefetched.iter().filter(|prefetched| **prefetched).count(), 6);
    assert_eq!(result.summary.flows[0].pages.as_deref().unwrap().count, 2);
}

/// The client would request the second object 100 s after the first, but the run ends before that.
#[test]
fn objects_that_the_client_does_not_request_are_unused() {
    let page = r#"{"objects": [{"id": "a", "size": 5000}, {"id": "b", "size": 70000, "delay": "100 s"}]}"#;
    let text = path(10, 5, "count = 1").replace("600 s", "50 s") + &pair("prefetch = true");
    let PrefetchSummary { objects, bytes, unused_bytes, max_stored_bytes } = prefetched(&run(&text, page));
    assert_eq!((objects, bytes, unused_bytes, max_stored_bytes), (1, 70_000, 70_000, 70_000));
    let PrefetchSummary { bytes, unused_bytes, .. } = prefetched(&run(&text.replace("50 s", "150 s"), page));
    assert_eq!((bytes, unused_bytes), (70_000, 0));
}

/// A random page in clear text names its objects in its first response.
#[test]
fn random_pages_are_prefetched_too() {
    let web = "kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 12, http = \"2\", count = 1";
    let text = path(10, 5, "").replace("kind = \"page\", file = \"page.json\", ", web);
    let [plain, ahead] = ["", "prefetch = true"].map(|more| run(&(text.clone() + &pair(more)), ""));
    let saved = plain.responses.duration_s[0] - ahead.responses.duration_s[0];
    // The round trip of 610 ms becomes one of 20 ms. All responses fit into the initial window.
    assert!((saved - 0.59).abs() < 0.002, "{saved}");
    assert_eq!(prefetched(&ahead).objects, 12);
}

#[test]
fn a_crash_of_either_proxy_ends_the_load() {
    let text = path(10, 5, "http = \"1.1\", count = 3, think = \"100 s\"");
    let crash = |ms: u32| format!("crash = {{ at = \"{ms} ms\" }}\n");
    // The page reaches the second proxy after 1.18 s and the first objects 10 ms later, and the client requests them there
    // at 1.2 s.
    for proxies in [pair(&format!("prefetch = true\n{}", crash(1_100))), pair("prefetch = true") + &crash(1_195)] {
        let result = run(&(text.clone() + &proxies), &fan(20, 500_000));
        let flow = &result.summary.flows[0];
        assert_eq!((flow.failure, flow.finish_s), (Some("a host crashed"), None));
        assert!(prefetched(&result).objects > 0 && prefetched(&result).unused_bytes > 0);
        assert!((1.1..2.0).contains(&result.summary.simulated_s), "{}", result.summary.simulated_s);
        // What the crashed proxy acknowledged has arrived at the next hop, or is lost.
        let (node, leg) = if proxies.find("crash") < proxies.find("near") { ("far", 2) } else { ("near", 3) };
        let sum = |value: fn(&ProxySummary) -> u64| of_node(&result, node).map(value).sum::<u64>();
        let legs = result.summary.legs.iter().filter(|row| row.leg == leg);
        let arrived: u64 = legs.map(|row| row.delivered_bytes).sum();
        assert!(sum(|row| row.lost_bytes) > 0);
        assert_eq!(sum(|row| row.confirmed_bytes), arrived + sum(|row| row.lost_bytes), "{node}");
    }
    // The server is never reached: the connection of the first proxy fails.
    let dead = (text + &pair("prefetch = true\nclient = { syn_retries = 2 }")).replacen(
        "delay = \"5 ms\"",
        "delay = \"5 ms\"\nloss = { backward = 1 }",
        1,
    );
    let result = run(&dead, &fan(3, 1_000));
    assert_eq!(result.summary.flows[0].failure, Some("the SYN was not answered"));
}

#[test]
fn partitions_do_not_change_prefetching() {
    let text = path(10, 5, "http = \"1.1\", count = 3, think = \"1 s\"") + &pair("prefetch = true");
    let text = text + "[[flows]]\nname = \"bulk\"\nfrom = \"client\"\nto = \"server\"\ntransfer = \"5 MB\"\n";
    let scenario = scenario(&text, &fan(20, 30_000));
    let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
    assert!(prefetched(&whole).objects > 0);
    for (lanes, threads) in [(2, 2), (4, 1)] {
        let simulation = Simulation::parallel(&scenario, None, Parallel { lanes, threads, always: true }).unwrap();
        let result = simulation.run(&mut |_| Control::Continue);
        assert_eq!(whole.summary.result_hash, result.summary.result_hash, "{lanes} partitions");
    }
}

/// A chain of proxies: rates, delays, losses and buffers of its links, and which proxy prefetches.
#[derive(Clone, Debug)]
struct Chain {
    links: Vec<(u32, u32, u32, u64)>,
    prefetching: usize,
    pools: bool,
    waits: bool,
    crash: Option<(usize, u32)>,
}

fn chains() -> impl Strategy<Value = Chain> {
    let buffer = prop_oneof![1 => 500_u64..5_000, 2 => 5_000_u64..500_000];
    let links = prop::collection::vec((200_u32..20_000, 0_u32..300, 0_u32..50, buffer), 3..5);
    let opening = (any::<bool>(), any::<bool>());
    (links, any::<prop::sample::Index>(), opening, any::<prop::sample::Index>(), 0_u32..20_000, 0_u32..4).prop_map(
        |(links, prefetching, (pools, waits), crashing, time, crashes)| {
            let proxies = links.len() - 1;
            let crash = (crashes == 0).then(|| (crashing.index(proxies), time));
            Chain { prefetching: prefetching.index(proxies - 1), pools: pools && crash.is_none(), waits, crash, links }
        },
    )
}

impl Chain {
    /// Returns the links and the proxies. Link 0 starts at the server, and proxy `n` is between the links `n`
    /// and `n + 1`.
    fn text(&self) -> String {
        let mut text = String::new();
        for (index, (rate, delay, loss, buffer)) in self.links.iter().enumerate() {
            text += &format!(
                "[[links]]\nbetween = [\"n{index}\", \"n{}\"]\nrate = \"{rate} kbit/s\"\ndelay = \"{delay} ms\"\n\
                 queue = \"50 packets\"\nloss = {}\n",
                index + 1,
                f64::from(*loss) / 1000.0
            );
            let Some(proxy) = index.checked_sub(1) else { continue };
            text += &format!("[[proxies]]\nnode = \"n{index}\"\nbuffer = \"{buffer} B\"\n");
            text += if proxy == self.prefetching { "prefetch = true\n" } else { "" };
            text += if self.pools { "pool = true\n" } else { "" };
            text += if self.waits { "opens = \"when-established\"\n" } else { "" };
            if let Some((_, time)) = self.crash.filter(|(crashing, _)| *crashing == proxy) {
                text += &format!("crash = {{ at = \"{time} ms\" }}\n");
            }
        }
        text
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every object of every load arrives once, after its parents, with all its bytes; only requests for objects that
    /// are not prefetched cross the satellite, and every object is requested from the server once. Promised objects fit
    /// into the buffer of the second proxy. A crash ends the dialogue, and no run hangs.
    #[test]
    fn objects_arrive_once_over_every_chain(
        objects in pages(),
        chain in chains(),
        is_http_2 in any::<bool>(),
        priorities in any::<bool>(),
        seed in 1_u64..1_000_000,
    ) {
        // A buffer of a few bytes passes few bytes per round trip.
        let smallest = chain.links[1..].iter().map(|link| link.3).min().unwrap();
        let bounded = |size: u64| size.min(20 * smallest);
        let objects: Vec<_> = objects.into_iter().map(|of| (bounded(of.0), of.1, of.2, of.3, of.4, of.5, of.6)).collect();
        let (page, rules) = written(&objects);
        let http = if is_http_2 { "2" } else { "1.1" };
        let text = format!(
            "duration = \"20000 s\"\nseed = {seed}\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
             [defaults.tcp]\nretries = 40\nsyn_retries = 40\n{}\
             [[flows]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{}\"\n\
             traffic = {{ kind = \"page\", file = \"page.json\", http = \"{http}\", priorities = {priorities}, \
             count = 2, think = \"1 s\" }}\n",
            chain.text(),
            chain.links.len()
        );
        let result = run(&text, &page);
        let flow = &result.summary.flows[0];
        prop_assert!(flow.finish_s.is_some() || flow.failure.is_some(), "the load hangs: {:#?}\n{text}", result.summary);
        prop_assert!(flow.failure.is_none() || chain.crash.is_some());
        for proxy in &result.summary.proxies {
            let buffer = chain.links[proxy.node[1..].parse::<usize>().unwrap()].3;
            prop_assert!(proxy.max_buffer_bytes <= buffer && proxy.max_request_buffer_bytes <= buffer);
        }
        let sums = prefetched(&result);
        let table = &result.objects;
        if flow.failure.is_some() {
            prop_assert!(sums.unused_bytes <= sums.bytes && table.rows() <= 2 * objects.len());
            return Ok(());
        }
        prop_assert_eq!(table.rows(), 2 * objects.len());
        let [mut ahead, mut ahead_bytes, mut ahead_requests] = [0, 0, 0];
        for load in 1..=2_u32 {
            let of_load = (0..table.rows()).filter(|row| table.page[*row] == load);
            let rows: BTreeMap<usize, usize> = of_load.map(|row| (table.object[row] as usize, row)).collect();
            prop_assert_eq!(rows.len(), objects.len());
            let mut promised = 0;
            for (object, (after, delay)) in rules.iter().enumerate() {
                let row = rows[&object];
                let parents = after.iter().map(|parent| table.end_s[rows[parent]]).fold(0.0, f64::max);
                prop_assert!(table.time_s[row] >= parents + delay - 1e-9);
                prop_assert!(table.time_s[row] <= table.start_s[row] && table.start_s[row] < table.first_byte_s[row]);
                prop_assert!(table.first_byte_s[row] <= table.end_s[row]);
                prop_assert_eq!(table.bytes[row], objects[object].0);
                if table.prefetched[row] {
                    prop_assert!(!after.is_empty(), "objects without parents are requested by the client");
                    promised += objects[object].0;
                    ahead += 1;
                    ahead_requests += objects[object].1;
                }
            }
            prop_assert!(promised <= chain.links[chain.prefetching + 2].3);
            ahead_bytes += promised;
        }
        prop_assert_eq!((sums.objects, sums.bytes, sums.unused_bytes), (ahead, ahead_bytes, 0));
        let payload = 2 * objects.iter().map(|object| object.0).sum::<u64>();
        prop_assert_eq!(result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>(), payload);
        let requests = 2 * objects.iter().map(|object| object.1).sum::<u64>();
        for index in 1..chain.links.len() {
            let node = format!("n{index}");
            let at = |value: fn(&ProxySummary) -> u64| of_node(&result, &node).map(value).sum::<u64>();
            let own = if index == chain.prefetching + 2 { ahead_requests } else { 0 };
            prop_assert_eq!(at(|of| of.request_bytes), requests - own, "requests at {}", node);
        }
        for leg in 1..=chain.links.len() as u64 {
            let delivered = result.summary.legs.iter().filter(|of| of.leg == leg).map(|of| of.delivered_bytes);
            prop_assert_eq!(delivered.sum::<u64>(), payload);
        }
    }
}
