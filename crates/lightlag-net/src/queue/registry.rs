//! The disciplines by name: their settings in a scenario, and their construction.

use super::drop_tail::DropTailChoice;
use super::{Discipline, Limit, QueueLimit};
use crate::LinkConfig;
use lightlag_core::params::Described;
use lightlag_core::{Duration, RandomStream, Rate};

/// A queue discipline as requested, and its parameters on a link.
pub trait Kind: Described + Copy {
    /// Its parameters once rate and round trip are known.
    type Config: Config;

    /// Its parameters on a link of this rate, with the longest round trip of the flows that cross it.
    fn on_link(self, rate: Rate, round_trip: Duration) -> Self::Config;

    /// The limit on such a link, with a requested limit or without.
    fn limit(self, asked: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
        asked.map_or(QueueLimit::Packets(1000), |limit| QueueLimit::on_link(limit, rate, round_trip))
    }

    /// The key that cannot be combined with a limit, and the reason, if there is one.
    fn refuses(self, _limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// The parameters of a discipline on a link, from which it is built.
pub trait Config: Copy {
    /// An empty queue on a link, drawing from `random`.
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>>;

    /// Whether it decides at random; `several` flows cross the link.
    fn draws(self, _several: bool) -> bool {
        false
    }

    /// Whether it marks packets before it is full.
    fn marks(self) -> bool {
        false
    }
}

impl super::Choice {
    /// Drop-tail, where only waiting packets count.
    pub const PLAIN: Self = Self::DropTail(DropTailChoice { count_in_service: false });

    /// Whether it is drop-tail.
    pub fn is_drop_tail(&self) -> bool {
        matches!(self, Self::DropTail(_))
    }
}

/// Makes the two enums of disciplines, as requested and on a link, from a line for each.
macro_rules! disciplines {
    ($($variant:ident, $name:literal, $asked:ty => $config:ty;)*) => {
        /// A queue discipline and its parameters. The link has the limit.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub enum DisciplineConfig {
            /// `drop_tail`
            #[default]
            DropTail,
            $(#[doc = concat!("`", $name, "`")] $variant($config),)*
            /// One from outside.
            Own(own::Own),
        }

        impl DisciplineConfig {
            /// An empty queue with this discipline on a link, drawing from `random`.
            pub fn build<B: Clone + Send + 'static>(&self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>> {
                match self {
                    Self::DropTail => registry::Config::build(drop_tail::DropTailChoice::default(), link, random),
                    $(Self::$variant(config) => registry::Config::build(*config, link, random),)*
                    Self::Own(own) => own::build(own, link, random),
                }
            }

            /// Whether it decides at random; `several` flows cross the link.
            pub fn draws(&self, several: bool) -> bool {
                match self {
                    Self::DropTail => false,
                    $(Self::$variant(config) => registry::Config::draws(*config, several),)*
                    Self::Own(_) => true,
                }
            }

            /// Whether it marks packets before it is full.
            pub fn marks(&self) -> bool {
                match self {
                    Self::DropTail => false,
                    $(Self::$variant(config) => registry::Config::marks(*config),)*
                    // Nobody knows beforehand.
                    Self::Own(_) => true,
                }
            }
        }

        lightlag_core::registry! {
            /// A queue discipline as requested.
            #[derive(Clone, PartialEq, Debug)]
            pub enum Choice {
                DropTail, "drop_tail", drop_tail::DropTailChoice;
                $($variant, $name, $asked;)*
                + Own(own::Own);
            }
        }

        impl Choice {
            /// The key that cannot be combined with a limit, and the reason, if there is one.
            pub fn refuses(&self, limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
                match self {
                    Self::DropTail(kind) => kind.refuses(limit),
                    $(Self::$variant(kind) => kind.refuses(limit),)*
                    Self::Own(_) => None,
                }
            }

            /// The limit on a link of this rate, with the longest round trip of the flows that cross it, with a
            /// requested limit or without.
            pub fn limit(&self, asked: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
                match self {
                    Self::DropTail(kind) => kind.limit(asked, rate, round_trip),
                    $(Self::$variant(kind) => kind.limit(asked, rate, round_trip),)*
                    Self::Own(_) => Self::PLAIN.limit(asked, rate, round_trip),
                }
            }

            /// The discipline on such a link.
            pub fn on_link(&self, rate: Rate, round_trip: Duration) -> DisciplineConfig {
                match self {
                    Self::DropTail(_) => DisciplineConfig::DropTail,
                    $(Self::$variant(kind) => DisciplineConfig::$variant(kind.on_link(rate, round_trip)),)*
                    Self::Own(own) => DisciplineConfig::Own(own.clone()),
                }
            }
        }
    };
}

pub(super) use disciplines;
