//! Tests of a run's charts, on tables of a few rows.

use lightlag_analysis::account::AccountInput;
use lightlag_analysis::table::RecordedColumns;
use lightlag_analysis::timeline::timeline;
use serde_json::{Value, json};
use std::convert::Infallible;

fn flow(name: &str, congestion: &str) -> Value {
    json!({ "name": name, "from": "a", "to": "b", "congestion": congestion, "bottleneck": "l", "goodput_bps": 1e6 })
}

fn link(name: &str, max_queue_packets: u64) -> Value {
    json!({
        "name": name, "rate_bps": 1e4, "carried_bytes": 0, "utilisation": 0.5, "dropped_queue": 0, "dropped_error": 0,
        "dropped_outage": 0, "dropped_aqm": 0, "mean_queue_packets": 1.5, "max_queue_packets": max_queue_packets
    })
}

fn table(numbers: &[(&str, &[f64])], texts: &[(&str, &[&str])]) -> RecordedColumns {
    let mut table = RecordedColumns::default();
    for (name, values) in numbers {
        table.numbers.insert((*name).to_owned(), values.to_vec());
    }
    for (name, values) in texts {
        let column = table.texts.entry((*name).to_owned()).or_default();
        values.iter().for_each(|value| column.push(value));
    }
    table
}

fn charts(run: &Value, tables: impl Fn(&str, &[&str]) -> RecordedColumns) -> Vec<Value> {
    let run: AccountInput = serde_json::from_value(run.clone()).unwrap();
    let Ok(charts) = timeline(&run, |table, _, names| Ok::<_, Infallible>(tables(table, names)));
    charts.iter().map(|chart| json!(chart)).collect()
}

fn named<'a>(charts: &'a [Value], name: &str) -> &'a Value {
    let chart = charts.iter().find(|chart| chart["name"] == name);
    &chart.unwrap_or_else(|| panic!("there is no chart {name}"))["panels"][0]
}

#[test]
fn a_flow_alone_has_its_threshold_samples_and_states() {
    let run = json!({ "flows": [flow("f", "cubic")], "links": [link("l", 7), link("idle", 0)], "simulated_s": 2.0 });
    let charts = charts(&run, |name, names| match name {
        "trace" => {
            assert_eq!(names, ["f"]);
            let times: &[f64] = &[0.0, 0.5, 1.0, 2.0];
            let numbers = [
                ("time_s", times),
                ("cwnd_segments", &[10.0, 20.0, 1500.0, 15.0]),
                ("ssthresh_segments", &[f64::NAN, f64::NAN, 750.0, 750.0]),
                ("rtt_s", &[f64::NAN, 0.5, 0.62, 0.5]),
                ("srtt_s", &[f64::NAN, 0.5, 0.52, 0.51]),
                ("arrived_bytes", &[0.0, 500.0, 1000.0, 2000.0]),
            ];
            table(&numbers, &[("flow", &["f"; 4]), ("phase", &["open", "open", "recovery", "open"])])
        }
        "queue" => {
            assert_eq!(names, ["l"]);
            table(&[("time_s", &[0.0, 1.0]), ("packets", &[0.0, 7.0])], &[("link", &["l"; 2])])
        }
        _ => table(&[("time_s", &[0.1, 0.1, 1.9])], &[("link", &["l"; 3]), ("cause", &["queue", "queue", "error"])]),
    });
    let names: Vec<_> = charts.iter().map(|chart| chart["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cwnd", "rtt", "goodput", "queue", "losses", "states"]);
    let windows = named(&charts, "cwnd");
    assert_eq!(windows["says"], "Congestion windows in segments: f up to 1,500, 15 at the end.");
    assert_eq!(windows["series"][1]["y"], json!([null, null, 750, 750]));
    assert_eq!(named(&charts, "rtt")["says"], "Round trips: f 500 to 620 ms.");
    let goodput = named(&charts, "goodput");
    assert_eq!(goodput["says"], "Goodput over time: f up to 8 kbit/s.");
    assert_eq!(goodput["limits"], json!([{ "name": "slowest link", "y": 10 }]));
    assert_eq!(named(&charts, "queue")["says"], "Queued packets: l 1.5 on average, maximum 7.");
    let losses = named(&charts, "losses");
    assert_eq!(losses["says"], "Dropped packets: 2 at l, queue and 1 at l, error.");
    assert_eq!(losses["series"][0]["y"], json!([2]));
    let states = named(&charts, "states");
    assert_eq!(states["says"], "States of senders: f repaired losses 1 time, for 1 s.");
    assert_eq!(states["rows"][0]["parts"], json!([[0, 1, "open"], [1, 2, "recovery"], [2, 2, "open"]]));
    assert_eq!(states["states"], json!(["open", "recovery"]));
}

#[test]
fn windows_come_from_the_longest_leg_and_arrivals_from_the_first() {
    let leg = |leg: u32, rtt: f64| {
        let mut leg_of = flow("", "cubic");
        leg_of["flow"] = "f".into();
        leg_of["leg"] = leg.into();
        leg_of["min_rtt_s"] = rtt.into();
        leg_of
    };
    let flows = [flow("u", "udp"), flow("f", "cubic")];
    let run = json!({ "flows": flows, "legs": [leg(1, 0.01), leg(2, 0.5)], "links": [], "simulated_s": 1.0 });
    let charts = charts(&run, |name, _| {
        if name != "trace" {
            return RecordedColumns::default();
        }
        let numbers: [(&str, &[f64]); 4] = [
            ("time_s", &[0.0, 0.0, 1.0, 1.0]),
            ("leg", &[1.0, 2.0, 1.0, 2.0]),
            ("cwnd_segments", &[10.0, 11.0, 12.0, 13.0]),
            ("arrived_bytes", &[0.0, 5.0, 1000.0, 5.0]),
        ];
        table(
            &[numbers.as_slice(), &[("rtt_s", &[f64::NAN; 4])]].concat(),
            &[("flow", &["f"; 4]), ("phase", &["open"; 4])],
        )
    });
    assert_eq!(named(&charts, "cwnd")["series"][0]["y"], json!([11, 13]));
    assert_eq!(named(&charts, "rtt")["says"], "No round trip was measured.");
    assert_eq!(named(&charts, "goodput")["says"], "Goodput over time: f up to 8 kbit/s.");
}

#[test]
fn a_run_that_recorded_nothing_has_no_charts() {
    let run = json!({ "flows": [flow("f", "cubic")], "links": [link("l", 7)], "simulated_s": 1.0 });
    assert!(charts(&run, |_, _| RecordedColumns::default()).is_empty());
}

fn curves(run: &Value, trace: impl Fn() -> RecordedColumns) -> Value {
    let run: lightlag_analysis::outcome::OutcomeInput = serde_json::from_value(run.clone()).unwrap();
    let Ok(curves) = run.curves(|_, _, _| Ok::<_, Infallible>(trace()));
    json!(curves)
}

#[test]
fn the_curves_of_a_run_grow_evenly_between_rows() {
    let run = json!({ "flows": [flow("a", "cubic"), flow("b", "cubic")], "links": [], "simulated_s": 12.0 });
    let output = curves(&run, || {
        let numbers: [(&str, &[f64]); 3] = [
            ("time_s", &[0.0, 3.0, 6.000_000_4]),
            ("arrived_bytes", &[0.0, 600.0, 1200.0]),
            ("cwnd_segments", &[10.0, 5.0, f64::NAN]),
        ];
        table(&numbers, &[("flow", &["a", "b", "a"])])
    });
    let arrived = output["arrived"].as_array().unwrap();
    // At 3 s: 600 of a, 600 of b; at 6.01 s: 1200 and 600. Nothing arrives later.
    assert_eq!(arrived.len(), 1201);
    assert_eq!([0, 300, 601, 1200].map(|step| arrived[step].as_f64().unwrap()), [0.0, 1199.0, 1800.0, 1800.0]);
    assert_eq!(output["windows"], json!([["a", [0.0, 6.0], [10.0, null]], ["b", [3.0], [5.0]]]));
}

#[test]
fn the_curves_of_a_split_flow_come_from_its_receiver_and_its_longest_leg() {
    let leg = |leg: u32, rtt: f64| {
        let mut leg_of = flow("", "cubic");
        leg_of["flow"] = "a".into();
        leg_of["leg"] = leg.into();
        leg_of["min_rtt_s"] = rtt.into();
        leg_of
    };
    let legs = [leg(1, 0.01), leg(2, 0.5)];
    let run = json!({ "flows": [flow("a", "cubic")], "legs": legs, "links": [], "simulated_s": 1.0 });
    let output = curves(&run, || {
        let numbers: [(&str, &[f64]); 4] = [
            ("time_s", &[0.0, 0.0, 1.0, 1.0]),
            ("leg", &[1.0, 2.0, 1.0, 2.0]),
            ("arrived_bytes", &[0.0, 0.0, 500.0, 500.0]),
            ("cwnd_segments", &[10.0, 3.0, 11.0, 4.000_4]),
        ];
        table(&numbers, &[("flow", &["a"; 4])])
    });
    assert_eq!(output["arrived"][1200], 500.0);
    assert_eq!(output["windows"], json!([["a", [0.0, 1.0], [3.0, 4.0]]]));
    assert_eq!(curves(&run, RecordedColumns::default), json!({ "arrived": null, "windows": [] }));
}
