//! Models with parameters, and the choice of one of them by its name.

use super::{Parameter, Setting, Value};

/// A model with settings: one of several, by name.
pub trait Described: Clone + Default {
    /// A paragraph about its behaviour, whose first sentence stands alone, and its publication.
    const ABOUT: &'static str;

    /// Its parameters.
    fn settings() -> Vec<Setting<Self>>;
}

/// A choice of one model among several, with the parameters of each.
pub trait Registered: Clone {
    /// The names, in the order of the registry.
    const NAMES: &'static [&'static str];

    /// The model of this name with its defaults.
    fn named(name: &str) -> Option<Self>;

    /// Every registered model with its defaults, in the order of the registry.
    fn all() -> Vec<Self> {
        Self::NAMES.iter().filter_map(|name| Self::named(name)).collect()
    }

    /// Its name.
    fn name(&self) -> &'static str;

    /// A paragraph about it.
    fn about(&self) -> &'static str;

    /// Its parameters, with their defaults.
    fn parameters(&self) -> Vec<Parameter>;

    /// The value of the parameter with this index.
    fn get(&self, index: usize) -> Value;

    /// Gives the parameter with this index a value of its range.
    fn set(&mut self, index: usize, value: Value);

    /// The reason for which the parameter with this index does not go with those before it, if there is one.
    fn check(&self, index: usize) -> Option<&'static str>;
}

/// Makes an enum of [`Described`] models, which is [`Registered`], from a line for each: variant, name, type. A last line
/// `+ Own(own::Own);` adds a variant for custom models, which have a name and no parameters of this kind.
///
/// ```
/// use lightlag_core::params::{Described, Registered, Setting};
///
/// #[derive(Clone, Copy, PartialEq, Debug)]
/// pub struct Constant { loss: f64 }
/// impl Default for Constant {
///     fn default() -> Self { Self { loss: 60.0 } }
/// }
/// impl Described for Constant {
///     const ABOUT: &'static str = "The same loss at any distance.";
///     fn settings() -> Vec<Setting<Self>> {
///         vec![Setting::quantity("loss", |of| &mut of.loss, lightlag_core::Unit::Decibel, 0.0, 300.0)]
///     }
/// }
/// lightlag_core::registry! {
///     /// A model of propagation.
///     #[derive(Clone, Copy, PartialEq, Debug)]
///     pub enum Propagation {
///         Constant, "constant", Constant;
///     }
/// }
/// assert_eq!(Propagation::named("constant").unwrap().parameters()[0].key, "loss");
/// ```
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* pub enum $choice:ident {
        $($variant:ident, $name:literal, $model:ty;)*
        $(+ $custom:ident($custom_model:ty);)?
    }) => {
        $(#[$meta])*
        pub enum $choice {
            $(#[doc = concat!("`", $name, "`")] $variant($model),)*
            $(/// One from outside.
            $custom($custom_model),)?
        }

        impl $crate::params::Registered for $choice {
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(Default::default())),)*
                    _ => None,
                }
            }

            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    $(Self::$custom(custom) => custom.name(),)?
                }
            }

            fn about(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$model as $crate::params::Described>::ABOUT,)*
                    $(Self::$custom(_) => "From outside.",)?
                }
            }

            fn parameters(&self) -> Vec<$crate::params::Parameter> {
                match self {
                    $(Self::$variant(_) => $crate::params::parameters::<$model>($crate::params::Described::settings()),)*
                    $(Self::$custom(_) => Vec::new(),)?
                }
            }

            fn get(&self, index: usize) -> $crate::params::Value {
                match self {
                    $(Self::$variant(of) => <$model as $crate::params::Described>::settings()[index].get(of),)*
                    $(Self::$custom(_) => unreachable!("a custom model has no parameter {index}"),)?
                }
            }

            fn set(&mut self, index: usize, value: $crate::params::Value) {
                match self {
                    $(Self::$variant(of) => <$model as $crate::params::Described>::settings()[index].set(of, value),)*
                    $(Self::$custom(_) => unreachable!("a custom model has no parameter {index}"),)?
                }
            }

            fn check(&self, index: usize) -> Option<&'static str> {
                match self {
                    $(Self::$variant(of) => (<$model as $crate::params::Described>::settings()[index].check)(of),)*
                    $(Self::$custom(_) => unreachable!("a custom model has no parameter {index}"),)?
                }
            }
        }
    };
}
