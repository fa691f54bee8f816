//! Set-up of connections, and pages from files: round trips, dependencies, interleaving, and the results of objects.

use lightlag_scenario::{Files, Scenario, parse_toml};
use lightlag_sim::{Control, Parallel, RunResult, Simulation};
use proptest::prelude::*;
use std::sync::Arc;

/// Returns a scenario with a link of 50 ms and a flow with this traffic. The file of a page is `page.json`.
fn link(rate: &str, traffic: &str, more: &str) -> String {
    format!(
        "duration = \"600 s\"\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
         [[links]]\nbetween = [\"server\", \"client\"]\nrate = \"{rate}\"\ndelay = \"50 ms\"\n\
         queue = \"10000 packets\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\ntraffic = {{ {traffic} }}\n{more}\n"
    )
}

pub(crate) fn scenario(text: &str, page: &str) -> Scenario {
    let mut scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    scenario.files = Files::Given(Arc::new([("page.json".to_owned(), page.as_bytes().to_vec())].into()));
    scenario
}

pub(crate) fn run(text: &str, page: &str) -> RunResult {
    let simulation = Simulation::new(&scenario(text, page), None).unwrap_or_else(|errors| panic!("{errors:#?}"));
    simulation.run(&mut |_| Control::Continue)
}

/// Returns the load time of a page.
fn load(traffic: &str, page: &str) -> f64 {
    let result =
        run(&link("1 Gbit/s", &format!("kind = \"page\", file = \"page.json\", count = 1, {traffic}"), ""), page);
    assert_eq!(result.summary.flows[0].pages.as_deref().unwrap().count, 1);
    result.responses.duration_s[0]
}

/// Asserts that a time is `expected`, and less than 2 ms for transmissions at 1 Gbit/s.
fn assert_takes(found: f64, expected: f64, what: &str) {
    assert!((expected..expected + 0.002).contains(&found), "{what}: {found} s is not {expected} s");
}

#[test]
fn handshakes_take_their_round_trips_once() {
    let traffic = "kind = \"requests\", response = \"1 kB\", think = \"1 s\", count = 2";
    // A round trip of 100 ms opens the connection, and one fetches the response.
    for (setup, first) in [
        ("", 0.2),
        ("setup = { tls = \"none\" }", 0.2),
        ("setup = { tls = \"1.3\" }", 0.3),
        ("setup = { tls = \"1.2\" }", 0.4),
        ("setup = { tls = \"1.3 0-RTT\" }", 0.2),
        ("setup = { dns = \"lookup\", dns_time = \"30 ms\" }", 0.23),
        ("setup = { dns = \"lookup\", dns_time = \"30 ms\", tls = \"1.3\" }", 0.33),
        // The initial window has ten segments of 1448 B; a longer chain needs a second round trip.
        ("setup = { tls = \"1.3\", certificate = \"14 kB\" }", 0.3),
        ("setup = { tls = \"1.3\", certificate = \"20 kB\" }", 0.4),
        // RFC 7413: the ClientHello and the request are in the SYN.
        ("setup = { tls = \"1.3 0-RTT\" }\ntcp = { fast_open = \"cookie known\" }", 0.1),
        ("setup = { tls = \"1.3\" }\ntcp = { fast_open = \"cookie known\" }", 0.2),
    ] {
        let result = run(&link("1 Gbit/s", traffic, setup), "");
        assert_takes(result.responses.duration_s[0], first, setup);
        assert_takes(result.responses.duration_s[1], 0.1, setup);
        assert_eq!(result.responses.bytes, [1_000, 1_000], "{setup}");
        assert_eq!(result.summary.flows[0].responses.as_deref().unwrap().request_bytes, 600, "{setup}");
    }
    let delivered = |setup| run(&link("1 Gbit/s", traffic, setup), "").summary.flows[0].delivered_bytes;
    // 372 B of messages, 33 B of records and the certificate.
    assert_eq!(delivered("setup = { tls = \"1.3\", certificate = \"3 kB\" }"), 2_000 + 3_000 + 405);
}

#[test]
fn defaults_apply_to_flows_with_requests_only() {
    let traffic = "kind = \"requests\", response = \"1 kB\", count = 1";
    let more = "[[flows]]\nname = \"bulk\"\nfrom = \"server\"\nto = \"client\"\ntransfer = \"1 kB\"\n\
                [defaults]\nsetup = { tls = \"1.3\" }";
    let result = run(&link("1 Gbit/s", traffic, more), "");
    assert_takes(result.responses.duration_s[0], 0.3, "default");
    assert_eq!(result.summary.flows[1].delivered_bytes, 1_000);
    let own = format!("setup = {{ tls = \"none\" }}\n{more}");
    assert_takes(run(&link("1 Gbit/s", traffic, &own), "").responses.duration_s[0], 0.2, "its own");
}

#[test]
fn further_connections_resume_the_session() {
    let traffic = "kind = \"web\", html = \"5 kB\", object = \"5 kB\", objects = 6, count = 1";
    // Both the first connection and the others open, set up and fetch an object.
    for (setup, round_trips) in [
        ("", 4.0),
        ("setup = { tls = \"1.3\" }", 6.0),
        ("setup = { tls = \"1.2\" }", 8.0),
        ("setup = { tls = \"1.2\", resumption = true }", 7.0),
        ("setup = { tls = \"1.3\", resumption = true }", 6.0),
    ] {
        let result = run(&link("1 Gbit/s", traffic, setup), "");
        assert_takes(result.responses.duration_s[0], 0.1 * round_trips, setup);
    }
    let bytes = |setup| {
        run(&link("1 Gbit/s", traffic, setup), "").summary.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>()
    };
    let saved = bytes("setup = { tls = \"1.3\" }") - bytes("setup = { tls = \"1.3\", resumption = true }");
    // Five connections without the certificate and CertifyVerify (4000 + 79 B).
    assert_eq!(saved, 5 * 4_079);
}

/// A proxy passes the bytes of TLS like any others, so the handshake still takes a round trip of the complete path.
#[test]
fn handshakes_cross_proxies_end_to_end() {
    let text = |setup: &str| {
        format!(
            "duration = \"60 s\"\n[[links]]\nbetween = [\"server\", \"p\"]\nrate = \"1 Gbit/s\"\ndelay = \"250 ms\"\n\
             [[links]]\nbetween = [\"p\", \"client\"]\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
             [[flows]]\nfrom = \"server\"\nto = \"client\"\n{setup}\n\
             traffic = {{ kind = \"requests\", response = \"1 kB\", count = 1 }}\n\
             [[proxies]]\nnode = \"p\"\nbuffer = \"1 MB\"\n"
        )
    };
    let took = |setup| run(&text(setup), "").responses.duration_s[0];
    let plain = took("");
    assert_takes(plain, 2.0 * 0.01 + 4.0 * 0.25, "two round trips of the longer leg");
    assert_takes(took("setup = { tls = \"1.3\" }") - plain, 0.52 - 1e-4, "1.3");
    assert_takes(took("setup = { tls = \"1.2\" }") - plain, 1.04 - 1e-4, "1.2");
    assert!((took("setup = { tls = \"1.3 0-RTT\" }") - plain).abs() < 1e-3);
}

const CHAIN: &str = r#"{"objects": [
    {"id": "index", "size": 5000, "type": "document"},
    {"id": "script", "size": 5000, "type": "script"},
    {"id": "data", "size": 5000, "after": ["script"], "delay": "30 ms"},
    {"id": "image", "size": 5000, "after": ["index", "data"], "server_time": "20 ms"}
]}"#;

#[test]
fn objects_wait_for_their_parents_and_delays() {
    // Opening, then four objects one after another: 5 round trips, 30 ms and 20 ms.
    assert_takes(load("http = \"1.1\"", CHAIN), 0.55, "a chain over HTTP/1.1");
    assert_takes(load("http = \"2\"", CHAIN), 0.55, "a chain over HTTP/2");
    let flat = CHAIN.replace("\"after\": [\"script\"], ", "").replace("\"index\", \"data\"", "\"index\"");
    // Three responses of three segments each fit into the initial window.
    let flat = flat.replace("5000", "4000");
    // The others are requested together: over new connections, or over the same one.
    assert_takes(load("http = \"1.1\"", &flat), 0.43, "new connections, and the delay of an object");
    assert_takes(load("http = \"2\"", &flat), 0.33, "one connection");
}

#[test]
fn each_host_has_connections_and_a_lookup_of_its_own() {
    let objects = |host: &str| {
        let object = |number: u32| format!(r#", {{"id": "{host}{number}", "size": 5000, "host": "{host}"}}"#);
        (0..7).map(object).collect::<String>()
    };
    let page = format!(r#"{{"objects": [{{"id": "index", "size": 5000}}{}{}]}}"#, objects("a"), objects("b"));
    let run = |traffic: &str, setup: &str| {
        run(&link("1 Gbit/s", &format!("kind = \"page\", file = \"page.json\", count = 1, {traffic}"), setup), &page)
    };
    let used = |result: &RunResult| result.summary.flows.iter().filter(|flow| flow.delivered_bytes > 0).count();
    // Open and fetch the first object; open six connections to each other host; fetch six objects, then the seventh.
    let result = run("http = \"1.1\"", "");
    assert_takes(result.responses.duration_s[0], 0.5, "six connections per host");
    assert_eq!((used(&result), result.summary.flows.len()), (13, 13));
    let result = run("http = \"2\"", "setup = { dns = \"lookup\", dns_time = \"20 ms\", tls = \"1.3\" }");
    // Seven objects of 5 kB exceed the initial window of 14,480 B: a second round trip.
    assert_takes(result.responses.duration_s[0], 0.02 + 0.3 + 0.02 + 0.4, "one connection per host");
    assert_eq!(used(&result), 3);
    let result = run("http = \"1.1\", connections = 2", "");
    assert_takes(result.responses.duration_s[0], 0.2 + 0.1 + 0.4, "four objects one after another");
    assert_eq!(used(&result), 5);
}

/// At 8 Mbit/s a style sheet of 200 kB and an image of 2 MB share a connection of HTTP/2. By type, the style sheet
/// takes 0.2 s of the link alone; frame by frame both have half of the rate, and it takes 0.4 s. An initial window of
/// 400 segments keeps the link busy.
#[test]
fn priorities_put_style_sheets_before_images() {
    let page = r#"{"objects": [
        {"id": "index", "size": 1000, "type": "document"},
        {"id": "image", "size": 2000000, "type": "image"},
        {"id": "style", "size": 200000, "type": "css"}
    ]}"#;
    let end_of_style = |priorities: bool| {
        let traffic =
            format!("kind = \"page\", file = \"page.json\", count = 1, http = \"2\", priorities = {priorities}");
        let more = "tcp = { initial_window = 400, receive_buffer = \"16 MB\", pacing = false }";
        let result = run(&link("8 Mbit/s", &traffic, more), page);
        let names = result.object_names();
        let objects = &result.objects;
        let style = objects.object.iter().position(|object| names[*object as usize] == "style").unwrap();
        (objects.end_s[style] - objects.start_s[style], result.responses.duration_s[0])
    };
    let ([urgent, of_urgent], [equal, of_equal]) = (end_of_style(true).into(), end_of_style(false).into());
    // A round trip, and the transmission with headers: 52 of 1500 B.
    let wire = 1_500.0 / 1_448.0;
    assert!((urgent - (0.1 + 0.2 * wire)).abs() < 0.01, "{urgent}");
    // The two may differ by one frame in turn: 16 ms.
    assert!((equal - (0.1 + 0.4 * wire)).abs() < 0.03, "{equal}");
    assert!((of_urgent - of_equal).abs() < 0.01, "the order does not change the load time: {of_urgent} {of_equal}");
}

/// An object that becomes known later overtakes a large one, except for what its server has written ahead.
#[test]
fn a_late_script_overtakes_an_image() {
    let page = r#"{"objects": [
        {"id": "index", "size": 1000, "type": "document"},
        {"id": "image", "size": 8000000, "type": "image"},
        {"id": "script", "size": 10000, "type": "script", "delay": "2 s"}
    ]}"#;
    let traffic = "kind = \"page\", file = \"page.json\", count = 1, http = \"2\"";
    let text = link("8 Mbit/s", traffic, "").replace("10000 packets", "100 packets");
    let result = run(&text, page);
    let names = result.object_names();
    let script = result.objects.object.iter().position(|object| names[*object as usize] == "script").unwrap();
    let took = result.objects.end_s[script] - result.objects.start_s[script];
    // A round trip, 10 kB, at most 100 packets in the queue (150 ms), the losses that fill it, and a frame; the rest of
    // the image alone would take 6 s.
    assert!((0.1..0.6).contains(&took), "{took}");
    assert!(result.responses.duration_s[0] > 8.0);
}

#[test]
fn the_byte_index_is_the_area_above_the_arrivals() {
    let page = r#"{"objects": [{"id": "index", "size": 5000}, {"id": "image", "size": 15000, "delay": "300 ms"}]}"#;
    let traffic = "kind = \"page\", file = \"page.json\", count = 2, think = \"1 s\", http = \"2\"";
    let more = "tcp = { initial_window = 100 }";
    let result = run(&link("1 Gbit/s", traffic, more), page);
    // Nothing until 0.2 s, a quarter until 0.6 s: 0.2 + 0.4·3/4. Without opening: 0.1 + 0.4·3/4.
    for (row, (first, index, load)) in [(0.2, 0.5, 0.6), (0.1, 0.4, 0.5)].into_iter().enumerate() {
        assert_takes(result.responses.first_byte_s[row], first, "first byte");
        assert_takes(result.responses.byte_index_s[row], index, "ByteIndex");
        assert_takes(result.responses.duration_s[row], load, "load");
    }
    let pages = result.summary.flows[0].pages.as_deref().unwrap();
    assert_takes(pages.mean_first_byte_s.unwrap(), 0.15, "mean");
    assert_takes(pages.mean_byte_index_s.unwrap(), 0.45, "mean");
    // A response of 1 MB at 8 Mbit/s in one window arrives at a constant rate: half of the time after the first byte.
    let text = link(
        "8 Mbit/s",
        "kind = \"requests\", response = \"1 MB\", count = 1",
        "tcp = { initial_window = 1000, receive_buffer = \"16 MB\", pacing = false }",
    );
    let responses = run(&text, "").responses;
    let middle = (responses.first_byte_s[0] + responses.duration_s[0]) / 2.0;
    assert!((responses.byte_index_s[0] / middle - 1.0).abs() < 0.005, "{responses:?}");
}

#[test]
fn the_table_of_objects_is_a_waterfall() {
    let traffic = "kind = \"page\", file = \"page.json\", count = 2, think = \"1 s\", http = \"1.1\"";
    let result = run(&link("1 Gbit/s", traffic, "setup = { tls = \"1.3\" }"), CHAIN);
    let objects = &result.objects;
    let names = result.object_names();
    let ids: Vec<&str> = objects.object.iter().map(|object| names[*object as usize]).collect();
    assert_eq!(ids, [["index", "script", "data", "image"]; 2].concat());
    assert_eq!((&objects.page[..], &objects.bytes[..]), (&[1, 1, 1, 1, 2, 2, 2, 2][..], &[5_000; 8][..]));
    // The first request waits for the handshakes of TCP and TLS; the third has a delay of 30 ms, the fourth a server
    // time of 20 ms.
    for (row, [known, start, end]) in
        [[0.0, 0.2, 0.3], [0.3, 0.3, 0.4], [0.43, 0.43, 0.53], [0.53, 0.53, 0.65], [1.65, 1.65, 1.75]]
            .into_iter()
            .enumerate()
    {
        assert_takes(objects.time_s[row], known, "known");
        assert_takes(objects.start_s[row], start, "start");
        assert_takes(objects.end_s[row], end, "end");
    }
}

#[test]
fn partitions_do_not_change_pages() {
    let traffic = "kind = \"page\", file = \"page.json\", count = 3, think = \"1 s\", http = \"2\"";
    let more = "setup = { tls = \"1.3\", dns = \"lookup\", dns_time = \"20 ms\" }\n\
                [[flows]]\nname = \"bulk\"\nfrom = \"client\"\nto = \"server\"\ntransfer = \"5 MB\"\n";
    let scenario = scenario(&link("20 Mbit/s", traffic, more), CHAIN);
    let whole = Simulation::new(&scenario, None).unwrap().run(&mut |_| Control::Continue);
    let parallel = Parallel { lanes: 2, threads: 2, always: true };
    let parts = Simulation::parallel(&scenario, None, parallel).unwrap().run(&mut |_| Control::Continue);
    assert_eq!(whole.summary.result_hash, parts.summary.result_hash);
}

#[test]
fn a_file_that_is_no_page_is_one_error() {
    let traffic = "kind = \"page\", file = \"page.json\", count = 1";
    let flow = "[[flows]]\nname = \"g\"\nfrom = \"server\"\nto = \"client\"\n\
                traffic = { kind = \"page\", file = \"page.json\", count = 1 }";
    for (page, message) in [
        ("{\"objects\": []}", "page.json: objects: lists no object"),
        ("{\"objects\": [{\"id\"", "page.json: is not complete JSON"),
    ] {
        let errors = scenario(&link("1 Gbit/s", traffic, flow), page).expand().unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].path, "flows[0].traffic.file");
        assert!(errors[0].message.starts_with(message), "{}", errors[0]);
    }
}

/// An object of a random page: sizes, times in milliseconds, parents before it, type, and host.
pub(crate) type RandomObject = (u64, u64, u32, u32, Vec<prop::sample::Index>, usize, u32);

pub(crate) fn pages() -> impl Strategy<Value = Vec<RandomObject>> {
    let object = (
        1_u64..60_000,
        1_u64..2_000,
        0_u32..200,
        prop_oneof![2 => Just(0_u32), 1 => 0_u32..300],
        prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        0_usize..6,
        0_u32..3,
    );
    prop::collection::vec(object, 1..25)
}

/// Returns a page in JSON, and for each object the indices of its parents and its delay in seconds.
pub(crate) fn written(objects: &[RandomObject]) -> (String, Vec<(Vec<usize>, f64)>) {
    let types = ["document", "css", "font", "script", "other", "image"];
    let mut rules = Vec::new();
    let items: Vec<String> = (0..)
        .zip(objects)
        .map(|(index, (size, request, server_time, delay, after, kind, host))| {
            let parents = after.iter().filter(|_| index > 0);
            let after: Vec<usize> = parents.map(|of| of.index(index)).collect();
            let names: Vec<String> = after.iter().map(|of| format!("\"o{of}\"")).collect();
            rules.push((after, f64::from(*delay) / 1e3));
            format!(
                "{{\"id\": \"o{index}\", \"size\": {size}, \"request\": {request}, \
                 \"server_time\": \"{server_time} ms\", \"delay\": \"{delay} ms\", \"after\": [{}], \
                 \"type\": \"{}\", \"host\": \"h{host}\"}}",
                names.join(", "),
                types[*kind]
            )
        })
        .collect();
    (format!("{{\"objects\": [{}]}}", items.join(",\n")), rules)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Every object arrives after its parents and its delay, connections of HTTP/1.1 carry one object at a time, every
    /// byte is accounted for, and no load hangs: with losses, TLS, any buffers and proxies.
    #[test]
    fn random_pages_respect_their_rules(
        objects in pages(),
        http in 0_usize..3,
        streams in 1_u32..6,
        priorities in any::<bool>(),
        tls in 0_usize..4,
        proxy in prop::option::of(2_000_u64..200_000),
        loss in 0_u32..50,
        rate in 500_u32..50_000,
        seed in 1_u64..1_000_000,
    ) {
        let (page, rules) = written(&objects);
        let tls = ["none", "1.2", "1.3", "1.3 0-RTT"][tls];
        let http = ["1.1", "2", "3"][http];
        let quic = match http {
            "3" => format!("transport = \"quic\"\nquic = {{ streams = {streams}, idle_timeout = \"0 s\" }}\n"),
            _ => String::new(),
        };
        let mut text = format!(
            "duration = \"20000 s\"\nseed = {seed}\nrecord = {{ trace = \"off\", queue = \"off\" }}\n\
             [defaults.tcp]\nretries = 40\nsyn_retries = 40\n\
             [[links]]\nbetween = [\"server\", \"p\"]\nrate = \"{rate} kbit/s\"\ndelay = \"80 ms\"\n\
             queue = \"50 packets\"\nloss = {}\n\
             [[links]]\nbetween = [\"p\", \"client\"]\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\n\
             [[flows]]\nname = \"f\"\nfrom = \"server\"\nto = \"client\"\n{quic}\
             setup = {{ tls = \"{tls}\", dns = \"lookup\", dns_time = \"7 ms\" }}\n\
             traffic = {{ kind = \"page\", file = \"page.json\", http = \"{http}\", priorities = {priorities}, \
             count = 2, think = \"1 s\" }}\n",
            f64::from(loss) / 1000.0
        );
        if let Some(buffer) = proxy {
            text += &format!("[[proxies]]\nnode = \"p\"\nbuffer = \"{buffer} B\"\n");
        }
        let result = run(&text, &page);
        let flow = &result.summary.flows[0];
        prop_assert!(flow.finish_s.is_some() && flow.failure.is_none(), "{flow:#?}");
        let table = &result.objects;
        prop_assert_eq!(table.rows(), 2 * objects.len());
        for load in 1..=2_u32 {
            let rows: Vec<usize> = (0..table.rows()).filter(|row| table.page[*row] == load).collect();
            let row_of = |object: usize| {
                rows.iter().copied().find(|row| table.object[*row] as usize == object).unwrap()
            };
            for (object, (after, delay)) in rules.iter().enumerate() {
                let row = row_of(object);
                let parents = after.iter().map(|parent| table.end_s[row_of(*parent)]).fold(0.0, f64::max);
                prop_assert!(table.time_s[row] >= parents + delay - 1e-9);
                prop_assert!(table.time_s[row] <= table.start_s[row] && table.start_s[row] < table.first_byte_s[row]);
                prop_assert!(table.first_byte_s[row] <= table.end_s[row]);
                prop_assert_eq!(table.bytes[row], objects[object].0);
            }
        }
        if http == "1.1" {
            let mut spans: Vec<(u32, f64, f64)> =
                (0..table.rows()).map(|row| (table.connection[row], table.start_s[row], table.end_s[row])).collect();
            spans.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            prop_assert!(spans.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[0].2 <= pair[1].1));
        }
        let payload = 2 * objects.iter().map(|object| object.0).sum::<u64>();
        let delivered: u64 = result.summary.flows.iter().map(|flow| flow.delivered_bytes).sum();
        prop_assert_eq!(delivered == payload, tls == "none" && http != "3");
        prop_assert_eq!(result.responses.bytes.iter().sum::<u64>(), payload);
        for row in 0..2 {
            prop_assert!(result.responses.first_byte_s[row] <= result.responses.byte_index_s[row]);
            prop_assert!(result.responses.byte_index_s[row] <= result.responses.duration_s[row] + 1e-9);
        }
    }
}
