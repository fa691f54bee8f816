//! Assumed causes of losses: packets that a link corrupted are sent again, and nothing else changes.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_core::Codepoint;
use lightlag_quic::Config;
use lightlag_transport::Inspect;
use path::{Fate, Path, SERVER, at, ms};

/// Returns a path on which every `lost`-th packet of the server is lost, and every `marked`-th one marked.
fn lossy(config: Config, lost: u64, marked: u64) -> Path {
    let mut count = 0;
    Path::new(config, 50).with_rates(10.0, 10.0).with_rule(move |logged| {
        if logged.from != SERVER || logged.time < at(1_000) {
            return Fate::Deliver;
        }
        count += 1;
        match count {
            _ if count % lost == 0 => Fate::Drop,
            _ if count % marked == 0 => Fate::Mark,
            _ => Fate::Deliver,
        }
    })
}

fn config(congestion: &str, loss_assumption: LossAssumption) -> Config {
    Config { congestion: Choice::named(congestion), ecn: Codepoint::Ect0, loss_assumption, ..Config::default() }
}

#[test]
fn corruption_leaves_the_window_and_the_throughput() {
    for congestion in ["newreno", "cubic", "bbr3"] {
        let run = |assumption, lost| {
            let mut path = lossy(config(congestion, assumption), lost, u64::MAX);
            // No queue overflows: corruption would be assumed for that too.
            path.links[SERVER].max_queue = ms(20_000);
            let time = path.download(4_000_000, at(120_000)).expect("a download").as_secs_f64();
            (time, path.ends[SERVER].statistics())
        };
        let (clean, _) = run(LossAssumption::Congestion, u64::MAX);
        let (kept, statistics) = run(LossAssumption::Corruption, 50);
        // Each 50th packet is sent again.
        assert!(kept / clean < 1.1, "{congestion}: {kept} s and {clean} s");
        assert!(statistics.retransmitted_segments > 60, "{congestion}: {}", statistics.retransmitted_segments);
        assert_eq!((statistics.recoveries, statistics.undone), (0, 0), "{congestion}");
        if congestion != "bbr3" {
            let (reduced, statistics) = run(LossAssumption::Congestion, 50);
            assert!(reduced > 1.5 * kept && statistics.recoveries > 10, "{congestion}: {reduced} s");
        }
    }
}

#[test]
fn a_mark_overrides_the_assumption_for_a_round_trip() {
    // With a mark in every round trip, all losses are congestion.
    let run = |marked| {
        let mut path = lossy(config("newreno", LossAssumption::Corruption), 100, marked);
        path.links[SERVER].max_queue = ms(20_000);
        path.download(1_000_000, at(120_000)).expect("a download");
        path.ends[SERVER].statistics()
    };
    let none = run(u64::MAX);
    assert_eq!((none.recoveries, none.mark_reactions), (0, 0));
    let some = run(3);
    assert!(some.mark_reactions > 10 && some.recoveries > 0, "{} and {}", some.mark_reactions, some.recoveries);
}
