//! A macro that declares the keys of a link, with one line each, and generates the code that reads and writes them and
//! describes them in the schema.

/// Declares the types for one direction of a link and for the entire link, with one line for each key and its type.
/// `needed` keys are required; their text follows "is missing; " in the error message. `each` key may have a value for
/// each direction; a `shared` key has one for the link. A key with its default value is not written, unless it is
/// marked `shown`.
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
            /// Direction from the first node to the second.
            pub forward: $side,
            /// Direction from the second node to the first.
            pub backward: $side,
            $($(#[$shared_about])* pub $shared: $shared_type,)*
        }

        impl $side {
            /// Returns a direction with these properties and the defaults of all others.
            pub(crate) fn plain($($needed: $needed_type),*) -> Self {
                Self { $($needed,)* $($key: Default::default(),)* }
            }
        }

        impl $line {
            /// Keys that may have a value for each direction.
            pub(crate) const DIRECTED: &[&str] = &[$(stringify!($needed),)* $(stringify!($key),)*];

            /// Returns a link with these properties in both directions, and the defaults of the shared keys.
            pub(crate) fn both(side: $side) -> Self {
                Self { forward: side.clone(), backward: side, $($shared: Default::default(),)* }
            }

            /// Reads the keys of a link in a table that also has other keys. Returns `None` if a required key is
            /// missing.
            fn read_keys(table: &mut TableReader, errors: &mut Errors) -> Option<Self> {
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
