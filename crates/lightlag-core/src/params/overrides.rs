//! Tables in which every key is optional. The keys that are set override keys of another table, or fields of a
//! configuration.

/// Returns the value that is set in `over`, or else in `base`.
pub fn either<T: Clone>(base: &Option<T>, over: &Option<T>) -> Option<T> {
    over.as_ref().or(base.as_ref()).cloned()
}

/// Merges the two values of a key that is itself a table. `join` is called if both tables have the key.
pub fn both<T: Clone>(base: &Option<T>, over: &Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(join(base.clone(), over.clone())),
        _ => either(base, over),
    }
}

/// Assigns `value` to `target`, unless it is `None`.
pub fn set<T: Clone>(target: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        target.clone_from(value);
    }
}

/// Declares a table of optional keys with one line per key: the key and its type. The macro derives parsing, the
/// schema, the written form, and the merge of two such tables. A key that is itself a table may be `joined by` a
/// function instead of replaced. With `for CONFIG`, where `CONFIG` is a struct with fields of the same names, the macro
/// also declares a function `set`, which assigns the keys to the fields. A key may then be marked `optional`, if the
/// field is an `Option`, or `apart`, if separate code assigns it.
///
/// ```
/// #[derive(Default)]
/// pub struct Queue {
///     packets: u32,
/// }
///
/// lightlag_core::overrides! {
///     /// Changes of a queue.
///     #[derive(Default, serde::Serialize, serde::Deserialize)]
///     pub struct Changes for Queue {
///         /// Number of packets.
///         packets: u32;
///     }
/// }
///
/// let (base, over) = (Changes { packets: Some(5) }, Changes { packets: Some(7) });
/// let mut queue = Queue::default();
/// base.merge(&over).set(&mut queue);
/// assert_eq!(queue.packets, 7);
/// base.merge(&Changes::default()).set(&mut queue);
/// assert_eq!(queue.packets, 5);
/// ```
#[macro_export]
macro_rules! overrides {
    ($(#[$meta:meta])* pub struct $name:ident for $config:ty { $($(#[$about:meta])* $key:ident: $type:ty $(, $rule:ident $(by $join:expr)?)*;)* }) => {
        $crate::overrides! {
            $(#[$meta])* pub struct $name { $($(#[$about])* $key: $type $(, $rule $(by $join)?)*;)* }
        }

        impl $name {
            /// Assigns the options that are set to the fields of a configuration, except for keys marked `apart`.
            fn set(&self, config: &mut $config) {
                $($crate::overrides!(@set self config $key [$($rule $(by $join)?)*]);)*
            }
        }
    };
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$about:meta])* $key:ident: $type:ty $(, $rule:ident $(by $join:expr)?)*;)* }) => {
        $(#[$meta])*
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(
                $(#[$about])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )*
        }

        impl $name {
            /// Returns these options, overridden by those set in `over`.
            #[must_use]
            pub fn merge(&self, over: &Self) -> Self {
                Self { $($key: $crate::overrides!(@merge self over $key [$($rule $(by $join)?)*]),)* }
            }
        }
    };
    (@merge $base:ident $over:ident $key:ident [joined by $join:expr]) => {
        $crate::params::overrides::both(&$base.$key, &$over.$key, $join)
    };
    (@merge $base:ident $over:ident $key:ident [apart $($rest:tt)+]) => {
        $crate::overrides!(@merge $base $over $key [$($rest)+])
    };
    (@merge $base:ident $over:ident $key:ident [$($rule:ident)?]) => {
        $crate::params::overrides::either(&$base.$key, &$over.$key)
    };
    (@set $options:ident $config:ident $key:ident []) => {
        $crate::params::overrides::set(&mut $config.$key, &$options.$key)
    };
    (@set $options:ident $config:ident $key:ident [optional]) => {
        $config.$key = $crate::params::overrides::either(&$config.$key, &$options.$key)
    };
    (@set $options:ident $config:ident $key:ident [apart $($rest:tt)*]) => {};
}
