//! BtlBw: the largest delivery rate of the last rounds.
//!
//! The draft specifies the exact maximum. Linux (`minmax_running_max`) keeps three rates: the largest, the largest
//! since that one, and the largest since the second. A new rate replaces the kept rates that are not larger. A rate
//! older than the window of rounds is replaced by the next, so that a rate counts for one round more than in the draft.
//! The second and the third are replaced by the new rate if they equal the first and a quarter or half of the window
//! has passed. After the rate has fallen, the result can therefore be below the exact maximum.

use crate::congestion::path_model::MaxFilter;

/// Delivery rates by round, and their maximum.
#[derive(Clone, Debug)]
pub(super) enum Bandwidth {
    /// The exact maximum, as in the draft.
    Exact(MaxFilter),
    /// The three rates of Linux: pairs of round and rate, in descending order of rates.
    Running([(u64, f64); 3]),
}

impl Bandwidth {
    /// Creates a filter without a rate: Linux's if `linux`, otherwise the exact one.
    pub(super) fn new(linux: bool) -> Self {
        if linux { Self::Running([(0, 0.0); 3]) } else { Self::Exact(MaxFilter::default()) }
    }

    /// Returns the maximum; zero before the first rate.
    pub(super) fn max(&self) -> f64 {
        match self {
            Self::Exact(filter) => filter.max(),
            Self::Running([(_, rate), ..]) => *rate,
        }
    }

    /// Forgets all rates but this one, of this round.
    pub(super) fn reset(&mut self, round: u64, rate: f64) {
        match self {
            Self::Exact(filter) => {
                *filter = MaxFilter::default();
                filter.update(round, rate, 1);
            }
            Self::Running(best) => *best = [(round, rate); 3],
        }
    }

    /// Adds the rate of a sample in this round. A rate counts for `rounds` rounds.
    pub(super) fn update(&mut self, round: u64, rate: f64, rounds: u64) {
        match self {
            Self::Exact(filter) => filter.update(round, rate, rounds),
            Self::Running(best) => run(best, (round, rate), rounds),
        }
    }
}

fn run(best: &mut [(u64, f64); 3], new: (u64, f64), rounds: u64) {
    let (round, rate) = new;
    let is_old = |(at, _): (u64, f64)| round - at > rounds;
    if rate >= best[0].1 || is_old(best[2]) {
        *best = [new; 3];
        return;
    }
    if rate >= best[1].1 {
        (best[1], best[2]) = (new, new);
    } else if rate >= best[2].1 {
        best[2] = new;
    }
    if is_old(best[0]) {
        let kept = usize::from(is_old(best[1])) + 1;
        best.rotate_left(kept);
        best[3 - kept..].fill(new);
        return;
    }
    let age = round - best[0].0;
    if best[1].0 == best[0].0 && age > rounds / 4 {
        (best[1], best[2]) = (new, new);
    } else if best[2].0 == best[1].0 && age > rounds / 2 {
        best[2] = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(linux: bool, rates: &[f64]) -> Vec<f64> {
        let mut bandwidth = Bandwidth::new(linux);
        let one = |(round, rate): (u64, &f64)| {
            bandwidth.update(round, *rate, 10);
            bandwidth.max()
        };
        (0..).zip(rates).map(one).collect()
    }

    #[test]
    fn a_rate_counts_in_ten_rounds_and_in_linux_in_eleven() {
        let rates: Vec<f64> = std::iter::once(9.0).chain([3.0; 14]).collect();
        let rounds_at_nine = |linux| of(linux, &rates).iter().filter(|max| **max == 9.0).count();
        assert_eq!((rounds_at_nine(false), rounds_at_nine(true)), (10, 11));
    }

    #[test]
    fn the_filter_of_linux_can_forget_a_rate_between_two_others() {
        // The second is of round 3, a quarter of the window after the first; 5 of round 1 is not kept.
        let mut rates = vec![9.0, 5.0, 1.0, 2.0];
        rates.resize(12, 1.0);
        assert_eq!(of(true, &rates)[11], 2.0);
        let mut rates = vec![9.0, 1.0, 1.0, 5.0, 4.0];
        rates.resize(15, 1.0);
        let found = of(true, &rates);
        assert_eq!((found[10], found[11], found[13], found[14]), (9.0, 5.0, 5.0, 1.0));
    }

    #[test]
    fn a_larger_rate_replaces_all_and_a_long_silence_forgets_them() {
        let mut bandwidth = Bandwidth::new(true);
        assert_eq!(bandwidth.max(), 0.0);
        for (round, rate, max) in [(0, 5.0, 5.0), (1, 4.0, 5.0), (2, 6.0, 6.0), (3, 2.0, 6.0), (14, 1.0, 1.0)] {
            bandwidth.update(round, rate, 10);
            assert_eq!(bandwidth.max(), max, "in round {round}");
        }
    }
}
