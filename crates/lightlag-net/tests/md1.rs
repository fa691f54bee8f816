//! A link with Poisson arrivals of packets of one size is an M/D/1 queue, for which closed forms are known.
//!
//! With the load ρ = λ·8·B/R (Kleinrock, Queueing Systems I, 1975, §5.6): the mean number of waiting packets is
//! `ρ²/(2(1−ρ))`, the utilisation is `ρ`, and an arrival finds the link idle with probability `1−ρ`. With a buffer for
//! n waiting packets the queue is M/D/1/n+1, which is solved here with its embedded Markov chain.

use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::{ComputedLink, EndpointId, LinkConfig, Loss, LossProcess, NodeId, Packet, PacketFlags, QueueLimit};

/// Service time of a packet: 1000 B at 8 Mbit/s.
const SERVICE: Duration = Duration::from_millis(1);
const BATCHES: usize = 50;
const ARRIVALS_PER_BATCH: usize = 10_000;
/// Student's t for 49 degrees of freedom, two-sided 99 %.
const T_99: f64 = 2.680;

/// Results of one batch of arrivals.
struct Batch {
    /// Mean number of waiting packets, excluding the one in transmission.
    waiting: f64,
    /// Fraction of the time in which the link transmitted.
    busy: f64,
    /// Fraction of the arrivals that found the link idle.
    found_idle: f64,
    /// Fraction of the arrivals that the queue dropped.
    refused: f64,
}

/// Returns the results of batches of Poisson arrivals with load `rho` at a link whose queue holds `limit` packets.
fn batches(rho: f64, limit: u64) -> Vec<Batch> {
    let config = LinkConfig {
        rate: "8 Mbit/s".parse().unwrap(),
        delay: Duration::from_millis(300),
        queue: QueueLimit::Packets(limit),
        header: 0,
    };
    let random = |name| RandomStream::new(1, name);
    let mut link = ComputedLink::new(config, LossProcess::new(&Loss::None, random("errors")));
    let mut arrivals = random("arrivals");
    let mean_gap = Duration::from_secs_f64(SERVICE.as_secs_f64() / rho);
    let packet = Packet::new(NodeId(1), EndpointId(0), 1000, PacketFlags::new(true), ());
    let (mut now, mut before) = (Instant::ZERO, link.totals(Instant::ZERO));
    let mut batches = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let (start, mut idle, mut refused) = (now, 0, 0);
        for _ in 0..ARRIVALS_PER_BATCH {
            now += arrivals.exponential(mean_gap);
            while link.next_arrival().is_some_and(|at| at <= now) {
                link.receive();
            }
            // Accepted without a wait: nothing was in transmission.
            let waited = link.totals(Instant::from_nanos(u64::MAX / 2)).queued;
            match link.send(now, &packet) {
                Ok(()) if link.totals(Instant::from_nanos(u64::MAX / 2)).queued == waited => idle += 1,
                Ok(()) => {}
                Err(_) => refused += 1,
            }
        }
        let (totals, elapsed) = (link.totals(now), now.since(start).as_nanos() as f64);
        batches.push(Batch {
            waiting: (totals.queued - before.queued) as f64 / elapsed,
            busy: (totals.busy - before.busy) as f64 / elapsed,
            found_idle: f64::from(idle) / ARRIVALS_PER_BATCH as f64,
            refused: f64::from(refused) / ARRIVALS_PER_BATCH as f64,
        });
        before = totals;
    }
    batches
}

/// Asserts that `expected` lies within the 99 % confidence interval of the batch means. A batch is much longer than the
/// correlation time of the queue, so the batches are nearly independent.
fn assert_mean(what: &str, batches: &[Batch], value: impl Fn(&Batch) -> f64, expected: f64) {
    let n = batches.len() as f64;
    let mean = batches.iter().map(&value).sum::<f64>() / n;
    let variance = batches.iter().map(|batch| libm::pow(value(batch) - mean, 2.0)).sum::<f64>() / (n - 1.0);
    let half_width = T_99 * (variance / n).sqrt();
    assert!((mean - expected).abs() <= half_width, "{what}: {mean} ± {half_width}, closed form {expected}");
    assert!(half_width < 0.07 * expected, "{what}: ± {half_width} tests nothing about {expected}");
}

#[test]
fn the_mean_queue_matches_m_d_1() {
    for rho in [0.3, 0.5, 0.7, 0.9] {
        let batches = batches(rho, 1_000_000);
        assert_mean(&format!("waiting at load {rho}"), &batches, |b| b.waiting, rho * rho / (2.0 * (1.0 - rho)));
        assert_mean(&format!("busy at load {rho}"), &batches, |b| b.busy, rho);
        assert_mean(&format!("idle at load {rho}"), &batches, |b| b.found_idle, 1.0 - rho);
        assert!(batches.iter().all(|batch| batch.refused == 0.0), "an unlimited queue rejects no packet");
    }
}

/// Returns the fraction of arrivals that an M/D/1 queue drops if it holds at most `capacity` packets, including the one
/// in service.
///
/// The embedded chain at departures has π(j+1) = (π(j) − π(0)·a(j) − Σ π(i)·a(j−i+1)) / a(0), with a(k) the probability
/// of k arrivals in one service time; the dropped fraction is 1 − 1/(π(0) + ρ) (Gross and Harris §5.1.8).
fn refused_share(rho: f64, capacity: usize) -> f64 {
    let mut a = vec![libm::exp(-rho)];
    for k in 1..=capacity {
        a.push(a[k - 1] * rho / k as f64);
    }
    let mut pi = vec![1.0];
    for j in 0..capacity - 1 {
        let reached: f64 = (1..=j).map(|i| pi[i] * a[j - i + 1]).sum();
        pi.push((pi[j] - pi[0] * a[j] - reached) / a[0]);
    }
    1.0 - 1.0 / (pi[0] / pi.iter().sum::<f64>() + rho)
}

#[test]
fn a_full_queue_drops_the_fraction_of_m_d_1_k() {
    // A queue of 1: capacity 2, π(0) = a(0) = e^−ρ after normalising, so at load 1: 1 − 1/(e^−1 + 1) = 0.2689.
    assert!((refused_share(1.0, 2) - 0.268_941).abs() < 1e-6);
    for (rho, limit) in [(0.8, 1), (0.9, 4), (1.0, 1), (1.0, 10), (1.5, 3)] {
        let batches = batches(rho, limit);
        let expected = refused_share(rho, limit as usize + 1);
        assert_mean(&format!("rejected at load {rho}, queue {limit}"), &batches, |b| b.refused, expected);
        assert_mean(&format!("busy at load {rho}, queue {limit}"), &batches, |b| b.busy, rho * (1.0 - expected));
    }
}
