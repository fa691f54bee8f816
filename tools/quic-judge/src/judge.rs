//! Runs patterns in both implementations.

use crate::compare::{Outcome, compare};
use crate::lightlag::Lightlag;
use crate::network::{Logged, run};
use crate::pattern::{CLASSES, Pattern, all};
use crate::quinn::Quinn;
use lightlag_quic::{Profile, SpaceId};
use std::fmt::Write;

/// Returns the packet numbers that each end left out in the application space.
fn skipped(log: &[Logged]) -> [Vec<u64>; 2] {
    let mut skipped = [Vec::new(), Vec::new()];
    let mut next = [0; 2];
    for logged in log {
        for part in logged.contents.parts.iter().filter(|part| part.kind.space() == Some(SpaceId::Application)) {
            skipped[logged.from].extend(next[logged.from]..part.number);
            next[logged.from] = part.number + 1;
        }
    }
    skipped
}

/// Runs a pattern with lightlag-quic in the profile `quinn` and with quinn-proto, and returns both logs. The random
/// decisions of quinn are given to lightlag-quic: the packet numbers that it leaves out, and when it discards old keys
/// after a key update.
pub fn quinn_logs(pattern: &Pattern) -> (Vec<Logged>, Vec<Logged>) {
    let mut quinn = Quinn::new(pattern);
    let theirs = run(&mut quinn, pattern, &[]);
    let ours = run(&mut Lightlag::new(pattern, Profile::Quinn, skipped(&theirs)), pattern, quinn.discards());
    (ours, theirs)
}

/// Runs all patterns, `times` as many as in [`CLASSES`].
pub fn quinn_all(times: u64) -> Vec<(Pattern, Outcome)> {
    all(times)
        .into_iter()
        .map(|pattern| {
            let (ours, theirs) = quinn_logs(&pattern);
            let outcome = compare(&ours, &theirs);
            (pattern, outcome)
        })
        .collect()
}

/// Returns the table of agreement by class.
pub fn table(outcomes: &[(Pattern, Outcome)]) -> String {
    let mut text = String::from(
        "| class | patterns | agree | datagrams compared | worst difference of time |\n|---|--:|--:|--:|--:|\n",
    );
    for (class, _) in CLASSES {
        let of_class = || outcomes.iter().filter(|(pattern, _)| pattern.class == class).map(|(_, outcome)| outcome);
        if of_class().count() == 0 {
            continue;
        }
        let agree = of_class().filter(|outcome| outcome.difference.is_none()).count();
        let datagrams: usize = of_class().map(|outcome| outcome.agreed).sum();
        let worst = of_class().map(|outcome| outcome.worst).max().unwrap_or(0);
        _ = writeln!(
            text,
            "| {class} | {} | {agree} | {datagrams} | {:.3} ms |",
            of_class().count(),
            worst as f64 / 1e6
        );
    }
    text
}
