//! lightlag-quic in the profile `quinn` sends the packets of quinn-proto, at the same times.

use lightlag_quic_judge::judge;

#[test]
fn four_hundred_patterns_agree_in_every_packet() {
    let outcomes = judge::quinn_all(1);
    print!("{}", judge::table(&outcomes));
    assert_eq!(outcomes.len(), 400);
    let differences: Vec<String> = outcomes
        .iter()
        .filter_map(|(pattern, outcome)| {
            let difference = outcome.difference.as_ref()?;
            Some(format!("{} {}: after {} datagrams\n{difference}", pattern.class, pattern.seed, outcome.agreed))
        })
        .collect();
    assert!(differences.is_empty(), "{} patterns differ:\n{}", differences.len(), differences.join("\n"));
}
