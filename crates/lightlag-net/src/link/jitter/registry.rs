//! The registry of jitter distributions by name.

/// Declares the enum of distributions, with one line for each.
macro_rules! distributions {
    ($($variant:ident, $name:literal, $shape:ty;)*) => {
        lightlag_core::registry! {
            /// A distribution of deviations.
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub enum Distribution {
                $($variant, $name, $shape;)*
            }
        }

        impl Distribution {
            /// Returns the default of the maximum deviation; `None` if the maximum has no default.
            pub fn usual_most(&self) -> Option<Duration> {
                match *self {
                    $(Self::$variant(shape) => shape.usual_most(),)*
                }
            }

            /// Returns the reason why this maximum deviation is rejected; `None` if it is accepted.
            pub fn refuses(&self, max: Duration) -> Option<String> {
                match *self {
                    $(Self::$variant(shape) => shape.refuses(max),)*
                }
            }

            fn deviation(&self, jitter: &Jitter, sequence: &mut Sequence) -> f64 {
                match *self {
                    $(Self::$variant(shape) => shape.deviation(jitter, sequence),)*
                }
            }
        }
    };
}

pub(super) use distributions;
