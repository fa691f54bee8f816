//! Where nodes start.

use crate::model::{extent, shown};
use crate::{Area, Vector};
use lightlag_core::Unit;
use lightlag_core::params::{Described, Setting};
use std::f64::consts::PI;

/// Anywhere in the area.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uniform;

/// Rows and columns, as square as the number of nodes allows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    /// The distance of neighbours, in metres.
    pub spacing: f64,
    /// The height above the floor of the area, in metres.
    pub height: f64,
}

/// A line to the east.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line {
    /// The distance of neighbours, in metres.
    pub spacing: f64,
    /// The height above the floor of the area, in metres.
    pub height: f64,
}

/// A circle about the middle of the area.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Circle {
    /// Its radius, in metres.
    pub radius: f64,
    /// The height above the floor of the area, in metres.
    pub height: f64,
    /// Whether the first node is in the middle.
    pub hub: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Self { spacing: 40.0, height: 0.0 }
    }
}

impl Default for Line {
    fn default() -> Self {
        Self { spacing: 40.0, height: 0.0 }
    }
}

impl Default for Circle {
    fn default() -> Self {
        Self { radius: 5.0, height: 0.0, hub: true }
    }
}

fn length<C>(key: &'static str, at: fn(&mut C) -> &mut f64) -> Setting<C> {
    Setting::quantity(key, at, Unit::Metre, 0.0, 1e6)
}

impl Described for Uniform {
    const ABOUT: &'static str = "Nodes start anywhere in the area, or where their model of mobility says: random waypoint \
        starts from its stationary distribution.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Described for Grid {
    const ABOUT: &'static str = "Nodes start in rows and columns, from the corner with the least coordinates on. There are \
        as many columns as the square root of the number of nodes, rounded up.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            length("spacing", |c: &mut Self| &mut c.spacing).about("The distance of neighbours, in metres."),
            length("height", |c: &mut Self| &mut c.height).about("The height above the floor of the area, in metres."),
        ]
    }
}

impl Described for Line {
    const ABOUT: &'static str = "Nodes start in a line to the east, from the corner with the least coordinates on.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            length("spacing", |c: &mut Self| &mut c.spacing).about("The distance of neighbours, in metres."),
            length("height", |c: &mut Self| &mut c.height).about("The height above the floor of the area, in metres."),
        ]
    }
}

impl Described for Circle {
    const ABOUT: &'static str = "Nodes start evenly on a circle about the middle of the area; with `hub`, the first node is \
        in the middle.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            length("radius", |c: &mut Self| &mut c.radius).about("Its radius, in metres."),
            length("height", |c: &mut Self| &mut c.height).about("The height above the floor of the area, in metres."),
            Setting::flag("hub", |c: &mut Self| &mut c.hub).about("Whether the first node is in the middle."),
        ]
    }
}

lightlag_core::registry! {
    /// Where nodes start, and its parameters.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Placement {
        Uniform, "uniform", Uniform;
        Grid, "grid", Grid;
        Line, "line", Line;
        Circle, "circle", Circle;
    }
}

impl Placement {
    /// The place of the node with this index among `count`, or `None` where the model of mobility draws it.
    pub fn place(&self, index: u32, count: u32, area: &Area) -> Option<Vector> {
        let corner = area.least();
        Some(match *self {
            Self::Uniform(_) => return None,
            Self::Grid(Grid { spacing, height }) => {
                let columns = columns(count);
                let (column, row) = (f64::from(index % columns), f64::from(index / columns));
                corner + Vector::new(column * spacing, row * spacing, height)
            }
            Self::Line(Line { spacing, height }) => corner + Vector::new(f64::from(index) * spacing, 0.0, height),
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

    /// Whether so many nodes fit.
    ///
    /// # Errors
    /// A message with the first node that is outside the area.
    pub fn check(&self, count: u32, area: &Area) -> Result<(), String> {
        let places = (0..count).filter_map(|index| Some((index, self.place(index, count, area)?)));
        match places.into_iter().find(|(_, place)| !area.contains(*place)) {
            None => Ok(()),
            Some((index, place)) => Err(format!(
                "node {} of {count} is at {}, outside {}; make the area larger or the spacing smaller",
                index + 1,
                shown(place),
                extent(area)
            )),
        }
    }
}

/// The least whole number whose square is not below `count`.
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
        let line = Placement::Line(Line { spacing: 40.0, height: 0.0 });
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
