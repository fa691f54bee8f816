//! Assumed causes of losses: packets that a link corrupted are retransmitted, and nothing else changes.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_core::Codepoint;
use lightlag_quic::Config;
use lightlag_transport::{Inspect, Statistics};
use path::{Fate, Path, SERVER, at, ms};

/// Downloads 4 MB at 10 Mbit/s. `fate` decides about the packets of the server after half a second, by their number.
/// Returns the time in seconds and the counters of the server.
fn download(congestion: &str, assumption: LossAssumption, fate: fn(u64) -> Fate) -> (f64, Statistics) {
    let congestion = Choice::named(congestion);
    let config = Config { congestion, ecn: Codepoint::Ect0, loss_assumption: assumption, ..Config::default() };
    let mut count = 0;
    let mut path = Path::new(config, 50).with_rates(10.0, 10.0).with_rule(move |logged| {
        if logged.from != SERVER || logged.time < at(500) {
            return Fate::Deliver;
        }
        count += 1;
        fate(count)
    });
    // No queue overflows: corruption would be assumed for that too.
    path.links[SERVER].max_queue = ms(20_000);
    let time = path.download(4_000_000, at(300_000)).expect("a download").as_secs_f64();
    (time, path.ends[SERVER].statistics())
}

fn one_in_50(number: u64) -> Fate {
    if number.is_multiple_of(50) { Fate::Drop } else { Fate::Deliver }
}

#[test]
fn corruption_leaves_the_window_and_the_throughput() {
    for congestion in ["newreno", "cubic", "bbr3"] {
        let (clean, _) = download(congestion, LossAssumption::Congestion, |_| Fate::Deliver);
        let (kept, statistics) = download(congestion, LossAssumption::Corruption, one_in_50);
        assert!(kept / clean < 1.1, "{congestion}: {kept} s and {clean} s");
        // One in 50 packets is retransmitted, after half a second.
        assert!(statistics.retransmitted_segments > 40, "{congestion}: {}", statistics.retransmitted_segments);
        assert_eq!((statistics.recoveries, statistics.undone), (0, 0), "{congestion}");
        if congestion != "bbr3" {
            let (reduced, statistics) = download(congestion, LossAssumption::Congestion, one_in_50);
            assert!(reduced > 1.5 * kept && statistics.recoveries > 10, "{congestion}: {reduced} s");
        }
    }
}

#[test]
fn a_mark_overrides_the_assumption_for_a_round_trip() {
    // The first marks of a run start an episode; losses after the last ones are congestion.
    let marks_first = |number: u64| match number % 60 {
        20..36 => Fate::Mark,
        36.. if number.is_multiple_of(3) => Fate::Drop,
        _ => Fate::Deliver,
    };
    let (_, with) = download("newreno", LossAssumption::Corruption, marks_first);
    assert!(with.mark_reactions > 10 && with.recoveries > 0, "{} and {}", with.mark_reactions, with.recoveries);
    let (_, without) = download("newreno", LossAssumption::Corruption, |number| match number % 60 {
        36.. if number.is_multiple_of(3) => Fate::Drop,
        _ => Fate::Deliver,
    });
    assert_eq!((without.mark_reactions, without.recoveries), (0, 0));
}
