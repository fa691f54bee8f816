//! The registry of queue disciplines: their settings in a scenario, and their construction.

use super::drop_tail::DropTailChoice;
use super::{Discipline, Limit, QueueLimit};
use crate::LinkConfig;
use lightlag_core::params::Described;
use lightlag_core::{Duration, RandomStream, Rate};

/// Settings of a queue discipline as requested in a scenario.
pub trait DisciplineKind: Described + Copy {
    /// Parameters on a link, once its rate and round-trip time are known.
    type Config: Config;

    /// Returns the parameters on a link of this rate. `round_trip` is the longest round trip of the flows that cross
    /// the link.
    fn on_link(self, rate: Rate, round_trip: Duration) -> Self::Config;

    /// Returns the limit of the queue on such a link. `configured` is the requested limit, if there is one.
    fn limit(self, configured: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
        configured.map_or(QueueLimit::Packets(1000), |limit| QueueLimit::on_link(limit, rate, round_trip))
    }

    /// Returns the key that cannot be combined with this limit, and the reason; `None` if the settings are valid.
    fn refuses(self, _limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// Parameters of a discipline on a link, which can build the discipline.
pub trait Config: Copy {
    /// Returns an empty queue on a link; it draws its random numbers from `random`.
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>>;

    /// Returns true if decisions are random. `_several` is true if several flows cross the link.
    fn draws(self, _several: bool) -> bool {
        false
    }

    /// Returns true if the discipline marks packets before the queue is full.
    fn marks(self) -> bool {
        false
    }
}

impl super::Choice {
    /// Drop-tail whose limit does not include the packet in transmission.
    pub const PLAIN: Self = Self::DropTail(DropTailChoice { count_in_service: false });

    /// Returns true if the discipline is drop-tail.
    pub fn is_drop_tail(&self) -> bool {
        matches!(self, Self::DropTail(_))
    }
}

/// Declares the two enums of disciplines, as requested and on a link, with one line for each discipline.
macro_rules! disciplines {
    ($($variant:ident, $name:literal, $asked:ty => $config:ty;)*) => {
        /// A queue discipline with its parameters on a link. The limit belongs to the link.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum DisciplineConfig {
            /// Drop-tail (`drop_tail`).
            #[default]
            DropTail,
            $(#[doc = concat!("`", $name, "`")] $variant($config),)*
            /// Custom discipline.
            Custom(custom::CustomDiscipline),
        }

        impl DisciplineConfig {
            /// Returns an empty queue with this discipline on a link; it draws its random numbers from `random`.
            pub fn build<B: Clone + Send + 'static>(&self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>> {
                match self {
                    Self::DropTail => registry::Config::build(drop_tail::DropTailChoice::default(), link, random),
                    $(Self::$variant(config) => registry::Config::build(*config, link, random),)*
                    Self::Custom(custom) => custom::build(custom, link, random),
                }
            }

            /// Returns true if decisions are random; `several` is true if several flows cross the link.
            pub fn draws(&self, several: bool) -> bool {
                match self {
                    Self::DropTail => false,
                    $(Self::$variant(config) => registry::Config::draws(*config, several),)*
                    Self::Custom(_) => true,
                }
            }

            /// Returns true if the discipline marks packets before the queue is full.
            pub fn marks(&self) -> bool {
                match self {
                    Self::DropTail => false,
                    $(Self::$variant(config) => registry::Config::marks(*config),)*
                    // Unknown in advance.
                    Self::Custom(_) => true,
                }
            }
        }

        lightlag_core::registry! {
            /// A queue discipline as requested.
            #[derive(Clone, PartialEq, Debug)]
            pub enum Choice {
                DropTail, "drop_tail", drop_tail::DropTailChoice;
                $($variant, $name, $asked;)*
                + Custom(custom::CustomDiscipline);
            }
        }

        impl Choice {
            /// Returns the key that cannot be combined with this limit, and the reason; `None` if the settings are
            /// valid.
            pub fn refuses(&self, limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
                match self {
                    Self::DropTail(kind) => kind.refuses(limit),
                    $(Self::$variant(kind) => kind.refuses(limit),)*
                    Self::Custom(_) => None,
                }
            }

            /// Returns the limit of the queue on a link of this rate, where `round_trip` is the longest round trip of
            /// the link's flows. `configured` is the requested limit, if there is one.
            pub fn limit(&self, configured: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
                match self {
                    Self::DropTail(kind) => kind.limit(configured, rate, round_trip),
                    $(Self::$variant(kind) => kind.limit(configured, rate, round_trip),)*
                    Self::Custom(_) => Self::PLAIN.limit(configured, rate, round_trip),
                }
            }

            /// Returns the discipline on such a link.
            pub fn on_link(&self, rate: Rate, round_trip: Duration) -> DisciplineConfig {
                match self {
                    Self::DropTail(_) => DisciplineConfig::DropTail,
                    $(Self::$variant(kind) => DisciplineConfig::$variant(kind.on_link(rate, round_trip)),)*
                    Self::Custom(custom) => DisciplineConfig::Custom(custom.clone()),
                }
            }
        }
    };
}

pub(super) use disciplines;
