//! Queue disciplines, reordering and duplication: their settings, and their effect on a run.

use crate::text::run;
use lightlag_core::{Bytes, Duration, Probability};
use lightlag_net::queue::{
    AckFilterConfig, CoDelConfig, DisciplineConfig, DualPi2Config, FqCoDelConfig, PieConfig, PriorityMode, RedConfig,
    StepConfig,
};
use lightlag_net::{QueueLimit, Reordering};
use lightlag_scenario::{LinkDirection, Network, Warning, parse_json, parse_toml};
use lightlag_sim::results::{DropCause, RunResult};

/// Returns a scenario with `flows` flows over 10 Mbit/s and 20 ms each way, with this queue and further keys of the
/// link.
fn scenario(queue: &str, more: &str, flows: usize) -> String {
    let flow = "[[flows]]\nfrom = \"a\"\nto = \"b\"\n".repeat(flows);
    format!(
        "duration = \"30 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
         queue = {queue}\n{more}\n{flow}"
    )
}

fn network(queue: &str, more: &str) -> Network {
    let text = scenario(queue, more, 1);
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{queue}: {errors:#?}"));
    // What is read survives being written.
    assert_eq!(parse_json(&scenario.to_json().to_string(), &[]).as_ref(), Ok(&scenario), "{}", scenario.to_json());
    scenario.expand().unwrap()
}

fn forward(queue: &str) -> LinkDirection {
    network(queue, "").links[0].clone()
}

fn chance(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

#[test]
fn disciplines_have_the_defaults_of_their_rfcs() {
    let red = RedConfig {
        min_threshold: QueueLimit::Packets(5),
        max_threshold: QueueLimit::Packets(15),
        max_probability: chance(0.1),
        weight: chance(0.002),
        gentle: true,
        ecn: false,
        mean_packet: Bytes(500),
    };
    let step = StepConfig { threshold: QueueLimit::Packets(65), drop_not_ect: false, weight: Probability::ONE };
    let filter = AckFilterConfig { filter: true, every: 1 };
    for (queue, discipline, limit) in [
        ("\"100 packets\"", DisciplineConfig::DropTail, QueueLimit::Packets(100)),
        ("{ discipline = \"drop_tail\" }", DisciplineConfig::DropTail, QueueLimit::Packets(1000)),
        ("{ discipline = \"red\" }", DisciplineConfig::Red(red), QueueLimit::Packets(1000)),
        ("{ discipline = \"codel\" }", DisciplineConfig::CoDel(CoDelConfig::default()), QueueLimit::Packets(1000)),
        (
            "{ discipline = \"fq_codel\" }",
            DisciplineConfig::FqCoDel(FqCoDelConfig::default()),
            QueueLimit::Packets(10_240),
        ),
        ("{ discipline = \"pie\" }", DisciplineConfig::Pie(PieConfig::default()), QueueLimit::Packets(1000)),
        // 10 Mbit/s · 250 ms
        (
            "{ discipline = \"dualpi2\" }",
            DisciplineConfig::DualPi2(DualPi2Config::default()),
            QueueLimit::Bytes(312_500),
        ),
        (
            "{ discipline = \"step\", threshold = \"65 packets\", limit = \"64 kB\" }",
            DisciplineConfig::Step(step),
            QueueLimit::Bytes(64_000),
        ),
        ("{ discipline = \"priority\" }", DisciplineConfig::Priority(PriorityMode::PushOut), QueueLimit::Packets(1000)),
        ("{ discipline = \"ack_filter\" }", DisciplineConfig::AckFilter(filter), QueueLimit::Packets(1000)),
    ] {
        let link = forward(queue);
        assert_eq!((link.discipline.clone(), link.queue), (discipline, limit), "{queue}");
    }
}

#[test]
fn every_parameter_can_be_set() {
    // One BDP is 10 Mbit/s · 40 ms = 50 kB.
    let red = "{ discipline = \"red\", limit = \"2 bdp\", min_threshold = \"0.2 bdp\", max_threshold = \"0.5 bdp\", \
               max_probability = 0.02, weight = 0.01, gentle = false, ecn = true, mean_packet = \"1 kB\" }";
    let expected = RedConfig {
        min_threshold: QueueLimit::Bytes(10_000),
        max_threshold: QueueLimit::Bytes(25_000),
        max_probability: chance(0.02),
        weight: chance(0.01),
        gentle: false,
        ecn: true,
        mean_packet: Bytes(1000),
    };
    assert_eq!(forward(red).discipline, DisciplineConfig::Red(expected));
    assert_eq!(forward(red).queue, QueueLimit::Bytes(100_000));
    let ms = Duration::from_millis;
    let fq = "{ discipline = \"fq_codel\", target = \"20 ms\", interval = \"600 ms\", ecn = false, flows = 64, \
              quantum = \"300 B\" }";
    let codel = CoDelConfig { target: ms(20), interval: ms(600), ecn: false };
    let expected = FqCoDelConfig { codel, flows: 64, quantum: Bytes(300) };
    assert_eq!(forward(fq).discipline, DisciplineConfig::FqCoDel(expected));
    let pie = "{ discipline = \"pie\", target = \"20 ms\", update = \"30 ms\", burst = \"0 s\", ecn = true }";
    let expected = PieConfig { target: ms(20), update: ms(30), burst: ms(0), ecn: true };
    assert_eq!(forward(pie).discipline, DisciplineConfig::Pie(expected));
    let dual = "{ discipline = \"dualpi2\", target = \"20 ms\", max_rtt = \"600 ms\", coupling = 3, \
                min_threshold = \"1 ms\", range = \"2 ms\", classic_share = 0.0625 }";
    let expected = DualPi2Config {
        target: ms(20),
        max_rtt: ms(600),
        coupling: 3.0,
        min_threshold: ms(1),
        range: ms(2),
        classic_share: chance(0.0625),
    };
    assert_eq!(forward(dual).discipline, DisciplineConfig::DualPi2(expected));
    let priority = "{ discipline = \"priority\", mode = \"strict\", limit = \"1 bdp\" }";
    assert_eq!(forward(priority).discipline, DisciplineConfig::Priority(PriorityMode::Strict));
    assert_eq!(forward(priority).queue, QueueLimit::Bytes(50_000));
    let filter = "{ discipline = \"ack_filter\", filter = false, every = 4, limit = \"20 packets\" }";
    let expected = AckFilterConfig { filter: false, every: 4 };
    assert_eq!(forward(filter).discipline, DisciplineConfig::AckFilter(expected));
}

#[test]
fn directions_and_changes_reach_the_discipline() {
    let network = network("{ forward = { discipline = \"pie\" }, backward = \"7 packets\" }", "");
    assert_eq!(network.links[0].discipline, DisciplineConfig::Pie(PieConfig::default()));
    assert_eq!(network.links[1].queue, QueueLimit::Packets(7));
    // A change makes a table of what was only a limit.
    let sets = [("links.0.queue.discipline".to_owned(), "codel".to_owned())];
    let changed = parse_toml(&scenario("\"1 bdp\"", "", 1), &sets).unwrap().expand().unwrap();
    assert_eq!(changed.links[1].discipline, DisciplineConfig::CoDel(CoDelConfig::default()));
    assert_eq!(changed.links[1].queue, QueueLimit::Bytes(50_000));
    let sets = [("links.0.queue.forward.discipline".to_owned(), "codel".to_owned())];
    let changed = parse_toml(&scenario("\"1 bdp\"", "", 1), &sets).unwrap().expand().unwrap();
    assert_eq!(changed.links[0].discipline, DisciplineConfig::CoDel(CoDelConfig::default()));
    assert_eq!(changed.links[1].discipline, DisciplineConfig::DropTail);
}

#[test]
fn disturbances_are_read() {
    let ms = Duration::from_millis;
    let more = "reorder = { probability = 0.01, delay = \"5 ms\" }\nduplicate = { backward = 0.001 }";
    let links = network("\"1 bdp\"", more).links;
    let reordering = Reordering { probability: chance(0.01), least: ms(5), most: ms(5) };
    assert_eq!((links[0].reorder, links[1].reorder), (Some(reordering), Some(reordering)));
    assert_eq!((links[0].duplicate, links[1].duplicate), (chance(0.0), chance(0.001)));
    let more = "reorder = { forward = { probability = 0.5, delay = [\"1 ms\", \"10 ms\"] } }";
    let links = network("\"1 bdp\"", more).links;
    assert_eq!(links[0].reorder, Some(Reordering { probability: chance(0.5), least: ms(1), most: ms(10) }));
    assert_eq!(links[1].reorder, None);
}

#[test]
fn errors_are_reported_with_place_and_fix() {
    let queue = |queue: &str| scenario(queue, "", 1);
    let more = |more: &str| scenario("\"1 bdp\"", more, 1);
    for (text, path, fragment) in [
        (
            queue("{ discipline = \"codle\" }"),
            "queue.discipline",
            "did you mean \"codel\"? (one of drop_tail, red, codel",
        ),
        (queue("{ discipline = \"fq-codel\" }"), "queue.discipline", "did you mean \"fq_codel\"?"),
        (queue("{ discipline = \"cake\" }"), "queue.discipline", "write one of drop_tail, red, codel"),
        (queue("{ limit = \"1 bdp\" }"), "queue.discipline", "is missing; name one of drop_tail"),
        (queue("{ discipline = \"codel\", intervall = \"1 s\" }"), "queue.intervall", "did you mean \"interval\"?"),
        (queue("{ discipline = \"codel\", target = \"0 s\" }"), "queue.target", "such as \"5 ms\""),
        (queue("{ discipline = \"codel\", ecn = 1 }"), "queue.ecn", "1 is not true or false"),
        (queue("{ discipline = \"codel\", limit = \"5 pakets\" }"), "queue.limit", "write \"1000 packets\""),
        (queue("{ discipline = \"fq_codel\", flows = 0 }"), "queue.flows", "from 1 to 65536"),
        (queue("{ discipline = \"fq_codel\", quantum = \"0 B\" }"), "queue.quantum", "such as \"1.514 kB\""),
        (
            queue("{ discipline = \"red\", max_threshold = \"5 packets\" }"),
            "queue.max_threshold",
            "not above min_threshold",
        ),
        (
            queue("{ discipline = \"red\", max_threshold = \"90 kB\" }"),
            "queue.max_threshold",
            "the unit of min_threshold",
        ),
        (queue("{ discipline = \"red\", weight = 0 }"), "queue.weight", "0 is not above 0"),
        (queue("{ discipline = \"red\", max_probability = 2 }"), "queue.max_probability", "between 0 and 1"),
        (queue("{ discipline = \"pie\", update = \"0 s\" }"), "queue.update", "such as \"15 ms\""),
        (queue("{ discipline = \"dualpi2\", coupling = 0.5 }"), "queue.coupling", "0.5 is not a number from 1"),
        (queue("{ discipline = \"step\" }"), "queue.threshold", "is missing; specify the queue length"),
        (more("reorder = 0.1"), "reorder", "0.1 is not a table such as { probability = 0.01, delay = \"5 ms\" }"),
        (more("reorder = { probability = 0.1 }"), "reorder.delay", "specify the extra delay"),
        (more("reorder = { probability = 7, delay = \"1 ms\" }"), "reorder.probability", "between 0 and 1"),
        (
            more("reorder = { probability = 0.1, delay = [\"1 ms\"] }"),
            "reorder.delay",
            "1 times where there must be two",
        ),
        (
            more("reorder = { probability = 0.1, delay = [\"9 ms\", \"1 ms\"] }"),
            "reorder.delay",
            "the smaller time first",
        ),
        (more("reorder = { probability = 0.1, delay = [\"1 ms\", 3] }"), "reorder.delay[1]", "3 is not a time"),
        (more("duplicate = 1.5"), "duplicate", "1.5 is not a probability"),
    ] {
        let errors = parse_toml(&text, &[]).expect_err(&text);
        let path = format!("links[0].{path}");
        let [error] = errors.as_slice() else { panic!("{path}: one error, not {errors:#?}") };
        assert!(error.path == path && error.message.contains(fragment), "{error}, not {path}: {fragment}");
    }
}

/// Returns the warnings for a GEO path of 10 Mbit/s with a round-trip time of 600 ms.
fn warnings(queue: &str) -> Vec<Warning> {
    let text = scenario(queue, "", 1).replace("20 ms", "300 ms");
    let scenario = parse_toml(&text, &[]).unwrap();
    scenario.warnings(&scenario.expand().unwrap())
}

#[test]
fn parameters_below_the_round_trip_are_announced() {
    for (queue, path, fragments) in [
        ("{ discipline = \"codel\" }", "links[0].queue.interval", ["100 ms on a->b", "601 ms"]),
        (
            "{ discipline = \"fq_codel\", interval = \"600 ms\" }",
            "links[0].queue.interval",
            ["600 ms on a->b", "601 ms"],
        ),
        ("{ discipline = \"dualpi2\" }", "links[0].queue.max_rtt", ["100 ms on a->b", "oscillates"]),
        // 15 · 1500 B of 752 kB
        (
            "{ discipline = \"step\", threshold = \"0.2 bdp\" }",
            "links[0].queue.discipline",
            ["is a->b supports marks", "congestion = \"dctcp\""],
        ),
        ("{ discipline = \"red\" }", "links[0].queue.max_threshold", ["22.5 kB on a->b are 3 %", "0.5 bdp"]),
    ] {
        let warnings = warnings(queue);
        let [warning] = warnings.as_slice() else { panic!("{queue}: one warning, not {warnings:#?}") };
        assert_eq!(warning.path, path);
        for fragment in fragments {
            assert!(warning.message.contains(fragment), "{warning} does not say {fragment:?}");
        }
    }
    let red = "{ discipline = \"red\", min_threshold = \"0.1 bdp\", max_threshold = \"0.5 bdp\" }";
    for queue in ["{ discipline = \"codel\", interval = \"610 ms\" }", "{ discipline = \"pie\" }", red] {
        assert_eq!(warnings(queue), [], "{queue}");
    }
}

const DISCIPLINES: [&str; 6] = [
    "{ discipline = \"red\", max_threshold = \"30 packets\", min_threshold = \"10 packets\" }",
    "{ discipline = \"codel\" }",
    "{ discipline = \"fq_codel\" }",
    "{ discipline = \"pie\" }",
    "{ discipline = \"dualpi2\" }",
    "{ discipline = \"step\", threshold = \"30 packets\", drop_not_ect = true }",
];

/// Returns the mean waiting time at the bottleneck after 5 s in milliseconds, computed from the bytes in the queue.
fn mean_wait(result: &RunResult) -> f64 {
    let queue = &result.queue;
    let rows: Vec<f64> = (0..queue.rows())
        .filter(|row| queue.link.get(*row) == 0 && queue.time_s.get(*row) > 5.0)
        .map(|row| queue.bytes.get(row) as f64 * 8.0 / 10e6 * 1e3)
        .collect();
    rows.iter().sum::<f64>() / rows.len() as f64
}

#[test]
fn disciplines_keep_the_queue_short_and_the_link_busy() {
    let tail = run(&scenario("\"1000 packets\"", "", 4));
    assert!(mean_wait(&tail) > 500.0, "a full buffer of 1.2 s: {}", mean_wait(&tail));
    for queue in DISCIPLINES {
        let result = run(&scenario(queue, "", 4));
        let link = &result.summary.links[0];
        let wait = mean_wait(&result);
        // Targets are 5 to 15 ms, and thresholds of 30 packets hold 36 ms.
        assert!((1.0..36.5).contains(&wait), "{queue}: {wait} ms");
        assert!(link.utilisation > 0.85, "{queue}: {link:?}");
        assert!(link.dropped_aqm > 10 && link.dropped_queue == 0 && link.marked == 0, "{queue}: {link:?}");
        let recorded = result.drops.cause.iter().filter(|cause| **cause == DropCause::Aqm).count() as u64;
        assert_eq!(recorded, link.dropped_aqm, "{queue}");
        assert!(result.drops.time_s.is_sorted(), "{queue}");
    }
}

#[test]
fn pie_and_dualpi2_hold_their_target() {
    // Many flows keep the queue from running empty, so that its mean shows the controller.
    for queue in ["{ discipline = \"pie\", target = \"20 ms\" }", "{ discipline = \"dualpi2\", target = \"20 ms\" }"] {
        let wait = mean_wait(&run(&scenario(queue, "", 20)));
        assert!((14.0..26.0).contains(&wait), "{queue}: {wait} ms");
    }
}

#[test]
fn the_same_seed_gives_the_same_hash_and_another_does_not() {
    for queue in DISCIPLINES {
        let more = "loss = 1e-3\nreorder = { probability = 0.01, delay = [\"1 ms\", \"9 ms\"] }\nduplicate = 0.01";
        let text = scenario(queue, more, 3).replace("30 s", "5 s");
        let hash = |text: &str| run(text).summary.result_hash;
        assert_eq!(hash(&text), hash(&text), "{queue}");
        assert_ne!(hash(&text), hash(&format!("seed = 2\n{text}")), "{queue}");
    }
}

#[test]
fn reordering_and_duplication_show_in_the_counts() {
    let more = "reorder = { forward = { probability = 0.02, delay = \"8 ms\" } }\nduplicate = { forward = 0.05 }";
    let result = run(&scenario("\"1000 packets\"", more, 1));
    let link = &result.summary.links[0];
    // About 860 packets per second: five standard deviations of a binomial around 5 % and, for packets and copies, 2 %.
    let sent = link.carried_bytes as f64 / 1500.0;
    let near = |count: u64, mean: f64| (count as f64 - mean).abs() < 5.0 * mean.sqrt() + 0.01 * mean;
    assert!(near(link.duplicated, 0.05 * sent), "{} of {sent}", link.duplicated);
    assert!(near(link.reordered, 0.02 * 1.05 * sent), "{} of {sent}", link.reordered);
    assert_eq!((result.summary.links[1].duplicated, result.summary.links[1].reordered), (0, 0));
    assert!(result.summary.flows[0].delivered_bytes > 1_000_000, "{:?}", result.summary.flows[0]);
}

#[test]
fn both_kinds_of_link_give_the_same_hash() {
    let plain = run(&scenario("\"20 packets\"", "loss = 1e-3", 2));
    // A probability that never hits, but is not zero: the second kind of link, with the same outcome.
    let held = run(&scenario("\"20 packets\"", "loss = 1e-3\nduplicate = 1e-18", 2));
    assert!(plain.summary.links[0].dropped_queue > 0);
    assert_eq!(plain.summary.result_hash, held.summary.result_hash);
}

#[test]
fn marks_replace_drops_for_flows_that_understand_them() {
    for queue in [
        "{ discipline = \"red\", max_threshold = \"30 packets\", min_threshold = \"10 packets\", ecn = true }",
        "{ discipline = \"codel\", ecn = true }",
        "{ discipline = \"fq_codel\" }",
        "{ discipline = \"pie\", ecn = true }",
        "{ discipline = \"dualpi2\" }",
    ] {
        let result = run(&format!("{}tcp = {{ ecn = \"classic\" }}\n", scenario(queue, "", 1)));
        let link = &result.summary.links[0];
        assert!(link.marked > 10, "{queue}: {link:?}");
        // No new data is dropped; packets that cannot be marked, retransmissions and pure ACKs, still are.
        assert!(link.dropped_aqm <= link.marked / 5, "{queue}: {link:?}");
        assert!(link.utilisation > 0.75, "{queue}: {link:?}");
        assert!(mean_wait(&result) < 36.5, "{queue}: {}", mean_wait(&result));
    }
}

#[test]
fn dctcp_holds_the_queue_at_the_threshold() {
    let queue = "{ discipline = \"step\", threshold = \"20 packets\" }";
    let flows = "congestion = \"dctcp\"\n";
    let result = run(&format!("{}{flows}", scenario(queue, "", 1)));
    let link = &result.summary.links[0];
    let packets = mean_wait(&result) / 1.2;
    // Alizadeh and others 2010, §3.3: the queue swings below K + 1 with an amplitude of √(C·RTT + K)/√2 = 5.5 packets,
    // for a product of 33 + 20 packets of 1500 B.
    assert!((12.0..22.0).contains(&packets), "{packets} packets");
    assert!(link.utilisation > 0.95 && link.marked > 100, "{link:?}");
    assert_eq!(link.dropped_aqm, 0, "{link:?}");
}
