//! Registry of the loss models: their settings in a scenario, and their processes.

use super::{Loss, LossPlace};
use crate::{EndpointId, PacketFlags};
use lightlag_core::params::Described;
use lightlag_core::{Instant, RandomStream};

/// A loss model as configured. A scenario selects it by its keys.
pub trait Law: Described {
    /// Alternative name of the key, if the model has a single key.
    const ALIAS: Option<&'static str> = None;

    /// Whether the model loses specific packets. A link then has the model from the start, or never.
    const NAMES_PACKETS: bool = false;

    /// Whether losses are drawn before or after the queue, unless a scenario specifies it.
    const PLACE: LossPlace = LossPlace::AfterQueue;

    /// Returns the key whose value cannot be combined with the others, and the reason; `None` if all values are valid.
    /// `shown` returns the value of a key as it was given.
    fn refuses(&self, _shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
        None
    }

    /// Returns the loss model for the link.
    fn loss(&self) -> Loss;
}

/// A packet whose loss is to be decided.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    /// Start of the packet's transmission, or its arrival at the link.
    pub(super) start: Instant,
    /// Size of the packet's frame in bytes.
    pub(super) size: u64,
    pub(super) flags: PacketFlags,
    /// Destination of the packet.
    pub(super) to: EndpointId,
}

/// Running process of a model with parameters `C`.
pub(super) trait Process<C> {
    /// Whether losses are random.
    const DRAWS: bool;

    /// Returns the process, starting at `from`. Channel states are drawn from `states`.
    fn new(config: &C, from: Instant, states: RandomStream) -> Self;

    /// Returns true if a packet is lost. Must be called in the order of time.
    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool;
}

/// Declares the enums of models, as configured and as running processes, with one line each.
macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident($config:ty) => $process:ty;)*) => {
        /// A loss model, as configured.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum Loss {
            /// No losses.
            #[default]
            None,
            $($(#[$doc])* $variant($config),)*
            /// A timetable of models in ascending order of time, which starts at zero. None of the models is itself a
            /// timetable.
            Changing(Arc<[(Instant, Loss)]>),
        }

        impl Loss {
            /// Returns true if losses are random.
            pub fn draws(&self) -> bool {
                match self {
                    Self::None => false,
                    $(Self::$variant(_) => <$process as Process<$config>>::DRAWS,)*
                    Self::Changing(models) => models.iter().any(|(_, model)| model.draws()),
                }
            }
        }

        #[derive(Clone, Debug)]
        enum Model {
            None,
            $($variant($process),)*
            Changing(Box<Changing>),
        }

        impl Model {
            /// Returns a process that starts at `from`. Channel states are drawn from `states`.
            fn new(loss: &Loss, from: Instant, states: RandomStream) -> Self {
                match loss {
                    $(Loss::$variant(config) => Self::$variant(Process::new(config, from, states)),)*
                    // A timetable has models, not timetables.
                    Loss::None | Loss::Changing(_) => Self::None,
                }
            }

            fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool {
                match self {
                    Self::None => false,
                    $(Self::$variant(process) => Process::<$config>::loses(process, packet, random),)*
                    Self::Changing(changing) => changing.loses(packet, random),
                }
            }
        }
    };
}

/// Declares the enum of configured models, with one line each.
macro_rules! laws {
    ($($variant:ident, $name:literal, $law:ty;)*) => {
        lightlag_core::registry! {
            /// A loss model as configured. Its name is the first of its keys.
            #[derive(Clone, PartialEq, Debug)]
            pub enum LossLaw {
                $($variant, $name, $law;)*
            }
        }

        impl LossLaw {
            /// Returns the alternative name of the key, if the model has a single key.
            pub fn alias(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant(_) => <$law as Law>::ALIAS,)*
                }
            }

            /// Returns true if the model loses specific packets.
            pub fn names_packets(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$law as Law>::NAMES_PACKETS,)*
                }
            }

            /// Returns whether losses are drawn before or after the queue, unless a scenario specifies it.
            pub fn place(&self) -> LossPlace {
                match self {
                    $(Self::$variant(_) => <$law as Law>::PLACE,)*
                }
            }

            /// Returns the key whose value cannot be combined with the others, and the reason; `None` if all values are
            /// valid. `shown` returns the value of a key as it was given.
            pub fn refuses(&self, shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
                match self {
                    $(Self::$variant(law) => law.refuses(shown),)*
                }
            }

            /// Returns the loss model for the link.
            pub fn loss(&self) -> Loss {
                match self {
                    $(Self::$variant(law) => law.loss(),)*
                }
            }
        }
    };
}

pub(super) use {laws, models};
