//! The keys `transport` and `traffic`: their meaning, and what is rejected.

use lightlag_core::{Bytes, Duration, Law};
use lightlag_scenario::{Network, Opens, Scenario, Transport, parse_json, parse_toml};
use lightlag_traffic::Traffic;

/// Returns a scenario with one link, and a flow with these keys.
fn text(keys: &str) -> String {
    format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\n{keys}\n"
    )
}

/// Returns the scenario, after asserting that it can be read back from its complete form.
fn scenario(text: &str) -> Scenario {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    let json = scenario.to_json().to_string();
    assert_eq!(parse_json(&json, &[]).as_ref(), Ok(&scenario), "{json}");
    scenario
}

fn network(text: &str) -> Network {
    scenario(text).expand().unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"))
}

#[test]
fn a_flow_is_bulk_by_tcp_by_default() {
    let plain = scenario(&text(""));
    assert_eq!((plain.flows[0].transport, &*plain.flows[0].traffic), (None, &Traffic::default()));
    let said = scenario(&text("traffic = { kind = \"bulk\" }"));
    assert_eq!(said, plain);
    assert_eq!(network(&text("")).flows[0].transport, Transport::Tcp);
    let quic = format!("defaults.transport = \"quic\"\n{}", text(""));
    assert_eq!(network(&quic).flows[0].transport, Transport::Quic);
    let json = plain.to_json();
    assert!(json["flows"][0].get("traffic").is_none() && json["flows"][0].get("transport").is_none());
}

#[test]
fn every_kind_is_read() {
    let traffic = |keys: &str| Traffic::clone(&scenario(&text(&format!("traffic = {{ {keys} }}"))).flows[0].traffic);
    let Traffic::Constant(constant) = traffic("kind = \"constant\", rate = \"2 Mbit/s\"") else { panic!() };
    assert_eq!((constant.stream.rate.as_bps(), constant.stream.size, constant.stop), (2_000_000, Bytes(1000), None));
    let Traffic::OnOff(on_off) = traffic(
        "kind = \"on_off\", rate = \"1 Mbit/s\", size = \"100 B\", on = \"1 s\", \
         off = { distribution = \"pareto\", mean = \"3 s\", shape = 1.5 }, stop = \"9 s\"",
    ) else {
        panic!()
    };
    assert_eq!(on_off.on.law(), &Law::Constant(1e9));
    assert_eq!(on_off.off.law(), &Law::Pareto { min: 1e9, shape: 1.5, max: None });
    assert_eq!(on_off.stop, Some(Duration::from_secs(9)));
    let Traffic::Poisson(poisson) = traffic(
        "kind = \"poisson\", every = \"20 ms\", size = { distribution = \"empirical\", values = [\"1 kB\", \"9 kB\"] }",
    ) else {
        panic!()
    };
    assert_eq!(poisson.size.law(), &Law::table(&[(1000.0, 1.0), (9000.0, 1.0)]));
    assert_eq!((poisson.every, poisson.first), (Duration::from_millis(20), None));
    let Traffic::Burst(burst) = traffic("kind = \"burst\", size = \"60 B\", messages = 10") else { panic!() };
    assert_eq!((burst.messages, burst.every, burst.count), (10, None, None));
}

#[test]
fn generated_flows_also_have_traffic() {
    let network = network(
        "duration = \"10 s\"\n[topology]\nkind = \"star\"\nleaves = 3\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         flow = { transport = \"udp\", traffic = { kind = \"periodic\", size = \"80 B\", every = \"1 s\" } }\n",
    );
    assert_eq!(network.flows.len(), 3);
    for flow in &network.flows {
        assert!(flow.transport == Transport::Udp && matches!(*flow.traffic, Traffic::Periodic(_)));
        assert!(!flow.is_finite());
    }
}

#[test]
fn a_window_limit_is_no_warning_for_a_flow_that_does_not_fill_it() {
    let path = "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"100 Mbit/s\"\ndelay = \"300 ms\"\n\
                queue = \"1 bdp\"\n[[flows]]\nfrom = \"a\"\nto = \"b\"\n";
    let warnings = |keys: &str| {
        let scenario = scenario(&format!("{path}{keys}"));
        scenario.warnings(&scenario.expand().unwrap())
    };
    let narrow = "tcp = { receive_buffer = \"64 kB\" }\n";
    assert!(!warnings(narrow).is_empty());
    let constant = "traffic = { kind = \"constant\", rate = \"1 Mbit/s\" }\n";
    assert_eq!(warnings(&format!("{narrow}{constant}")), []);
    assert_eq!(warnings(&format!("transport = \"udp\"\n{constant}")), []);
}

/// Asserts that there is exactly one error, at `path` of the flow, whose message contains `fragment`.
fn assert_refused(keys: &str, path: &str, fragment: &str) {
    let errors = parse_toml(&text(keys), &[]).and_then(|scenario| scenario.expand().map(drop)).expect_err(keys);
    let [error] = errors.as_slice() else { panic!("{keys}: one error, not {errors:#?}") };
    assert_eq!(error.path, format!("flows[0].{path}"), "{keys}: {error}");
    assert!(error.message.contains(fragment), "{keys}: {error} does not contain {fragment:?}");
}

#[test]
fn contradictory_settings_are_rejected() {
    let udp = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\" }\n";
    for (keys, path, fragment) in [
        ("transport = \"sctp\"", "transport", "tcp, quic, udp"),
        ("transport = \"udp\"", "traffic", "kind = \\\"constant\\\""),
        (&*format!("{udp}congestion = \"cubic\""), "congestion", "has no congestion control"),
        (&*format!("{udp}reader = {{ rate = \"1 kB/s\" }}"), "reader", "has no receive window"),
        (
            "transport = \"udp\"\ntraffic = { kind = \"periodic\", size = \"1 GB\", every = \"1 s\" }",
            "traffic.size",
            "10 MB",
        ),
        (
            "transport = \"udp\"\ntraffic = { kind = \"requests\", response = \"1 kB\" }",
            "traffic.kind",
            "needs connections",
        ),
        (
            "transfer = \"1 kB\"\ntraffic = { kind = \"requests\", response = \"1 kB\" }",
            "transfer",
            "defines its sizes",
        ),
        (
            "transfer = \"1 kB\"\ntraffic = { kind = \"transfers\", every = \"1 s\", size = \"1 kB\" }",
            "transfer",
            "defines its sizes",
        ),
        (
            "reader = { rate = \"1 kB/s\" }\ntraffic = { kind = \"requests\", response = \"1 kB\" }",
            "reader",
            "reads immediately",
        ),
        ("traffic = { kind = \"transfers\", every = \"1 us\", size = \"1 kB\" }", "traffic", "more than 2000000 flows"),
        (
            "start = \"20 s\"\ntraffic = { kind = \"transfers\", every = \"1 s\", size = \"1 kB\" }",
            "traffic",
            "generates no",
        ),
    ] {
        assert_refused(keys, path, &fragment.replace("\\\"", "\""));
    }
}

#[test]
fn wrong_traffic_is_rejected() {
    for (keys, path, fragment) in [
        ("kind = \"constnat\"", "kind", "did you mean \"constant\"?"),
        ("rate = \"1 Mbit/s\"", "kind", "is missing; write one of bulk"),
        ("kind = \"bulk\", rate = \"1 Mbit/s\"", "rate", "not a key here"),
        ("kind = \"constant\"", "rate", "is missing"),
        ("kind = \"constant\", rate = \"0 bit/s\"", "rate", "0 bit/s"),
        ("kind = \"constant\", rate = \"-1 Mbit/s\"", "rate", "is not a rate"),
        ("kind = \"constant\", rate = \"1 Mbit/s\", size = \"0 B\"", "size", "is not a size from 1 B"),
        ("kind = \"constant\", rate = \"1 Mbit/s\", size = { distribution = \"uniform\" }", "size", "a table is not"),
        ("kind = \"constant\", rate = \"1 Mbit/s\", stop = \"0 s\"", "stop", "start of the run"),
        ("kind = \"on_off\", rate = \"1 Mbit/s\", on = \"1 s\"", "off", "is missing"),
        ("kind = \"on_off\", rate = \"1 Mbit/s\", on = \"1 s\", off = \"0 s\"", "off", "shorter than 1 us"),
        ("kind = \"periodic\", every = \"1 s\"", "size", "is missing"),
        ("kind = \"periodic\", every = \"0 s\", size = \"1 kB\"", "every", "is not a valid interval"),
        ("kind = \"periodic\", every = \"1 s\", size = \"1 kB\", count = 0", "count", "sends nothing"),
        ("kind = \"periodic\", every = \"1 s\", size = \"2000 TB\"", "size", "above the maximum"),
        ("kind = \"poisson\", every = \"1 s\", size = true", "size", "true is not a size"),
        ("kind = \"burst\", size = \"1 kB\"", "messages", "is missing"),
        ("kind = \"burst\", size = \"1 kB\", messages = 2000000", "messages", "from 1 to 1000000"),
        ("kind = \"burst\", size = \"1 kB\", messages = 2, count = 2", "every", "is missing"),
        ("kind = \"transfers\", size = \"1 kB\"", "every", "with every or load"),
        ("kind = \"transfers\", size = \"1 kB\", every = \"0 s\"", "every", "is not a valid interval"),
        ("kind = \"transfers\", size = \"1 kB\", every = \"1 s\", load = 0.1", "load", "cannot be combined with every"),
        ("kind = \"transfers\", size = \"1 kB\", load = -0.1", "load", "-0.1 is not a number from 0 to 100"),
        ("kind = \"transfers\", size = \"1 kB\", load = 0", "load", "above 0"),
        ("kind = \"transfers\", size = \"1 kB\", load = 1000", "load", "from 0 to 100"),
        ("kind = \"requests\"", "response", "is missing"),
        ("kind = \"requests\", response = \"1 kB\", think = \"-1 s\"", "think", "is not a time"),
        ("kind = \"web\", html = \"1 kB\", object = \"1 kB\"", "objects", "is missing; specify the number of objects"),
        ("kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 0", "objects", "is not above 0"),
        ("kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 3000000", "objects", "above the maximum"),
        (
            "kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 1, connections = 0",
            "connections",
            "from 1 to 64",
        ),
        (
            "kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 1, http = \"4\"",
            "http",
            "\"auto\" or \"1.1\" or \"2\" or \"3\"",
        ),
        (
            "kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 1, http = \"2\", connections = 6",
            "connections",
            "cannot be combined with HTTP/2",
        ),
        ("kind = \"page\"", "file", "is missing; name the JSON file"),
        ("kind = \"page\", file = \"\"", "file", "is not a file"),
        ("kind = \"page\", file = \"a.json\", html = \"1 kB\"", "html", "not a key here"),
        ("kind = \"page\", file = \"a.json\", http = \"2\", connections = 6", "connections", "combined with HTTP/2"),
        ("kind = \"page\", file = \"a.json\", http = \"3\", connections = 2", "connections", "combined with HTTP/3"),
    ] {
        assert_refused(&format!("traffic = {{ {keys} }}"), &format!("traffic.{path}"), fragment);
    }
    assert_refused("traffic = \"constant\"", "traffic", "is not a table such as { kind");
}

#[test]
fn a_set_up_is_read_written_and_checked() {
    let requests = "traffic = { kind = \"requests\", response = \"1 kB\" }\n";
    let given = network(&text(&format!(
        "{requests}setup = {{ tls = \"1.2\", dns = \"lookup\", dns_time = \"40 ms\", certificate = \"9 kB\", \
         resumption = true }}"
    )));
    let setup = given.flows[0].setup().unwrap();
    assert_eq!((setup.lookup(), setup.flights(false)[1]), (Some(Duration::from_millis(40)), 9_450));
    let defaults = network(&text(&format!("{requests}[defaults]\nsetup = {{ tls = \"1.3 0-RTT\" }}")));
    assert!(defaults.flows[0].setup().unwrap().is_early());
    assert!(network(&text("[defaults]\nsetup = { tls = \"1.3\" }")).flows[0].setup().is_none(), "a bulk transfer");
    for (keys, path, fragment) in [
        ("tls = \"1.1\"", "setup.tls", "is not a version of TLS"),
        ("dns = \"lookup\"", "setup.dns_time", "is missing; specify the time of a lookup"),
        ("dns_time = \"1 s\"", "setup.dns_time", "has no effect with dns = \"cached\""),
        ("dns = \"lookup\", dns_time = \"0 s\"", "setup.dns_time", "is too short for a lookup"),
        ("certificate = \"1 kB\"", "setup.certificate", "is not sent with this tls"),
        ("tls = \"1.3\", certificate = \"0 B\"", "setup.certificate", "is not a size from 1 B"),
        ("resumption = true", "setup.resumption", "has no effect with this tls"),
        ("tsl = \"1.3\"", "setup.tsl", "tls"),
    ] {
        assert_refused(&format!("{requests}setup = {{ {keys} }}"), path, fragment);
    }
    assert_refused("setup = { tls = \"1.3\" }", "setup", "needs traffic with requests");
}

#[test]
fn wrong_distributions_are_rejected() {
    for (keys, path, fragment) in [
        ("", "distribution", "is missing; write uniform, exponential"),
        ("distribution = \"normal\"", "distribution", "uniform, exponential, pareto, lognormal, empirical"),
        ("distribution = \"exponential\"", "mean", "is missing"),
        ("distribution = \"exponential\", mean = \"0 B\"", "mean", "is not above 0"),
        ("distribution = \"exponential\", mean = \"-1 B\"", "mean", "is not a size"),
        ("distribution = \"exponential\", mean = \"1 kB\", shape = 2", "shape", "not a key here"),
        ("distribution = \"uniform\", min = \"2 kB\", max = \"1 kB\"", "max", "is not above min"),
        ("distribution = \"pareto\", mean = \"1 kB\"", "shape", "is missing"),
        ("distribution = \"pareto\", shape = 1.2", "mean", "write mean or min"),
        (
            "distribution = \"pareto\", shape = 1.2, mean = \"2 kB\", min = \"1 kB\"",
            "min",
            "cannot be combined with mean",
        ),
        ("distribution = \"pareto\", shape = 1.0, mean = \"1 kB\"", "shape", "gives no finite mean"),
        ("distribution = \"pareto\", shape = 0.9, min = \"1 kB\"", "shape", "gives no finite mean"),
        ("distribution = \"pareto\", shape = -1, min = \"1 kB\"", "shape", "is not a number above 0"),
        ("distribution = \"pareto\", shape = 2, mean = \"1 kB\", max = \"1 kB\"", "max", "is not above"),
        ("distribution = \"lognormal\", mean = \"1 kB\"", "sigma", "is missing"),
        ("distribution = \"lognormal\", mean = \"1 kB\", sigma = 11", "sigma", "up to 10"),
        ("distribution = \"lognormal\", sigma = 1", "mean", "write mean or median"),
        ("distribution = \"empirical\"", "values", "is missing; write a list"),
        ("distribution = \"empirical\", values = []", "values", "at least one"),
        ("distribution = \"empirical\", values = [\"1 kB\", \"x\"]", "values[1]", "\"x\" is not a size"),
        ("distribution = \"empirical\", values = [\"1 kB\"], weights = [1, 2]", "weights", "2 weights for 1 values"),
        ("distribution = \"empirical\", values = [\"1 kB\"], weights = [0]", "weights[0]", "above 0"),
    ] {
        let keys = format!("traffic = {{ kind = \"poisson\", every = \"1 s\", size = {{ {keys} }} }}");
        assert_refused(&keys, &format!("traffic.size.{path}"), fragment);
    }
}

#[test]
fn a_name_that_an_arrival_takes_is_rejected() {
    let other = "[[flows]]\nname = \"f.2\"\nfrom = \"b\"\nto = \"a\"\n";
    let keys = "name = \"f\"\ntraffic = { kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 1 }\n";
    let errors = parse_toml(&format!("{}{other}", text(keys)), &[]).and_then(|s| s.expand().map(drop)).unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].path, "flows[0].name");
    assert!(errors[0].message.contains("\"f.2\" is already the name of another flow"), "{}", errors[0]);
}

#[test]
fn flows_that_are_several_are_captured_and_warned_of_as_one() {
    let keys = "name = \"f\"\ntraffic = { kind = \"transfers\", every = \"1 s\", size = \"1 kB\" }\n\
                [[flows]]\nname = \"g\"\nfrom = \"b\"\nto = \"a\"\nstart = \"1 h\"\n\
                [record]\npcap = { flows = [\"f\"] }\n";
    let scenario = scenario(&text(keys));
    let network = scenario.expand().unwrap();
    let captured = &network.captures.as_ref().unwrap().flows;
    assert_eq!(captured.len(), network.flows.len());
    assert!(network.flows.len() > 3, "{}", network.flows.len());
    let names: Vec<&str> = network.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!((names[0], names[1], *names.last().unwrap()), ("f.1", "f.2", "g"));
    assert!(captured[..captured.len() - 1].iter().all(|is_captured| *is_captured) && !captured.last().unwrap());
    let warnings = scenario.warnings(&network);
    assert!(warnings.iter().any(|warning| warning.path == "flows[1].start"), "{warnings:#?}");
}

#[test]
fn proxies_split_connections_but_no_datagrams() {
    let path = "duration = \"5 s\"\n[[links]]\nbetween = [\"a\", \"p\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
                [[links]]\nbetween = [\"p\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
                [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n";
    let proxy = "[[proxies]]\nnode = \"p\"\nbuffer = \"100 kB\"\n";
    let expand = |traffic: &str, more: &str| {
        parse_toml(&format!("{path}{traffic}\n{proxy}{more}"), &[]).and_then(|scenario| scenario.expand())
    };
    let transfers = "traffic = { kind = \"transfers\", every = \"100 ms\", size = \"1 kB\" }";
    let network = expand(transfers, "flows = [\"f\"]").unwrap();
    assert!(network.splits.len() == network.flows.len() && network.flows.len() > 10);
    let udp = "transport = \"udp\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\" }";
    let idle = expand(udp, "").unwrap_err();
    assert!(idle.len() == 1 && idle[0].message.contains("splits none"), "datagrams pass by: {idle:#?}");
    let named = expand(udp, "flows = [\"f\"]").unwrap_err();
    assert!(named.len() == 1 && named[0].path == "proxies[0].flows", "{named:#?}");
    assert!(named[0].message.contains("carries datagrams"), "{}", named[0]);
    for (traffic, connections) in [
        ("traffic = { kind = \"requests\", response = \"1 kB\" }", 1),
        ("traffic = { kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 9 }", 6),
    ] {
        let network = expand(traffic, "flows = [\"f\"]").unwrap();
        assert_eq!((network.flows.len(), network.splits.len()), (connections, connections));
    }
    let alone = parse_toml(&format!("{path}{proxy}pool = true"), &[]).unwrap().expand().unwrap_err();
    assert!(alone.len() == 1 && alone[0].path == "proxies[0].pool", "{alone:#?}");
    assert!(alone[0].message.contains("needs another proxy with pool = true"), "{}", alone[0]);
    let crash = parse_toml(&format!("{path}{proxy}pool = true\ncrash = {{ at = \"1 s\" }}"), &[]).unwrap_err();
    assert!(crash.len() == 1 && crash[0].path == "proxies[0].pool", "{crash:#?}");
}

#[test]
fn a_proxy_may_wait_for_the_handshake() {
    let path = "duration = \"10 s\"\n\
        [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
        [[links]]\nbetween = [\"b\", \"c\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
        [[flows]]\nfrom = \"a\"\nto = \"c\"\n\
        [[proxies]]\nnode = \"b\"\nbuffer = \"64 kB\"\n";
    for (key, opens) in [
        ("", Opens::OnSyn),
        ("opens = \"on-syn\"", Opens::OnSyn),
        ("opens = \"when-established\"", Opens::WhenEstablished),
    ] {
        let scenario = parse_toml(&format!("{path}{key}"), &[]).unwrap();
        assert_eq!(scenario.expand().unwrap().proxies[0].opens, opens);
        let written = serde_json::to_value(&scenario.proxies[0]).unwrap();
        assert_eq!(written.get("opens").is_some(), opens != Opens::OnSyn, "the default is not written: {written}");
    }
    let errors = parse_toml(&format!("{path}opens = \"late\""), &[]).unwrap_err();
    assert!(errors.len() == 1 && errors[0].path == "proxies[0].opens", "{errors:#?}");
    assert!(errors[0].message.contains("on-syn") && errors[0].message.contains("when-established"), "{}", errors[0]);
}

/// A proxy that prefetches needs another one towards the client, and pages in clear text.
#[test]
fn prefetching_needs_a_pair_of_proxies_and_readable_pages() {
    let path = "duration = \"10 s\"\n\
                [[links]]\nbetween = [\"a\", \"p\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                [[links]]\nbetween = [\"p\", \"q\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                [[links]]\nbetween = [\"q\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let proxy = |node: &str, more: &str| format!("[[proxies]]\nnode = \"{node}\"\nbuffer = \"1 MB\"\n{more}\n");
    let flow = |traffic: &str| format!("[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{traffic}\n");
    let web = "traffic = { kind = \"web\", html = \"1 kB\", object = \"1 kB\", objects = 3, count = 1 }";
    let both = proxy("p", "prefetch = true") + &proxy("q", "");
    let read = |text: &str| parse_toml(text, &[]).unwrap();
    let warnings = |text: &str| {
        let scenario = read(text);
        let network = scenario.expand().unwrap();
        scenario
            .warnings(&network)
            .into_iter()
            .filter(|warning| warning.path.ends_with(".prefetch"))
            .collect::<Vec<_>>()
    };
    let network = read(&format!("{path}{}{both}", flow(web))).expand().unwrap();
    assert_eq!((network.prefetching_split(0), network.prefetching_split(1)), (Some(0), Some(2)));
    assert_eq!(warnings(&format!("{path}{}{both}", flow(web))), []);
    for (proxies, place, message) in [
        (
            proxy("p", "") + &proxy("q", "prefetch = true"),
            "proxies[1].prefetch",
            "needs another proxy between \"q\" and",
        ),
        (
            proxy("p", "prefetch = true") + &proxy("q", "prefetch = true"),
            "proxies[1].prefetch",
            "\"p\" already prefetches",
        ),
    ] {
        let errors = read(&format!("{path}{}{proxies}", flow(web))).expand().unwrap_err();
        assert!(errors.len() == 1 && errors[0].path == place, "{errors:#?}");
        assert!(errors[0].message.contains(message), "{}", errors[0]);
    }
    for tls in ["1.2", "1.3", "1.3 0-RTT"] {
        let text = format!("{path}{}{both}", flow(&format!("{web}\nsetup = {{ tls = \"{tls}\" }}")));
        assert_eq!(read(&text).expand().unwrap().prefetching_split(0), None);
        let found = warnings(&text);
        assert!(found.len() == 1 && found[0].path == "proxies[0].prefetch", "{found:#?}");
        let start = format!("\"p\" prefetches nothing for \"f\": TLS {tls} hides the objects");
        assert!(found[0].message.starts_with(&start), "{}", found[0]);
    }
    for traffic in ["transfer = \"1 MB\"", "traffic = { kind = \"requests\", response = \"1 kB\" }"] {
        // Without pages the second proxy is not needed.
        for proxies in [&both, &proxy("p", "prefetch = true")] {
            let found = warnings(&format!("{path}{}{proxies}", flow(traffic)));
            assert_eq!(found.len(), 1, "{found:#?}");
            assert!(found[0].message.starts_with("no web page passes \"p\""), "{}", found[0]);
        }
    }
}
