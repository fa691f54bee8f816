//! Invalid scenarios: each error has one message with path, value and fix, and all errors of a file are reported
//! together.

use lightlag_scenario::{ScenarioError, parse_json, parse_toml};

/// A valid scenario; each case makes one change that is an error.
const GOOD: &str = r#"
name = "good"
duration = "60 s"
seed = 1

[defaults.tcp]
profile = "linux"

[[links]]
between = ["client", "gateway"]
rate = "1 Gbit/s"
delay = "1 ms"

[[links]]
between = ["gateway", "server"]
rate = "10 Mbit/s"
delay = "300 ms"
queue = "1 bdp"
loss = 1e-4
header = "7 B"

[[flows]]
name = "f1"
from = "client"
to = "server"
transfer = "20 MB"
start = "1 s"
tcp = { congestion = "cubic" }

[record]
interval = "100 ms"
"#;

/// A valid dumbbell; each case makes one change that is an error.
const DUMBBELL: &str = r#"
duration = "60 s"

[topology]
kind = "dumbbell"
pairs = 4
rate = "10 Mbit/s"
delay = "20 ms"
access = { rate = "1 Gbit/s", delay = "1 ms" }
flow = { transfer = "1 MB", stagger = "10 ms" }
"#;

/// A valid swarm; each case makes one change that is an error.
const SWARM: &str = r#"
duration = "10 s"

[topology]
kind = "swarm"
nodes = 8
area = ["200 m", "200 m", "50 m"]
mobility = { model = "gauss-markov" }
flows = 2
"#;

/// A valid split connection; each case makes one change that is an error.
const PROXY: &str = r#"
duration = "60 s"

[[links]]
between = ["client", "gateway"]
rate = "1 Gbit/s"
delay = "1 ms"

[[links]]
between = ["gateway", "server"]
rate = "10 Mbit/s"
delay = "300 ms"

[[links]]
between = ["gateway", "aside"]
rate = "10 Mbit/s"
delay = "300 ms"

[[flows]]
name = "f1"
from = "client"
to = "server"

[[proxies]]
node = "gateway"
kind = "split"
buffer = "512 kB"
flows = ["f1"]
server = { congestion = "hybla" }
crash = { at = "10 s" }
"#;

fn errors(text: &str) -> Vec<ScenarioError> {
    parse_toml(text, &[]).and_then(|scenario| scenario.expand().map(drop)).expect_err("the scenario is rejected")
}

/// Replaces a line of a valid scenario, and asserts that there is exactly one error, at `path`, whose message contains
/// `fragment`.
fn assert_refused(good: &str, (line, instead, path, fragment): (&str, &str, &str, &str)) {
    assert_eq!(good.matches(line).count(), 1, "{line:?} is once in the good scenario");
    let text = good.replace(line, instead);
    let errors = errors(&text);
    let [error] = errors.as_slice() else { panic!("{instead:?}: one error, not {errors:#?}") };
    assert_eq!(error.path, path, "{instead:?}: {error}");
    assert!(error.message.contains(fragment), "{instead:?}: {error} does not contain {fragment:?}");
}

#[test]
fn the_good_ones_are_good() {
    for text in [GOOD, DUMBBELL, PROXY] {
        parse_toml(text, &[]).expect("good").expand().expect("good");
    }
}

#[test]
fn wrong_keys_are_rejected_with_a_suggestion() {
    for case in [
        ("seed = 1", "sead = 1", "sead", "did you mean \"seed\"?"),
        ("name = \"good\"", "nmae = \"good\"", "nmae", "did you mean \"name\"?"),
        ("name = \"good\"", "author = \"me\"", "author", "write one of name, duration"),
        ("rate = \"10 Mbit/s\"", "rate = \"10 Mbit/s\"\nqueu = \"1 bdp\"", "links[1].queu", "did you mean \"queue\"?"),
        ("header = \"7 B\"", "Header = \"7 B\"", "links[1].Header", "did you mean \"header\"?"),
        ("start = \"1 s\"", "strat = \"1 s\"", "flows[0].strat", "did you mean \"start\"?"),
        ("transfer = \"20 MB\"", "size = \"20 MB\"", "flows[0].size", "\"size\" is not a key here"),
        ("congestion = \"cubic\"", "congestoin = \"cubic\"", "flows[0].tcp.congestoin", "did you mean \"congestion\"?"),
        ("profile = \"linux\"", "profil = \"linux\"", "defaults.tcp.profil", "did you mean \"profile\"?"),
        ("[defaults.tcp]", "[defaults.udp]", "defaults.udp", "write one of transport, tcp, quic"),
        ("interval =", "intervall =", "record.intervall", "did you mean \"interval\"?"),
        ("loss = 1e-4", "loss = { bit_eror_rate = 1e-7 }", "links[1].loss.bit_eror_rate", "\"bit_error_rate\"?"),
        ("profile = \"linux\"", "rto = { mni = \"1 s\" }", "defaults.tcp.rto.mni", "did you mean \"min\"?"),
        ("[[flows]]", "[flow]\nx = 1\n[[flows]]", "flow", "did you mean \"flows\"?"),
    ] {
        assert_refused(GOOD, case);
    }
    for case in [
        ("pairs = 4", "pairs = 4\nleaves = 3", "topology.leaves", "is not a key here"),
        ("stagger =", "stager =", "topology.flow.stager", "did you mean \"stagger\"?"),
        ("access = { rate", "access = { speed = 1, rate", "topology.access.speed", "is not a key here"),
        ("kind = \"dumbbell\"", "kind = \"dumbell\"", "topology.kind", "did you mean \"dumbbell\"?"),
        ("kind = \"dumbbell\"", "kind = \"torus\"", "topology.kind", "point-to-point, chain, dumbbell, star"),
    ] {
        assert_refused(DUMBBELL, case);
    }
}

/// Former names of keys: a valid scenario with the former key, the path of the key, and its current name.
const FORMER: [(&str, &str, &str, &str, &str); 22] = [
    (GOOD, "congestion = \"cubic\"", "scps.bets.patience = \"2 s\"", "flows[0].tcp.scps.bets", "receive_timeout"),
    (GOOD, "\"cubic\"", "{ algorithm = \"star\", ack_patience = false }", "flows[0].tcp.congestion", "timeout_grace"),
    (GOOD, "\"cubic\"", "{ algorithm = \"bic\", smallest_step = 1 }", "flows[0].tcp.congestion", "min_step"),
    (GOOD, "\"cubic\"", "{ algorithm = \"bic\", largest_step = 9 }", "flows[0].tcp.congestion", "max_step"),
    (GOOD, "loss = 1e-4", NORMAL, "links[1].jitter", "max"),
    (GOOD, "loss = 1e-4", "on_demand = { latency = \"1 s\", most = \"1 Mbit/s\" }", "links[1].on_demand", "max_rate"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", speed_least = \"1 m/s\"", MOBILITY, "speed_min"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", speed_most = \"9 m/s\"", MOBILITY, "speed_max"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", direction_least = \"0 deg\"", MOBILITY, "direction_min"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", direction_most = \"9 deg\"", MOBILITY, "direction_max"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", pitch_least = \"0 deg\"", MOBILITY, "pitch_min"),
    (SWARM, "\"gauss-markov\"", "\"gauss-markov\", pitch_most = \"9 deg\"", MOBILITY, "pitch_max"),
    (SWARM, "\"gauss-markov\"", "\"random-waypoint\", pause_least = \"1 s\"", MOBILITY, "pause_min"),
    (SWARM, "\"gauss-markov\"", "\"random-waypoint\", pause_most = \"9 s\"", MOBILITY, "pause_max"),
    (SWARM, "\"gauss-markov\"", "\"paparazzi\", radius_least = \"9 m\"", MOBILITY, "radius_min"),
    (SWARM, "\"gauss-markov\"", "\"paparazzi\", radius_most = \"9 m\"", MOBILITY, "radius_max"),
    (SWARM, "\"gauss-markov\"", "\"paparazzi\", stay_least = \"9 s\"", MOBILITY, "stay_min"),
    (SWARM, "\"gauss-markov\"", "\"paparazzi\", stay_most = \"9 s\"", MOBILITY, "stay_max"),
    (GOOD, "congestion = \"cubic\"", "scps.bets.transmissions = 2", "flows[0].tcp.scps.bets", "max_transmissions"),
    (SWARM, "flows = 2", "medium.tries = 3", "topology.medium", "max_attempts"),
    (
        SWARM,
        "flows = 2",
        "medium.routing = { protocol = \"aodv\", revive_way_back = false }",
        "topology.medium.routing",
        "revive_reverse_route",
    ),
    (
        SWARM,
        "flows = 2",
        "medium.propagation = { model = \"air-to-ground\", sight = \"drawn\" }",
        "topology.medium.propagation",
        "line_of_sight",
    ),
];
const NORMAL: &str = "jitter = { distribution = \"normal\", deviation = \"2 us\", most = \"3 us\" }";
const MOBILITY: &str = "topology.mobility";

#[test]
fn former_keys_name_their_present_ones() {
    for (good, part, instead, table, present) in FORMER {
        assert_eq!(good.matches(part).count(), 1, "{part:?} is once in the good scenario");
        let errors = errors(&good.replace(part, instead));
        let [error] = errors.as_slice() else { panic!("{instead:?}: one error, not {errors:#?}") };
        let former = error.path.strip_prefix(table).and_then(|key| key.strip_prefix('.')).expect(&error.path);
        assert!(instead.contains(&format!("{former} = ")), "{instead:?}: {error}");
        assert_eq!(error.message, format!("is now {present}"), "{instead:?}");
    }
    // In a table without the present name it is unknown as any other.
    let strange = ("start = \"1 s\"", "patience = \"2 s\"", "flows[0].patience", "\"patience\" is not a key here");
    assert_refused(GOOD, strange);
}

#[test]
fn wrong_units_are_rejected() {
    for case in [
        ("duration = \"60 s\"", "duration = \"60 sec\"", "duration", "ns, us, ms, s, min, h"),
        ("duration = \"60 s\"", "duration = 60", "duration", "60 is not a time with its unit"),
        ("duration = \"60 s\"", "duration = \"-60 s\"", "duration", "\"-60 s\" is not a time"),
        ("rate = \"10 Mbit/s\"", "rate = \"10 Mbit\"", "links[1].rate", "\"10 Mbit\" is not a rate"),
        ("rate = \"10 Mbit/s\"", "rate = 10", "links[1].rate", "10 is not a rate with its unit"),
        ("delay = \"300 ms\"", "delay = \"300 km\"", "links[1].delay", "\"300 km\" is not a time"),
        ("delay = \"300 ms\"", "delay = 0.3", "links[1].delay", "0.3 is not a time with its unit"),
        ("queue = \"1 bdp\"", "queue = \"100 pakets\"", "links[1].queue", "\"1000 packets\", \"64 kB\" or \"1 bdp\""),
        ("queue = \"1 bdp\"", "queue = 100", "links[1].queue", "100 is not a queue"),
        ("transfer = \"20 MB\"", "transfer = \"20 Mbit\"", "flows[0].transfer", "is not a size such as"),
        ("header = \"7 B\"", "header = 7", "links[1].header", "7 is not a size with its unit"),
    ] {
        assert_refused(GOOD, case);
    }
}

#[test]
fn wrong_types_are_rejected() {
    for case in [
        ("seed = 1", "seed = \"one\"", "seed", "\"one\" is not a whole number"),
        ("seed = 1", "seed = 1.5", "seed", "1.5 is not a whole number"),
        ("seed = 1", "seed = -1", "seed", "-1 is not a whole number from 0"),
        ("name = \"good\"", "name = 3", "name", "3 is not a text; write it in quotes"),
        ("duration = \"60 s\"", "duration = [\"60 s\"]", "duration", "a list is not a time"),
        ("duration = \"60 s\"", "duration = 2026-01-01", "duration", "is a date"),
        ("between = [\"client\", \"gateway\"]", "between = \"client\"", "links[0].between", "a list of two nodes"),
        ("between = [\"client\", \"gateway\"]", "between = [\"gateway\"]", "links[0].between", "there must be two"),
        ("between = [\"client\", \"gateway\"]", "between = [1, \"gateway\"]", "links[0].between", "1 is not a text"),
        ("to = \"server\"", "to = 7", "flows[0].to", "7 is not a text"),
        ("tcp = { congestion = \"cubic\" }", "tcp = \"cubic\"", "flows[0].tcp", "{ congestion = \"cubic\" }"),
        ("congestion = \"cubic\"", "sack = 1", "flows[0].tcp.sack", "1 is not true or false"),
        ("congestion = \"cubic\"", "timestamps = \"yes\"", "flows[0].tcp.timestamps", "not true or false"),
        ("congestion = \"cubic\"", "mss = 1460", "flows[0].tcp.mss", "1460 is not a size with its unit"),
        ("congestion = \"cubic\"", "delayed_ack = 3", "flows[0].tcp.delayed_ack", "{ segments = 2"),
        ("interval = \"100 ms\"", "interval = 0.1", "record.interval", "0.1 is not a time"),
        ("interval = \"100 ms\"", "drops = \"no\"", "record.drops", "\"no\" is not true or false"),
        ("interval = \"100 ms\"", "trace = \"al\"", "record.trace", "change, sampled, off"),
        ("interval = \"100 ms\"", "queue = \"change\"", "record.queue", "sampled, off"),
        ("[defaults.tcp]\nprofile = \"linux\"", "defaults = 3", "defaults", "3 is not a table"),
    ] {
        assert_refused(GOOD, case);
    }
    for case in [
        ("pairs = 4", "pairs = 4.5", "topology.pairs", "4.5 is not a whole number from 1"),
        ("pairs = 4", "pairs = \"four\"", "topology.pairs", "\"four\" is not a whole number"),
        ("access = { rate = \"1 Gbit/s\", delay = \"1 ms\" }", "access = 3", "topology.access", "3 is not a table"),
    ] {
        assert_refused(DUMBBELL, case);
    }
}

#[test]
fn values_out_of_bounds_are_rejected() {
    for case in [
        ("duration = \"60 s\"", "duration = \"0 s\"", "duration", "0 s leaves no time"),
        ("duration = \"60 s\"", "duration = \"9999999 h\"", "duration", "is not a time"),
        ("duration = \"60 s\"", "duration = \"1000 h\"", "duration", "above 480 h"),
        ("rate = \"10 Mbit/s\"", "rate = \"0 Mbit/s\"", "links[1].rate", "above zero"),
        ("rate = \"10 Mbit/s\"", "rate = \"-10 Mbit/s\"", "links[1].rate", "\"-10 Mbit/s\" is not a rate"),
        ("rate = \"10 Mbit/s\"", "rate = \"1e6 Tbit/s\"", "links[1].rate", "the highest rate"),
        ("rate = \"10 Mbit/s\"", "rate = \"1e400 bit/s\"", "links[1].rate", "is not a rate"),
        ("delay = \"300 ms\"", "delay = \"-1 ms\"", "links[1].delay", "\"-1 ms\" is not a time"),
        ("delay = \"300 ms\"", "delay = \"500 h\"", "links[1].delay", "above 480 h"),
        ("loss = 1e-4", "loss = 1.3", "links[1].loss", "1.3 is not a probability between 0 and 1"),
        ("loss = 1e-4", "loss = -0.1", "links[1].loss", "-0.1 is not a probability"),
        ("loss = 1e-4", "loss = nan", "links[1].loss", "is not a finite number"),
        ("loss = 1e-4", "loss = inf", "links[1].loss", "is not a finite number"),
        ("loss = 1e-4", "loss = \"1 %\"", "links[1].loss", "\"1 %\" is not a probability"),
        ("loss = 1e-4", "loss = { bit_error_rate = 2 }", "links[1].loss.bit_error_rate", "2 is not a probability"),
        ("loss = 1e-4", "loss = { forward = 7 }", "links[1].loss.forward", "7 is not a probability"),
        ("loss = 1e-4", "loss = { at = [\"1 s\", 2] }", "links[1].loss.at[1]", "2 is not a time"),
        ("loss = 1e-4", "loss = { packets = [3, 0] }", "links[1].loss.packets[1]", "counted from 1"),
        ("loss = 1e-4", "loss = { packets = 3 }", "links[1].loss.packets", "a list of packet numbers"),
        ("loss = 1e-4", "loss = { packets = [1.5] }", "links[1].loss.packets[0]", "1.5 is not a valid packet number"),
        ("loss = 1e-4", "loss = { rate = 1, where = \"queue\" }", "links[1].loss.where", "after queue"),
        ("loss = 1e-4", "loss = { rate = 1, where = 3 }", "links[1].loss.where", "\"before queue\""),
        ("loss = 1e-4", "loss = { where = \"before queue\" }", "links[1].loss", "exactly one of"),
        ("loss = 1e-4", "loss = { rate = 1, direction = \"up\" }", "links[1].loss.direction", "\"forward\""),
        (
            "loss = 1e-4",
            "loss = { forward = 1, direction = \"forward\" }",
            "links[1].loss.direction",
            "remove direction",
        ),
        (
            "queue = \"1 bdp\"",
            "queue = { discipline = \"drop_tail\", limit = \"1 bdp\", count_in_service = true }",
            "links[1].queue.count_in_service",
            "a limit in packets",
        ),
        ("loss = 1e-4", "loss = { at = 2 }", "links[1].loss.at", "a list of times"),
        ("loss = 1e-4", "loss = {}", "links[1].loss", "exactly one of"),
        ("loss = 1e-4", "loss = { mean = 0.1, burst = 3, rate = 1 }", "links[1].loss", "exactly one of"),
        ("loss = 1e-4", "jitter = 3", "links[1].jitter", "3 is not a time such as"),
        ("loss = 1e-4", "jitter = \"3 apples\"", "links[1].jitter", "3 apples"),
        ("loss = 1e-4", "jitter = \"1 h\"", "links[1].jitter", "is more than the delay"),
        ("loss = 1e-4", "jitter = { max = \"1 ms\" }", "links[1].jitter.distribution", "is missing"),
        ("loss = 1e-4", "jitter = { distribution = \"norml\" }", "links[1].jitter.distribution", "\"normal\"?"),
        ("loss = 1e-4", "jitter = { distribution = \"uniform\" }", "links[1].jitter.max", "is missing"),
        ("loss = 1e-4", "jitter = { distribution = \"normal\" }", "links[1].jitter.deviation", "is missing"),
        (
            "loss = 1e-4",
            "jitter = { distribution = \"normal\", deviation = \"2 us\", max = \"1 us\" }",
            "links[1].jitter.max",
            "1 us is below the deviation of 2 us",
        ),
        (
            "loss = 1e-4",
            "jitter = { distribution = \"uniform\", max = \"1 us\", correlation = 1.5 }",
            "links[1].jitter.correlation",
            "1.5 is not a probability",
        ),
        ("loss = 1e-4", "changes = 3", "links[1].changes", "3 is not a list of changes"),
        ("loss = 1e-4", "changes = [3]", "links[1].changes[0]", "3 is not a table"),
        ("loss = 1e-4", "changes = [{ rate = \"1 Mbit/s\" }]", "links[1].changes[0].at", "is missing"),
        ("loss = 1e-4", "changes = [{ at = \"1 s\" }]", "links[1].changes[0]", "has no effect"),
        ("loss = 1e-4", "changes = [{ at = \"1 s\", dwon = true }]", "links[1].changes[0].dwon", "\"down\"?"),
        ("loss = 1e-4", "changes = [{ at = \"1 s\", down = 1 }]", "links[1].changes[0].down", "1 is not true or false"),
        ("loss = 1e-4", "changes = [{ at = \"1 s\", rate = 5 }]", "links[1].changes[0].rate", "5 is not a rate"),
        ("loss = 1e-4", "changes = [{ at = \"1 s\", loss = 2 }]", "links[1].changes[0].loss", "2 is not a probability"),
        (
            "loss = 1e-4",
            "changes = [{ at = \"2 s\", down = true }, { at = \"1 s\", down = false }]",
            "links[1].changes[1].at",
            "1 s is before the previous change at 2 s",
        ),
        (
            "loss = 1e-4",
            "changes = { backward = [{ at = \"1 s\", loss = { at = [\"2 s\"] } }] }",
            "links[1].changes.backward[0].loss",
            "single packets",
        ),
        (
            "loss = 1e-4",
            "changes = [{ at = \"1 s\", loss = { rate = 1, direction = \"forward\" } }]",
            "links[1].changes[0].loss.direction",
            "is not a key of a single change",
        ),
        ("loss = 1e-4", "outage = \"holt\"", "links[1].outage", "did you mean \"hold\"?"),
        ("loss = 1e-4", "outage = true", "links[1].outage", "true is not \"hold\" or \"lose\""),
        ("loss = 1e-4", "reorder = 1", "links[1].reorder", "or true"),
        ("loss = 1e-4", "loss = { mean = 0.1 }", "links[1].loss.burst", "is missing"),
        ("loss = 1e-4", "loss = { burst = 3 }", "links[1].loss.mean", "is missing"),
        ("loss = 1e-4", "loss = { mean = 1.5, burst = 3 }", "links[1].loss.mean", "1.5 is not a probability"),
        ("loss = 1e-4", "loss = { mean = 1, burst = 3 }", "links[1].loss.mean", "loss = 1"),
        ("loss = 1e-4", "loss = { mean = 0.1, burst = 0.5 }", "links[1].loss.burst", "0.5 is not a number of packets"),
        ("loss = 1e-4", "loss = { mean = 0.1, burst = \"5\" }", "links[1].loss.burst", "\"5\" is not a number"),
        (
            "loss = 1e-4",
            "loss = { mean = 0.75, burst = 2 }",
            "links[1].loss.burst",
            "bursts of 2 packets cannot lose 0.75",
        ),
        ("loss = 1e-4", "loss = { mean = 0.75, burst = 2 }", "links[1].loss.burst", "at least 3,"),
        ("loss = 1e-4", "loss = { good = { mean_time = \"1 s\" } }", "links[1].loss.bad", "is missing"),
        (
            "loss = 1e-4",
            "loss = { good = { mean_time = \"1 s\" }, bad = { mean_time = \"0 s\" } }",
            "links[1].loss.bad.mean_time",
            "0 s is not a valid duration",
        ),
        (
            "loss = 1e-4",
            "loss = { good = { mean_time = \"1 s\", loss = -1 }, bad = { mean_time = \"1 s\" } }",
            "links[1].loss.good.loss",
            "-1 is not a probability",
        ),
        ("loss = 1e-4", "loss = { bit_error_rate = 0, at = [] }", "links[1].loss", "exactly one of"),
        ("queue = \"1 bdp\"", "queue = \"0 packets\"", "links[1].queue", "at least 1 packet"),
        ("queue = \"1 bdp\"", "queue = \"1e30 packets\"", "links[1].queue", "from 1 to 1000000000000"),
        ("queue = \"1 bdp\"", "queue = \"99999999999999999999999 packets\"", "links[1].queue", "from 1 to"),
        ("queue = \"1 bdp\"", "queue = \"1.5 packets\"", "links[1].queue", "whole number of packets"),
        ("queue = \"1 bdp\"", "queue = \"-1 bdp\"", "links[1].queue", "a number above 0"),
        ("queue = \"1 bdp\"", "queue = \"inf bdp\"", "links[1].queue", "a number above 0"),
        ("queue = \"1 bdp\"", "queue = \"0 B\"", "links[1].queue", "leaves no capacity"),
        ("queue = \"1 bdp\"", "queue = \"8000 TB\"", "links[1].queue", "is above"),
        ("header = \"7 B\"", "header = \"20 kB\"", "links[1].header", "the maximum link-layer header"),
        ("transfer = \"20 MB\"", "transfer = \"0 B\"", "flows[0].transfer", "sends nothing"),
        ("transfer = \"20 MB\"", "transfer = \"5000 TB\"", "flows[0].transfer", "above 1000 TB"),
        ("transfer = \"20 MB\"", "transfer = \"1e30 B\"", "flows[0].transfer", "is not a size"),
        ("transfer = \"20 MB\"", "transfer = \"-1 MB\"", "flows[0].transfer", "\"-1 MB\" is not a size"),
        ("congestion = \"cubic\"", "mss = \"35 B\"", "flows[0].tcp.mss", "is not between"),
        ("congestion = \"cubic\"", "mss = \"70 kB\"", "flows[0].tcp.mss", "is not between"),
        ("congestion = \"cubic\"", "receive_buffer = \"0 B\"", "flows[0].tcp.receive_buffer", "is not between"),
        ("congestion = \"cubic\"", "initial_window = 0", "flows[0].tcp.initial_window", "is not between 1"),
        ("congestion = \"cubic\"", "initial_window = -3", "flows[0].tcp.initial_window", "-3 is not"),
        ("congestion = \"cubic\"", "rto = { min = \"2 h\" }", "flows[0].tcp.rto.min", "rto.max"),
        ("congestion = \"cubic\"", "congestion = \"qubic\"", "flows[0].tcp.congestion", "did you mean \"cubic\"?"),
        (
            "congestion = \"cubic\"",
            "rto = { variance_floor = \"500 h\" }",
            "flows[0].tcp.rto.variance_floor",
            "above 480 h",
        ),
        ("congestion = \"cubic\"", "congestion = 3", "flows[0].tcp.congestion", "3 is not"),
        ("profile = \"linux\"", "profile = \"linus\"", "defaults.tcp.profile", "did you mean \"linux\"?"),
        ("profile = \"linux\"", "mss = \"1 B\"", "defaults.tcp.mss", "is not between"),
        (
            "[defaults.tcp]",
            "[defaults]\ncongestion = []\n[defaults.tcp]",
            "defaults.congestion",
            "an empty list is not",
        ),
        (
            "[defaults.tcp]",
            "[defaults]\ncongestion = \"cubic\"\n[defaults.tcp]",
            "defaults.congestion",
            "[\"cubic\", \"bbr\"]",
        ),
        (
            "[defaults.tcp]",
            "[defaults]\ncongestion = [\"cubic\", \"bb\"]\n[defaults.tcp]",
            "defaults.congestion[1]",
            "did you mean \"bbr\"?",
        ),
        ("interval = \"100 ms\"", "queueing = 1", "record.queueing", "1 is not true or false"),
        ("interval = \"100 ms\"", "interval = \"0 s\"", "record.interval", "0 s is not a valid sampling interval"),
        ("interval = \"100 ms\"", "interval = \"1 ns\"", "record.interval", "samples, more than"),
        ("name = \"good\"", "name = \"\"", "name", "it is empty"),
        ("name = \"good\"", "name = \"../x\"", "name", "must not contain / or start with a dot"),
    ] {
        assert_refused(GOOD, case);
    }
    for case in [
        ("pairs = 4", "pairs = 0", "topology.pairs", "0 is not a whole number from 1"),
        ("pairs = 4", "pairs = -4", "topology.pairs", "-4 is not a whole number from 1"),
        ("pairs = 4", "pairs = 1000000000000", "topology.pairs", "from 1 to 999999"),
        ("stagger =", "count = 0, stagger =", "topology.flow.count", "0 is not a number of flows"),
        ("stagger =", "count = 1000000, stagger =", "flows", "4000000 flows are more than"),
        ("delay = \"20 ms\"", "delay = { forward = \"20 ms\" }", "topology.delay.backward", "give both directions"),
    ] {
        assert_refused(DUMBBELL, case);
    }
}

#[test]
fn errors_in_a_short_form_are_reported_at_their_position() {
    for (instead, path, fragment) in [
        ("congestion = \"qubic\"", "flows[0].congestion", "did you mean \"cubic\"?"),
        ("congestion = { algorithm = \"cubic\", beta = 2 }", "flows[0].congestion.beta", "2 is not a number from"),
    ] {
        assert_refused(GOOD, ("tcp = { congestion = \"cubic\" }", instead, path, fragment));
    }
    for (short, path, fragment) in [
        ("uniform = \"1 s\"", "uniform", "\"1 s\" is not a list; give two"),
        ("uniform = [\"1 s\"]", "uniform", "a time such as"),
        ("uniform = [\"soon\", \"2 s\"]", "uniform[0]", "\"soon\" is not a time"),
        ("uniform = [\"1 s\", 2]", "uniform[1]", "2 is not a time"),
        ("uniform = [\"2 s\", \"1 s\"]", "uniform[1]", "is not above min"),
        ("exponential = true", "exponential", "true is not a time"),
        ("exponential = [\"1 s\"]", "exponential", "is not a time"),
        ("exponential = \"0 s\"", "exponential", "is not above 0"),
    ] {
        let path = format!("flows[0].start.{path}");
        assert_refused(GOOD, ("start = \"1 s\"", &format!("start = {{ {short} }}"), &path, fragment));
    }
}

#[test]
fn parameters_of_a_congestion_control_are_checked_one_by_one() {
    let refused = |table: &str, key: &str, fragment: &str| {
        let path = format!("flows[0].tcp.congestion{key}");
        assert_refused(GOOD, ("congestion = \"cubic\"", &format!("congestion = {table}"), &path, fragment));
    };
    refused("{ algorithm = \"cubik\" }", ".algorithm", "did you mean \"cubic\"?");
    refused("{ algorithm = \"cubic\", variant = \"rfc1\" }", ".variant", "rfc9438");
    refused("{ algorithm = \"cubic\", beta = 1.5 }", ".beta", "1.5 is not a number from");
    refused("{ algorithm = \"cubic\", betta = 0.7 }", ".betta", "did you mean \"beta\"?");
    refused("{ algorithm = \"hybla\", reference_rtt = 25 }", ".reference_rtt", "25 is not a time");
    refused("{ variant = \"rfc8312\" }", "", "the key \"algorithm\" is missing");
    refused("{ algorithm = 3 }", "", "3 is not a name in quotes");
    let both = errors(&GOOD.replace("\"cubic\"", "{ algorithm = \"cubic\", beta = 2, c = -1 }"));
    let paths: Vec<&str> = both.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["flows[0].tcp.congestion.beta", "flows[0].tcp.congestion.c"]);
}

#[test]
fn contradictory_switches_of_scps_are_rejected_at_their_position() {
    let refused = |tcp: &str, key: &str, fragment: &str| {
        let path = format!("flows[0].tcp.{key}");
        assert_refused(GOOD, ("congestion = \"cubic\"", tcp, &path, fragment));
    };
    refused("recovery = \"snack\"", "recovery", "set scps = true");
    refused("recovery = \"rack\", scps = { snack = \"long\" }", "scps.snack", "and it replaces SACK");
    refused("scps = { snack = \"of\" }", "scps.snack", "did you mean \"off\"?");
    refused("scps = { snack = \"off\", snack_delay = \"1 s\" }", "scps.snack_delay", "snack is off");
    refused("scps = { sncak = \"short\" }", "scps.sncak", "did you mean \"snack\"?");
    refused("scps = 20", "scps", "20 is not true, false or a table");
    refused("ack_interval = \"3 min\"", "ack_interval", "180 s is not shorter than rto.max, which is 120 s");
    refused("outage_after = 200", "outage_after", "never reached with retries = 15");
    refused("rate_control = { bucket = \"3 kB\" }", "rate_control.rate", "or set route.rate");
    refused("rate_control = { rate = \"0 bit/s\" }", "rate_control.rate", "0 bit/s");
    refused("rate_control = { rate = \"1 Mbit/s\", bucket = \"1 kB\" }", "rate_control.bucket", "1 kB holds less");
    refused("route = { rtt = \"5 s\", rto = \"1 s\" }", "route.rto", "1 s is below route.rtt, which is 5 s");
    refused("route = { path = true, rto = \"1 ms\" }", "route.rto", "1 ms is below route.rtt");
    refused("route = \"paht\"", "route", "\"paht\" is not \"path\", true, false or a table");
    refused("route = {}", "route", "has no keys");
    refused("initial_window = \"rfc1\"", "initial_window", "or \"rfc3390\"");
}

#[test]
fn a_bucket_must_hold_a_packet_of_its_version_of_ip() {
    let text = GOOD.replace(
        "congestion = \"cubic\"",
        "mss = \"1000 B\", rate_control = { rate = \"1 Mbit/s\", bucket = \"1040 B\" }",
    );
    parse_toml(&text, &[]).expect("good").expand().expect("good");
    let reported = errors(&format!("ip = \"v6\"\n{text}"));
    assert_eq!(
        reported.iter().map(|error| error.path.as_str()).collect::<Vec<_>>(),
        ["flows[0].tcp.rate_control.bucket"]
    );
    assert!(reported[0].message.contains("one packet of 1.06 kB"), "{}", reported[0].message);
}

#[test]
fn missing_keys_are_named_with_an_example() {
    for case in [
        ("duration = \"60 s\"", "", "duration", "is missing; specify the maximum simulated time"),
        ("between = [\"gateway\", \"server\"]", "", "links[1].between", "name the two nodes"),
        ("rate = \"10 Mbit/s\"", "", "links[1].rate", "such as \"10 Mbit/s\""),
        ("delay = \"300 ms\"", "", "links[1].delay", "such as \"300 ms\""),
        ("from = \"client\"", "", "flows[0].from", "name the node that sends"),
        ("to = \"server\"", "", "flows[0].to", "name the node that receives"),
        ("rate = \"10 Mbit/s\"", "rate = { forward = \"1 bit/s\" }", "links[1].rate.backward", "both directions"),
    ] {
        assert_refused(GOOD, case);
    }
    for case in [
        ("kind = \"dumbbell\"", "", "topology.kind", "point-to-point, chain, dumbbell, star, satellite, iot or swarm"),
        ("pairs = 4", "", "topology.pairs", "at least 1"),
        ("rate = \"10 Mbit/s\"", "", "topology.rate", "such as \"10 Mbit/s\""),
    ] {
        assert_refused(DUMBBELL, case);
    }
}

#[test]
fn references_must_lead_somewhere() {
    for case in [
        ("to = \"server\"", "to = \"sever\"", "flows[0].to", "did you mean \"server\"?"),
        ("from = \"client\"", "from = \"moon\"", "flows[0].from", "its nodes: client, gateway, server"),
        ("to = \"server\"", "to = \"client\"", "flows[0].to", "also the source of the flow"),
        ("from = \"client\"", "from = \"\"", "flows[0].from", "it is empty"),
        ("between = [\"client\", \"gateway\"]", "between = [\"client\", \"island\"]", "flows[0].to", "unreachable"),
        (
            "between = [\"client\", \"gateway\"]",
            "between = [\"server\", \"gateway\"]",
            "links[1].between",
            "already joined",
        ),
        ("between = [\"client\", \"gateway\"]", "between = [\"client\", \"client\"]", "links[0].between", "twice"),
        ("between = [\"client\", \"gateway\"]", "between = [\"\", \"gateway\"]", "links[0].between", "it is empty"),
        ("between = [\"client\", \"gateway\"]", "between = [\"a->b\", \"gateway\"]", "links[0].between", "->"),
        ("between = [\"client\", \"gateway\"]", "between = [\" a\", \"gateway\"]", "links[0].between", "a space"),
        (
            "[record]",
            "[[flows]]\nname = \"f1\"\nfrom = \"server\"\nto = \"client\"\n[record]",
            "flows[1].name",
            "another flow",
        ),
        ("[record]", "[[flows]]\nfrom = \"x\"\nto = \"client\"\n[record]", "flows[1].from", "is not a node"),
        (
            "tcp = { congestion = \"cubic\" }",
            "congestion = \"hybla\"\ntcp = { congestion = \"cubic\" }",
            "flows[0].congestion",
            "is duplicated",
        ),
    ] {
        // A case that removes the only path to a node may cause several errors.
        let (line, instead, path, fragment) = case;
        let errors = errors(&GOOD.replace(line, instead));
        let hit = |error: &ScenarioError| error.path == path && error.message.contains(fragment);
        assert!(errors.iter().any(hit), "{instead:?}: {path} with {fragment:?} is not in {errors:#?}");
    }
    let twice = "[[links]]\nbetween = [\"router-left\", \"client1\"]\nrate = \"1 bit/s\"\ndelay = \"0 s\"\n[topology]";
    assert_refused(DUMBBELL, ("[topology]", twice, "topology", "already joined by links[0]"));
}

#[test]
fn networks_and_flows_must_be_there() {
    let paths = |text: &str| errors(text).into_iter().map(|error| error.path).collect::<Vec<_>>();
    assert_eq!(paths("duration = \"1 s\""), ["links", "flows"]);
    assert_eq!(paths("duration = \"1 s\"\nlinks = []\nflows = []"), ["links", "flows"]);
    assert_eq!(paths(""), ["duration"]);
    let no_flow = "duration = \"1 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 bit/s\"\ndelay = \"0 s\"\n";
    assert_eq!(paths(no_flow), ["flows"]);
    assert_eq!(paths("duration = \"1 s\"\nlinks = 3\nflows = {}"), ["links", "flows"]);
    assert_eq!(paths("duration = \"1 s\"\nlinks = [3]\nflows = [\"x\"]"), ["links[0]", "flows[0]"]);
}

#[test]
fn wrong_routing_is_rejected() {
    let follow = |more: &str| format!("{{ kind = \"follow links\", {more} }}");
    let cases = [
        ("3".to_owned(), "routing", "3 is not \"static\", \"follow links\", or a table"),
        (
            "\"dynamic\"".to_owned(),
            "routing",
            "\"dynamic\" is not a kind of routing; write one of static, follow links",
        ),
        ("\"follow link\"".to_owned(), "routing", "did you mean \"follow links\"?"),
        ("{ convergence = \"1 s\" }".to_owned(), "routing.kind", "is missing; write kind"),
        ("{ kind = \"ospf\" }".to_owned(), "routing.kind", "\"ospf\" is not a kind of routing"),
        (follow("ttl = 0"), "routing.ttl", "0 is not a whole number from 1 to 255"),
        (follow("ttl = 256"), "routing.ttl", "256 is not a whole number from 1 to 255"),
        (follow("ttl = \"64\""), "routing.ttl", "\"64\" is not a whole number from 1 to 255"),
        (follow("convergence = 1"), "routing.convergence", "1 is not a time"),
        (follow("converge = \"1 s\""), "routing.converge", "did you mean \"convergence\"?"),
        ("{ kind = \"static\", ttl = 9 }".to_owned(), "routing.ttl", "requires kind = \"follow links\""),
        ("{ kind = \"static\", convergence = \"1 s\" }".to_owned(), "routing.convergence", "requires kind"),
    ];
    for (value, path, fragment) in &cases {
        assert_refused(GOOD, ("seed = 1", &format!("seed = 1\nrouting = {value}"), path, fragment));
    }
}

#[test]
fn routes_are_not_computed_too_often() {
    // 500 routers and 500 nodes: 250,000 routes, 201 times.
    let changes: Vec<String> = (1..=201).map(|ms| format!("{{ at = \"{ms} ms\", delay = \"{ms} us\" }}")).collect();
    let text = format!(
        "duration = \"1 s\"\nrouting = \"follow links\"\n[topology]\nkind = \"chain\"\nhops = 500\n\
         rate = \"1 Gbit/s\"\ndelay = \"0 s\"\nchanges = [{}]\n",
        changes.join(", ")
    );
    let errors = errors(&text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    let (path, message) = (&errors[0].path, &errors[0].message);
    assert!(
        path == "routing" && message.contains("links change at 201 times") && message.contains("50000000"),
        "{message}"
    );
}

#[test]
fn a_chain_is_as_long_as_its_routing_tables_fit() {
    let chain = |hops: u64| {
        format!("duration = \"1 s\"\n[topology]\nkind = \"chain\"\nhops = {hops}\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"")
    };
    assert!(parse_toml(&chain(9_000), &[]).is_ok());
    let errors = errors(&chain(1_000_000));
    assert!(errors[0].message.contains("routes, more than 100000000"), "{errors:?}");
}

#[test]
fn text_that_is_not_toml_is_placed_by_line_and_column() {
    for (text, path) in [
        ("duration = ", "line 1, column "),
        ("name = \"x\"\nduration = \"1 s", "line 2, column "),
        ("a = 1\nb = 2\n[[links]\n", "line 3, column "),
        ("a = 1\na = 2\n", "line 2, column "),
        ("seed = 99999999999999999999", "line 1, column "),
        ("\u{0}", "line 1, column "),
    ] {
        let errors = errors(text);
        let [error] = errors.as_slice() else { panic!("{text:?}: one error, not {errors:?}") };
        assert!(error.path.starts_with(path), "{text:?}: {error}");
        assert!(error.message.starts_with("not TOML: "), "{text:?}: {error}");
    }
}

#[test]
fn text_that_is_not_json_is_placed_by_line_and_column() {
    for (text, location) in [("", "line 1, column 0"), ("{\n  \"a\": }", "line 2, column 8"), ("{", "line 1, column 1")]
    {
        let errors = parse_json(text, &[]).unwrap_err();
        assert_eq!(errors[0].path, location, "{text:?}: {errors:?}");
        assert!(errors[0].message.starts_with("not JSON: "), "{errors:?}");
    }
    for text in ["[]", "3", "null", "\"x\""] {
        let errors = parse_json(text, &[]).unwrap_err();
        assert!(errors[0].message.contains("is not a table with duration, links and flows"), "{text}: {errors:?}");
    }
    assert!(parse_json(&"[".repeat(100_000), &[]).is_err());
    assert!(parse_toml(&format!("x = {}", "[".repeat(100_000)), &[]).is_err());
}

#[test]
fn changes_report_what_they_could_not_change() {
    for (key, value, path, fragment) in [
        ("flows.3.start", "1 s", "flows.3.start", "is not an entry of flows, which has 0 to 0"),
        ("flows.x.start", "1 s", "flows.x.start", "\"x\" is not an entry of flows"),
        ("seed.low", "1", "seed.low", "seed is 1, which has no key \"low\""),
        ("", "1", "", "is not a path of keys"),
        ("a..b", "1", "a..b", "is not a path of keys"),
        ("flows.0.congestoin", "hybla", "flows[0].congestoin", "did you mean \"congestion\"?"),
        ("links.1.loss", "nan", "links.1.loss", "is not a finite number"),
        ("duration", "0 s", "duration", "0 s leaves no time"),
        ("topology.0", "x", "topology.0", "there is no topology"),
    ] {
        let errors = parse_toml(GOOD, &[(key.to_owned(), value.to_owned())]).unwrap_err();
        assert_eq!(errors[0].path, path, "{key}={value}: {errors:?}");
        assert!(errors[0].message.contains(fragment), "{key}={value}: {errors:?}");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_together() {
    let text = r#"
seed = -1
durration = "3 s"

[[links]]
between = ["a", "b"]
rate = "10 Mbits"
delay = 300
loss = 1.3

[[links]]
between = ["b", "a"]
rate = "1 Mbit/s"
delay = "0 s"
loss = nan

[[flows]]
from = "a"
to = "d"
tcp = { congestion = "qubic", mss = "1 B", sacks = true }

[[flows]]
name = "x"
from = "a"
to = "a"

[[flows]]
name = "x"
from = "b"
to = "a"
start = "soon"

[record]
trace = "chnage"
"#;
    let mut paths: Vec<String> = errors(text).into_iter().map(|error| error.path).collect();
    paths.sort();
    let expected = [
        "duration",
        "durration",
        "flows[0].tcp.congestion",
        "flows[0].tcp.mss",
        "flows[0].tcp.sacks",
        "flows[0].to",
        "flows[1].to",
        "flows[2].name",
        "flows[2].start",
        "links[0].delay",
        "links[0].loss",
        "links[0].rate",
        "links[1].between",
        "links[1].loss",
        "record.trace",
        "seed",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn an_error_prints_as_path_and_message() {
    let errors = errors(&GOOD.replace("loss = 1e-4", "loss = 1.3"));
    assert_eq!(errors[0].to_string(), "links[1].loss: 1.3 is not a probability between 0 and 1, such as 1e-4");
}

#[test]
fn bad_proxies_are_rejected() {
    let twice = "crash = { at = \"10 s\" }\n[[proxies]]\nnode = \"gateway\"\nbuffer = \"1 MB\"";
    for case in [
        ("node = \"gateway\"", "node = \"gatewy\"", "proxies[0].node", "did you mean \"gateway\"?"),
        ("node = \"gateway\"", "", "proxies[0].node", "is missing; name the node"),
        ("kind = \"split\"", "kind = \"spilt\"", "proxies[0].kind", "did you mean \"split\"?"),
        ("buffer = \"512 kB\"", "", "proxies[0].buffer", "is missing; specify the maximum data"),
        ("buffer = \"512 kB\"", "buffer = \"0 B\"", "proxies[0].buffer", "is not a buffer from 64 B"),
        (
            "buffer = \"512 kB\"",
            "bufer = \"512 kB\"\nbuffer = \"1 MB\"",
            "proxies[0].bufer",
            "did you mean \"buffer\"?",
        ),
        ("flows = [\"f1\"]", "flows = [\"f2\"]", "proxies[0].flows[0]", "is not a flow; did you mean \"f1\"?"),
        ("flows = [\"f1\"]", "flows = []", "proxies[0].flows", "names no flow"),
        ("node = \"gateway\"", "node = \"aside\"", "proxies[0].flows", "does not cross \"aside\" in both directions"),
        ("node = \"gateway\"", "node = \"server\"", "proxies[0].flows", "does not cross \"server\""),
        (
            "server = { congestion",
            "server = { congestoin",
            "proxies[0].server.congestoin",
            "did you mean \"congestion\"?",
        ),
        ("server = {", "server = { mss = \"7 B\",", "proxies[0].server.mss", "7"),
        (
            "server = {",
            "client = { recieve_buffer = \"1 MB\" }\nserver = {",
            "proxies[0].client.recieve_buffer",
            "did you mean \"receive_buffer\"?",
        ),
        ("crash = { at = \"10 s\" }", "crash = {}", "proxies[0].crash.at", "is missing; specify the time"),
        (
            "flows = [\"f1\"]",
            "reads = { size = \"0 B\" }",
            "proxies[0].reads.size",
            "is not a size from 1 B to the buffer",
        ),
        ("flows = [\"f1\"]", "reads = { size = \"1 MB\" }", "proxies[0].reads.size", "to the buffer, 512 kB"),
        ("flows = [\"f1\"]", "reads = { after = \"1 ms\" }", "proxies[0].reads.size", "is missing; specify the size"),
        (
            "flows = [\"f1\"]",
            "reads = { size = \"8 KiB\", after = \"0 s\" }",
            "proxies[0].reads.after",
            "0 s is not a time above 0 s",
        ),
        (
            "flows = [\"f1\"]",
            "reads = { size = \"8 KiB\" }\nprefetch = true",
            "proxies[0].reads",
            "prefetch; remove one",
        ),
        ("crash = { at = \"10 s\" }", twice, "proxies[1].flows", "already splits the flow \"f1\" at this node"),
    ] {
        assert_refused(PROXY, case);
    }
}

/// A valid flow with partial reliability; each case makes one change that is an error.
const BETS: &str = r#"
duration = "60 s"

[defaults.tcp]
profile = "scps"
receive_buffer = "100 kB"

[[links]]
between = ["client", "gateway"]
rate = "1 Mbit/s"
delay = "1 ms"

[[links]]
between = ["gateway", "server"]
rate = "1 Mbit/s"
delay = "300 ms"

[[flows]]
name = "f1"
from = "client"
to = "server"
transfer = "20 MB"
tcp = { scps = { bets = { max_transmissions = 3, receive_timeout = "2 s", hold = "50 kB" } } }
"#;

#[test]
fn bad_partial_reliability_is_rejected() {
    parse_toml(BETS, &[]).expect("good").expand().expect("good");
    let whole = "bets = { max_transmissions = 3, receive_timeout = \"2 s\", hold = \"50 kB\" }";
    for case in [
        (
            "max_transmissions = 3",
            "max_transmissions = 0",
            "flows[0].tcp.scps.bets.max_transmissions",
            "0 is not between 1",
        ),
        (
            "max_transmissions = 3",
            "max_transmissions = 21",
            "flows[0].tcp.scps.bets.max_transmissions",
            "21 is not between 1",
        ),
        (
            "receive_timeout = \"2 s\"",
            "receive_timeout = \"0 s\"",
            "flows[0].tcp.scps.bets.receive_timeout",
            "every late segment would be a hole",
        ),
        ("receive_timeout = \"2 s\"", "receive_timeout = \"2 h\"", "flows[0].tcp.scps.bets.receive_timeout", "7200 s"),
        ("hold = \"50 kB\"", "hold = \"0 B\"", "flows[0].tcp.scps.bets.hold", "0 B"),
        ("hold = \"50 kB\"", "hold = \"100 kB\"", "flows[0].tcp.scps.bets.hold", "the receive buffer has 100 kB"),
        (whole, "bets = { tries = 3 }", "flows[0].tcp.scps.bets.tries", "max_transmissions, receive_timeout, hold"),
        (whole, "bets = 3", "flows[0].tcp.scps.bets", "max_transmissions = 3"),
    ] {
        assert_refused(BETS, case);
    }
}

#[test]
fn traffic_that_needs_every_byte_has_no_partial_reliability() {
    let transfer = "transfer = \"20 MB\"";
    let asks = "traffic = { kind = \"requests\", request = \"1 kB\", response = \"9 kB\" }";
    assert_refused(BETS, (transfer, asks, "flows[0].tcp.scps.bets", "a dialogue needs every byte"));
    let collects = "traffic = { kind = \"collect\" }";
    let text = BETS.replace(transfer, collects)
        + "[[flows]]\nfrom = \"server\"\nto = \"client\"\ntransport = \"udp\"\n\
        traffic = { kind = \"constant\", rate = \"1 kbit/s\" }\n";
    let reported = errors(&text);
    assert!(reported.len() == 1 && reported[0].message.contains("must arrive complete"), "{reported:?}");
    let proxy = "\n[[proxies]]\nnode = \"gateway\"\nbuffer = \"1 MB\"\n";
    let reported = errors(&format!("{BETS}{proxy}"));
    assert_eq!((reported.len(), reported[0].path.as_str()), (1, "flows[0].tcp.scps.bets"));
    assert!(reported[0].message.contains("the proxy at \"gateway\" forwards every byte"), "{}", reported[0]);
    // One message, at either level of the key.
    let of_all = BETS.replace("receive_buffer = \"100 kB\"", "scps = { bets = true }").replace("tcp = {", "# tcp = {");
    assert_eq!(errors(&format!("{of_all}{proxy}")).len(), 1);
    let of_proxy = BETS.replace("tcp = {", "# tcp = {") + proxy + "server = { scps = { bets = true } }\n";
    let found = errors(&of_proxy);
    assert_eq!((found.len(), found[0].path.as_str()), (1, "proxies[0].server.scps.bets"));
}

#[test]
fn a_proxy_that_splits_nothing_is_rejected() {
    let all = PROXY.replace("flows = [\"f1\"]\n", "");
    for node in ["client", "server", "aside"] {
        let reported = errors(&all.replace("node = \"gateway\"", &format!("node = \"{node}\"")));
        assert_eq!((reported.len(), reported[0].path.as_str()), (1, "proxies[0].node"), "{reported:?}");
        assert!(reported[0].message.contains("splits none; name a node between the endpoints"), "{}", reported[0]);
    }
    parse_toml(&all, &[]).unwrap().expand().expect("between the endpoints it splits a flow");
}

#[test]
fn less_than_a_unit_is_rejected_and_zero_is_zero() {
    for case in [
        ("header = \"7 B\"", "header = \"0.5 B\"", "links[1].header", "\"0.5 B\" is less than 1 B"),
        ("rate = \"10 Mbit/s\"", "rate = \"0.9 bit/s\"", "links[1].rate", "\"0.9 bit/s\" is less than 1 bit/s"),
        ("delay = \"300 ms\"", "delay = \"0.4 ns\"", "links[1].delay", "\"0.4 ns\" is less than 1 ns"),
        ("transfer = \"20 MB\"", "transfer = \"0.0004 kB\"", "flows[0].transfer", "is less than 1 B"),
    ] {
        assert_refused(GOOD, case);
    }
    parse_toml(&GOOD.replace("header = \"7 B\"", "header = \"0 B\""), &[]).expect("nothing is a size");
    parse_toml(&GOOD.replace("delay = \"1 ms\"", "delay = \"0.0 ms\""), &[]).expect("nothing is a time");
}

#[test]
fn keys_of_tcp_with_udp_are_rejected() {
    let udp = "traffic = { kind = \"constant\", rate = \"1 Mbit/s\" }\ntransport = \"udp\"\ntcp = { mss = \"1000 B\" }";
    assert_refused(GOOD, ("tcp = { congestion = \"cubic\" }", udp, "flows[0].tcp", "which has no TCP; remove it"));
}

#[test]
fn seeds_have_one_range() {
    let above = "seed = 9223372036854775808";
    let text = parse_toml(GOOD, &[]).unwrap().to_json().to_string();
    let reported = parse_json(&text.replace("\"seed\":1", &above.replace("seed = ", "\"seed\":")), &[]).unwrap_err();
    assert_eq!((reported.len(), reported[0].path.as_str()), (1, "seed"));
    assert!(reported[0].message.contains("from 0 to 9223372036854775807"), "{}", reported[0]);
    parse_toml(&GOOD.replace("seed = 1", "seed = 9223372036854775807"), &[]).expect("the last one");
}

#[test]
fn json_names_each_key_once() {
    for (text, path, key) in [
        (r#"{"duration": "1 s", "duration": "2 s"}"#, "line 1, column 29", "\"duration\""),
        ("{\"a\": [{\"b\": 1,\n\"b\\u0062\": 1, \"bb\": 2}]}", "line 2, column 17", "\"bb\""),
    ] {
        let reported = parse_json(text, &[]).unwrap_err();
        assert_eq!(reported.len(), 1);
        assert!(reported[0].message.contains(&format!("the key {key} is duplicated")), "{}", reported[0]);
        assert!(reported[0].path.starts_with(&path[..6]), "{}", reported[0]);
    }
}

#[test]
fn the_first_fifty_errors_are_listed_with_their_count() {
    let flows: String =
        (0..120).map(|at| format!("[[flows]]\nname = \"{at}\"\nfrom = \"a\"\nto = \"nowhere\"\n")).collect();
    let text = format!(
        "duration = \"1 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{flows}"
    );
    let reported = errors(&text);
    assert_eq!(reported.len(), 51);
    assert_eq!(reported[50].to_string(), "in total: 120 errors; these are the first 50");
}

/// Returns the network of a swarm that is captured at these points.
fn captured(points: &str) -> Result<lightlag_scenario::Network, Vec<ScenarioError>> {
    let text = format!(
        "duration = \"9 s\"\nrecord = {{ pcap = {{ at = [{points}] }} }}\n[topology]\nkind = \"swarm\"\nnodes = 3\nflows = 1\n\
         [[links]]\nbetween = [\"uav2\", \"base\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n"
    );
    parse_toml(&text, &[]).and_then(|scenario| scenario.expand())
}

#[test]
fn a_capture_names_a_radio_by_its_node_and_medium() {
    use lightlag_net::InterfaceId;
    use lightlag_scenario::CapturePlace::{Interface, Node};
    let network = captured("\"uav3@air\", \"uav2\"").unwrap();
    let node = |name| lightlag_net::NodeId(network.nodes.iter().position(|node| node == name).unwrap() as u32);
    // A node brings its interfaces.
    let places = &network.captures.as_ref().unwrap().places;
    assert_eq!(*places, [Node(node("uav2")), Interface(InterfaceId(1)), Interface(InterfaceId(2))]);
    for (place, message) in [
        ("\"uav1@ground\"", "\"ground\" is not a medium of this node; write one of air"),
        ("\"base@air\"", "\"base\" has no radio; name the node alone"),
        ("\"uav4@air\"", "\"uav4\" is not a node of the network"),
    ] {
        let errors = captured(place).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(errors[0].path, "record.pcap.at[0]");
        assert!(errors[0].message.contains(message), "{}", errors[0]);
    }
}

#[test]
fn a_key_of_a_link_among_several_names_the_slowest() {
    let two = "
duration = \"9 s\"
links = [
    { between = [\"a\", \"b\"], rate = \"1 Gbit/s\", delay = \"1 ms\" },
    { between = [\"b\", \"c\"], rate = \"10 Mbit/s\", delay = \"1 ms\" },
]
flows = [{ from = \"a\", to = \"c\" }]
";
    let errors = parse_toml(two, &[("rate".to_owned(), "\"5 Mbit/s\"".to_owned())]).unwrap_err();
    assert_eq!(
        errors[0].message,
        "\"rate\" is not a key here: rate belongs to links[0] to links[1]; the slowest is links[1]"
    );
}

#[test]
fn a_key_in_the_wrong_table_gets_a_hint_at_the_right_one() {
    for (key, path, message) in [
        ("loss", "loss", "\"loss\" is not a key here: loss belongs to links[0]"),
        ("flows.0.delay", "flows[0].delay", "\"delay\" is not a key here: delay belongs to links[0]"),
        ("flows.0.tcp.queue", "flows[0].tcp.queue", "\"queue\" is not a key here: queue belongs to links[0]"),
        ("links.0.seed", "links[0].seed", "\"seed\" is not a key here: seed belongs to the top of the file"),
        ("links.0.crash", "links[0].crash", "\"crash\" is not a key here: crash belongs to the table proxies[], which"),
        ("links.0.raet", "links[0].raet", "\"raet\" is not a key here; did you mean \"rate\"?"),
        ("links.0.colour", "links[0].colour", "\"colour\" is not a key here; write one of between"),
        (
            "links.0.discipline",
            "links[0].discipline",
            "\"discipline\" is not a key here: discipline belongs to the table links[].queue",
        ),
        (
            "links.0.burst",
            "links[0].burst",
            "\"burst\" is not a key here: burst belongs to the table links[].loss, which",
        ),
        ("leaves", "leaves", "\"leaves\" is not a key here: leaves belongs to the table topology, which"),
        ("interval", "interval", "\"interval\" is not a key here: interval belongs to record"),
        ("latency", "latency", "\"latency\" is not a key here: it is called delay and belongs to links[0]"),
        (
            "flows.0.bandwidth",
            "flows[0].bandwidth",
            "\"bandwidth\" is not a key here: it is called rate and belongs to links[0]",
        ),
        ("buffer", "buffer", "\"buffer\" is not a key here; write one of name"),
    ] {
        let errors = parse_toml(GOOD, &[(key.to_owned(), "1".to_owned())]).unwrap_err();
        assert!(
            errors.iter().any(|error| error.path == path && error.message.starts_with(message)),
            "{key}: {errors:#?}"
        );
    }
}

#[test]
fn a_keyword_of_another_tool_gets_one_hint() {
    for (key, path, meant) in [
        ("links.0.latency", "links[0].latency", "delay"),
        ("links.0.Bandwidth", "links[0].Bandwidth", "rate"),
        ("links.0.packet-loss", "links[0].packet-loss", "loss"),
        ("flows.0.source", "flows[0].source", "from"),
        ("flows.0.size", "flows[0].size", "transfer"),
    ] {
        let errors = parse_toml(GOOD, &[(key.to_owned(), "1".to_owned())]).unwrap_err();
        let error = errors.iter().find(|error| error.path == path).expect("an error at the key");
        assert!(error.message.contains(&format!("is not a key here; did you mean {meant:?}?")), "{error}");
        assert!(!error.message.contains("belongs to"), "one hint: {error}");
    }
}

#[test]
fn one_table_instead_of_a_list_is_one_error() {
    let once = |key: &str| {
        let (head, list) = GOOD.split_once(&format!("[[{key}]]")).expect("a list");
        let (first, rest) = list.split_once("\n[").expect("another table");
        let others: String = format!("[{rest}").split_inclusive("\n\n").filter(|part| !part.contains(key)).collect();
        format!("{head}[{key}]{first}\n{others}")
    };
    for key in ["links", "flows"] {
        let errors = errors(&once(key));
        let [error] = errors.as_slice() else { panic!("{key}: one error, not {errors:#?}") };
        assert_eq!(error.path, key);
        assert!(error.message.contains(&format!("write one [[{key}]] for each")), "{error}");
    }
}

#[test]
fn parts_have_names_and_an_empty_value_removes_a_key() {
    let text = "duration = \"9 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\nloss = 0.1\n\
                [[flows]]\nname = \"web\"\nfrom = \"a\"\nto = \"b\"\ntransfer = \"1 MB\"\ncongestion = \"bbr\"\n";
    let with = |sets: &[(&str, &str)]| {
        let sets: Vec<(String, String)> =
            sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        parse_toml(text, &sets)
    };
    let named = [("links.b->a.loss", "0.2"), ("links.a-b.delay", "20 ms"), ("flows.web.tcp.mss", "500 B")];
    let numbered = [("links.0.loss.backward", "0.2"), ("links.0.delay", "20 ms"), ("flows.0.tcp.mss", "500 B")];
    assert_eq!(with(&named), with(&numbered));
    assert!(with(&named).is_ok());
    let without = with(&[("flows.web.transfer", ""), ("links.0.loss", ""), ("flows.0.congestion", "")]).unwrap();
    let shorter =
        text.replace("transfer = \"1 MB\"\n", "").replace("loss = 0.1\n", "").replace("congestion = \"bbr\"\n", "");
    assert_eq!(without, parse_toml(&shorter, &[]).unwrap());
    assert_eq!(
        with(&[("flows.0.start", ""), ("links.0.header", "")]),
        with(&[]),
        "removing an absent key is not an error"
    );
    for (key, value, part) in [
        ("flows.0.tarnsfer", "", "did you mean \"transfer\"?"),
        ("flows.wbe.start", "1 s", "did you mean \"web\"?"),
        ("links.0.rate", "", "is missing"),
        ("links.3", "", "\"3\" is not an entry of links, which has 0 to 0"),
    ] {
        let errors = with(&[(key, value)]).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains(part)), "{key}: {errors:#?}");
    }
}

#[test]
fn every_wrong_key_of_a_table_of_tcp_is_reported() {
    let text = |tcp: &str| {
        format!(
            "duration = \"1 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[flows]]\nfrom = \"a\"\nto = \"b\"\ntcp = {{ {tcp} }}\n"
        )
    };
    let messages = |tcp: &str| -> Vec<String> {
        let errors = lightlag_scenario::parse_toml(&text(tcp), &[]).unwrap_err();
        errors.into_iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
    };
    let reported = messages("delayed_ack = { delay = \"100 ms\", every = 2, quick = \"few\", segments = 2 }");
    assert_eq!(reported.len(), 3, "{reported:?}");
    assert!(
        reported[0]
            .starts_with("flows[0].tcp.delayed_ack.delay: \"delay\" is not a key here; write one of segments, timeout")
    );
    assert!(reported[1].starts_with("flows[0].tcp.delayed_ack.every: \"every\" is not a key here"));
    assert!(reported[2].starts_with("flows[0].tcp.delayed_ack.quick: \"few\" is not"));
    let found = messages("rto = { lowest = \"1 s\", maximal = \"1 s\" }, keep_alive = { after = \"1 s\", count = 3 }");
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_discipline_may_replace_a_queue() {
    let read = |queue: &str| {
        let text = format!(
            "duration = \"1 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nqueue = {queue}\n\
             [[flows]]\nfrom = \"a\"\nto = \"b\"\n"
        );
        lightlag_scenario::parse_toml(&text, &[])
    };
    for name in ["drop_tail", "red", "codel", "fq_codel", "pie", "dualpi2", "ack_filter"] {
        let table = read(&format!("{{ discipline = \"{name}\" }}"));
        let short = read(&format!("\"{name}\""));
        assert_eq!(
            short.map_err(|errors| errors[0].message.clone()),
            table.map_err(|errors| errors[0].message.clone()),
            "{name}"
        );
    }
    assert!(read("{ forward = \"fq_codel\", backward = \"10 packets\" }").is_ok());
    let refused = |queue: &str| read(queue).unwrap_err()[0].to_string();
    assert!(
        refused("\"fq\"").starts_with("links[0].queue: \"fq\" is not a queue; write one of drop_tail"),
        "{}",
        refused("\"fq\"")
    );
    assert!(refused("\"fq\"").ends_with("or a size, \"1000 packets\", \"64 kB\" or \"1 bdp\""));
    assert!(refused("\"fq_code\"").contains("did you mean \"fq_codel\"?"));
    assert!(refused("\"step\"").contains("threshold"));
}

#[test]
fn bursts_and_policers_name_the_wrong_value_and_the_fix() {
    for (key, place, fix) in [
        ("police = { rate = \"1 Mbit/s\" }", "links[1].police.burst", "64 kB"),
        ("police = { rate = \"1 Mbit/s\", burst = \"100 B\" }", "links[1].police.burst", "below 1.6 kB"),
        ("loss = { bursts = 1.5 }", "links[1].loss.bursts", "1.5"),
        ("loss = { bursts = 0.1, rate = 0.1 }", "links[1].loss", "exactly one of"),
    ] {
        let errors = format!("{:?}", parse_toml(&GOOD.replace("loss = 1e-4", key), &[]).unwrap_err());
        assert!(errors.contains(place) && errors.contains(fix), "{key}: {errors}");
    }
    let netem = "queue = { discipline = \"netem\", limit = \"64 kB\" }";
    let errors = format!("{:?}", parse_toml(&GOOD.replace("queue = \"1 bdp\"", netem), &[]).unwrap_err());
    assert!(errors.contains("links[1].queue.limit") && errors.contains("1000 packets"), "{errors}");
}
