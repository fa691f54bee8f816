//! Worked examples: transfers under random loss against closed forms, and the acknowledgement of few packets.

mod path;

use lightlag_control::congestion::Choice;
use lightlag_core::RandomStream;
use lightlag_quic::Config;
use path::{Fate, Path, at};

/// Returns the mean time in seconds of a download of 10 MiB over 600 ms with 1 % loss.
fn lossy_download(name: &str) -> f64 {
    let seeds = 8;
    let times = (0..seeds).map(|seed| {
        let mut random = RandomStream::new(seed, "loss");
        let config = Config { congestion: Choice::named(name), ..Config::default() };
        let mut path = Path::new(config, 300).with_rates(20.0, 20.0).with_rule(move |logged| {
            let is_data = logged.from == path::SERVER;
            if is_data && random.uniform() < 0.01 { Fate::Drop } else { Fate::Deliver }
        });
        path.logs = false;
        path.download(10 << 20, at(3_000_000)).expect("a download").as_secs_f64()
    });
    times.sum::<f64>() / seeds as f64
}

#[test]
fn reno_and_cubic_take_the_times_of_the_closed_forms_at_one_percent_loss() {
    // 10 MiB in packets of 1158 B: 9,055 packets. Reno: √(1.5/p) = 12.2 packets per round trip, 444 s. CUBIC: 1.054
    // (RTT/p)^¾ = 22.7 packets, 239 s. aioquic took 438 and 209 s.
    for (name, expected) in [("newreno", 444.0), ("cubic", 239.0)] {
        let time = lossy_download(name);
        println!("{name}: {time:.1} s");
        assert!((time / expected - 1.0).abs() < 0.2, "{name}: {time} s instead of {expected}");
    }
}
