//! A run in steps is the run at once, and what is recorded on the way is what its result holds.

use lightlag_core::{Duration, Instant};
use lightlag_scenario::parse_toml;
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
        let (mut stepped, mut now, mut rows) = (simulation(&text), Instant::ZERO, [0; 4]);
        for step in steps.iter().cycle() {
            now += Duration::from_millis(*step);
            let goes_on = stepped.step_until(now);
            let recorded = stepped.recorded();
            let more = [recorded.trace.rows(), recorded.queue.rows(), recorded.drops.rows(), recorded.acks.rows()];
            prop_assert!(more.iter().zip(&rows).all(|(more, before)| more >= before));
            prop_assert_eq!(recorded.trace.tail(rows[0]).rows(), more[0] - rows[0]);
            prop_assert!(recorded.trace.time_s.last().is_none_or(|last| *last <= now.as_secs_f64()));
            rows = more;
            if !goes_on {
                break;
            }
        }
        let stepped = stepped.finish();
        prop_assert_eq!(&stepped.summary.result_hash, &whole.summary.result_hash);
        prop_assert_eq!(stepped.summary.events, whole.summary.events);
        prop_assert!(!stepped.interrupted);
        prop_assert_eq!(rows[0], whole.trace.rows());
        prop_assert_eq!(rows[3], whole.acks.rows());
    }
}

#[test]
fn what_is_left_before_the_end_is_an_interrupted_run() {
    let mut stepped = simulation(PAIR);
    assert!(stepped.step_until(Instant::from_nanos(1_000_000_000)));
    assert_eq!(stepped.progress().now, Instant::from_nanos(1_000_000_000));
    let result = stepped.finish();
    assert!(result.interrupted);
    assert_eq!(result.summary.simulated_s, 1.0);
}

#[test]
fn nothing_happens_behind_the_end() {
    let mut stepped = simulation(PAIR);
    assert!(!stepped.step_until(Instant::MAX));
    let events = stepped.progress().events;
    assert!(!stepped.step_until(Instant::MAX));
    assert_eq!(stepped.progress().events, events);
}
