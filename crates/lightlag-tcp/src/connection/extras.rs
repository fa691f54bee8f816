//! State that most connections do not need, in one allocation: a connection without any of it stores only a null
//! pointer.

use super::Connection;
use super::closing::KeepAliveTimer;
use super::handshake::EarlyHandshake;
use super::limited::Gate;
use super::scps::Agreement;
use crate::config::Config;
use crate::ecn::Ecn;
use crate::segment::Segment;

/// The optional state of a connection; `None` if it has none.
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

                /// Replaces this state, and returns the previous one.
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
    /// ECN state; `None` if ECN is off or the peer does not support it.
    ecn, put_ecn, ecn_mut: Ecn;
    /// Keep-alive timer; `None` if keep-alive is off.
    keep_alive, put_keep_alive, keep_alive_mut: KeepAliveTimer;
    /// State of the handshake for early data, fast open and a deferred opening; `None` if none of these is used.
    opening, put_opening, opening_mut: EarlyHandshake;
    /// State of SCPS-TP; `None` if the peer does not support it.
    scps, put_scps, scps_mut: Agreement;
    /// The gate for outgoing segments; `None` if they are sent without tokens and with plain headers.
    gate, put_gate, gate_mut: Gate;
    /// A reset that waits to be sent.
    answer, put_answer: Segment;
}

impl Extras {
    /// Returns the extras of a new end.
    pub(super) fn new(config: &Config, passive: bool) -> Self {
        let mut extras = Self::default();
        extras.put_ecn(Connection::ecn_of(config));
        extras.put_gate(Connection::gate_of(config, passive));
        extras
    }

    /// Returns true if the connection has no optional state.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|all| all.is_empty())
    }

    /// Frees the memory if no extras are left.
    pub(super) fn tidy(&mut self) {
        self.0.take_if(|all| all.is_empty());
    }

    /// Returns the state of the handshake, and creates it if there is none.
    pub(super) fn start_opening(&mut self) -> &mut EarlyHandshake {
        self.0.get_or_insert_default().opening.get_or_insert_default()
    }

    /// Returns the gate, and creates it if there is none.
    pub(super) fn build_gate(&mut self) -> &mut Gate {
        self.0.get_or_insert_default().gate.get_or_insert_default()
    }
}
