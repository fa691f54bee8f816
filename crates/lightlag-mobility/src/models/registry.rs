//! The registry of models: their names, their settings in a scenario, and their initial states.

use crate::model::{Model, Refusal};
use crate::models::{GaussMarkov, Group, Paparazzi, RandomWaypoint, SmoothTurn, Static, Trace, Waypoints};
use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};

/// Generates the enums of models, of their parameters and of their states, from one line per model.
macro_rules! models {
    ($($variant:ident, $name:literal, $config:ty;)*) => {
        lightlag_core::registry! {
            /// A mobility model and its parameters.
            #[derive(Clone, PartialEq, Debug)]
            pub enum Mobility {
                $($variant, $name, $config;)*
            }
        }

        impl Mobility {
            /// Checks that the model is compatible with this area and this position.
            ///
            /// # Errors
            /// The reason why it is not.
            pub fn check(&self, area: &Area, position: Option<Vector>) -> Result<(), Refusal> {
                match self {
                    $(Self::$variant(config) => Model::check(config, area, position),)*
                }
            }
        }

        /// The state of a node that follows a model.
        #[derive(Clone, Debug)]
        pub(crate) enum Course {
            $($variant(<$config as Model>::Walk),)*
        }

        impl Course {
            pub(crate) fn start(config: &Mobility, start: WalkStart<'_>) -> (Self, Piece) {
                match config {
                    $(Mobility::$variant(config) => {
                        let (walk, piece) = Model::start(config, start);
                        (Self::$variant(walk), piece)
                    })*
                }
            }

            pub(crate) fn next(&mut self, last: &Piece) -> Piece {
                match self {
                    $(Self::$variant(walk) => Walk::next(walk, last),)*
                }
            }

            pub(crate) fn max_speed(&self) -> f64 {
                match self {
                    $(Self::$variant(walk) => Walk::max_speed(walk),)*
                }
            }
        }
    };
}

// One line per model: its variant, its name in a scenario, its parameters.
models! {
    Static, "static", Static;
    Waypoints, "waypoints", Waypoints;
    GaussMarkov, "gauss-markov", GaussMarkov;
    RandomWaypoint, "random-waypoint", RandomWaypoint;
    SmoothTurn, "smooth-turn", SmoothTurn;
    Paparazzi, "paparazzi", Paparazzi;
    Trace, "trace", Trace;
    Group, "group", Group;
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::params::Registered;

    #[test]
    fn every_setting_keeps_its_default() {
        for name in Mobility::NAMES {
            let mut mobility = Mobility::named(name).unwrap();
            for (index, parameter) in mobility.parameters().into_iter().enumerate() {
                assert_eq!(mobility.get(index), parameter.default, "{name}.{}", parameter.key);
                mobility.set(index, parameter.default);
            }
            assert_eq!((mobility.name(), &mobility), (*name, &Mobility::named(name).unwrap()));
            assert!(mobility.about().ends_with('.') || mobility.about().ends_with(')'), "{name}");
        }
        assert_eq!(Mobility::named("teleport"), None);
    }
}
