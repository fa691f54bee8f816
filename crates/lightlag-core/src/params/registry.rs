//! Models with parameters, and the choice of one of them by its name.

use super::{Parameter, Setting, Value};

/// A model with settings, one of several that a scenario chooses from by name.
pub trait Described: Clone + Default + 'static {
    /// Paragraph about the behaviour and the publication of the model. The first sentence is also shown alone.
    const ABOUT: &'static str;

    /// Returns the parameters, if there are any.
    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

/// A choice of one model among several, with the parameters of each.
pub trait Registered: Clone {
    /// Names of the models, in the order of the registry.
    const NAMES: &'static [&'static str];

    /// Returns the model of this name with its defaults.
    fn named(name: &str) -> Option<Self>;

    /// Returns every registered model with its defaults, in the order of the registry.
    fn all() -> Vec<Self> {
        Self::NAMES.iter().filter_map(|name| Self::named(name)).collect()
    }

    /// Returns the name of the model.
    fn name(&self) -> &'static str;

    /// Returns a paragraph about the model.
    fn about(&self) -> &'static str;

    /// Returns the parameters, with their defaults.
    fn parameters(&self) -> Vec<Parameter>;

    /// Returns the value of the parameter with this index.
    fn get(&self, index: usize) -> Value;

    /// Sets the parameter with this index to a value in its range.
    fn set(&mut self, index: usize, value: Value);

    /// Returns the reason why the parameter with this index cannot be combined with those before it, if there is one.
    fn check(&self, index: usize) -> Option<&'static str>;
}

/// Declares an enum of [`Described`] models, which is [`Registered`], with one line each: variant, name, type. A last
/// line `+ Own(own::Own);` adds a variant for custom models, which have names of their own and do not declare their
/// parameters here.
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
            $(/// Custom model.
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
                    $(Self::$custom(_) => "A custom model.",)?
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
