//! Tests of episodes through the public interface: the actions of agents have the effects that runs report.

use lightlag_core::Duration;
use lightlag_gym::{Action, AgentEnd, Batch, Episode, Feature, IntervalLength, Reward, Task};
use lightlag_scenario::parse_toml;
use lightlag_sim::Simulation;

const LINK: &str = r#"
    duration = "20 s"
    [[links]]
    between = ["a", "b"]
    rate = "12 Mbit/s"
    delay = "20 ms"
    queue = "1 bdp"
    [[flows]]
    from = "a"
    to = "b"
    name = "one"
    congestion = "steered"
"#;

fn task(action: Action) -> Task {
    let feature = |name: &str| Feature::named(name).expect("it exists");
    Task {
        action,
        length: IntervalLength::Rtts(1.0),
        reward: Some(Reward::Aurora),
        steps: 50,
        features: vec![feature("delivery_rate"), feature("rtt_ratio")],
        history: 3,
    }
}

fn simulation(text: &str, seed: u64) -> Simulation {
    lightlag_custom::steered::register().expect("the name is free");
    let scenario = parse_toml(text, &[]).expect("it is a scenario");
    Simulation::new(&scenario, Some(seed)).expect("it can be run")
}

fn episode(task: &Task, text: &str, flows: &[&str], seed: u64) -> Episode {
    let flows: Vec<String> = flows.iter().map(|name| (*name).to_owned()).collect();
    Episode::start(task, simulation(text, seed), &flows).expect("it starts")
}

#[test]
fn a_rate_below_the_link_s_is_delivered_and_leaves_the_queue_empty() {
    let task = task(Action::Rate);
    let mut episode = episode(&task, LINK, &["one"], 1);
    // To 6 Mbit/s, and then no change.
    let rate = 8e-6 * episode.agents()[0].interval.window / episode.agents()[0].interval.rtt;
    episode.step(&task, &[6.0 / rate]);
    for _ in 0..20 {
        episode.step(&task, &[1.0]);
    }
    let last = episode.agents()[0].interval;
    assert!((8e-6 * last.pacing_rate - 6.0).abs() < 1e-9);
    // Whole segments pass in an interval of 20.
    assert!((8e-6 * last.delivery_rate() - 6.0).abs() < 0.35, "{last:?}");
    assert!(last.rtt < 1.1 * last.min_rtt && last.loss() == 0.0, "{last:?}");
}

#[test]
fn a_rate_above_the_link_s_fills_the_queue_and_loses() {
    let task = task(Action::Rate);
    let mut episode = episode(&task, LINK, &["one"], 1);
    let (mut lost, mut longest) = (0.0, 0.0_f64);
    for step in 0..30 {
        episode.step(&task, &[if step < 4 { 2.0 } else { 1.0 }]);
        let it = episode.agents()[0].interval;
        lost += it.lost;
        longest = longest.max(it.rtt / it.min_rtt);
    }
    assert!(lost > 0.0);
    // A queue of one BDP doubles the round trip.
    assert!((1.8..2.2).contains(&longest), "{longest}");
}

#[test]
fn windows_are_set_in_segments_of_the_flow() {
    let task = task(Action::Window);
    let mut episode = episode(&task, LINK, &["one"], 1);
    let initial = episode.agents()[0].interval.window;
    episode.step(&task, &[2.0]);
    episode.step(&task, &[1.0]);
    let it = episode.agents()[0].interval;
    assert_eq!(it.window, 2.0 * initial);
    assert!((it.delivered - 2.0 * initial).abs() <= 2.0 * it.segment, "a window each round trip: {it:?}");
    for _ in 0..10 {
        episode.step(&task, &[1e-3]);
    }
    let it = episode.agents()[0].interval;
    assert_eq!(it.window, 2.0 * it.segment, "no window is below two segments");
}

#[test]
fn observations_keep_their_history_in_order() {
    let task = task(Action::Rate);
    let mut episode = episode(&task, LINK, &["one"], 1);
    let mut newest = Vec::new();
    for _ in 0..5 {
        episode.step(&task, &[1.2]);
        newest.push(episode.agents()[0].observation[4..].to_vec());
    }
    assert_eq!(episode.agents()[0].observation, newest[2..].concat());
}

#[test]
fn the_same_actions_give_the_same_run() {
    let task = task(Action::Rate);
    let text = LINK.replace("queue = \"1 bdp\"", "queue = \"1 bdp\"\nloss = 0.01");
    let hash = |seed| {
        let mut episode = episode(&task, &text, &["one"], seed);
        for step in 0..40 {
            episode.step(&task, &[[1.1, 0.95][step % 2]]);
        }
        episode.finish().summary.result_hash
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn places_do_not_depend_on_threads() {
    let rewards = |threads| {
        let task = task(Action::Rate);
        let mut batch = Batch::new(task.clone(), 5, 1, threads);
        for place in 0..5 {
            batch.put(place, Some(episode(&task, LINK, &["one"], place as u64)));
        }
        let mut rewards = Vec::new();
        for step in 0..10 {
            batch
                .step(&[1.0, 1.1, 1.2, 0.9, 0.8].map(|factor| libm::pow(factor, f64::from(step % 3))))
                .expect("factors");
            rewards.extend(batch.outcomes());
        }
        rewards
    };
    assert_eq!(rewards(1), rewards(3));
}

#[test]
fn an_episode_ends_by_its_steps_its_transfer_or_its_duration_and_then_stays_idle() {
    let ended = |text: &str, length| {
        let task = Task { length, steps: 30, ..task(Action::Rate) };
        let mut batch = Batch::new(task.clone(), 1, 1, 1);
        batch.put(0, Some(episode(&task, text, &["one"], 1)));
        for step in 1..=100 {
            batch.step(&[1.5]).expect("a factor");
            let (_, end) = batch.outcomes().next().expect("a place");
            if end != AgentEnd::GoesOn {
                batch.step(&[1.5]).expect("a factor");
                assert_eq!(batch.outcomes().next(), Some((0.0, AgentEnd::GoesOn)), "it is idle");
                return (step, end);
            }
        }
        panic!("no end")
    };
    assert_eq!(ended(LINK, IntervalLength::Rtts(1.0)), (30, AgentEnd::Truncated));
    assert_eq!(ended(LINK, IntervalLength::Time(Duration::from_secs(4))), (5, AgentEnd::Truncated));
    let (steps, end) =
        ended(&LINK.replace("name = \"one\"", "name = \"one\"\ntransfer = \"300 kB\""), IntervalLength::Rtts(1.0));
    assert!(end == AgentEnd::Terminated && (4..15).contains(&steps), "{steps}");
}

#[test]
fn two_agents_share_a_run() {
    let text = LINK.to_owned()
        + r#"
            [[flows]]
            from = "a"
            to = "b"
            name = "two"
            start = "1 s"
            congestion = "steered"
        "#;
    let task = Task { length: IntervalLength::Time(Duration::from_millis(100)), ..task(Action::Rate) };
    let mut episode = episode(&task, &text, &["one", "two"], 1);
    episode.step(&task, &[1.0, 1.0]);
    assert_eq!(episode.agents()[1].interval.sent, 0.0);
    for _ in 0..20 {
        episode.step(&task, &[1.0, 1.0]);
    }
    let sent: Vec<f64> = episode.agents().iter().map(|agent| agent.interval.delivered).collect();
    assert!(sent.iter().all(|sent| *sent > 0.0), "{sent:?}");
}

#[test]
fn flows_that_cannot_be_controlled_are_rejected() {
    let task = task(Action::Rate);
    let error = |text: &str, flow: &str| {
        let episode = Episode::start(&task, simulation(text, 1), &[flow.to_owned()]);
        episode.err().expect("it is rejected")
    };
    assert!(error(LINK, "two").contains("no flow \"two\"; there are one"));
    assert!(error(&LINK.replace("steered", "cubic"), "one").contains("before a steered flow starts to send"));
}

#[test]
fn invalid_factors_are_rejected() {
    let mut batch = Batch::new(task(Action::Rate), 3, 1, 1);
    assert!(batch.step(&[1.0]).expect_err("too few").contains("1 actions for 3"));
    assert!(batch.step(&[1.0, f64::NAN, 1.0]).expect_err("no number").contains("environment 1: a factor of NaN"));
    assert!(batch.step(&[1.0, 1.0, 0.0]).expect_err("no factor").contains("environment 2: a factor of 0"));
}
