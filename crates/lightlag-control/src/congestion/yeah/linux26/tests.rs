use super::*;
use crate::congestion::tests::{congestion, start};
use crate::congestion::{Cause, Window};

fn module() -> YeahLinux26 {
    YeahLinux26::new(&Config::default(), &ConnectionStart { rtt: Some(Duration::from_millis(100)), ..start(2) })
}

fn samples(rtt: u64) -> Samples {
    let mut round = Round::default();
    let ack = crate::congestion::tests::ack(Instant::ZERO, Duration::from_millis(rtt));
    round.on_ack(&ack);
    for _ in 0..3 {
        round.take_in(&ack);
    }
    round.on_ack(&Ack { snd_una: 1, ..ack }).unwrap()
}

#[test]
fn a_long_queue_is_given_back() {
    let mut module = module();
    let mut sender = Sender::at(Window::new(&start(1000)));
    // Q = ⌊1000·25/125⌋ = 200
    module.end_round(&samples(125), &mut sender);
    assert_eq!((module.queue, sender.whole(), sender.window.threshold()), (200.0, 800.0, 800.0));
    assert_eq!((module.memory.slow, module.memory.reno), (1.0, 400.0));
}

#[test]
fn a_short_queue_is_fast_and_so_is_a_small_fraction_of_the_round_trip() {
    for (rtt, is_fast) in [(105, true), (112, true), (113, false)] {
        let mut module = module();
        module.end_round(&samples(rtt), &mut Sender::at(Window::new(&start(100))));
        assert_eq!(module.memory.slow == 0.0, is_fast, "{rtt}");
    }
}

#[test]
fn a_loss_takes_the_queue_within_an_eighth_and_a_half() {
    for (queue, left) in [(0.0, 70.0), (20.0, 60.0), (60.0, 40.0)] {
        let mut module = YeahLinux26 { queue, ..module() };
        assert_eq!(module.threshold(80.0, &congestion(Cause::Loss, 80.0)), left, "{queue}");
    }
    let mut module = module();
    module.memory.slow = 16.0;
    assert_eq!(module.threshold(80.0, &congestion(Cause::Loss, 80.0)), 40.0);
}
