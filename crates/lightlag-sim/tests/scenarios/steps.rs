//! Tests that a run in steps equals a run without steps, and that the rows read between the steps are the rows of its
//! result.

use lightlag_core::{Duration, Instant};
use lightlag_scenario::parse_toml;
use lightlag_sim::run::SeenRows;
use lightlag_sim::table::Data;
use lightlag_sim::{Control, Simulation};
use proptest::prelude::*;

const PAIR: &str = r#"
duration = "20 s"
[[links]]
between = ["client", "server"]
rate    = "2 Mbit/s"
delay   = "100 ms"
queue   = "20 packets"
loss    = 1e-3
[[flows]]
from     = "client"
to       = "server"
transfer = "500 kB"
[record]
trace = "change"
drops = true
acks  = true
"#;

fn simulation(text: &str) -> Simulation {
    Simulation::new(&parse_toml(text, &[]).unwrap(), None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn steps_of_any_length_give_the_same_result(steps in prop::collection::vec(1u64..3000, 1..12), seed in 0u64..50) {
        let text = format!("seed = {seed}\n{PAIR}");
        let whole = simulation(&text).run(&mut |_| Control::Continue);
        let (mut stepped, mut now, mut seen) = (simulation(&text), Instant::ZERO, SeenRows::new());
        for step in steps.iter().cycle() {
            now += Duration::from_millis(*step);
            let goes_on = stepped.step_until(now);
            let recorded = stepped.recorded();
            prop_assert!(recorded.trace.time_s.last().is_none_or(|last| *last <= now.as_secs_f64()));
            let before = seen.get("trace").copied().unwrap_or(0);
            let news: Vec<_> = recorded.news(&mut seen).collect();
            let names: Vec<&str> = news.iter().map(|(name, _)| *name).collect();
            prop_assert_eq!(names, ["trace", "queue", "drops", "acks"]);
            let Data::Numbers(times) = &news[0].1[0].data else { panic!("times are numbers") };
            prop_assert_eq!(times, &recorded.trace.time_s[before..]);
            if !goes_on {
                break;
            }
        }
        let stepped = stepped.finish();
        prop_assert_eq!(&stepped.summary.result_hash, &whole.summary.result_hash);
        prop_assert_eq!(stepped.summary.events, whole.summary.events);
        prop_assert!(!stepped.interrupted);
        prop_assert_eq!(seen["trace"], whole.trace.rows());
        prop_assert_eq!(seen["acks"], whole.acks.rows());
    }
}

#[test]
fn a_run_finished_before_its_end_is_interrupted() {
    let mut stepped = simulation(PAIR);
    assert!(stepped.step_until(Instant::from_nanos(1_000_000_000)));
    assert_eq!(stepped.progress().now, Instant::from_nanos(1_000_000_000));
    let result = stepped.finish();
    assert!(result.interrupted);
    assert_eq!(result.summary.simulated_s, 1.0);
}

#[test]
fn no_event_happens_after_the_end() {
    let mut stepped = simulation(PAIR);
    assert!(!stepped.step_until(Instant::MAX));
    let events = stepped.progress().events;
    assert!(!stepped.step_until(Instant::MAX));
    assert_eq!(stepped.progress().events, events);
}
