//! lightlag-quic in the profile `aioquic` sends the packets of aioquic 1.2.0, at the same times.
//!
//! The logs of aioquic are stored in `aioquic.txt.gz`; `make aioquic-logs` records them again.

use lightlag_quic_judge::compare::compare;
use lightlag_quic_judge::{aioquic, fixture, judge};

const LOGS: &[u8] = include_bytes!("aioquic.txt.gz");

#[test]
fn three_hundred_and_twenty_patterns_agree_in_every_packet() {
    let outcomes = aioquic::outcomes(fixture::unpack(LOGS));
    print!("{}", judge::table(&outcomes));
    assert_eq!(outcomes.len(), 320);
    let differences: Vec<String> = outcomes
        .iter()
        .filter_map(|(pattern, outcome)| {
            let difference = outcome.difference.as_ref()?;
            Some(format!("{} {}: after {} datagrams\n{difference}", pattern.class, pattern.seed, outcome.agreed))
        })
        .collect();
    assert!(differences.is_empty(), "{} patterns differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn a_change_of_a_packet_is_a_difference() {
    let mut records = fixture::unpack(LOGS);
    let record = records.swap_remove(0);
    let theirs = record.log.clone();
    let last = theirs.len() - 1;
    let differs = |change: &dyn Fn(&mut lightlag_quic_judge::network::Logged)| {
        let mut ours = theirs.clone();
        change(&mut ours[last]);
        compare(&ours, &theirs).difference.is_some()
    };
    assert!(!differs(&|_| ()));
    assert!(differs(&|logged| logged.time += 1_000_001));
    assert!(differs(&|logged| logged.size += 1));
    assert!(differs(&|logged| logged.contents.parts[0].number += 1));
    assert!(differs(&|logged| logged.progress.window += 1));
    assert!(differs(&|logged| logged.progress.lost += 1));
    assert!(compare(&theirs[..last], &theirs).difference.is_some());
}
