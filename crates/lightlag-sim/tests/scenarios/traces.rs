//! Links that follow traces: the meaning of the files, errors in them, and runs without losses or randomness.

use crate::text::run;
use lightlag_core::{Duration, Instant, Rate};
use lightlag_net::{Deliveries, Loss, Phase, Timetable};
use lightlag_scenario::{Network, ScenarioError, parse_json, parse_toml, parse_toml_in};
use proptest::prelude::*;
use std::fmt::Write;

/// Writes files into a directory of this test. Returns the directory.
fn folder(name: &str, files: &[(&str, &str)]) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("traces").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder.to_str().unwrap().to_owned()
}

fn scenario(link: &str) -> String {
    format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\n{link}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"1 MB\"\n"
    )
}

fn expand(folder: &str, text: &str) -> Result<Network, Vec<ScenarioError>> {
    parse_toml_in(folder, text, &[]).and_then(|scenario| scenario.expand())
}

#[test]
fn rows_change_the_link_of_the_scenario() {
    let csv = "time_s,rate_bps,loss\n0.5,4e6,0.1\n1,0,0.1\n2,6e6,0\n2.5,6e6,0\n";
    let folder = folder("rows", &[("cell.csv", csv), ("cell.down", "1\n4\n4\n")]);
    let link = "trace = { forward = \"cell.csv\", backward = { file = \"cell.down\", format = \"mahimahi\" } }";
    let scenario = parse_toml_in(&folder, &scenario(link), &[]).unwrap();
    let links = scenario.expand().unwrap().links;
    let time = |millis| Instant::ZERO + Duration::from_millis(millis);
    let phase = |millis, mbps, is_up| Phase {
        from: time(millis),
        rate: Rate::from_mbps(mbps),
        delay: Duration::from_millis(20),
        is_up,
        loses: false,
    };
    let phases = [phase(0, 8, true), phase(500, 4, true), phase(1_000, 4, false), phase(2_000, 6, true)];
    assert_eq!(links[0].timetable.as_ref().unwrap().phases(), phases);
    let some = Loss::Packet(lightlag_core::Probability::new(0.1).unwrap());
    let losses = [(time(0), Loss::None), (time(500), some), (time(2_000), Loss::None)];
    assert_eq!(links[0].loss, Loss::Changing(losses.into()));
    let timetable = Timetable::new([phases[0]], Default::default(), false);
    assert_eq!(links[1].timetable, Some(timetable.delivering(Some(Deliveries::new([1, 4, 4])))));
    // The complete form has absolute paths: it is the same from any directory.
    assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario));
}

#[test]
fn rows_repeat_if_configured() {
    let folder = folder("repeat", &[("cell.csv", "time_s,rate_bps\n0,8e6\n1,4e6\n4,2e6\n")]);
    let text = scenario("trace = { file = \"cell.csv\", repeat = true }");
    let network = expand(&folder, &text).unwrap();
    let phases = network.links[0].timetable.as_ref().unwrap().phases();
    let found: Vec<_> =
        phases.iter().map(|phase| (phase.from.as_secs_f64(), phase.rate.as_bps() / 1_000_000)).collect();
    // The last row is at the start of the next round, where the first one takes its place.
    assert_eq!(found, [(0.0, 8), (1.0, 4), (4.0, 8), (5.0, 4), (8.0, 8), (9.0, 4), (12.0, 2)]);
    let scenario = parse_toml_in(&folder, &text, &[]).unwrap();
    assert_eq!(parse_json(&scenario.to_json().to_string(), &[]), Ok(scenario));
    for (trace, fragment) in [
        ("{ file = \"zero.csv\", repeat = true }", "has a last time above 0"),
        ("{ file = \"short.csv\", repeat = true }", "make the trace longer"),
        ("{ file = \"cell.csv\", format = \"mahimahi\", repeat = true }", "always repeats"),
    ] {
        std::fs::write(format!("{folder}/zero.csv"), "time_s,loss\n0,0\n").unwrap();
        std::fs::write(format!("{folder}/short.csv"), "time_s,loss\n0,0\n1e-8,0.1\n").unwrap();
        let errors = expand(&folder, &self::scenario(&format!("trace = {trace}"))).unwrap_err();
        assert!(errors.len() == 1 && errors[0].path.starts_with("links[0].trace"), "{errors:?}");
        assert!(errors[0].message.contains(fragment), "{fragment}: {errors:?}");
    }
}

#[test]
fn an_error_is_reported_once_with_file_and_line() {
    let files = [("cut.csv", "time_s,loss\n0,0\n1,0"), ("back.csv", "time_s,loss\n1,0\n0,0\n"), ("empty.down", "")];
    let folder = folder("wrong", &files);
    let cases = [
        ("\"cut.csv\"", "cut.csv: line 3: the last line has no newline"),
        ("\"back.csv\"", "back.csv: line 3: time_s decreases from 1 s to 0 s"),
        ("{ file = \"empty.down\", format = \"mahimahi\" }", "empty.down: line 1: the file is empty"),
        ("\"none.csv\"", "none.csv: cannot be read"),
        ("\".\"", "is not a file"),
    ];
    for (trace, message) in cases {
        let errors = expand(&folder, &scenario(&format!("trace = {trace}"))).unwrap_err();
        assert!(errors.len() == 1 && errors[0].path == "links[0].trace", "{errors:?}");
        assert!(errors[0].message.contains(message), "{message}: {errors:?}");
    }
    let chain = "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nhops = 5\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                 trace = \"cut.csv\"\n";
    let errors = expand(&folder, chain).unwrap_err();
    assert!(errors.len() == 1 && errors[0].path == "topology.trace", "{errors:?}");
}

#[test]
fn a_file_that_is_not_a_trace_is_rejected() {
    let cases = [
        ("trace = 3", "links[0].trace", "3 is not the path of a CSV file"),
        ("trace = \"\"", "links[0].trace", "is empty"),
        ("trace = { format = \"csv\" }", "links[0].trace.file", "is missing"),
        ("trace = { file = \"a\", format = \"cvs\" }", "links[0].trace.format", "did you mean \"csv\"?"),
        (
            "trace = \"a\"\nchanges = [{ at = \"1 s\", down = true }]",
            "links[0].trace",
            "cannot be combined with changes",
        ),
    ];
    for (link, path, message) in cases {
        let errors = parse_toml(&scenario(link), &[]).unwrap_err();
        assert!(errors.len() == 1 && errors[0].path == path && errors[0].message.contains(message), "{errors:?}");
    }
}

#[test]
fn a_transfer_follows_the_rate_of_its_trace() {
    // 8 Mbit/s for a second, then 1 Mbit/s: 1 MB takes a bit more than a second at first, and the rest at an eighth.
    let folder = folder("follows", &[("slow.csv", "time_s,rate_bps\n0.5,1e6\n")]);
    let queue = "queue = \"10000 packets\"";
    let seconds = |link: &str| run(&scenario(&format!("{queue}\n{link}"))).summary.flows[0].finish_s.unwrap();
    let (steady, slower) = (seconds(""), seconds(&format!("trace = \"{folder}/slow.csv\"")));
    assert!((1.0..1.6).contains(&steady), "{steady}");
    assert!((4.0..7.0).contains(&slower), "{slower}");
    // 1500 bytes each 2 ms are 6 Mbit/s.
    let text = (1..=500).map(|n| format!("{}\n", 2 * n)).collect::<String>();
    std::fs::write(format!("{folder}/six"), text).unwrap();
    let link = format!("trace = {{ forward = {{ file = \"{folder}/six\", format = \"mahimahi\" }} }}");
    let paced = seconds(&link);
    assert!((8.0 / 6.0..2.0).contains(&paced), "{paced}");
}

/// Generates a trace in either format. Also returns the format.
fn trace() -> impl Strategy<Value = (String, &'static str)> {
    let csv = prop::collection::vec((0_u64..500, 0_u64..20_000, 0_u64..100_000, 0_u64..200), 1..20).prop_map(|rows| {
        let mut text = String::from("time_s,rate_bps,delay_s,loss\n");
        let mut millis = 0;
        for (gap, kbps, micros, loss) in rows {
            millis += gap;
            let rate = if kbps < 2_000 { 0 } else { kbps * 1_000 };
            let (time, delay, loss) = (millis as f64 / 1e3, micros as f64 / 1e6, loss as f64 / 1e3);
            writeln!(text, "{time},{rate},{delay},{loss}").unwrap();
        }
        (text, "csv")
    });
    let mahimahi = prop::collection::vec(0_u64..20, 1..200).prop_map(|gaps| {
        let mut time = 1;
        let line = |gap| {
            time += gap;
            format!("{time}\n")
        };
        (gaps.into_iter().map(line).collect::<String>(), "mahimahi")
    });
    prop_oneof![csv, mahimahi]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A run itself asserts that packets are conserved: sent + duplicated = received + dropped + in flight.
    #[test]
    fn packets_are_conserved_on_traced_links(
        (trace, format) in trace(),
        queue in prop::sample::select(vec!["drop_tail", "codel", "fq_codel", "pie", "red", "dualpi2"]),
        loses in any::<bool>(),
        overtakes in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let folder = folder("conserved", &[("trace", &trace)]);
        let outage = if loses { "lose" } else { "hold" };
        let link = format!(
            "queue = {{ discipline = \"{queue}\", limit = \"60 packets\" }}\noutage = \"{outage}\"\nreorder = {overtakes}\n\
             trace = {{ forward = {{ file = \"{folder}/trace\", format = \"{format}\" }} }}"
        );
        let text = format!("seed = {seed}\n{}", scenario(&link));
        let (first, again) = (run(&text), run(&text));
        prop_assert_eq!(&first.summary.result_hash, &again.summary.result_hash);
        prop_assert!(first.summary.links[0].utilisation <= 1.0);
    }
}
