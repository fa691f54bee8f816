//! Plane geometry, exact in integer centimetres.

use super::{GpsrPosition, Planar};
use lightlag_net::NodeId;
use std::cmp::Ordering;

/// A vector on the ground. Differences of coordinates need 33 bits, so their products need more than 64.
type PlaneVector = (i128, i128);

fn step(from: GpsrPosition, to: GpsrPosition) -> PlaneVector {
    (i128::from(to.x) - i128::from(from.x), i128::from(to.y) - i128::from(from.y))
}

fn cross(a: PlaneVector, b: PlaneVector) -> i128 {
    a.0 * b.1 - a.1 * b.0
}

fn dot(a: PlaneVector, b: PlaneVector) -> i128 {
    a.0 * b.0 + a.1 * b.1
}

/// Returns the square of the distance on the ground.
pub(super) fn square(a: GpsrPosition, b: GpsrPosition) -> i128 {
    let ground = step(a, b);
    dot(ground, ground)
}

/// Returns the square of the distance in space.
pub(super) fn square_in_space(a: GpsrPosition, b: GpsrPosition) -> i128 {
    let up = i128::from(b.z) - i128::from(a.z);
    square(a, b) + up * up
}

/// Returns the neighbours of a node at `me` in a planar graph.
pub(super) fn planar(
    kind: Planar,
    me: GpsrPosition,
    neighbours: &[(NodeId, GpsrPosition)],
) -> Vec<(NodeId, GpsrPosition)> {
    let is_crossed = |v: GpsrPosition| {
        let length = square(me, v);
        neighbours.iter().any(|(_, w)| match kind {
            Planar::Gabriel => square(me, *w) + square(v, *w) < length,
            Planar::RelativeNeighbourhood => square(me, *w).max(square(v, *w)) < length,
        })
    };
    let keeps = |place: GpsrPosition| square(me, place) > 0 && !is_crossed(place);
    neighbours.iter().filter(|(_, place)| keeps(*place)).copied().collect()
}

/// Compares two directions by the counter-clockwise angle from `zero` to each, above 0 and up to a full turn.
fn compare_turns(zero: PlaneVector, a: PlaneVector, b: PlaneVector) -> Ordering {
    // 0: less than half a turn, 1: half, 2: more, 3: a full one.
    let half = |to: PlaneVector| match cross(zero, to).cmp(&0) {
        Ordering::Greater => 0,
        Ordering::Equal if dot(zero, to) < 0 => 1,
        Ordering::Less => 2,
        Ordering::Equal => 3,
    };
    half(a).cmp(&half(b)).then_with(|| 0.cmp(&cross(a, b)))
}

/// Returns the next neighbour counter-clockwise from the direction `zero`. A neighbour in exactly that direction comes
/// last.
pub(super) fn next_counter_clockwise(
    me: GpsrPosition,
    zero: GpsrPosition,
    neighbours: &[(NodeId, GpsrPosition)],
) -> Option<(NodeId, GpsrPosition)> {
    let zero = step(me, zero);
    let by_turn = |a: &&(NodeId, GpsrPosition), b: &&(NodeId, GpsrPosition)| {
        // The nearest of several neighbours in one direction is first: a planar graph of distinct positions has none.
        let (near_a, near_b) = (square(me, a.1), square(me, b.1));
        compare_turns(zero, step(me, a.1), step(me, b.1)).then(near_a.cmp(&near_b))
    };
    neighbours.iter().min_by(by_turn).copied()
}

/// Returns the point where the segments (a, b) and (p, q) intersect, to the nearest centimetre. The result is exactly
/// the same if a and b are swapped.
pub(super) fn cut(a: GpsrPosition, b: GpsrPosition, p: GpsrPosition, q: GpsrPosition) -> Option<GpsrPosition> {
    let (a, b) = if (a.x, a.y) <= (b.x, b.y) { (a, b) } else { (b, a) };
    let (edge, line) = (step(a, b), step(p, q));
    let determinant = cross(edge, line);
    if determinant == 0 {
        return None;
    }
    let sign = determinant.signum();
    let along = cross(step(a, p), line) * sign;
    let across = cross(step(a, p), edge) * sign;
    let size = determinant * sign;
    if !(0..=size).contains(&along) || !(0..=size).contains(&across) {
        return None;
    }
    let share = along as f64 / size as f64;
    let point = |from: i32, part: i128| libm::round(f64::from(from) + part as f64 * share) as i32;
    Some(GpsrPosition { x: point(a.x, edge.0), y: point(a.y, edge.1), z: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(x: i32, y: i32) -> GpsrPosition {
        GpsrPosition { x, y, z: 0 }
    }

    #[test]
    fn neighbours_are_in_order_around_a_node() {
        let all = [(1, 10, 0), (2, 10, 10), (3, 0, 10), (4, -10, 0), (5, 0, -10)];
        let all: Vec<_> = all.map(|(node, x, y)| (NodeId(node), place(x, y))).into();
        let next = |zero| next_counter_clockwise(place(0, 0), zero, &all).unwrap().0.0;
        assert_eq!(
            [next(place(5, 0)), next(place(9, 9)), next(place(0, 1)), next(place(-3, 0)), next(place(0, -7))],
            [2, 3, 4, 5, 1]
        );
        // Between two neighbours, and with one alone.
        assert_eq!(next(place(10, -1)), 1);
        assert_eq!(next_counter_clockwise(place(0, 0), place(10, 0), &all[..1]).unwrap().0.0, 1);
    }

    #[test]
    fn a_node_within_the_circle_or_the_lune_takes_an_edge_away() {
        let graph = |kind, w: GpsrPosition| {
            let neighbours = [(NodeId(1), place(100, 0)), (NodeId(2), w)];
            planar(kind, place(0, 0), &neighbours).iter().any(|(node, _)| *node == NodeId(1))
        };
        // Circle with the diameter (0, 100): its top is (50, 50). The lune reaches up to 86.6.
        for (height, gabriel, rng) in [(49, false, false), (50, true, false), (86, true, false), (87, true, true)] {
            assert_eq!(graph(Planar::Gabriel, place(50, height)), gabriel, "{height}");
            assert_eq!(graph(Planar::RelativeNeighbourhood, place(50, height)), rng, "{height}");
        }
    }

    #[test]
    fn segments_cut_within_their_ends() {
        let (a, b) = (place(0, 0), place(100, 100));
        assert_eq!(cut(a, b, place(0, 100), place(100, 0)), Some(place(50, 50)));
        assert_eq!(cut(b, a, place(0, 100), place(100, 0)), Some(place(50, 50)));
        assert_eq!(cut(a, b, place(0, 100), place(49, 51)), None);
        assert_eq!(cut(a, b, place(10, 0), place(110, 100)), None);
        assert_eq!(cut(a, b, place(100, 0), place(100, 200)), Some(place(100, 100)));
        assert_eq!(cut(a, place(10, 1), place(5, -1), place(5, 9)), Some(place(5, 1)));
    }
}
