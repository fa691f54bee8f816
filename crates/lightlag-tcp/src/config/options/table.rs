//! A table of options from a line for each key.
//!
//! A line has the key, its type and what is special about it. From it come the field, with its schema and its written form,
//! how the options of a flow go over those of the scenario, and how the key goes into the configuration of the same name.

/// The value that is set in `over`, or else in `base`.
pub(in crate::config) fn either<T: Clone>(base: &Option<T>, over: &Option<T>) -> Option<T> {
    over.as_ref().or(base.as_ref()).cloned()
}

/// The values of a key that is itself a table, joined.
pub(in crate::config) fn both<T: Clone>(base: &Option<T>, over: &Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(join(base.clone(), over.clone())),
        _ => either(base, over),
    }
}

pub(in crate::config) fn set<T: Clone>(place: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        place.clone_from(value);
    }
}

/// Makes a table of options for a configuration. Behind its type, a key may be `optional` in the configuration, too; be set
/// `apart`, by code of its own; and, as a table itself, be `joined by` a function instead of replaced.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident for $config:ty {
            $($(#[$about:meta])* $key:ident: $type:ty $(, $rule:ident $(by $join:expr)?)*;)*
        }
    ) => {
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
            /// These options, overridden by those set in `over`.
            #[must_use]
            pub fn merge(&self, over: &Self) -> Self {
                Self { $($key: table!(@merge self over $key [$($rule $(by $join)?)*]),)* }
            }

            /// Sets what these options set of a configuration, but for the keys that are set apart.
            fn set(&self, config: &mut $config) {
                $(table!(@set self config $key [$($rule $(by $join)?)*]);)*
            }
        }
    };
    (@merge $base:ident $over:ident $key:ident [apart joined by $join:expr]) => {
        table::both(&$base.$key, &$over.$key, $join)
    };
    (@merge $base:ident $over:ident $key:ident [$($rule:ident)?]) => { table::either(&$base.$key, &$over.$key) };
    (@set $options:ident $config:ident $key:ident []) => { table::set(&mut $config.$key, &$options.$key) };
    (@set $options:ident $config:ident $key:ident [optional]) => {
        $config.$key = table::either(&$config.$key, &$options.$key)
    };
    (@set $options:ident $config:ident $key:ident [apart $($rest:tt)*]) => {};
}

pub(in crate::config) use table;
