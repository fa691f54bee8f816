//! Conclusions of comparisons: they agree with the tables, hold with their confidence, and state what the best costs.

use lightlag_analysis::answer;
use lightlag_analysis::ranking::{Gap, Ranking, Rival, confidence_of_each};
use lightlag_analysis::statistics::{CONFIDENCE, POWER, sample_size};
use serde_json::{Map, Value, json};

/// A small random generator (SplitMix64, Steele, Lea and Flood, OOPSLA 2014), so that the tests are reproducible.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number above 0 and below 1.
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns a standard normal number (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(self.uniform())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.uniform())
    }
}

fn asked(request: &Value) -> Value {
    serde_json::from_str(&answer(&request.to_string()).unwrap()).unwrap()
}

/// A candidate with its values by metric.
type Candidate<'a> = (&'a str, &'a [(&'a str, &'a [f64])]);

/// Returns a comparison at one point from each candidate's values by metric, for the seeds 1, 2, ….
fn compared(candidates: &[Candidate], min_rtt_s: f64) -> Value {
    let cell = |(at, (_, metrics)): (usize, &Candidate)| {
        let pairs = |values: &[f64]| values.iter().enumerate().map(|(seed, one)| json!([seed + 1, one])).collect();
        let values: Map<String, Value> =
            metrics.iter().map(|(name, values)| ((*name).to_owned(), Value::Array(pairs(values)))).collect();
        json!({ "algorithm": at, "point": 0, "is_fixed": false, "values": values, "min_rtt_s": min_rtt_s })
    };
    let cells: Vec<Value> = candidates.iter().enumerate().map(cell).collect();
    let measures = ["goodput_bps", "jain", "retransmitted_share", "queueing_mean_s"];
    let names: Vec<&str> = candidates.iter().map(|(name, _)| *name).collect();
    json!({ "algorithms": names, "points": [[]], "measures": measures, "cells": cells })
}

fn headline(comparison: &Value) -> String {
    asked(&json!({ "answer": comparison }))["headline"].as_str().unwrap().to_owned()
}

fn sentences(comparison: &Value) -> Vec<String> {
    let said = asked(&json!({ "answer": comparison }))["sentences"].clone();
    serde_json::from_value(said).unwrap()
}

fn differences(comparison: &Value, base: Option<&str>) -> Value {
    asked(&json!({ "differences": { "comparison": comparison, "measure": "goodput_bps", "base": base } }))[0].clone()
}

// --- one family of intervals ------------------------------------------------------------------------------------------

/// Returns candidates whose runs share an effect of the seed. Their means and deviations are given.
fn drawn(draws: &mut Draws, population: &[(f64, f64)], seeds: u64) -> Vec<Rival> {
    let shared: Vec<f64> = (0..seeds).map(|_| 2.0 * draws.normal()).collect();
    let rival = |(at, (mean, deviation)): (usize, &(f64, f64))| {
        let value = |seed: u64| mean + shared[seed as usize] + deviation * draws.normal();
        let values = (0..seeds).map(value_of(value)).collect();
        Rival { name: at.to_string(), values, is_fixed: false }
    };
    population.iter().enumerate().map(rival).collect()
}

fn value_of(mut value: impl FnMut(u64) -> f64) -> impl FnMut(u64) -> (u64, f64) {
    move |seed| (seed, value(seed))
}

/// Returns the fraction of comparisons in which the interval of any pair misses the true difference, if all intervals
/// hold jointly, and if each holds alone.
fn errors(population: &[(f64, f64)], seeds: u64, repetitions: usize) -> (f64, f64) {
    let mut draws = Draws(population.len() as u64 * 1000 + seeds);
    let (mut joint, mut single) = (0, 0);
    for _ in 0..repetitions {
        let rivals = drawn(&mut draws, population, seeds);
        let ranking = Ranking::of(rivals.clone(), true, CONFIDENCE).unwrap().unwrap();
        let truth = |rival: &Rival| population[rival.name.parse::<usize>().unwrap()].0;
        let misses = |gap: &Gap, one: &Rival, other: &Rival| {
            (gap.difference - (truth(one) - truth(other))).abs() > gap.half_width
        };
        let pairs =
            || rivals.iter().enumerate().flat_map(|(at, one)| rivals[..at].iter().map(move |other| (one, other)));
        joint += usize::from(pairs().any(|(one, other)| misses(&ranking.gap(one, other).unwrap(), one, other)));
        single +=
            usize::from(pairs().any(|(one, other)| misses(&Gap::between(one, other, CONFIDENCE).unwrap(), one, other)));
    }
    (joint as f64 / repetitions as f64, single as f64 / repetitions as f64)
}

#[test]
fn any_of_the_intervals_misses_its_difference_in_at_most_5_percent() {
    const REPETITIONS: usize = 1500;
    // Three standard deviations of a fraction of 5 %.
    let noise = 3.0 * (0.05_f64 * 0.95 / REPETITIONS as f64).sqrt();
    let populations: [&[(f64, f64)]; 4] = [
        &[(10.0, 1.0), (10.0, 1.0)],
        &[(10.0, 1.0), (10.0, 1.0), (10.0, 1.0), (10.0, 1.0), (10.0, 1.0), (10.0, 1.0)],
        &[(10.0, 0.1), (10.0, 1.0), (10.0, 1.0), (10.0, 3.0)],
        &[(9.0, 0.5), (10.0, 1.0), (10.5, 2.0), (12.0, 0.1)],
    ];
    for population in populations {
        for seeds in [4, 10] {
            let (joint, single) = errors(population, seeds, REPETITIONS);
            assert!(joint <= 0.05 + noise, "{population:?}, {seeds} seeds: {joint}");
            // The bound is not met by chance: intervals that hold alone miss more often.
            assert!(joint >= 0.01, "{population:?}, {seeds} seeds: {joint}");
            assert!(population.len() == 2 || single > 0.09, "{population:?}, {seeds} seeds: {single}");
        }
    }
}

#[test]
fn the_estimated_number_of_seeds_suffices_as_often_as_promised() {
    // Three candidates have three pairs.
    let confidence = confidence_of_each(3, CONFIDENCE);
    let mut draws = Draws(1);
    for (difference, deviation) in [(1.0, 0.8), (0.4, 1.0)] {
        let seeds = sample_size(deviation, difference, confidence, POWER).unwrap().unwrap() as u64;
        let mut found = 0;
        for _ in 0..1000 {
            let best = (0..seeds).map(|seed| (seed, difference + deviation * draws.normal())).collect();
            let other = (0..seeds).map(|seed| (seed, 0.0)).collect();
            let rival = |values| Rival { name: String::new(), values, is_fixed: false };
            found += usize::from(Gap::between(&rival(best), &rival(other), confidence).unwrap().is_clear());
        }
        let power = found as f64 / 1000.0;
        assert!((power - POWER).abs() < 0.05, "{seeds} seeds: {power}");
    }
}

// --- the conclusion and the table -------------------------------------------------------------------------------------

/// Returns a random comparison by goodput: some candidates are equal, not random, or lack values.
fn random_comparison(draws: &mut Draws) -> Value {
    let (count, seeds) = (1 + draws.below(6), 1 + draws.below(9));
    let (spread, lacks) = ([0.0, 0.5, 3.0, 10.0][draws.below(4)], draws.below(4) == 0);
    let shared: Vec<f64> = (0..seeds).map(|_| draws.normal()).collect();
    let mut cells = Vec::new();
    for algorithm in 0..count {
        let (mean, is_fixed) = (10.0 + draws.below(4) as f64 * spread, draws.below(6) == 0);
        let mut values = Vec::new();
        for (seed, effect) in shared.iter().enumerate() {
            let noise = if is_fixed { 0.0 } else { effect + draws.normal() * 0.2 };
            if !(lacks && draws.below(3) == 0) {
                values.push(json!([seed + 1, (mean + noise).max(0.0) * 1e6]));
            }
        }
        let values = json!({ "goodput_bps": values });
        cells.push(json!({ "algorithm": algorithm, "point": 0, "is_fixed": is_fixed, "values": values }));
    }
    let names: Vec<String> = (0..count).map(|at| format!("v{at}")).collect();
    json!({ "algorithms": names, "points": [[]], "measures": ["goodput_bps"], "cells": cells })
}

/// Returns the ends of the interval in a text such as `4 % less than v1 (95 %: −2 to 10 %)`, relative to equality.
fn printed(words: &str) -> Option<(f64, f64)> {
    let (_, interval) = words.split_once("(95 %: ")?;
    let (low, rest) = interval.split_once(" to ")?;
    let (high, _) = rest.split_once(')')?;
    let is_share = high.ends_with('%');
    let number = |text: &str| text.trim_end_matches(" %").replace('−', "-").replace(',', "").parse::<f64>().unwrap();
    let equal = if is_share { 0.0 } else { 1.0 };
    Some((number(low) - equal, number(high) - equal))
}

#[test]
fn a_table_never_contradicts_the_conclusion() {
    let mut draws = Draws(7);
    let (mut level_count, mut clear_count) = (0, 0);
    for _ in 0..600 {
        let comparison = random_comparison(&mut draws);
        let said = asked(&json!({ "answer": &comparison }));
        if said.is_null() {
            continue;
        }
        let headline = said["headline"].as_str().unwrap();
        let level: Vec<&str> = said["points"][0]["level"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
        let table = differences(&comparison, None);
        assert_eq!(table["base"], level[0]);
        let rows = table["rows"].as_array().unwrap();
        let met: Vec<&Value> = rows.iter().filter(|row| !row["gap"].is_null()).collect();
        for row in &met {
            let (name, words) = (row["name"].as_str().unwrap(), row["words"].as_str().unwrap());
            let is_clear = row["is_clear"].as_bool().unwrap();
            let is_worse = row["gap"]["difference"].as_f64().unwrap() < 0.0;
            assert_eq!(level.contains(&name), !(is_clear && is_worse), "{headline}\n{words}");
            let (low, high) = (row["gap"]["low"].as_f64(), row["gap"]["high"].as_f64());
            if let (Some(low), Some(high)) = (low, high) {
                assert_eq!(is_clear, !(low..=high).contains(&1.0), "{headline}\n{words}");
            }
            if let Some((low, high)) = printed(words) {
                assert_eq!(is_clear, low > 0.0 || high < 0.0, "{headline}\n{words}");
                assert_eq!(is_clear, !words.contains("not significant"), "{words}");
            }
        }
        let undistinguished = met.iter().filter(|row| row["is_clear"] == false).count();
        let is_judged = met.iter().all(|row| row["gap"]["pairs"].as_u64() > Some(1) || row["gap"]["is_fixed"] == true);
        let all_equal = headline.contains("reach the same goodput");
        if is_judged && !all_equal && !headline.contains("the same with each seed") {
            assert_eq!(headline.contains("cannot be distinguished"), undistinguished > 0, "{headline}\n{table}");
        }
        level_count += usize::from(undistinguished > 0);
        clear_count += usize::from(!met.is_empty() && undistinguished == 0);
        // The interval of a pair does not depend on the candidate with which the others are compared.
        for row in &met {
            let name = row["name"].as_str().unwrap();
            let other = differences(&comparison, Some(name));
            let back = other["rows"].as_array().unwrap().iter().find(|back| back["name"] == level[0]).unwrap();
            assert_eq!((&back["is_clear"], &back["gap"]["half_width"]), (&row["is_clear"], &row["gap"]["half_width"]));
            assert_eq!(other["comparisons"], table["comparisons"]);
        }
    }
    assert!(level_count > 100 && clear_count > 100, "{level_count} {clear_count}");
}

#[test]
fn a_candidate_that_is_better_over_common_seeds_is_not_called_equal() {
    let cell = |at: usize, values: Value| json!({ "algorithm": at, "point": 0, "is_fixed": false, "values": { "goodput_bps": values } });
    let cells = [
        cell(0, json!([[1, 1e6], [2, 1.1e6], [3, 1.05e6], [4, 30e6]])),
        cell(1, json!([[1, 2e6], [2, 2.1e6], [3, 2.06e6]])),
    ];
    let comparison = json!({ "algorithms": ["a", "b"], "points": [[]], "measures": ["goodput_bps"], "cells": cells });
    let said = headline(&comparison);
    assert_eq!(said, "a has the highest mean goodput, 8.287 Mbit/s, but b has more over the seeds that both have.");
    let table = differences(&comparison, None);
    assert_eq!((&table["base"], &table["rows"][0]["is_clear"]), (&json!("a"), &json!(true)));
}

#[test]
fn a_table_of_an_unknown_metric_or_candidate_is_rejected() {
    let comparison = compared(&[("a", &[("goodput_bps", &[1.0, 2.0])])], 0.1);
    let error = |more: Value| {
        let mut request = json!({ "comparison": comparison, "measure": "goodput_bps" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answer(&json!({ "differences": request }).to_string()).unwrap_err()
    };
    assert_eq!(error(json!({ "measure": "speed" })), "measure: there is no metric speed");
    assert_eq!(error(json!({ "base": "b" })), "base: there is no candidate b");
}

// --- what the best costs ----------------------------------------------------------------------------------------------

/// Returns hybla and cubic with these goodputs; hybla has 31 % of retransmissions and a queue of 135 ms.
fn hybla_and_cubic(hybla: &[f64], cubic: &[f64]) -> Value {
    let costs = |share: f64, queue: f64| {
        (vec![share, share * 1.02, share * 0.98, share], vec![queue, queue * 1.1, queue, queue * 0.9])
    };
    let (first, second) = (costs(0.31, 0.135), costs(0.003, 0.012));
    compared(
        &[
            ("cubic", &[("goodput_bps", cubic), ("retransmitted_share", &second.0), ("queueing_mean_s", &second.1)]),
            ("hybla", &[("goodput_bps", hybla), ("retransmitted_share", &first.0), ("queueing_mean_s", &first.1)]),
        ],
        0.5,
    )
}

#[test]
fn the_costs_of_the_best_follow_its_lead() {
    let comparison = hybla_and_cubic(&[12e6, 12.1e6, 11.9e6, 12.05e6], &[9e6, 9.1e6, 8.9e6, 9.0e6]);
    let costs = "hybla retransmits 31 % of its segments (cubic: 0.3 %) and adds a mean queueing delay of 135 ms, 27 % of \
                 the minimum RTT (cubic: 12 ms).";
    let said = headline(&comparison);
    assert!(said.starts_with("hybla beats cubic by 33") && said.ends_with(costs), "{said}");
    assert!(!sentences(&comparison).iter().any(|sentence| sentence.contains("costs less")));
}

#[test]
fn a_candidate_with_almost_as_much_goodput_and_lower_costs_is_named() {
    let costs =
        "hybla retransmits 31 % of its segments and adds a mean queueing delay of 135 ms, 27 % of the minimum RTT.";
    let near = hybla_and_cubic(&[10e6, 10.1e6, 9.9e6, 10.05e6], &[9.6e6, 9.7e6, 9.5e6, 9.64e6]);
    assert!(headline(&near).ends_with(costs), "{}", headline(&near));
    assert_eq!(
        sentences(&near)[0],
        "cubic costs less: 4.02 % less goodput than hybla (95 %: 3.94 to 4.10 %), with 0.3 % retransmitted and a queueing \
         delay of 12 ms."
    );
    let level = hybla_and_cubic(&[10e6, 12e6, 9e6, 11e6], &[9.6e6, 9.7e6, 9.5e6, 9.64e6]);
    let said = headline(&level);
    assert!(
        said.starts_with("hybla and cubic cannot be distinguished by goodput: hybla has 9 % more than cubic"),
        "{said}"
    );
    assert!(said.ends_with(costs), "{said}");
    assert_eq!(
        sentences(&level)[..2],
        [
            "cubic costs less and cannot be distinguished: 8 % less goodput than hybla (95 %: −12 to 22 %), with 0.3 % \
             retransmitted and a queueing delay of 12 ms.",
            "About 17 seeds would probably distinguish hybla from cubic."
        ]
    );
}

#[test]
fn costs_below_a_threshold_or_shared_by_all_are_not_stated() {
    let goodput: [&[f64]; 2] = [&[9e6, 9.1e6, 9.2e6], &[5e6, 5.1e6, 5.3e6]];
    let of = |column: &str, best: f64, other: f64, min_rtt_s: f64| {
        let (best, other) = ([best, best * 1.01, best * 0.99], [other, other * 1.01, other * 0.99]);
        let rivals = compared(
            &[
                ("a", &[("goodput_bps", goodput[0]), (column, &best)]),
                ("b", &[("goodput_bps", goodput[1]), (column, &other)]),
            ],
            min_rtt_s,
        );
        let said = headline(&rivals);
        said.split_once("Mbit/s. a ").map_or_else(String::new, |(_, costs)| costs.to_owned())
    };
    assert_eq!(of("retransmitted_share", 0.051, 0.02, 1.0), "retransmits 5.1 % of its segments (b: 2 %).");
    assert_eq!(of("retransmitted_share", 0.049, 0.02, 1.0), "");
    assert_eq!(of("retransmitted_share", 0.3, 0.16, 1.0), "");
    assert_eq!(
        of("queueing_mean_s", 0.021, 0.004, 0.1),
        "adds a mean queueing delay of 21 ms, 21 % of the minimum RTT (b: 4 ms)."
    );
    assert_eq!(of("queueing_mean_s", 0.021, 0.004, 0.2), "");
    assert_eq!(of("jain", 0.8, 0.98, 1.0), "shares unevenly, with a Jain index of 0.80 (b: 0.98).");
    assert_eq!(of("jain", 0.92, 0.99, 1.0), "");
}

#[test]
fn a_cost_whose_difference_is_not_significant_says_so() {
    let rivals = compared(
        &[
            ("a", &[("goodput_bps", &[9e6, 9.1e6, 9.2e6]), ("retransmitted_share", &[0.9, 0.01, 0.02])]),
            ("b", &[("goodput_bps", &[5e6, 5.1e6, 5.3e6]), ("retransmitted_share", &[0.01, 0.02, 0.01])]),
        ],
        0.1,
    );
    let said = headline(&rivals);
    assert!(said.ends_with("a retransmits 31 % of its segments (b: 1.3 %; not significant)."), "{said}");
}

// --- seeds that would decide ------------------------------------------------------------------------------------------

#[test]
fn the_number_of_seeds_is_stated_for_each_candidate_and_capped() {
    let values: [&[f64]; 4] =
        [&[10.0, 12.0, 11.0, 13.0], &[9.0, 13.0, 9.5, 11.0], &[12.0, 11.9, 11.0, 11.05], &[2.0, 3.1, 2.0, 4.0]];
    let names = ["a", "b", "c", "d"];
    let cells: Vec<[(&str, &[f64]); 1]> = values.iter().map(|own| [("goodput_bps", *own)]).collect();
    let candidates: Vec<Candidate> = names.iter().zip(&cells).map(|(name, cell)| (*name, &cell[..])).collect();
    let said = sentences(&compared(&candidates, 0.1));
    assert_eq!(said[0], "Seeds that would probably distinguish a: about 31 from b and more than 1,000 from c.");
    assert_eq!(said[1], "a has 4.1 times as much as d.");
}
