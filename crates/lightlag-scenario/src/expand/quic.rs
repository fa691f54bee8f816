//! The QUIC configuration of every flow.

use crate::network::QuicEnds;
use crate::read::Errors;
use crate::spec::{Defaults, Transport};
use lightlag_quic::{Ends, OptionError, Options};
use lightlag_tcp::Options as TcpOptions;
use lightlag_traffic::Traffic;
use std::sync::Arc;

/// Completes the QUIC options of flows with defaults. Flows with equal options share the result.
pub(crate) struct QuicResolver<'a> {
    defaults: &'a Defaults,
    /// Error of the defaults themselves, which is reported once instead of once per flow.
    refused: Option<OptionError>,
    known: Vec<Known>,
}

/// Options of a flow, whether its sender accepts the connection, and the result.
type Known = (Options, bool, Result<Arc<QuicEnds>, OptionError>);

/// Maximum number of recent results that are compared before options are completed again.
const COMPARED: usize = 16;

impl<'a> QuicResolver<'a> {
    pub(crate) fn new(defaults: &'a Defaults, errors: &mut Errors) -> Self {
        let refused = defaults.quic.resolve().err();
        if let Some(error) = &refused {
            errors.push(format_args!("defaults.quic.{}", error.key), error.message.clone());
        }
        Self { defaults, refused, known: Vec::new() }
    }

    /// Returns the configurations of the endpoints of a flow at the path `flow`; `None` for other transports, and after
    /// an error. `tcp` is the flow's table of TCP options, with the congestion control of its turn: this control also
    /// applies to QUIC, unless a table of QUIC options sets one. `defaults.tcp.congestion` applies last, so that one
    /// scenario compares transports with the same congestion control.
    pub(crate) fn ends(
        &mut self,
        transport: Transport,
        own: &Options,
        tcp: &TcpOptions,
        traffic: &Traffic,
        flow: &str,
        errors: &mut Errors,
    ) -> Option<Arc<QuicEnds>> {
        if transport != Transport::Quic {
            return None;
        }
        let merged = self.defaults.quic.merge(own);
        let congestion = own.congestion.as_ref().or(tcp.congestion.as_ref()).or(merged.congestion.as_ref());
        let congestion = congestion.or(self.defaults.tcp.congestion.as_ref()).cloned();
        let options = Options { congestion, ..merged };
        let sender_accepts = traffic.is_dialogue();
        let is_equal = |known: &&Known| known.1 == sender_accepts && known.0 == options;
        let resolved = match self.known.iter().rev().take(COMPARED).find(is_equal) {
            Some((_, _, resolved)) => resolved.clone(),
            None => {
                let resolved = options.resolve().map(|ends| {
                    let [client, server] = [ends.client, ends.server].map(Arc::new);
                    let [sender, receiver] = if sender_accepts { [server, client] } else { [client, server] };
                    Arc::new(QuicEnds { sender, receiver })
                });
                self.known.push((options, sender_accepts, resolved.clone()));
                resolved
            }
        };
        match resolved {
            Ok(ends) => Some(ends),
            Err(error) => {
                if self.refused.as_ref() != Some(&error) {
                    errors.push(format_args!("{flow}.quic.{}", error.key), error.message);
                }
                None
            }
        }
    }

    /// Returns the configurations of a proxy's endpoints.
    pub(crate) fn of_proxy(&self, own: &Options, proxy: &str, errors: &mut Errors) -> Option<Arc<Ends>> {
        let merged = self.defaults.quic.merge(own);
        let congestion = merged.congestion.clone().or_else(|| self.defaults.tcp.congestion.clone());
        match (Options { congestion, ..merged }).resolve() {
            Ok(ends) => Some(Arc::new(ends)),
            Err(error) => {
                if self.refused.as_ref() != Some(&error) {
                    errors.push(format_args!("{proxy}.quic.{}", error.key), error.message);
                }
                None
            }
        }
    }
}
