//! Tables and accounts of shipped scenarios, compared with stored texts.

use lightlag_analysis::answer;
use serde_json::{Value, json};

fn runs() -> Vec<(String, Value)> {
    let runs: Value = serde_json::from_str(include_str!("runs.json")).unwrap();
    runs.as_object().unwrap().clone().into_iter().collect()
}

fn asked(request: &Value) -> Value {
    serde_json::from_str(&answer(&request.to_string()).unwrap()).unwrap()
}

/// Returns the part of a run's summary that an account uses.
fn summary(run: &Value) -> Value {
    let mut summary = run["lists"].clone();
    summary["simulated_s"] = run["simulated_s"].clone();
    summary
}

#[test]
fn tables_have_the_stored_texts() {
    for (name, run) in runs() {
        assert_eq!(asked(&json!({ "tables": run["lists"] })), run["tables"], "{name}");
    }
}

#[test]
fn accounts_have_the_stored_sentences() {
    for (name, run) in runs() {
        assert_eq!(asked(&json!({ "told_senders": summary(&run) })), run["senders"], "{name}");
        let request = json!({ "account": { "run": summary(&run), "recorded": run["recorded"] } });
        assert_eq!(asked(&request), run["account"], "{name}");
    }
}

#[test]
fn an_account_describes_window_growth_only_if_it_was_recorded() {
    let (_, run) = runs().into_iter().find(|(name, _)| name == "asymmetric").unwrap();
    let bare = asked(&json!({ "account": { "run": summary(&run), "recorded": [] } }));
    let sentences = |account: &Value| account["flows"][0][1].as_array().unwrap().len();
    assert!(sentences(&bare) < sentences(&run["account"]));
    assert_eq!(bare["headline"], run["account"]["headline"]);
}

#[test]
fn a_run_without_connections_has_a_sentence() {
    let run = json!({ "flows": [], "links": [], "simulated_s": 1.0 });
    let account = asked(&json!({ "account": { "run": run, "recorded": [] } }));
    assert_eq!(account, json!({ "headline": "No TCP flow; 0 datagram flows.", "flows": [] }));
}

#[test]
fn an_invalid_request_is_reported_as_such() {
    let error = answer(r#"{"tables": {"flows": [{"name": 3}]}}"#).unwrap_err();
    assert!(
        error.starts_with("not a request for an analysis: invalid type: integer `3`, expected a string"),
        "{error}"
    );
    let error = answer(r#"{"shown_links": {"dropped": [[1]], "utilisation": [0.5, 0.5]}}"#).unwrap_err();
    assert_eq!(error, "shown_links: 1 counts for 2 links");
}
