//! Conclusions of comparisons with random values, compared with stored sentences.

use lightlag_analysis::answer;
use serde_json::{Value, json};

#[test]
fn answers_have_the_stored_sentences() {
    let kept: Vec<Value> = serde_json::from_str(include_str!("answers.json")).unwrap();
    assert!(kept.len() > 20);
    for one in kept {
        let answer: Value =
            serde_json::from_str(&answer(&json!({ "answer": one["asked"] }).to_string()).unwrap()).unwrap();
        assert_eq!(answer["headline"], one["headline"]);
        assert_eq!(answer["sentences"], one["sentences"], "{}", one["headline"]);
    }
}

#[test]
fn a_comparison_without_values_has_no_verdict() {
    let asked = json!({ "algorithms": ["a"], "points": [[]], "measures": [], "cells": [] });
    assert_eq!(answer(&json!({ "answer": asked }).to_string()).unwrap(), "null");
}

#[test]
fn a_cell_without_an_algorithm_is_rejected() {
    let cell = json!({ "algorithm": 1, "point": 0, "is_fixed": false, "values": {} });
    let asked = json!({ "algorithms": ["a"], "points": [[]], "measures": [], "cells": [cell] });
    let error = answer(&json!({ "answer": asked }).to_string()).unwrap_err();
    assert_eq!(error, "cells[0]: there is no algorithm 1 or no point 0");
}

#[test]
fn an_invalid_confidence_is_rejected() {
    let cell = |at: usize| {
        json!({
            "algorithm": at, "point": 0, "is_fixed": false, "values": { "goodput_bps": [[1, 1.0 + at as f64], [2, 3.0]] }
        })
    };
    let request = json!({
        "algorithms": ["a", "b"], "points": [[]], "measures": ["goodput_bps"], "cells": [cell(0), cell(1)],
        "confidences": { "goodput_bps": 2.0 },
    });
    let error = answer(&json!({ "answer": request }).to_string()).unwrap_err();
    assert!(error.starts_with("no interval of confidence 2"), "{error}");
}
