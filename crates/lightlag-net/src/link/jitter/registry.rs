//! The distributions by name.

/// Makes the enum of distributions from a line for each.
macro_rules! distributions {
    ($($variant:ident, $name:literal, $shape:ty;)*) => {
        /// A distribution of deviations.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum Distribution {
            $(#[doc = concat!("`", $name, "`")] $variant($shape),)*
        }

        impl Distribution {
            /// The names of the distributions.
            pub const NAMES: &[&str] = &[$($name),*];

            /// The distribution with this name and the defaults of its parameters.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(Default::default())),)*
                    _ => None,
                }
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// Its description.
            pub fn about(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$shape as Shape>::ABOUT,)*
                }
            }

            /// Its parameters, in the order in which they are read.
            pub fn parameters(&self) -> Vec<Parameter> {
                match self {
                    $(Self::$variant(_) => params::parameters(<$shape as Shape>::settings()),)*
                }
            }

            /// The value of the parameter with this index.
            pub fn get(&self, index: usize) -> Value {
                match self {
                    $(Self::$variant(shape) => Shape::settings()[index].get(shape),)*
                }
            }

            /// Gives a value of its range to the parameter with this index.
            pub fn set(&mut self, index: usize, value: Value) {
                match self {
                    $(Self::$variant(shape) => Shape::settings()[index].set(shape, value),)*
                }
            }

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
