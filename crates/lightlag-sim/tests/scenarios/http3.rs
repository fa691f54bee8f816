//! Requests and pages over HTTP/3: round trips, streams and their limit, priorities, losses, and the keys that choose
//! the version.

use crate::pages::{run, scenario};
use lightlag_sim::{Control, Parallel, RunResult, Simulation};

/// A scenario with a link of 50 ms and a QUIC flow with this traffic. The file of a page is `page.json`.
fn link(rate: &str, traffic: &str, more: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"client\"]\nrate = \"{rate}\"\ndelay = \"50 ms\"\n\
         queue = \"10000 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\ntransport = \"quic\"\n\
         traffic = {{ {traffic} }}\n{more}\n"
    )
}

const PAGE: &str = "kind = \"page\", file = \"page.json\", count = 1";

/// A document of 1 kB, and objects of these sizes and types that wait for it.
fn page(objects: &[(u64, &str)]) -> String {
    let others: String = (1..)
        .zip(objects)
        .map(|(n, (size, kind))| format!(", {{\"id\": \"o{n}\", \"size\": {size}, \"type\": \"{kind}\"}}"))
        .collect();
    format!("{{\"objects\": [{{\"id\": \"index\", \"size\": 1000, \"type\": \"document\"}}{others}]}}")
}

/// Asserts that a time is `expected`, and less than 2 ms for transmissions at 1 Gbit/s.
fn assert_takes(found: f64, expected: f64, what: &str) {
    assert!((expected..expected + 0.002).contains(&found), "{what}: {found} s is not {expected} s");
}

/// Returns the time from the request for an object until its last byte arrived.
fn took(result: &RunResult, id: &str) -> f64 {
    let (objects, names) = (&result.objects, result.object_names());
    let row = objects.object.iter().position(|object| names[*object as usize] == id).expect("the object arrived");
    objects.end_s[row] - objects.start_s[row]
}

#[test]
fn the_handshake_of_tls_is_part_of_quic() {
    let traffic = "kind = \"requests\", response = \"1 kB\", think = \"1 s\", count = 2";
    // A round trip of 100 ms for the handshake, and one for the response; 0-RTT needs only the latter.
    for (setup, first) in [
        ("", 0.2),
        ("setup = { tls = \"1.2\" }", 0.2),
        ("setup = { tls = \"1.3\" }", 0.2),
        ("setup = { dns = \"lookup\", dns_time = \"30 ms\" }", 0.23),
        ("setup = { tls = \"1.3 0-RTT\" }", 0.1),
        ("quic = { zero_rtt = true }", 0.1),
        ("quic = { zero_rtt = true }\nsetup = { dns = \"lookup\", dns_time = \"30 ms\" }", 0.13),
        ("quic = { zero_rtt = false }\nsetup = { tls = \"1.3 0-RTT\" }", 0.2),
        ("quic = { zero_rtt = true, accept_zero_rtt = false }", 0.2),
        ("quic = { server = { retry = true } }", 0.3),
    ] {
        let result = run(&link("1 Gbit/s", traffic, setup), "");
        assert_takes(result.responses.duration_s[0], first, setup);
        assert_takes(result.responses.duration_s[1], 0.1, setup);
        assert_eq!(result.responses.bytes, [1_000, 1_000], "{setup}");
        let flow = &result.summary.flows[0];
        assert_eq!(flow.responses.as_deref().unwrap().request_bytes, 600, "{setup}");
        // Each response is a HEADERS frame of 100 B and a DATA frame of 900 B with 3 B each; 15 B of control streams.
        assert_eq!(flow.delivered_bytes, 2 * 1_006 + 15, "{setup}");
        assert!(flow.finish_s.is_some() && flow.failure.is_none(), "{setup}");
    }
}

#[test]
fn objects_wait_for_their_parents_and_delays() {
    let chain = r#"{"objects": [
        {"id": "index", "size": 5000, "type": "document"},
        {"id": "script", "size": 5000, "type": "script"},
        {"id": "data", "size": 5000, "after": ["script"], "delay": "30 ms"},
        {"id": "image", "size": 5000, "after": ["index", "data"], "server_time": "20 ms"}
    ]}"#;
    // The handshake and four objects one after another: 5 round trips, 30 ms and 20 ms.
    let load = |more: &str| run(&link("1 Gbit/s", PAGE, more), chain);
    let result = load("quic = { pacing = false }");
    assert_takes(result.responses.duration_s[0], 0.55, "a chain");
    let objects = &result.objects;
    for (row, [known, start, end]) in
        [[0.0, 0.1, 0.2], [0.2, 0.2, 0.3], [0.33, 0.33, 0.43], [0.43, 0.43, 0.55]].into_iter().enumerate()
    {
        assert_takes(objects.time_s[row], known, "known");
        assert_takes(objects.start_s[row], start, "start");
        assert_takes(objects.end_s[row], end, "end");
    }
    let load = |objects: &str| run(&link("1 Gbit/s", PAGE, "quic = { pacing = false, zero_rtt = true }"), objects);
    let early = load(&chain.replace("5000", "2000"));
    assert_takes(early.responses.duration_s[0], 0.45, "0-RTT");
    assert_takes(early.objects.start_s[0], 0.0, "the first request is in the first flight");
    // Before the client's address is validated, a server sends at most three times what it has received (RFC 9000
    // §8.1): 3600 B for a first flight of 1200 B. A document of 5 kB needs another round trip.
    assert_takes(load(chain).responses.duration_s[0], 0.55, "0-RTT and a long document");
}

#[test]
fn a_page_over_geo_takes_its_rounds() {
    // A round trip of 600 ms each for the handshake and the document. The objects have 100 kB together, which takes
    // windows of 12, 24, 48 and 96 kB: the first arrives a round trip after the requests, the fourth three later.
    let objects = [(20_000, "script"); 5];
    let text = link("20 Mbit/s", PAGE, "quic = { pacing = false }").replace("50 ms", "300 ms");
    let load = run(&text, &page(&objects)).responses.duration_s[0];
    assert!((load - 6.0 * 0.6).abs() < 0.05, "{load}");
    let early = run(&text.replace("pacing", "zero_rtt = true, pacing"), &page(&objects)).responses.duration_s[0];
    assert!((load - early - 0.6).abs() < 0.02, "{load} {early}");
}

#[test]
fn the_stream_limit_makes_requests_wait() {
    let load = |streams: u32| {
        let quic = format!("quic = {{ streams = {streams}, ack = {{ packets = 1 }} }}");
        run(&link("1 Gbit/s", PAGE, &quic), &page(&[(1_000, "image"); 4]))
    };
    // Handshake, document, and the four images in parallel.
    assert_takes(load(100).responses.duration_s[0], 0.3, "no limit");
    // With one stream at a time, each image also waits a round trip for the acknowledgement of the object before and
    // for MAX_STREAMS.
    let alone = load(1);
    assert_takes(alone.responses.duration_s[0], 0.1 + 0.1 + 4.0 * 0.2, "one stream at a time");
    let objects = &alone.objects;
    assert!((1..5).all(|row| objects.start_s[row] >= objects.end_s[row - 1] + 0.0999), "{objects:?}");
    // Two at a time: the document leaves one stream, and MAX_STREAMS comes for each.
    let pair = load(2);
    assert!(pair.responses.duration_s[0] < alone.responses.duration_s[0] - 0.2, "{pair:?}");
}

#[test]
fn urgent_objects_finish_first() {
    let objects = page(&[(200_000, "image"), (20_000, "script")]);
    let script = |priorities: bool| {
        let traffic = format!("{PAGE}, priorities = {priorities}");
        let result = run(&link("1 Mbit/s", &traffic, "quic = { initial_window = 50, pacing = false }"), &objects);
        (took(&result, "o2"), result.responses.duration_s[0])
    };
    let ([urgent, of_urgent], [equal, of_equal]) = (script(true).into(), script(false).into());
    // A round trip, a packet with both requests (0.7 kB: 5 ms at 1 Mbit/s), and 18 packets of 1228 B for 20 kB.
    let packet = 1_228.0 * 8.0 / 1e6;
    let alone = 0.1 + 0.005 + 18.0 * packet;
    assert!((urgent / alone - 1.0).abs() < 0.03, "{urgent} {alone}");
    // In turn with the image, the script has every other packet.
    let shared = alone + 17.0 * packet;
    assert!((equal / shared - 1.0).abs() < 0.03, "{equal} {shared}");
    assert!((of_urgent / of_equal - 1.0).abs() < 0.02, "the order does not change the load time");
}

#[test]
fn a_late_script_overtakes_an_image() {
    let objects = page(&[(4_000_000, "image"), (10_000, "script")]).replace("\"o2\",", "\"o2\", \"delay\": \"2 s\",");
    let result = run(&link("8 Mbit/s", PAGE, "").replace("10000 packets", "100 packets"), &objects);
    // A round trip, 10 kB and at most 100 packets in the queue (123 ms); the rest of the image alone takes 2 s.
    let script = took(&result, "o2");
    assert!((0.1..0.4).contains(&script), "{script}");
}

/// Returns the times of 40 scripts of 3 kB, which are sent in one window one after another.
fn times_of_scripts(transport: &str, loss: &str, seed: u32) -> Vec<f64> {
    let (http, more) = match transport {
        "quic" => {
            ("3", "quic = { congestion = \"cubic\", datagram = \"1472 B\", initial_window = 200, pacing = false }")
        }
        _ => {
            ("2", "congestion = \"cubic\"\ntcp = { initial_window = 200, receive_buffer = \"16 MB\", pacing = false }")
        }
    };
    let text = link("100 Mbit/s", &format!("{PAGE}, http = \"{http}\""), more)
        .replace("transport = \"quic\"", &format!("transport = \"{transport}\""))
        .replace("10000 packets\"", &format!("10000 packets\"\n{loss}"))
        .replace("duration = \"600 s\"", &format!("duration = \"600 s\"\nseed = {seed}"));
    let result = run(&text, &page(&[(3_000, "script"); 40]));
    assert_eq!(result.objects.rows(), 41);
    (1..=40).map(|object| took(&result, &format!("o{object}"))).collect()
}

#[test]
fn a_loss_delays_only_its_own_object() {
    let delayed = |transport: &str| {
        let lossy = times_of_scripts(transport, "loss = { packets = [40], direction = \"forward\" }", 1);
        let clean = times_of_scripts(transport, "", 1);
        lossy.iter().zip(clean).filter(|(lossy, clean)| **lossy > clean + 0.05).count()
    };
    let (separate, together) = (delayed("quic"), delayed("tcp"));
    // A packet has data of at most two objects. On one byte stream, it holds back all objects after it.
    assert!((1..=2).contains(&separate), "{separate}");
    assert!(together >= 20, "{together}");
}

#[test]
fn the_median_object_is_faster_under_losses_than_with_http_2() {
    let mean_of_medians = |transport: &str| {
        let median = |seed| {
            let mut times = times_of_scripts(transport, "loss = 0.01", seed);
            times.sort_by(f64::total_cmp);
            times[20]
        };
        (1..=30).map(median).sum::<f64>() / 30.0
    };
    let (separate, together) = (mean_of_medians("quic"), mean_of_medians("tcp"));
    // 120 kB are 84 packets, of which the first 42 are free of losses with a probability of 0.66: half of the median
    // objects over HTTP/2 would wait for a repair, and only those with a loss of their own over HTTP/3.
    assert!(separate < 0.9 * together, "{separate} {together}");
}

#[test]
fn partitions_do_not_change_pages() {
    let traffic = "kind = \"page\", file = \"page.json\", count = 3, think = \"1 s\"";
    let more = "setup = { dns = \"lookup\", dns_time = \"20 ms\" }\n\
                [[flows]]\nname = \"bulk\"\nfrom = \"client\"\nto = \"server\"\ntransfer = \"5 MB\"\n";
    let scenario = scenario(&link("20 Mbit/s", traffic, more), &page(&[(50_000, "image"), (9_000, "script")]));
    let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
    assert_eq!(whole.responses.bytes, [60_000; 3]);
    let parallel = Parallel { lanes: 2, threads: 2, always: true };
    let parts = Simulation::parallel(&scenario, None, parallel).unwrap().run(&mut |_| Control::Continue);
    assert_eq!(whole.summary.result_hash, parts.summary.result_hash);
}

#[test]
fn the_version_follows_from_the_transport() {
    let web = "kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 8, count = 1";
    let text = link("1 Gbit/s", web, "");
    let (quic, tcp) = (run(&text, ""), run(&text.replace("transport = \"quic\"\n", ""), ""));
    assert_eq!((quic.summary.flows.len(), tcp.summary.flows.len()), (1, 6), "HTTP/3 and HTTP/1.1");
    assert_takes(quic.responses.duration_s[0], 0.3, "a handshake and two round trips");
    let error = |transport: &str, http: &str| {
        let text = link("1 Gbit/s", &format!("{web}, http = \"{http}\""), "");
        let text = text.replace("transport = \"quic\"\n", transport);
        let errors = lightlag_scenario::parse_toml(&text, &[]).expect_err("a version that needs another transport");
        assert_eq!(errors.len(), 1, "{errors:#?}");
        format!("{}: {}", errors[0].path, errors[0].message)
    };
    let quic = "transport = \"quic\"\n";
    for (transport, http, message) in [
        (quic, "1.1", "\"1.1\" needs TCP, and the flow uses QUIC; write \"3\", or omit it"),
        (quic, "2", "\"2\" needs TCP, and the flow uses QUIC; write \"3\", or omit it"),
        ("", "3", "\"3\" needs QUIC, and the flow uses TCP; write transport = \"quic\", or \"1.1\" or \"2\""),
    ] {
        assert_eq!(error(transport, http), format!("flows[0].traffic.http: {message}"));
    }
}

/// A server, a client, and two proxies of QUIC between them, with this link between the proxies. With `pool`, all
/// objects share one stream.
fn proxied(page_keys: &str, link: &str, proxy: &str, quic: &str) -> String {
    let proxy = |node: &str| format!("[[proxies]]\nnode = \"{node}\"\nkind = \"quic\"\n{proxy}\nquic = {{ {quic} }}\n");
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"near\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         [[links]]\nbetween = [\"near\", \"far\"]\ndelay = \"50 ms\"\n{link}\n\
         [[links]]\nbetween = [\"far\", \"client\"]\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
         {}{}[[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\ntransport = \"quic\"\n\
         traffic = {{ {page_keys} }}\nquic = {{ {quic} }}\n",
        proxy("near"),
        proxy("far"),
    )
}

const BURST: &str = "congestion = \"cubic\", datagram = \"1472 B\", initial_window = 200, pacing = false";

#[test]
fn a_loss_between_proxies_delays_only_its_own_object() {
    let times = |loss: &str, proxy: &str| {
        let text = proxied(PAGE, &format!("rate = \"100 Mbit/s\"\n{loss}"), proxy, BURST);
        let result = run(&text, &page(&[(3_000, "script"); 40]));
        let (legs, proxies) = (&result.summary.legs, &result.summary.proxies);
        assert_eq!((result.objects.rows(), legs.len(), proxies.len()), (41, 3, 2));
        // Each byte arrives once at the end of each leg.
        let delivered = result.summary.flows[0].delivered_bytes;
        assert!(legs.iter().all(|leg| leg.delivered_bytes == delivered), "{delivered} {legs:?}");
        (1..=40).map(|object| took(&result, &format!("o{object}"))).collect::<Vec<_>>()
    };
    let delayed = |proxy: &str| {
        let lossy = times("loss = { packets = [60], direction = \"forward\" }", proxy);
        lossy.iter().zip(times("", proxy)).filter(|(lossy, clean)| **lossy > clean + 0.05).count()
    };
    // A packet has data of at most two objects. A connection from a pool has one stream, so the loss also delays
    // the objects after it.
    let (separate, together) = (delayed("buffer = \"4 MB\""), delayed("buffer = \"4 MB\"\npool = true"));
    assert!((1..=2).contains(&separate), "{separate}");
    assert!(together >= 10, "{together}");
}

#[test]
fn pages_pass_proxies_despite_losses_in_both_directions() {
    let objects = page(&[(6_000, "image"); 40]);
    let clean = run(&proxied(PAGE, "rate = \"20 Mbit/s\"", "buffer = \"1 MB\"", BURST), &objects);
    for seed in 1..=30 {
        for keys in ["streams = 100", "streams = 3"] {
            let text = proxied(PAGE, "rate = \"20 Mbit/s\"\nloss = 0.05", "buffer = \"20 kB\"", keys);
            let result = run(&format!("seed = {seed}\n{text}"), &objects);
            assert_eq!(result.summary.flows[0].failure, None, "seed {seed}, {keys}");
            assert_eq!(result.responses.bytes, clean.responses.bytes, "seed {seed}, {keys}");
            assert_eq!(result.objects.rows(), 41, "seed {seed}, {keys}");
        }
    }
}

#[test]
fn a_proxy_keeps_connections_alive_while_it_has_data() {
    // 400 kB take a minute between the proxies, and the server's connection would be idle for longer than 30 s.
    let text =
        proxied(PAGE, "rate = \"50 kbit/s\"\nqueue = \"1000 packets\"", "buffer = \"4 MB\"", "congestion = \"cubic\"");
    let result = run(&text, &page(&[(400_000, "image")]));
    assert_eq!((result.summary.flows[0].failure, result.objects.rows()), (None, 2));
    assert!(took(&result, "o1") > 60.0);
    let errors = |keys: &str| run(&text.replace("congestion = \"cubic\"", keys), &page(&[(400_000, "image")]));
    assert!(errors("congestion = \"cubic\", keep_alive = \"0 s\"").summary.flows[0].failure.is_some());
}

#[test]
fn streams_share_the_buffer_of_a_proxy() {
    let objects = page(&[(400_000, "image"), (400_000, "image"), (20_000, "script")]);
    let load = |buffer: &str| {
        let text =
            proxied(PAGE, "rate = \"2 Mbit/s\"\nqueue = \"1000 packets\"", &format!("buffer = \"{buffer}\""), BURST);
        let result = run(&text, &objects);
        assert_eq!(result.responses.bytes, [821_000], "{buffer}");
        let most = result.summary.proxies.iter().map(|proxy| proxy.max_buffer_bytes).max().expect("two proxies");
        (most, took(&result, "o3"), took(&result, "o1"))
    };
    // Two images that each fill a third of the buffer leave space for the script, which overtakes them.
    for (buffer, bytes) in [("30 kB", 30_000), ("100 kB", 100_000), ("4 MB", 4_000_000)] {
        let (most, script, image) = load(buffer);
        assert!(most <= bytes && most > bytes.min(800_000) / 4, "{buffer}: {most}");
        assert!(script < 0.3 * image, "{buffer}: {script} {image}");
    }
}

#[test]
fn a_proxy_waits_for_permission_to_open_streams() {
    let text = proxied(PAGE, "rate = \"100 Mbit/s\"", "buffer = \"4 MB\"", "streams = 2");
    let (limited, objects) = (run(&text, &page(&[(1_000, "image"); 9])), 10);
    assert_eq!(limited.objects.rows(), objects);
    let free = run(&text.replace("streams = 2", "streams = 100"), &page(&[(1_000, "image"); 9]));
    let [limited, free] = [limited, free].map(|result| result.responses.duration_s[0]);
    assert!(limited > free + 0.2, "{limited} {free}");
}
