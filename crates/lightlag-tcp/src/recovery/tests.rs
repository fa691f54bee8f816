use super::*;
use crate::scoreboard::Delivery;
use lightlag_control::congestion::Cause;
use lightlag_core::{Duration, Instant};

const SIZE: u64 = 1_000;

fn news(delivery: &Delivery, newly_acked: u64, duplicate: bool) -> AckInfo<'_> {
    AckInfo {
        now: Instant::ZERO,
        newly_acked,
        duplicate,
        delivery,
        dsack: None,
        echoed: None,
        srtt: Duration::ZERO,
        min_rtt: Duration::MAX,
        snack: None,
    }
}

/// Passes an ACK to the recovery, as the sender does.
fn on_ack(recovery: &mut Recovery, board: &mut Scoreboard, news: &AckInfo<'_>) -> Verdict {
    let in_order = news.newly_acked > 0 && news.dsack.is_none();
    if in_order && recovery.follow(news.now, news.delivery, board) {
        return Verdict::default();
    }
    recovery.judge(board, news)
}

fn duplicate(recovery: &mut Recovery, board: &mut Scoreboard) -> Verdict {
    on_ack(recovery, board, &news(&Delivery::default(), 0, true))
}

/// Returns a sender with `segments` in flight.
fn sender(scheme: Scheme, segments: u64) -> (Recovery, Scoreboard) {
    let mut board = Scoreboard::new(SIZE as u32);
    (0..segments).for_each(|_| board.sent(Instant::ZERO, SIZE as u32, false));
    let rules = RepairRules {
        guesses: false,
        scheme,
        limited_transmit: true,
        prr: false,
        rate_halving: false,
        rtt_by_offset: false,
        impatient: true,
        reductions: Reductions::Rfc,
        signs: Signs::default(),
    };
    (Recovery::new(rules), board)
}

fn acknowledge(recovery: &mut Recovery, board: &mut Scoreboard, segments: u64) -> Verdict {
    board.acknowledge(board.una() + segments * SIZE, &mut Delivery::default());
    on_ack(recovery, board, &news(&Delivery::default(), segments * SIZE, false))
}

/// Retransmits the first segment, as the sender does if `resend_head` is set.
fn resend(board: &mut Scoreboard) {
    let head = board.head().unwrap();
    board.retransmit(head, Instant::ZERO);
}

#[test]
fn the_new_reno_vector() {
    // FlightSize 10,000; the third duplicate: ssthresh 5,000, window 8,000.
    let (mut recovery, mut board) = sender(Scheme::NewReno, 10);
    assert_eq!(duplicate(&mut recovery, &mut board).began, None);
    assert_eq!(duplicate(&mut recovery, &mut board).began, None);
    let verdict = duplicate(&mut recovery, &mut board);
    assert_eq!((verdict.began, verdict.resend_head), (Some(10_000), true));
    resend(&mut board);
    let ssthresh = 5_000;
    assert_eq!(recovery.window(ssthresh), 8_000);
    for _ in 0..3 {
        duplicate(&mut recovery, &mut board);
    }
    assert_eq!(recovery.window(ssthresh), 11_000);
    assert_eq!(board.pipe(), 10_000, "the pipe is FlightSize without SACK");
    // A partial ACK of two segments: 11,000 − 2,000 + 1,000.
    let verdict = acknowledge(&mut recovery, &mut board, 2);
    assert_eq!(recovery.window(ssthresh), 10_000);
    assert!(verdict.resend_head && !verdict.keep_timer, "the first partial ACK restarts the timer");
    resend(&mut board);
    assert!(acknowledge(&mut recovery, &mut board, 1).keep_timer, "the second does not");
    resend(&mut board);
    // The full ACK: ssthresh.
    assert!(acknowledge(&mut recovery, &mut board, 7).ended);
    assert_eq!((recovery.window(ssthresh), recovery.phase()), (5_000, Phase::Open));
}

#[test]
fn a_partial_ack_leaves_one_segment_of_the_window() {
    // Three duplicates arrive, the others are lost; then 20 segments are acknowledged together: 5,000 + 3,000 − 20,000
    // is below zero, and one segment is added back.
    let (mut recovery, mut board) = sender(Scheme::NewReno, 30);
    for _ in 0..3 {
        duplicate(&mut recovery, &mut board);
    }
    resend(&mut board);
    assert!(acknowledge(&mut recovery, &mut board, 20).resend_head);
    recovery.limit_deflation(&board, 5_000);
    assert_eq!(recovery.window(5_000), 1_000);
    duplicate(&mut recovery, &mut board);
    assert_eq!(recovery.window(5_000), 2_000);
    // An algorithm that keeps control of its window lowers it to 3,000: 3,000 − 3,000 is again below a segment.
    recovery.limit_deflation(&board, 3_000);
    assert_eq!(recovery.window(3_000), 1_000);
}

#[test]
fn limited_transmit_adds_two_segments_and_counts_in_no_flight_size() {
    let (mut recovery, mut board) = sender(Scheme::NewReno, 10);
    for extra in [1_000, 2_000] {
        duplicate(&mut recovery, &mut board);
        assert_eq!(recovery.window(10_000), 10_000 + extra);
        board.sent(Instant::ZERO, SIZE as u32, false);
    }
    assert_eq!(duplicate(&mut recovery, &mut board).began, Some(10_000));
}

#[test]
fn reno_ends_with_the_first_new_ack() {
    let (mut recovery, mut board) = sender(Scheme::Reno, 10);
    for _ in 0..5 {
        duplicate(&mut recovery, &mut board);
    }
    assert_eq!(recovery.window(5_000), 10_000);
    assert!(acknowledge(&mut recovery, &mut board, 2).ended);
    assert_eq!((recovery.window(5_000), recovery.phase()), (5_000, Phase::Open));
}

#[test]
fn after_a_timeout_duplicates_of_old_data_start_no_recovery() {
    for scheme in [Scheme::Reno, Scheme::NewReno] {
        let (mut recovery, mut board) = sender(scheme, 10);
        assert_eq!(recovery.on_timeout(Instant::ZERO, &mut board, 10_000, Duration::ZERO), (Cause::Timeout, 10_000));
        for _ in 0..5 {
            assert_eq!(duplicate(&mut recovery, &mut board), Verdict::default());
        }
        assert!(acknowledge(&mut recovery, &mut board, 10).ended);
    }
}

#[test]
fn new_reno_needs_more_than_recover_for_the_next_episode() {
    let (mut recovery, mut board) = sender(Scheme::NewReno, 10);
    for _ in 0..3 {
        duplicate(&mut recovery, &mut board);
    }
    (0..10).for_each(|_| board.sent(Instant::ZERO, SIZE as u32, false));
    assert!(acknowledge(&mut recovery, &mut board, 10).ended);
    // RFC 6582 §3.2 step 1: the ACK covers exactly `recover`.
    let began = (0..4).any(|_| duplicate(&mut recovery, &mut board).began.is_some());
    assert!(!began);
    acknowledge(&mut recovery, &mut board, 1);
    let began = (0..3).any(|_| duplicate(&mut recovery, &mut board).began.is_some());
    assert!(began);
}

#[test]
fn a_timeout_for_the_same_data_is_a_repeated_one() {
    let (mut recovery, mut board) = sender(Scheme::Sack, 10);
    assert_eq!(recovery.on_timeout(Instant::ZERO, &mut board, 10_000, Duration::ZERO), (Cause::Timeout, 10_000));
    assert_eq!(recovery.on_timeout(Instant::ZERO, &mut board, 1_000, Duration::ZERO), (Cause::RepeatedTimeout, 1_000));
    acknowledge(&mut recovery, &mut board, 1);
    assert_eq!(recovery.on_timeout(Instant::ZERO, &mut board, 2_000, Duration::ZERO), (Cause::Timeout, 2_000));
}

#[test]
fn sack_starts_when_the_head_is_lost_and_ends_at_the_recovery_point() {
    let (mut recovery, mut board) = sender(Scheme::Sack, 10);
    board.sack(crate::scoreboard::Range { start: 1_000, end: 4_000 }, &mut Delivery::default());
    // One ACK that reports three segments is enough (RFC 6675 §5).
    let verdict = duplicate(&mut recovery, &mut board);
    assert_eq!((verdict.began, verdict.resend_head), (Some(10_000), true));
    resend(&mut board);
    assert!(!acknowledge(&mut recovery, &mut board, 4).ended);
    assert_eq!(recovery.window(5_000), 5_000, "no inflation with SACK");
    assert!(acknowledge(&mut recovery, &mut board, 6).ended);
}

#[test]
fn one_rescue_an_episode() {
    let (mut recovery, mut board) = sender(Scheme::Sack, 10);
    board.sack(crate::scoreboard::Range { start: 1_000, end: 4_000 }, &mut Delivery::default());
    assert!(duplicate(&mut recovery, &mut board).resend_head);
    resend(&mut board);
    assert_eq!(recovery.next_speculative(&mut board), None, "the first retransmission is not acknowledged yet");
    acknowledge(&mut recovery, &mut board, 4);
    // Until it is sent: tokens or pacing may delay it.
    assert_eq!(recovery.next_speculative(&mut board), Some((9, true)));
    assert_eq!(recovery.next_speculative(&mut board), Some((9, true)));
    recovery.rescued();
    assert_eq!(recovery.next_speculative(&mut board), None);
}
