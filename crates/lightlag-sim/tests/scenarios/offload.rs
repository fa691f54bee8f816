//! Bursts that are received as one buffer (`receive_offload`).

use crate::text::run;
use lightlag_sim::RunResult;

/// Transfers 2 MB with CUBIC over 10 Mbit/s and 100 ms.
fn transfer(offload: bool, loss: &str, seed: u64) -> RunResult {
    run(&format!(
        "duration = \"300 s\"\nseed = {seed}\n[defaults.tcp]\nprofile = \"linux\"\nreceive_offload = {offload}\n\
         [[links]]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"50 ms\"\n{loss}\n\
         [[flows]]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"2 MB\"\n"
    ))
}

#[test]
fn a_burst_gets_at_most_one_ack() {
    // Out of order, Linux acknowledges each segment, but with offload each buffer: two segments at these rates.
    let acks = |offload| -> u64 {
        (1..=5).map(|seed| transfer(offload, "loss = { bursts = 0.02 }", seed).summary.links[1].carried_bytes).sum()
    };
    let (whole, single) = (acks(true), acks(false));
    assert!(whole < single, "{whole} B of ACKs with offload, {single} B without");
}

#[test]
fn transfers_end_if_parts_of_bursts_are_lost() {
    for seed in 1..=30 {
        let flow = &transfer(true, "loss = 0.03", seed).summary.flows[0];
        assert_eq!(flow.delivered_bytes, 2_000_000, "seed {seed}");
    }
}
