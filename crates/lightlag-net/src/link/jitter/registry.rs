//! The distributions by name.

/// Makes the enum of distributions from a line for each.
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
            /// The default of the largest deviation; `None` if it must be given.
            pub fn usual_most(&self) -> Option<Duration> {
                match *self {
                    $(Self::$variant(shape) => shape.usual_most(),)*
                }
            }

            /// The reason why it does not allow this largest deviation, if it does not.
            pub fn refuses(&self, most: Duration) -> Option<String> {
                match *self {
                    $(Self::$variant(shape) => shape.refuses(most),)*
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
