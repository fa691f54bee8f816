//! One test per rule of the document. Sections and examples refer to draft-ietf-tsvwg-careful-resume-23.

use super::*;
use crate::congestion::Phase;
use crate::congestion::tests::{SEGMENT, ack, start};

const RTT: Duration = Duration::from_millis(600);

/// Returns a saved window of 300 segments on a path of 600 ms, as in appendix B.1.
fn saved() -> Saved {
    Saved { saved_cwnd: Bytes(300 * SEGMENT), saved_rtt: RTT, max_jump: None, rule: ResumeRule::Rfc9959 }
}

/// A sender that always has data, counted in segments; each test step sends explicitly.
struct Sender {
    resume: CarefulResume,
    now: Instant,
    una: u64,
    nxt: u64,
    min_rtt: Duration,
}

impl Sender {
    fn with(saved: Saved, name: &str) -> Self {
        let resume = CarefulResume::new(saved, &Choice::named(name), &start(10));
        Self { resume, now: Instant::ZERO + RTT, una: 0, nxt: 10, min_rtt: RTT }
    }

    fn new() -> Self {
        Self::with(saved(), "newreno")
    }

    fn window(&self) -> f64 {
        self.resume.window() as f64 / SEGMENT as f64
    }

    fn ssthresh(&self) -> f64 {
        self.resume.ssthresh() as f64 / SEGMENT as f64
    }

    /// Returns the next ACK, which acknowledges `acked` segments.
    fn news(&self, acked: u64) -> Ack {
        Ack {
            newly_acked: acked * SEGMENT,
            newly_delivered: acked * SEGMENT,
            growth: acked as f64,
            min_rtt: self.min_rtt,
            snd_una: (self.una + acked) * SEGMENT,
            snd_nxt: self.nxt * SEGMENT,
            ..ack(self.now, self.min_rtt)
        }
    }

    fn acknowledge(&mut self, acked: u64) {
        let news = self.news(acked);
        self.una += acked;
        self.resume.on_ack(&news);
    }

    /// Sends this many segments.
    fn send(&mut self, segments: u64) {
        self.nxt += segments;
    }

    /// Delivers a duplicate ACK that SACKs `delivered` segments and marks `lost` as lost; `phase`: whether a loss
    /// episode is in progress.
    fn sack(&mut self, delivered: u64, lost: u64, phase: Phase) {
        for _ in 0..lost {
            let (now, bytes) = (self.now, SEGMENT);
            self.resume.on_lost(&Lost { now, bytes, tx_in_flight: 0, lost_since: 0, app_limited: false });
        }
        let news = Ack {
            newly_acked: 0,
            newly_delivered: delivered * SEGMENT,
            newly_lost: lost * SEGMENT,
            duplicate: true,
            growth: 0.0,
            phase,
            ..self.news(0)
        };
        self.resume.on_ack(&news);
    }

    fn congestion(&mut self, cause: Cause) {
        let flight = (self.nxt - self.una) * SEGMENT;
        self.resume.on_congestion(&Congestion { now: self.now, cause, flight, srtt: RTT, min_rtt: RTT });
    }

    /// Creates a sender with 29 segments in flight at the jump, as in appendix B.1.
    fn jumped() -> Self {
        Self::jumped_with("newreno")
    }

    fn jumped_with(name: &str) -> Self {
        let mut sender = Self::with(saved(), name);
        sender.send(29);
        sender.acknowledge(10);
        sender
    }

    /// Creates a sender whose window is full with 121 unvalidated segments. The segments sent before the jump and the
    /// first unvalidated one are acknowledged.
    fn validating() -> Self {
        Self::validating_with("newreno")
    }

    fn validating_with(name: &str) -> Self {
        let mut sender = Self::jumped_with(name);
        sender.send(121);
        sender.now += RTT;
        (0..29).for_each(|_| sender.acknowledge(1));
        sender.acknowledge(1);
        sender
    }
}

#[test]
fn reconnaissance_is_the_normal_algorithm() {
    // §3.2: the window is the initial one, and grows normally.
    let mut sender = Sender::new();
    assert_eq!((sender.window(), sender.ssthresh() > 1e12), (10.0, true));
    for n in 1..10 {
        sender.acknowledge(1);
        assert_eq!((sender.window(), sender.resume.stage), (10.0 + f64::from(n), Stage::Reconnaissance));
        assert_eq!(sender.resume.pacing_rate(), None);
    }
}

#[test]
fn the_ack_of_all_initial_data_makes_the_window_jump_to_half_of_the_saved_one() {
    // §3.2 (path confirmed), §3.3 (setting the jump_cwnd).
    let sender = Sender::jumped();
    assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
    assert_eq!((sender.window(), sender.resume.pipe_size()), (150.0, 29 * SEGMENT));
    // §3.3, §4.3.2: paced over the current round trip, 150 kB in 600 ms.
    assert_eq!(sender.resume.pacing_rate(), Rate::from_bps(2_000_000));
}

#[test]
fn max_jump_bounds_the_jump() {
    for (max, window) in [(40, 40.0), (150, 150.0), (200, 150.0)] {
        let mut sender = Sender::with(Saved { max_jump: Some(Bytes(max * SEGMENT)), ..saved() }, "newreno");
        sender.acknowledge(10);
        assert_eq!(sender.window(), window);
    }
}

#[test]
fn no_jump_without_a_gain() {
    // Half of 40 segments is the window of slow start after the first round.
    let mut sender = Sender::with(Saved { saved_cwnd: Bytes(40 * SEGMENT), ..saved() }, "newreno");
    sender.acknowledge(10);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Normal, 20.0));
}

#[test]
fn congestion_in_reconnaissance_ends_it() {
    // §3.2 (detected congestion).
    for cause in [Cause::Loss, Cause::Mark, Cause::Timeout] {
        let mut sender = Sender::new();
        sender.acknowledge(3);
        sender.congestion(cause);
        assert_eq!(sender.resume.stage, Stage::Normal);
        assert_eq!(sender.window(), if cause == Cause::Timeout { 1.0 } else { 3.5 });
        sender.send(20);
        sender.acknowledge(10);
        assert!(sender.window() < 14.0, "{}", sender.window());
    }
}

#[test]
fn another_round_trip_time_is_another_path() {
    // §3.2 (minimum RTT too small): at most half of 600 ms; §4.2.1: more than ten times.
    for (millis, jumps) in [(299, false), (300, false), (301, true), (6_000, true), (6_001, false)] {
        let mut sender = Sender::new();
        sender.min_rtt = Duration::from_millis(millis);
        sender.acknowledge(10);
        // §3.2: if the path is not confirmed, the window is not modified.
        assert_eq!(sender.window(), if jumps { 150.0 } else { 20.0 }, "{millis} ms");
        assert_eq!(sender.resume.stage == Stage::Normal, !jumps);
    }
}

#[test]
fn a_sender_without_data_waits_in_reconnaissance() {
    // §3.2, §4.2: the jump may wait until there is more data than the normal window admits.
    let mut sender = Sender::new();
    let news = Ack { cwnd_limited: false, ..sender.news(10) };
    sender.una += 10;
    sender.resume.on_ack(&news);
    assert_eq!((sender.window(), sender.resume.stage), (10.0, Stage::Reconnaissance));
    sender.send(10);
    sender.acknowledge(1);
    assert_eq!(sender.window(), 150.0);
}

#[test]
fn a_jump_does_not_grow() {
    // §3.3, table in appendix A: CWND is not increased, PipeSize tracks.
    let mut sender = Sender::jumped();
    sender.send(60);
    (0..20).for_each(|_| sender.acknowledge(1));
    assert_eq!(sender.window(), 150.0);
    assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
}

#[test]
fn a_window_that_is_filled_is_to_be_validated() {
    // §3.3 (completed sending all unvalidated packets): less than a segment is left.
    let mut sender = Sender::jumped();
    sender.send(121);
    sender.acknowledge(1);
    assert_eq!(sender.resume.stage, Stage::Validating { last: 160 * SEGMENT });
    assert_eq!(sender.window(), 149.0);
    let mut sender = Sender::jumped();
    sender.send(120);
    sender.acknowledge(1);
    assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
}

#[test]
fn the_first_unvalidated_ack_ends_the_jump() {
    // §3.3 (receiving acknowledgement for an unvalidated packet); appendix B.1.
    let mut sender = Sender::jumped();
    sender.send(100);
    sender.acknowledge(29);
    assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
    sender.acknowledge(1);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Validating { last: 139 * SEGMENT }, 99.0));
}

#[test]
fn a_round_trip_ends_the_jump() {
    // §3.3 (limiting time in the Unvalidated Phase).
    let mut sender = Sender::jumped();
    sender.send(100);
    sender.now += RTT;
    sender.acknowledge(1);
    assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
    sender.now += Duration::from_nanos(1);
    sender.acknowledge(1);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Validating { last: 139 * SEGMENT }, 127.0));
}

#[test]
fn a_jump_that_was_not_used_is_taken_back() {
    // §3.3 (check flight_size): the flight does not exceed PipeSize: CWND = PipeSize.
    let mut sender = Sender::jumped();
    sender.send(3);
    sender.now += RTT * 2;
    sender.acknowledge(6);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Normal, 29.0));
    // Below the initial window it is not reduced.
    let mut sender = Sender::new();
    sender.acknowledge(10);
    sender.send(2);
    sender.now += RTT * 2;
    sender.acknowledge(1);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Normal, 10.0));
}

#[test]
fn a_shorter_round_trip_after_the_jump_is_a_retreat() {
    // §3.3 (confirming the path during transmission).
    let mut sender = Sender::jumped();
    sender.send(50);
    sender.min_rtt = RTT / 2;
    sender.acknowledge(1);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::SafeRetreat { last: None }, 14.5));
}

#[test]
fn congestion_after_the_jump_is_a_retreat_to_half_of_the_pipe() {
    // §3.3 (detected congestion), §3.5 (re-initializing CWND).
    for cause in [Cause::Loss, Cause::Mark] {
        let mut sender = Sender::jumped();
        sender.send(50);
        sender.sack(1, 1, Phase::Open);
        assert!(matches!(sender.resume.stage, Stage::Unvalidated { .. }));
        sender.congestion(cause);
        assert_eq!((sender.window(), sender.ssthresh()), (14.5, 14.5));
        assert!(sender.resume.refuses_prr());
    }
}

#[test]
fn a_marked_ack_that_would_end_the_jump_leads_to_the_retreat() {
    let mut sender = Sender::jumped();
    sender.send(121);
    let news = Ack { ece: true, ..sender.news(1) };
    sender.resume.on_ack(&news);
    sender.congestion(Cause::Mark);
    assert!(matches!(sender.resume.stage, Stage::SafeRetreat { .. }));
}

#[test]
fn validating_grows_as_the_normal_algorithm() {
    // §3.4 (updating CWND): slow start from the flight.
    let mut sender = Sender::validating();
    // 149 in flight with the first ACK, and 29 ACKs since.
    assert_eq!(sender.window(), 149.0 + 29.0);
    (0..20).for_each(|_| sender.acknowledge(1));
    assert_eq!(sender.window(), 149.0 + 49.0);
    assert_eq!(sender.resume.pacing_rate(), None);
}

#[test]
fn the_ack_of_all_unvalidated_data_ends_it_and_slow_start() {
    // §3.4 (receiving acknowledgement of the unvalidated packets), §4.6.
    let mut sender = Sender::validating();
    (0..119).for_each(|_| sender.acknowledge(1));
    assert!(matches!(sender.resume.stage, Stage::Validating { .. }));
    sender.acknowledge(1);
    assert_eq!((sender.resume.stage, sender.window(), sender.ssthresh()), (Stage::Normal, 298.0, 298.0));
    sender.send(1);
    sender.acknowledge(1);
    assert!(sender.window() < 298.01);
}

#[test]
fn a_loss_while_validating_leads_to_the_window_of_the_example() {
    // Appendix B.4: 29 before the jump and 34 unvalidated ones are 63, and half of it is the window.
    let mut sender = Sender::validating();
    (0..33).for_each(|_| sender.acknowledge(1));
    assert_eq!(sender.resume.pipe_size(), 63 * SEGMENT);
    sender.sack(0, 1, Phase::Open);
    sender.congestion(Cause::Loss);
    assert_eq!(sender.window(), 31.5);
}

#[test]
fn the_retreat_holds_its_window() {
    // §3.5 (maintaining CWND): neither ACKs nor further congestion change it.
    let mut sender = Sender::validating();
    (0..33).for_each(|_| sender.acknowledge(1));
    sender.congestion(Cause::Loss);
    let held = sender.window();
    sender.sack(20, 3, Phase::Recovery);
    sender.acknowledge(5);
    sender.congestion(Cause::Loss);
    sender.congestion(Cause::Mark);
    sender.resume.on_undo(sender.now);
    sender.resume.on_recovered(sender.now);
    assert_eq!(sender.window(), held);
}

#[test]
fn the_retreat_ends_with_the_last_unvalidated_data_and_a_threshold_of_beta() {
    // §3.5: ssthresh = PipeSize · beta, 0.5 for Reno and 0.7 for CUBIC. The window stays, and slow start continues up
    // to it.
    for (name, beta) in [("newreno", 0.5), ("cubic", 0.7)] {
        let mut sender = Sender::validating_with(name);
        (0..33).for_each(|_| sender.acknowledge(1));
        sender.sack(0, 1, Phase::Open);
        sender.congestion(Cause::Loss);
        // 86 of the other 87 arrive and are SACKed; the lost one is retransmitted.
        sender.sack(86, 0, Phase::Recovery);
        let left = sender.nxt - sender.una;
        let repaired = Ack { newly_delivered: SEGMENT, phase: Phase::Recovery, ..sender.news(left) };
        sender.una += left;
        sender.resume.on_ack(&repaired);
        assert_eq!(sender.resume.stage, Stage::Normal);
        // 29 + 34 + 86: the lost one was not carried.
        assert!((sender.ssthresh() - 149.0 * beta).abs() < 0.01, "{name}: {}", sender.ssthresh());
        assert!((sender.window() - 31.5).abs() < 0.01, "{name}: {}", sender.window());
        assert!(!sender.resume.refuses_prr());
        sender.send(31);
        sender.acknowledge(5);
        assert!((sender.window() - 36.5).abs() < 0.01, "{name}: {}", sender.window());
    }
}

#[test]
fn repaired_losses_do_not_count_as_pipe() {
    // Half of 120 unvalidated segments are lost on a path that is too small.
    let mut sender = Sender::validating();
    sender.sack(60, 60, Phase::Open);
    sender.congestion(Cause::Loss);
    let left = sender.nxt - sender.una;
    let repaired = Ack { newly_delivered: 60 * SEGMENT, phase: Phase::Recovery, ..sender.news(left) };
    sender.una += left;
    sender.resume.on_ack(&repaired);
    assert_eq!(sender.ssthresh(), (30.0 + 60.0) / 2.0);
}

#[test]
fn a_timeout_ends_it_in_every_phase() {
    // §3.6.
    let retreated = || {
        let mut sender = Sender::validating();
        sender.congestion(Cause::Loss);
        sender
    };
    for mut sender in [Sender::jumped(), Sender::validating(), retreated()] {
        let pipe = sender.resume.pipe_size() as f64 / SEGMENT as f64;
        sender.congestion(Cause::Timeout);
        assert_eq!((sender.resume.stage, sender.window()), (Stage::Normal, 1.0));
        assert_eq!(sender.ssthresh(), pipe / 2.0);
    }
}

#[test]
fn an_idle_time_ends_it_with_what_the_path_has_carried() {
    let mut sender = Sender::jumped();
    sender.acknowledge(29);
    sender.resume.on_idle(sender.now, 1_000 * SEGMENT, 0);
    assert_eq!((sender.resume.stage, sender.window()), (Stage::Normal, 29.0));
}

#[test]
fn every_algorithm_with_a_window_resumes() {
    for entry in crate::congestion::catalog() {
        let choice = Choice::named(entry.name);
        if !choice.is_window_based() {
            continue;
        }
        let name = entry.name;
        let mut sender = Sender::jumped_with(name);
        if name == "hybla" {
            // At 600 ms its slow start is faster than the jump.
            assert!(sender.resume.stage == Stage::Normal && sender.window() > 150.0);
            continue;
        }
        assert_eq!(sender.window(), 150.0, "{name}");
        sender.send(121);
        sender.acknowledge(1);
        assert_eq!(sender.window(), 149.0, "{name}: validates the data in flight");
        let mut sender = Sender::validating_with(name);
        sender.congestion(Cause::Loss);
        assert_eq!(sender.window(), 15.0, "{name}: half of 30");
        let left = sender.nxt - sender.una;
        sender.acknowledge(left);
        let (window, threshold) = (sender.window(), sender.ssthresh());
        assert!(window <= 15.01 && threshold <= 150.0, "{name}: {window} to {threshold}");
        assert_eq!(sender.resume.stage, Stage::Normal, "{name}");
    }
    for name in ["bbr", "bbr3", "copa", "ledbat", "none", "noordwijk", "peach", "peach+", "tahoe", "wave"] {
        assert!(!Choice::named(name).is_window_based(), "{name}");
    }
    for name in ["newreno", "cubic", "hybla", "westwood+", "vegas", "dctcp"] {
        assert!(Choice::named(name).is_window_based(), "{name}");
    }
}
