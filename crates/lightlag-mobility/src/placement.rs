//! Initial positions of nodes.

use crate::model::{extent, shown};
use crate::{Area, Vector};
use lightlag_core::params::Described;
use lightlag_core::{Unit, settings};
use std::f64::consts::PI;

/// Positions chosen by the mobility model, by default uniformly distributed in the area.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uniform;

settings! {
    /// A grid of rows and columns, as square as the number of nodes allows.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Grid {
        about "Nodes start in rows and columns, from the corner with the minimum coordinates. There are as many \
               columns as the square root of the number of nodes, rounded up.";

        /// Distance between neighbours, in metres.
        spacing: f64 = 40.0 => quantity(Unit::Metre, 0.0, 1e6);
        /// Height above the floor of the area, in metres.
        height: f64 = 0.0 => quantity(Unit::Metre, 0.0, 1e6);
    }
}

settings! {
    /// A line from west to east.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct LinePlacement {
        about "Nodes start in a line to the east, from the corner with the minimum coordinates.";

        /// Distance between neighbours, in metres.
        spacing: f64 = 40.0 => quantity(Unit::Metre, 0.0, 1e6);
        /// Height above the floor of the area, in metres.
        height: f64 = 0.0 => quantity(Unit::Metre, 0.0, 1e6);
    }
}

settings! {
    /// A circle around the centre of the area.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Circle {
        about "Nodes start evenly spaced on a circle around the middle of the area; with `hub`, the first node is in \
               the middle.";

        /// Radius of the circle, in metres.
        radius: f64 = 5.0 => quantity(Unit::Metre, 0.0, 1e6);
        /// Height above the floor of the area, in metres.
        height: f64 = 0.0 => quantity(Unit::Metre, 0.0, 1e6);
        /// Whether the first node is at the centre.
        hub: bool = true => flag();
    }
}

impl Described for Uniform {
    const ABOUT: &'static str = "Nodes start at uniformly distributed positions in the area, or as their mobility \
                                 model specifies: random waypoint starts from its stationary distribution.";
}

lightlag_core::registry! {
    /// The initial placement of nodes, and its parameters.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Placement {
        Uniform, "uniform", Uniform;
        Grid, "grid", Grid;
        Line, "line", LinePlacement;
        Circle, "circle", Circle;
    }
}

impl Placement {
    /// Returns the position of the node with this index among `count` nodes, or `None` if the mobility model chooses
    /// it.
    pub fn place(&self, index: u32, count: u32, area: &Area) -> Option<Vector> {
        let corner = area.least();
        Some(match *self {
            Self::Uniform(_) => return None,
            Self::Grid(Grid { spacing, height }) => {
                let columns = columns(count);
                let (column, row) = (f64::from(index % columns), f64::from(index / columns));
                corner + Vector::new(column * spacing, row * spacing, height)
            }
            Self::Line(LinePlacement { spacing, height }) => {
                corner + Vector::new(f64::from(index) * spacing, 0.0, height)
            }
            Self::Circle(Circle { radius, height, hub }) => {
                let centre = area.centre();
                let centre = Vector::new(centre.x, centre.y, corner.z + height);
                let before = u32::from(hub);
                if index < before {
                    return Some(centre);
                }
                let share = f64::from(index - before) / f64::from((count - before).max(1));
                let (sin, cos) = libm::sincos(2.0 * PI * share);
                centre + Vector::new(radius * cos, radius * sin, 0.0)
            }
        })
    }

    /// Checks that `count` nodes fit into the area.
    ///
    /// # Errors
    /// A message that names the first node outside the area.
    pub fn check(&self, count: u32, area: &Area) -> Result<(), String> {
        let places = (0..count).filter_map(|index| Some((index, self.place(index, count, area)?)));
        match places.into_iter().find(|(_, place)| !area.contains(*place)) {
            None => Ok(()),
            Some((index, position)) => Err(format!(
                "node {} of {count} is at {}, outside {}; make the area larger or the spacing smaller",
                index + 1,
                shown(position),
                extent(area)
            )),
        }
    }
}

/// Returns the number of columns: the smallest whole number whose square is at least `count`.
fn columns(count: u32) -> u32 {
    let root = count.isqrt();
    (root + u32::from(root * root < count)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area() -> Area {
        Area::new(Vector::new(-100.0, 0.0, 10.0), Vector::new(100.0, 100.0, 60.0)).unwrap()
    }

    #[test]
    fn a_grid_is_as_square_as_it_can_be() {
        let grid = Placement::Grid(Grid { spacing: 20.0, height: 5.0 });
        assert_eq!(grid.place(0, 10, &area()), Some(Vector::new(-100.0, 0.0, 15.0)));
        assert_eq!(grid.place(5, 10, &area()), Some(Vector::new(-80.0, 20.0, 15.0)));
        assert_eq!([1, 2, 4, 5, 9, 10].map(columns), [1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn neighbours_in_a_line_have_its_spacing() {
        let line = Placement::Line(LinePlacement { spacing: 40.0, height: 0.0 });
        assert_eq!(line.place(3, 5, &area()), Some(Vector::new(20.0, 0.0, 10.0)));
        assert_eq!(line.check(6, &area()), Ok(()));
        let message = line.check(7, &area()).unwrap_err();
        assert!(message.starts_with("node 7 of 7 is at (140, 0, 10) m, outside the area"), "{message}");
    }

    #[test]
    fn a_circle_surrounds_its_hub() {
        let circle = Circle { radius: 5.0, ..Circle::default() };
        let centre = Vector::new(0.0, 50.0, 10.0);
        let places: Vec<Vector> =
            (0..9).map(|index| Placement::Circle(circle).place(index, 9, &area()).unwrap()).collect();
        assert_eq!(places[0], centre);
        assert!(places[1..].iter().all(|place| (place.distance(centre) - 5.0).abs() < 1e-12));
        // The chord of an eighth: 2 · 5 sin(π/8).
        assert!((places[1].distance(places[2]) - 10.0 * libm::sin(PI / 8.0)).abs() < 1e-12);
        let open = Placement::Circle(Circle { hub: false, ..circle });
        assert!((open.place(0, 8, &area()).unwrap().distance(centre) - 5.0).abs() < 1e-12);
    }
}
