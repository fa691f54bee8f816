//! Tests of a comparison's charts, on a few runs with few values.

use lightlag_analysis::answer;
use serde_json::{Value, json};

fn flow(name: &str, congestion: &str, goodput_bps: f64) -> Value {
    json!({ "name": name, "congestion": congestion, "goodput_bps": goodput_bps })
}

fn run(seed: u64, flows: &[Value]) -> Value {
    json!({ "seed": seed, "flows": flows, "simulated_s": 20.0 })
}

/// Returns the cell of an algorithm at a point, with these goodputs.
fn cell(algorithm: usize, point: usize, goodputs: &[f64], runs: &[Value]) -> Value {
    let values: Vec<_> = (1..).zip(goodputs).collect();
    let values = json!({ "goodput_bps": values });
    json!({ "algorithm": algorithm, "point": point, "is_fixed": false, "values": values, "runs": runs })
}

fn comparison(algorithms: &[&str], cells: &[Value]) -> Value {
    let measures = ["goodput_bps"];
    json!({ "algorithms": algorithms, "points": [[]], "measures": measures, "cells": cells, "seed": "the first seed" })
}

/// Returns a comparison over two values of a variable, the larger value first.
fn varied(axis: &Value, cells: &[Value]) -> Value {
    let variable = json!({ "label": "loss (%)", "values": ["2", "1"], "is_name": false, "axis": axis });
    let mut request = comparison(&["cubic", "hybla"], cells);
    request["variables"] = json!([variable]);
    request["points"] = json!([["2"], ["1"]]);
    request
}

fn text(comparison: &Value) -> String {
    answer(&json!({ "charts": comparison }).to_string()).unwrap()
}

fn charts(comparison: &Value) -> Vec<Value> {
    serde_json::from_str(&text(comparison)).unwrap()
}

fn named(charts: &[Value], name: &str) -> Value {
    charts.iter().find(|chart| chart["name"] == name).unwrap_or_else(|| panic!("there is no chart {name}")).clone()
}

#[test]
fn without_variables_each_measure_has_bars() {
    let mut same = cell(1, 0, &[3e6, 3e6], &[]);
    same["is_fixed"] = true.into();
    let all_charts = charts(&comparison(&["cubic", "hybla", "bbr"], &[cell(0, 0, &[1e6, 2e6], &[]), same]));
    assert_eq!(all_charts.len(), 1);
    let bars = named(&all_charts, "bars");
    assert_eq!((&bars["panel_width"], &bars["group"]), (&json!(18), &json!("")));
    let panel = &bars["panels"][0];
    assert_eq!(panel["says"], "Goodput: cubic 1.5 ± 6.4 Mbit/s, hybla 3.000 Mbit/s, bbr –.");
    assert_eq!(panel["x"], json!({ "label": "Mbit/s" }));
    // 12.706 × 0.7071 / √2 = 6.3531 on both sides of 1.5; the runs of hybla are the same.
    let cubic = json!({ "name": "cubic", "at": 0, "mean": 1.5, "lo": -4.8531, "hi": 7.8531, "values": [1, 2] });
    assert_eq!(panel["rows"], json!([cubic, { "name": "hybla", "at": 1, "mean": 3, "values": [3, 3] }]));
}

#[test]
fn a_variable_has_lines_in_the_order_of_its_values() {
    let axis = json!({ "places": [2.0, 1.0], "unit": "s", "scale": "linear", "is_ordered": true });
    let cells = [cell(0, 0, &[2e6], &[]), cell(1, 0, &[4e6], &[]), cell(0, 1, &[1e6], &[])];
    let comparison = varied(&axis, &cells);
    let chart = named(&charts(&comparison), "goodput-vs-loss-");
    assert_eq!(chart["title"], "Goodput against loss (%)");
    let panel = &chart["panels"][0];
    assert_eq!(
        panel["says"],
        "Goodput from loss (%) 1 to 2: cubic 1.000 Mbit/s to 2.000 Mbit/s; hybla – to 4.000 Mbit/s."
    );
    assert_eq!(panel["series"][0]["y"], json!([1, 2]));
    assert_eq!(panel["series"][1]["lo"], json!([null, 4]));
    assert_eq!(panel["series"][1]["dots"], 1);
    let axis = r#""x":{"label":"loss (%) (s)","unit":"s","ticks":[[1.0,"1"],[2.0,"2"]],"scale":"linear"}"#;
    assert!(text(&comparison).contains(axis));
}

#[test]
fn names_have_equal_steps_and_no_line_between_them() {
    let axis = json!({ "places": [0.0, 1.0], "unit": "", "scale": "equal", "is_ordered": false });
    let request = varied(&axis, &[cell(0, 0, &[2e6], &[]), cell(0, 1, &[1e6], &[])]);
    let panel = named(&charts(&request), "goodput-vs-loss-")["panels"][0].clone();
    assert_eq!((&panel["series"][0]["line"], &panel["series"][0]["bars"]), (&json!(0), &json!(1)));
    assert!(
        text(&request).contains(r#""x":{"label":"loss (%)","unit":"","scale":"equal","ticks":[[0.0,"2"],[1.0,"1"]]}"#)
    );
    let short = json!({ "places": [0.0], "unit": "", "scale": "equal", "is_ordered": false });
    let error = answer(&json!({ "charts": varied(&short, &[]) }).to_string()).unwrap_err();
    assert!(error.starts_with("variables[0]: "), "{error}");
}

#[test]
fn algorithms_that_compete_have_their_shares() {
    let flows = |a, b, c| [flow("a", "cubic", a), flow("b", "bbr", b), flow("c", "bbr", c), flow("d", "udp", 9e6)];
    let runs = [run(1, &flows(1e6, 2e6, 4e6)), run(2, &flows(1e6, 2e6, 2e6))];
    let request = comparison(&["mix"], &[cell(0, 0, &[7e6, 5e6], &runs)]);
    let panel = named(&charts(&request), "shares")["panels"][0].clone();
    // 12.706 × 0.7071 / √2 = 6.3531.
    assert_eq!(panel["says"], "Goodput of a flow: cubic in mix 1.000 ± 0.000 Mbit/s, bbr in mix 2.5 ± 6.4 Mbit/s.");
    assert_eq!(panel["rows"][1]["hi"], 8.8531);
    let shares: Value = serde_json::from_str(&answer(&json!({ "shares": request }).to_string()).unwrap()).unwrap();
    assert_eq!((&shares[1]["name"], &shares[1]["interval"]["mean"]), (&json!("bbr"), &json!(2.5e6)));
}

#[test]
fn goodput_ends_with_the_runs_and_within_the_rate_of_the_link() {
    let traced = |seed: u64, simulated_s: f64, levels: &[f64]| {
        let mut run = run(seed, &[flow("f", "cubic", 1e6)]);
        run["simulated_s"] = simulated_s.into();
        run["capacity_bps"] = json!(2e6);
        run["arrived"] = json!(levels);
        run
    };
    let runs = [traced(1, 60.0, &[0.0, 7.5e6, 15e6]), traced(2, 20.0, &[0.0, 1e6, 2e6]), traced(3, 20.0, &[0.0, 0.0])];
    let all_charts = charts(&comparison(&["cubic"], &[cell(0, 0, &[], &runs)]));
    let goodput = named(&all_charts, "goodput");
    assert_eq!(goodput["group"], "time");
    let panel = &goodput["panels"][0];
    assert_eq!(panel["limits"], json!([{ "name": "link", "y": 2000 }]));
    // After 20 s one run of three is left, and the line ends.
    assert_eq!(panel["x"], json!({ "label": "time (s)", "unit": "s", "min": 0, "max": 20.0 }));
    let line = &panel["series"][0];
    assert_eq!(line["x"], json!({ "from": 0.5, "by": 1.0 }));
    assert_eq!((&line["y"][0], &line["lo"][0], &line["hi"][0]), (&json!(933.3), &json!(0), &json!(2000)));
    assert_eq!(panel["says"], "Goodput over time: cubic up to 933 kbit/s.");
    let windows = named(&all_charts, "cwnd");
    assert_eq!(windows["caption"], "Congestion windows over time with the first seed.");
    assert_eq!(windows["panels"][0]["says"], "Congestion window of cubic: up to 0 segments.");
    assert_eq!(windows["panels"][0]["empty"], "no windows were recorded");
}

#[test]
fn windows_of_candidates_have_their_colours_and_a_peak_is_cut_off() {
    let flows = [flow("a", "cubic", 1e6), flow("b", "bbr", 1e6)];
    let times: Vec<f64> = (0..100).map(f64::from).collect();
    let windows: Vec<Option<f64>> =
        (0..100).map(|at| if at == 0 { None } else { Some(if at == 50 { 5000.0 } else { 100.0 }) }).collect();
    let mut first = run(7, &flows);
    first["arrived"] = json!([]);
    first["windows"] = json!([["b", times, windows]]);
    let chart = named(&charts(&comparison(&["mix"], &[cell(0, 0, &[], &[run(6, &flows), first])])), "cwnd");
    let panel = &chart["panels"][0];
    assert_eq!(panel["title"], "mix (segments, seed 7, up to 5,000)");
    assert_eq!(panel["y"], json!({ "min": 0, "max": 160.0 }));
    let line = &panel["series"][0];
    assert_eq!((&line["name"], &line["at"], &line["thin"]), (&json!("b (bbr)"), &json!(1), &json!(1)));
    assert_eq!(line["y"][0], Value::Null);
    assert_eq!(panel["says"], "Congestion window of mix, seed 7: up to 5000 segments.");
}

#[test]
fn a_curve_of_completion_times_counts_the_unfinished_flows() {
    let done = |name: &str, completion_s: Option<f64>| {
        let mut flow = flow(name, "cubic", 1e6);
        flow["completion_s"] = json!(completion_s);
        flow
    };
    // No run of "never" ends, so it has no part in the shares.
    let runs = [
        run(1, &[done("a", Some(2.0)), done("b", Some(4.0)), done("never", None)]),
        run(2, &[done("a", Some(3.0)), done("b", None), done("never", None)]),
    ];
    let found = charts(&comparison(&["cubic", "hybla"], &[cell(0, 0, &[], &runs)]));
    let panel = named(&found, "completion")["panels"][0].clone();
    assert_eq!(panel["says"], "Finished flows: cubic half by 3 s, 3 of 4 in total.");
    assert_eq!(panel["series"][0]["x"], json!([0, 2, 3, 4]));
    assert_eq!(panel["series"][0]["y"], json!([0, 0.25, 0.5, 0.75]));
    assert_eq!(panel["series"][1]["y"], json!([0]));
    assert_eq!(panel["x"]["max"], 4.2);
}

#[test]
fn flows_of_different_round_trips_have_their_goodput_by_them() {
    let near = |goodput: f64, rtt: f64| {
        let mut flow = flow("near", "cubic", goodput);
        flow["min_rtt_s"] = rtt.into();
        flow
    };
    let far = |congestion: &str, rtt: f64| {
        let mut flow = flow("far", congestion, 1e6);
        flow["min_rtt_s"] = rtt.into();
        flow
    };
    let runs =
        [run(1, &[far("cubic", 1.3), near(4e6, 0.012_345_67)]), run(2, &[far("cubic", 1200.0), near(4e6, 0.02)])];
    let mixed = [run(1, &[far("bbr", 1.5), near(2e6, 0.02)])];
    let asked = comparison(&["cubic", "mix"], &[cell(0, 0, &[], &runs), cell(1, 0, &[], &mixed)]);
    let panel = named(&charts(&asked), "rtt")["panels"][0].clone();
    assert_eq!(
        panel["says"],
        "Goodput against base round trip: cubic 4 Mbit/s at 12.346 ms, 1 Mbit/s at 1300 ms, bbr in mix 1 Mbit/s at 1300 ms, \
         1 Mbit/s at 1300 ms and cubic in mix 2 Mbit/s at 12.346 ms, 2 Mbit/s at 12.346 ms."
    );
    assert_eq!(panel["series"][0]["x"], json!([12.346, 1300]));
    let alike = [run(1, &[far("cubic", 0.11), near(4e6, 0.1)])];
    assert!(charts(&comparison(&["cubic"], &[cell(0, 0, &[], &alike)])).iter().all(|chart| chart["name"] != "rtt"));
}
