//! The queue of a single Copa flow on a link with a large buffer.

/// Returns the mean and the maximum number of packets in the queue after slow start.
fn queue(mode: &str, mbps: u32) -> (f64, u64) {
    let result = crate::text::run(&format!(
        r#"
        name = "copa"
        duration = "120 s"
        record = {{ queue = "sampled", interval = "10 ms" }}

        [[links]]
        between = ["a", "b"]
        rate = {{ forward = "{mbps} Mbit/s", backward = "1 Gbit/s" }}
        delay = "50 ms"
        queue = "4000 packets"

        [[flows]]
        from = "a"
        to = "b"

        [flows.tcp]
        profile = "linux"
        congestion = {{ algorithm = "copa", mode = "{mode}" }}
        mss = "1024 B"
        timestamps = false
        delayed_ack = false
        growth = "per_segment"
        tso = false
        receive_buffer = "64 MiB"
        "#
    ));
    let samples = &result.queue;
    let late: Vec<u64> = (0..samples.rows())
        .filter(|&row| samples.time_s.get(row) > 40.0 && samples.link.get(row) == samples.link.get(0))
        .map(|row| samples.packets.get(row))
        .collect();
    assert!(late.len() > 7000, "{} samples", late.len());
    (late.iter().sum::<u64>() as f64 / late.len() as f64, late.into_iter().max().unwrap())
}

#[test]
fn alone_it_leaves_a_few_packets_in_the_queue() {
    // Evenly between 0 and 2.5/delta = 5: 1.25/delta in the mean (Arun, Balakrishnan, NSDI 2018, §3), give or take one.
    for mode in ["auto", "default"] {
        for mbps in [5, 10, 20] {
            let (mean, most) = queue(mode, mbps);
            assert!((1.0..=3.0).contains(&mean) && most <= 6, "{mode}, {mbps} Mbit/s: {mean}, at most {most}");
        }
    }
}
