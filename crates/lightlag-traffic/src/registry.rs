//! The kinds of traffic by their names in a scenario.

/// Declares the enum of all kinds and the interface that hosts use. Each kind has a line: variant, name in a scenario,
/// type, and `Messages` if the kind writes messages over time.
macro_rules! kinds {
    ($($variant:ident, $name:literal, $kind:ty $(: $messages:ident)?;)*) => {
        lightlag_core::registry! {
            /// Traffic of the application at the start of a flow.
            #[derive(Clone, PartialEq, Debug)]
            pub enum Traffic {
                $($variant, $name, $kind;)*
                + Custom(custom::CustomTraffic);
            }
        }

        /// The state of an application between its messages.
        #[derive(Debug)]
        pub enum Memory {
            $($(#[doc = concat!("Of `", $name, "`.")] $variant(<$kind as $messages>::Memory),)?)*
            /// Memory of custom traffic.
            Custom(<custom::CustomTraffic as Messages>::Memory),
        }

        impl Traffic {
            /// Returns true if sizes or times of the application are random.
            pub fn is_random(&self) -> bool {
                match self {
                    $(Self::$variant(kind) => TrafficKind::is_random(kind),)*
                    Self::Custom(custom) => custom.is_random(),
                }
            }

            /// Returns true if the application may end by itself, before a transfer is complete.
            pub fn ends(&self) -> bool {
                match self {
                    $(Self::$variant(kind) => TrafficKind::ends(kind),)*
                    Self::Custom(custom) => custom.ends(),
                }
            }

            /// Returns true if the application writes messages over time.
            pub fn has_messages(&self) -> bool {
                self.memory().is_some()
            }

            /// Returns the state of an application before its first message; `None` if it does not write messages.
            #[inline]
            pub fn memory(&self) -> Option<Memory> {
                match self {
                    $($(Self::$variant(_) => Some(Memory::$variant(<$kind as $messages>::Memory::default())),)?)*
                    Self::Custom(_) => Some(Memory::Custom(Default::default())),
                    _ => None,
                }
            }

            /// Returns the maximum size of a message; if it is unlimited, the mean size; zero if that is unknown.
            pub fn largest(&self) -> lightlag_core::Bytes {
                match self {
                    $($(Self::$variant(kind) => $messages::largest(kind),)?)*
                    Self::Custom(custom) => custom.largest(),
                    _ => lightlag_core::Bytes::ZERO,
                }
            }

            /// Returns the rate and the size of the messages, if all messages are equal and at equal intervals.
            pub fn stream(&self) -> Option<Stream> {
                match self {
                    $($(Self::$variant(kind) => $messages::stream(kind),)?)*
                    _ => None,
                }
            }

            /// Returns true if neither memory nor progress of the application has to be stored.
            pub fn is_memoryless(&self) -> bool {
                match self {
                    $($(Self::$variant(kind) => $messages::is_memoryless(kind),)?)*
                    _ => false,
                }
            }

            /// Returns the size of the message that is due at `now` and the time of the next one, for an application
            /// that is memoryless. A single call for both saves a second match on the kind.
            ///
            /// # Panics
            /// If the application does not write messages. The functions below also panic in this case, or if the
            /// memory belongs to another kind.
            #[inline]
            pub fn message(
                &self,
                now: lightlag_core::Instant,
                random: &mut lightlag_core::RandomStream,
            ) -> (lightlag_core::Bytes, Option<lightlag_core::Instant>) {
                match self {
                    $($(Self::$variant(kind) => {
                        let mut memory = <$kind as $messages>::Memory::default();
                        let size = $messages::size(kind, &memory, random);
                        let progress = Progress { start: now, now, messages: 0, bytes: 0 };
                        (size, kind::before_end(kind, $messages::next(kind, &mut memory, &progress, random)))
                    })?)*
                    _ => unreachable!("{self:?} is not memoryless"),
                }
            }

            /// Returns the time of the first message, as [`Messages::first`]; `None` if it is not before the end.
            pub fn first(
                &self,
                memory: &mut Memory,
                start: lightlag_core::Instant,
                largest: Option<lightlag_core::Bytes>,
                random: &mut lightlag_core::RandomStream,
            ) -> Option<lightlag_core::Instant> {
                match (self, memory) {
                    $($((Self::$variant(kind), Memory::$variant(memory)) => kind::before_end(kind, $messages::first(kind, memory, start, largest, random)),)?)*
                    (Self::Custom(custom), Memory::Custom(memory)) => kind::before_end(custom, custom.first(memory, start, largest, random)),
                    (_, memory) => unreachable!("{self:?} with {memory:?}"),
                }
            }

            /// Returns the size of the message that is due, in bytes.
            #[inline]
            pub fn size(&self, memory: &Memory, random: &mut lightlag_core::RandomStream) -> lightlag_core::Bytes {
                match (self, memory) {
                    $($((Self::$variant(kind), Memory::$variant(memory)) => $messages::size(kind, memory, random),)?)*
                    (Self::Custom(custom), Memory::Custom(memory)) => custom.size(memory, random),
                    _ => unreachable!("{self:?} with {memory:?}"),
                }
            }

            /// Returns the time of the message after the one at `progress.now`; `None` if it is not before the end, or
            /// if there are no more.
            #[inline]
            pub fn next(
                &self,
                memory: &mut Memory,
                progress: &Progress,
                random: &mut lightlag_core::RandomStream,
            ) -> Option<lightlag_core::Instant> {
                match (self, memory) {
                    $($((Self::$variant(kind), Memory::$variant(memory)) => kind::before_end(kind, $messages::next(kind, memory, progress, random)),)?)*
                    (Self::Custom(custom), Memory::Custom(memory)) => kind::before_end(custom, custom.next(memory, progress, random)),
                    (_, memory) => unreachable!("{self:?} with {memory:?}"),
                }
            }
        }
    };
}

pub(super) use kinds;
