use super::*;
use lightlag_scenario::parse_toml;

/// Returns a flow with these keys in its table.
fn flow(keys: &str) -> Flow {
    let text = format!(
        "duration = \"10 s\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\n{keys}\n"
    );
    let scenario = parse_toml(&text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}\nin\n{text}"));
    scenario.expand().unwrap().flows.remove(0)
}

/// Returns up to `max` messages with their times and sizes in bytes.
fn messages(keys: &str, max: usize) -> Vec<(Instant, u64)> {
    let mut source = TrafficSource::new(&flow(keys), 1).unwrap();
    let mut sent = Vec::new();
    while let Some(at) = source.next().filter(|_| sent.len() < max) {
        sent.push((at, source.take()));
    }
    sent
}

fn seconds(messages: &[(Instant, u64)]) -> Vec<f64> {
    messages.iter().map(|(at, _)| at.as_secs_f64()).collect()
}

/// Returns the mean and the variance of the values.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0))
}

#[test]
fn a_constant_rate_is_exact_over_any_time() {
    // 8000 bit at 3 Mbit/s: 2.666… ms, which no sum of integer nanoseconds equals.
    let sent = messages("traffic = { kind = \"constant\", rate = \"3 Mbit/s\" }\nstart = \"1 s\"", 30_001);
    assert_eq!(sent[0], (Instant::from_nanos(1_000_000_000), 1000));
    assert_eq!(sent[1].0.as_nanos(), 1_002_666_666);
    assert_eq!(sent[30_000].0.as_nanos(), 81_000_000_000);
}

#[test]
fn a_transfer_a_count_and_a_stop_end_a_source() {
    let sizes = |keys| messages(keys, 1_000).iter().map(|(_, size)| *size).collect::<Vec<_>>();
    let constant = "traffic = { kind = \"constant\", rate = \"8 Mbit/s\" }\ntransfer = \"2500 B\"";
    assert_eq!(sizes(constant), [1000, 1000, 500]);
    assert_eq!(sizes("traffic = { kind = \"periodic\", size = \"7 B\", every = \"1 s\", count = 3 }"), [7; 3]);
    // At 1, 2 and 3 ms; not at 4.
    let stop = "traffic = { kind = \"constant\", rate = \"8 Mbit/s\", stop = \"4 ms\" }\nstart = \"1 ms\"";
    assert_eq!(sizes(stop).len(), 3);
    let late = sizes("traffic = { kind = \"constant\", rate = \"8 Mbit/s\", stop = \"1 s\" }\nstart = \"1 s\"");
    assert!(late.is_empty(), "{late:?}");
}

#[test]
fn on_and_off_alternate_without_losing_a_part_of_a_message() {
    // A message takes 400 ms of being on; on for 1 s, off for 3 s: 0, 0.4, 0.8 | 4.2, 4.6 | 8.0, 8.4, 8.8 | 12.2 ...
    let keys = "traffic = { kind = \"on_off\", rate = \"20 kbit/s\", on = \"1 s\", off = \"3 s\" }";
    assert_eq!(seconds(&messages(keys, 9)), [0.0, 0.4, 0.8, 4.2, 4.6, 8.0, 8.4, 8.8, 12.2]);
}

#[test]
fn on_off_times_have_the_rate_that_follows_from_their_means() {
    // Means of 50 and 150 ms, so 1/4 of 1 Mbit/s; exponential, and Pareto with shape 2.5.
    for law in ["distribution = \"exponential\"", "distribution = \"pareto\", shape = 2.5"] {
        let keys = format!(
            "traffic = {{ kind = \"on_off\", rate = \"1 Mbit/s\", size = \"100 B\", on = {{ {law}, mean = \"50 ms\" }}, \
             off = {{ {law}, mean = \"150 ms\" }} }}"
        );
        let found = messages(&keys, 1_000_000);
        let rate = found.len() as f64 * 800.0 / found.last().unwrap().0.as_secs_f64();
        assert!((rate / 250e3 - 1.0).abs() < 0.02, "{law}: {rate}");
    }
}

#[test]
fn messages_of_poisson_come_independently() {
    let keys = "traffic = { kind = \"poisson\", every = \"20 ms\", size = { distribution = \"exponential\", \
                mean = \"500 B\" } }";
    let sent = messages(keys, 100_001);
    let times = seconds(&sent);
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (mean, variance) = moments(&gaps);
    // 99 % intervals: of the mean ± 2.576·σ/√n, of the variance by the fourth moment, Var(s²) = 8·σ⁴/n.
    assert!((mean - 0.02).abs() < 2.576 * 0.02 / 316.2, "gaps of {mean} s");
    assert!((variance - 4e-4).abs() < 2.576 * 4e-4 * (8.0_f64 / 1e5).sqrt(), "variance {variance}");
    // Counts in windows of 1 s have the mean 50 and the same variance.
    let mut counts = vec![0.0; times[100_000] as usize];
    times.iter().for_each(|at| counts.get_mut(*at as usize).into_iter().for_each(|count| *count += 1.0));
    let (mean, variance) = moments(&counts);
    let n = counts.len() as f64;
    assert!((mean - 50.0).abs() < 2.576 * (50.0 / n).sqrt(), "{mean} a second");
    assert!((variance / 50.0 - 1.0).abs() < 2.576 * (2.0 / n).sqrt() * 1.1, "{variance}");
    let sizes: Vec<f64> = sent.iter().map(|(_, size)| *size as f64).collect();
    let (mean, _) = moments(&sizes);
    assert!((mean - 500.0).abs() < 2.576 * 500.0 / 316.2, "{mean} B");
}

#[test]
fn a_burst_is_many_simultaneous_messages() {
    let burst =
        "traffic = { kind = \"burst\", size = \"50 B\", messages = 4, every = \"2 s\", first = \"1 s\", count = 2 }";
    assert_eq!(seconds(&messages(burst, 100)), [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]);
    assert_eq!(messages("traffic = { kind = \"burst\", size = \"50 B\", messages = 4 }", 100).len(), 4, "once");
}

#[test]
fn flows_draw_on_their_own() {
    let keys = "traffic = { kind = \"poisson\", size = \"1 kB\", every = \"1 s\" }";
    assert_eq!(messages(keys, 50), messages(keys, 50));
    assert_ne!(messages(keys, 50), messages(&format!("{keys}\nname = \"another\""), 50));
}
