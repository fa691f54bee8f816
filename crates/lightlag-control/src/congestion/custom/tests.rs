use super::*;
use crate::congestion::{Ack, Allowance, Choice, Congestion, canonical, register};
use lightlag_core::params::{Parameter, Range, Value};
use serde_json::json;

/// An algorithm with a constant window, which is set by a parameter.
struct Fixed(Description);

struct Window(u64);

impl Allowance for Window {
    fn window(&self) -> u64 {
        self.0
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

impl CongestionControl for Window {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _event: &Congestion) {}
}

impl Factory for Fixed {
    fn facts(&self) -> &Description {
        &self.0
    }
}

impl AlgorithmFactory for Fixed {
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn CongestionControl> {
        Box::new(Window(values[0] as u64 * start.segment_size))
    }
}

fn fixed(name: &'static str) -> Arc<Fixed> {
    let parameter =
        |key, range, default| Parameter { key, about: "", unit: "", range, default, required: None, is_quiet: false };
    let segments = parameter("segments", Range::Whole { least: 0.0, most: 100.0 }, Value::Number(4.0));
    let parameters = vec![segments, parameter("odd", Range::Flag, Value::Flag(false))];
    let (origin, code) = (Origin::Registered, "c0de".to_owned());
    Arc::new(Fixed(Description { name, origin, code, parameters, holds_interpreter: false }))
}

fn read(value: serde_json::Value) -> Result<Choice, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn a_registered_algorithm_is_read_written_and_built() {
    register(fixed("fixed")).unwrap();
    assert_eq!(canonical("fixed"), Some("fixed"));
    let choice = read(json!({ "algorithm": "fixed", "segments": 7 })).unwrap();
    let text = serde_json::to_value(&choice).unwrap();
    assert_eq!(text, json!({ "algorithm": "fixed", "code": "c0de", "segments": 7.0 }));
    assert_eq!(read(text), Ok(choice.clone()));
    let start = crate::congestion::tests::start(10);
    assert_eq!(crate::congestion::build(&choice, &start).window(), 7 * start.segment_size);
    assert_eq!(read(json!("fixed")).unwrap().name(), "fixed");
}

#[test]
fn errors_are_named() {
    register(fixed("mistaken")).unwrap();
    let refused = |table: serde_json::Value| read(table).unwrap_err();
    let code = refused(json!({ "algorithm": "mistaken", "code": "other" }));
    assert!(code.contains("was other and is now c0de"), "{code}");
    let value = refused(json!({ "algorithm": "mistaken", "segments": 1.5, "odd": 1, "even": true }));
    assert!(value.contains("segments: 1.5 is not a whole number from 0 to 100"), "{value}");
    assert!(value.contains("odd: 1 is not true or false"), "{value}");
    assert!(value.contains("unknown field `even`, expected one of `segments`, `odd`"), "{value}");
    let two = refused(json!({ "algorithm": "mistaken", "plugin": "libmine.so" }));
    assert!(two.contains("algorithm and plugin both name an algorithm"), "{two}");
    let number = refused(json!({ "python": 1 }));
    assert!(number.contains("python: 1 is not a name in quotes"), "{number}");
}

#[test]
fn names_of_lightlag_are_taken() {
    let refused = register(fixed("TCP Cubic")).unwrap_err();
    assert!(refused.contains("\"TCP Cubic\" is the name of an algorithm of lightlag, cubic"), "{refused}");
}
