//! Macros that declare parameters and choices, with one line for each.

use super::Setting;

/// Parameters that are declared by [`settings!`](crate::settings).
pub trait Declared: Clone + Default + 'static {
    /// Returns the parameters.
    fn settings() -> Vec<Setting<Self>>;
}

/// Declares a struct of parameters, its defaults and its settings with one line per field: the field, which is also the
/// key, its type, its default, and after `=>` a constructor of [`Setting`] with the rest of its arguments and further
/// properties. The comment of the field is the description of the setting. A field that is itself a struct of
/// parameters has a `+` before its comment, and its settings after `=>`. A line `about` at the start makes the struct
/// [`Described`](super::Described); without it, it is [`Declared`].
///
/// ```
/// use lightlag_core::Unit;
/// use lightlag_core::params::Declared;
///
/// lightlag_core::settings! {
///     /// Parameters of additive increase, multiplicative decrease.
///     #[derive(Clone, Debug, PartialEq)]
///     pub struct Aimd {
///         /// The fraction of the window that a loss keeps.
///         beta: f64 = 0.5 => quantity(Unit::Plain, 0.1, 0.9);
///     }
/// }
/// assert_eq!((Aimd::default().beta, Aimd::settings()[0].about), (0.5, "The fraction of the window that a loss keeps."));
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$meta:meta])* pub struct $model:ident { about $text:expr; $($rows:tt)* }) => {
        $crate::settings! { @struct [$(#[$meta])*] $model [$($rows)*] }
        impl $crate::params::Described for $model {
            const ABOUT: &'static str = $text;

            fn settings() -> Vec<$crate::params::Setting<Self>> {
                $crate::settings! { @settings $($rows)* }
            }
        }
    };
    (@struct [$($meta:tt)*] $model:ident [
        $($(#[doc = $about:literal])+
        $field:ident: $type:ty = $default:expr => $kind:ident($($argument:expr),* $(,)?) $(.$more:ident($($value:expr),*))*;)*
        $(+ $(#[doc = $part_about:literal])+ $part:ident: $part_type:ty = $part_default:expr => $part_settings:expr;)*
    ]) => {
        $($meta)*
        pub struct $model {
            $($(#[doc = $about])+ pub $field: $type,)*
            $($(#[doc = $part_about])+ pub $part: $part_type,)*
        }

        impl Default for $model {
            fn default() -> Self {
                Self { $($field: $default,)* $($part: $part_default,)* }
            }
        }
    };
    (@settings
        $($(#[doc = $about:literal])+
        $field:ident: $type:ty = $default:expr => $kind:ident($($argument:expr),* $(,)?) $(.$more:ident($($value:expr),*))*;)*
        $(+ $(#[doc = $part_about:literal])+ $part:ident: $part_type:ty = $part_default:expr => $part_settings:expr;)*
    ) => {{
        #[allow(unused_mut, reason = "most structs have no parts")]
        let mut settings = vec![$(
            $crate::params::Setting::$kind(stringify!($field), |model: &mut Self| &mut model.$field $(, $argument)*)
                .about(concat!($($about),+).trim_ascii()) $(.$more($($value),*))*
        ),*];
        $(settings.extend($part_settings.into_iter().map(|setting| setting.within(|model: &mut Self| &mut model.$part)));)*
        settings
    }};
    ($(#[$meta:meta])* pub struct $model:ident { $($rows:tt)* }) => {
        $crate::settings! { @struct [$(#[$meta])*] $model [$($rows)*] }
        impl $crate::params::Declared for $model {
            fn settings() -> Vec<$crate::params::Setting<Self>> {
                $crate::settings! { @settings $($rows)* }
            }
        }
    };
}

/// Declares an enum that is a [`Word`](super::Word), with one line per choice: its variant and its keyword. The first
/// is the default.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $choice:ident {
        $(#[$first_about:meta])* $first:ident = $first_word:literal,
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $choice {
            $(#[$first_about])* #[default] $first,
            $($(#[$about])* $variant,)*
        }

        impl $crate::params::Word for $choice {
            const ALL: &'static [Self] = &[Self::$first, $(Self::$variant),*];
            const NAMES: &'static [&'static str] = &[$first_word, $($word),*];
        }
    };
}
