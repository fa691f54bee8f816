//! The models by name: what a scenario may say of each, and what draws for it.

use super::Loss;
use crate::PacketFlags;
use lightlag_core::params::Described;
use lightlag_core::{Instant, RandomStream};

/// A loss model as asked for. Its keys tell it from the others.
pub trait Law: Described {
    /// Another name of its key, where it has one key.
    const ALIAS: Option<&'static str> = None;

    /// Whether it names single packets, so that a link has it from the start or never.
    const NAMES_PACKETS: bool = false;

    /// The key of a value that does not go with the others, and the reason, if there is one; `shown` has the value of a key
    /// as it was given.
    fn refuses(&self, _shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
        None
    }

    /// The model that a link runs.
    fn loss(&self) -> Loss;
}

/// A packet of which is drawn whether it is lost.
#[derive(Clone, Copy)]
pub(super) struct Draw {
    /// When its transmission starts, or when it comes to the link.
    pub(super) start: Instant,
    /// Bytes of its frame.
    pub(super) size: u64,
    pub(super) flags: PacketFlags,
}

/// A model with parameters `C` at work.
pub(super) trait Process<C> {
    /// Whether it draws at random.
    const DRAWS: bool;

    /// The process from `from` on; states of a channel are drawn from `states`.
    fn new(config: &C, from: Instant, states: RandomStream) -> Self;

    /// Whether a packet, not before the one before, is lost.
    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool;
}

/// Makes the enums of models, as configured and at work, from a line for each.
macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident($config:ty) => $process:ty;)*) => {
        /// A loss model, as configured.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum Loss {
            /// Nothing is lost.
            #[default]
            None,
            $($(#[$doc])* $variant($config),)*
            /// Each of these from its time on, the first from zero on. Ascending; none of them changes itself.
            Changing(Arc<[(Instant, Loss)]>),
        }

        impl Loss {
            /// Whether it draws at random which packets are lost.
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
            /// A model that starts at `from`, with channel states from `states`.
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

/// Makes the enum of models as asked for from a line for each.
macro_rules! laws {
    ($($variant:ident, $name:literal, $law:ty;)*) => {
        lightlag_core::registry! {
            /// Losses as asked for. The name of a model is the first of its keys.
            #[derive(Clone, PartialEq, Debug)]
            pub enum LossLaw {
                $($variant, $name, $law;)*
            }
        }

        impl LossLaw {
            /// Another name of its key, where it has one key.
            pub fn alias(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant(_) => <$law as Law>::ALIAS,)*
                }
            }

            /// Whether it names single packets.
            pub fn names_packets(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$law as Law>::NAMES_PACKETS,)*
                }
            }

            /// The key of a value that does not go with the others, and the reason, if there is one; `shown` has the value of
            /// a key as it was given.
            pub fn refuses(&self, shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
                match self {
                    $(Self::$variant(law) => law.refuses(shown),)*
                }
            }

            /// The model that a link runs.
            pub fn loss(&self) -> Loss {
                match self {
                    $(Self::$variant(law) => law.loss(),)*
                }
            }
        }
    };
}

pub(super) use {laws, models};
