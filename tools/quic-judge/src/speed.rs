//! Time for a download over a geostationary path in both stacks, in the same network without a log.

use crate::examples::download;
use crate::lightlag::Lightlag;
use crate::network::{Pair, complete};
use crate::pattern::Pattern;
use crate::quinn::Quinn;
use lightlag_quic::Profile;
use std::time::{Duration, Instant};

/// Runs of each stack. The shortest one counts.
const ROUNDS: usize = 9;

#[expect(clippy::disallowed_methods, reason = "the time of the computer is measured")]
fn measure(pattern: &Pattern, create: impl Fn() -> Box<dyn Pair>) -> (u64, Duration) {
    let once = |_| {
        let mut pair = create();
        let start = Instant::now();
        let datagrams = complete(&mut *pair, pattern);
        (datagrams, start.elapsed())
    };
    (0..ROUNDS).map(once).min_by_key(|(_, time)| *time).expect("several runs")
}

/// Returns the comparison in one line.
pub fn line() -> String {
    let pattern = download(10 << 20, "cubic", 0.0, 1);
    let (datagrams, theirs) = measure(&pattern, || Box::new(Quinn::new(&pattern).without_contents()));
    let none = || [Vec::new(), Vec::new()];
    let (ours_sent, ours) =
        measure(&pattern, || Box::new(Lightlag::new(&pattern, Profile::Quinn, none()).without_contents()));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    format!(
        "10 MiB over GEO in virtual time, in the same network: quinn-proto {:.1} ms ({datagrams} datagrams), \
         lightlag-quic {:.1} ms ({ours_sent}): {:.1} times as fast",
        ms(theirs),
        ms(ours),
        theirs.as_secs_f64() / ours.as_secs_f64()
    )
}
