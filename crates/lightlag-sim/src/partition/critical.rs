//! The critical path of a partitioned run: the number of events that must be handled one after another, however fast
//! the threads synchronise.

use crate::border::partitioning::Partitioning;

/// Returns the number of events on the critical path of a round, if each lane has a thread that handles the windows in
/// order. `turns` has the number of events in each window, for each partition.
pub(crate) fn events(turns: &[&[u64]], cut: &Partitioning) -> u64 {
    let window = cut.window().as_nanos();
    // For each partition: others that send to it, and the number of windows that it may be ahead of them.
    let sources: Vec<Vec<(usize, usize)>> = (0..turns.len() as u16)
        .map(|to| {
            cut.sources(to).map(|(from, least)| (usize::from(from), (least.as_nanos() / window) as usize)).collect()
        })
        .collect();
    let lanes: Vec<usize> = (0..turns.len()).map(|partition| cut.lane(partition)).collect();
    path(turns, &lanes, &sources)
}

fn path(turns: &[&[u64]], lanes: &[usize], sources: &[Vec<(usize, usize)>]) -> u64 {
    let mut free = vec![0; lanes.iter().max().map_or(0, |last| last + 1)];
    let mut done: Vec<Vec<u64>> = vec![Vec::new(); turns.len()];
    for window in 0..turns.iter().map(|turns| turns.len()).max().unwrap_or(0) {
        for (partition, turns) in turns.iter().enumerate() {
            let Some(events) = turns.get(window) else { continue };
            let finished = sources[partition].iter().filter_map(|(source, ahead)| {
                let needed = window.checked_sub(*ahead)?;
                done[*source].get(needed).copied()
            });
            let lane = &mut free[lanes[partition]];
            *lane = finished.fold(*lane, u64::max) + events;
            done[partition].push(*lane);
        }
    }
    free.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_that_synchronise_after_each_window_wait_for_the_busiest() {
        let coupled = [vec![(1, 1)], vec![(0, 1)]];
        // 5 + 4 + 6: of each window the longer.
        assert_eq!(path(&[&[5, 1, 6], &[2, 4, 3]], &[0, 1], &coupled), 15);
        // One that may be two windows ahead never waits here, and the busier of both lasts 12.
        let loose = [vec![(1, 2)], vec![(0, 2)]];
        assert_eq!(path(&[&[5, 1, 6], &[2, 4, 3]], &[0, 1], &loose), 12);
    }

    #[test]
    fn partitions_of_a_lane_take_turns() {
        let coupled = [vec![(1, 1)], vec![(0, 1)], vec![]];
        // The third fills the time in which the second would wait.
        assert_eq!(path(&[&[5, 5], &[1, 1], &[4, 4]], &[0, 1, 1], &coupled), 10);
        assert_eq!(path(&[&[5, 5], &[1, 1], &[6, 6]], &[0, 1, 1], &coupled), 14);
        assert_eq!(path(&[&[5, 5], &[1, 1], &[4, 4]], &[0, 0, 0], &coupled), 20);
    }
}
