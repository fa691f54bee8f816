//! The keys of a link, declared once: from a line for each follow its reading, writing and schema, and the value of a direction.

/// Makes the properties of a direction of a link, and those of the link, from a line for each key with its type. `needed` keys
/// must be given, and the text completes "is missing; ". `each` key has a value for each direction, `shared` one for the link.
/// A key that has its default is left out of what is written, unless it is `shown`.
macro_rules! sides {
    (
        $(#[$side_meta:meta])* pub struct $side:ident;
        $(#[$line_meta:meta])* pub struct $line:ident;
        needed { $($(#[$needed_about:meta])* $needed:ident: $needed_type:ty, $remedy:literal;)* }
        each { $($(#[$about:meta])* $key:ident: $type:ty $(, $shown:ident)?;)* }
        shared { $($(#[$shared_about:meta])* $shared:ident: $shared_type:ty $(, $shared_shown:ident)?;)* }
    ) => {
        $(#[$side_meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $side {
            $($(#[$needed_about])* pub $needed: $needed_type,)*
            $($(#[$about])* pub $key: $type,)*
        }

        $(#[$line_meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $line {
            /// From the first node to the second.
            pub forward: $side,
            /// From the second node to the first.
            pub backward: $side,
            $($(#[$shared_about])* pub $shared: $shared_type,)*
        }

        impl $side {
            /// A direction with these properties and the defaults of all others.
            pub(crate) fn plain($($needed: $needed_type),*) -> Self {
                Self { $($needed,)* $($key: Default::default(),)* }
            }
        }

        impl $line {
            /// Keys that may have a value for each direction.
            pub(crate) const DIRECTED: &[&str] = &[$(stringify!($needed),)* $(stringify!($key),)*];

            /// A link that is the same in both directions, with the defaults of all keys that concern both.
            pub(crate) fn both(side: $side) -> Self {
                Self { forward: side.clone(), backward: side, $($shared: Default::default(),)* }
            }

            /// Reads the keys of a link next to others of the same table. Returns `None` if one that is needed is missing.
            fn read_keys(table: &mut Table, errors: &mut Errors) -> Option<Self> {
                $(let $needed: Option<PerDirection<$needed_type>> = table.required(stringify!($needed), $remedy, errors);)*
                $(let $key: PerDirection<$type> = table.optional(stringify!($key), errors).unwrap_or_default();)*
                $(let $shared: $shared_type = table.optional(stringify!($shared), errors).unwrap_or_default();)*
                $(let $needed = $needed?;)*
                Some(Self {
                    forward: $side { $($needed: $needed.forward,)* $($key: $key.forward,)* },
                    backward: $side { $($needed: $needed.backward,)* $($key: $key.backward,)* },
                    $($shared,)*
                })
            }
        }

        impl Serialize for $line {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let Self { forward, backward, $($shared),* } = self;
                let mut table = serializer.serialize_map(None)?;
                $(
                    let both = PerDirection { forward: &forward.$needed, backward: &backward.$needed };
                    table.serialize_entry(stringify!($needed), &both)?;
                )*
                $(
                    let both = PerDirection { forward: &forward.$key, backward: &backward.$key };
                    let usual = <$type>::default();
                    if sides!(@shown $($shown)?) || both != (PerDirection { forward: &usual, backward: &usual }) {
                        table.serialize_entry(stringify!($key), &both)?;
                    }
                )*
                $(
                    if sides!(@shown $($shared_shown)?) || *$shared != <$shared_type>::default() {
                        table.serialize_entry(stringify!($shared), $shared)?;
                    }
                )*
                table.end()
            }
        }

        impl JsonSchema for $line {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($line).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $(#[$line_meta])*
                #[derive(JsonSchema)]
                #[allow(dead_code, reason = "only its schema is used")]
                struct Keys {
                    $($(#[$needed_about])* $needed: PerDirection<$needed_type>,)*
                    $(
                        $(#[$about])*
                        #[schemars(default)]
                        $key: PerDirection<$type>,
                    )*
                    $(
                        $(#[$shared_about])*
                        #[schemars(default)]
                        $shared: $shared_type,
                    )*
                }
                let mut schema = Keys::json_schema(generator);
                let quiet = [$((stringify!($key), sides!(@shown $($shown)?)),)* $((stringify!($shared), sides!(@shown $($shared_shown)?)),)*];
                for (key, _) in quiet.into_iter().filter(|(_, is_shown)| !is_shown) {
                    if let Some(property) = schema.pointer_mut(&format!("/properties/{key}")).and_then(serde_json::Value::as_object_mut) {
                        property.remove("default");
                    }
                }
                schema
            }
        }
    };
    (@shown shown) => { true };
    (@shown) => { false };
}

pub(super) use sides;
