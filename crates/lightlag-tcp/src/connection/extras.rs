//! The state of what most connections do without, in one place: an end without any of it keeps one pointer.

use super::Connection;
use super::closing::KeepAlive;
use super::handshake::Opening;
use super::limited::Gate;
use super::scps::Agreement;
use crate::config::Config;
use crate::ecn::Ecn;
use crate::segment::Segment;

/// The extras of a connection, if it has any.
#[derive(Default)]
pub(super) struct Extras(Option<Box<All>>);

macro_rules! extras {
    ($($(#[$doc:meta])* $name:ident, $put:ident $(, $name_mut:ident)?: $of:ty;)*) => {
        #[derive(Default)]
        struct All {
            $($name: Option<Box<$of>>,)*
        }

        impl All {
            fn is_empty(&self) -> bool {
                true $(&& self.$name.is_none())*
            }
        }

        impl Extras {
            $(
                $(#[$doc])*
                #[inline(always)]
                pub(super) fn $name(&self) -> Option<&$of> {
                    self.0.as_ref()?.$name.as_deref()
                }

                $(
                    #[inline(always)]
                    pub(super) fn $name_mut(&mut self) -> Option<&mut $of> {
                        self.0.as_mut()?.$name.as_deref_mut()
                    }
                )?

                /// Puts it there, or takes it away. Returns the one before.
                pub(super) fn $put(&mut self, new: Option<Box<$of>>) -> Option<Box<$of>> {
                    if new.is_none() && self.0.is_none() {
                        return None;
                    }
                    std::mem::replace(&mut self.0.get_or_insert_default().$name, new)
                }
            )*
        }
    };
}

extras! {
    /// `None` if ECN is off or the peer lacks it.
    ecn, put_ecn, ecn_mut: Ecn;
    /// `None` if it is off.
    keep_alive, put_keep_alive, keep_alive_mut: KeepAlive;
    /// The state of the handshake beyond its flags, if there is any.
    opening, put_opening, opening_mut: Opening;
    /// `None` with a peer without SCPS-TP.
    scps, put_scps, scps_mut: Agreement;
    /// `None` if segments leave unchanged and without tokens.
    gate, put_gate, gate_mut: Gate;
    /// A reset that must leave.
    answer, put_answer: Segment;
}

impl Extras {
    /// Those that an end has from the start.
    pub(super) fn new(config: &Config, passive: bool) -> Self {
        let mut extras = Self::default();
        extras.put_ecn(Connection::ecn_of(config));
        extras.put_gate(Connection::gate_of(config, passive));
        extras
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|all| all.is_empty())
    }

    /// Gives back the memory of those that have ended.
    pub(super) fn tidy(&mut self) {
        self.0.take_if(|all| all.is_empty());
    }

    /// The state of the handshake, which starts here.
    pub(super) fn start_opening(&mut self) -> &mut Opening {
        self.0.get_or_insert_default().opening.get_or_insert_default()
    }

    /// The gate, which stands here from now on.
    pub(super) fn build_gate(&mut self) -> &mut Gate {
        self.0.get_or_insert_default().gate.get_or_insert_default()
    }
}
