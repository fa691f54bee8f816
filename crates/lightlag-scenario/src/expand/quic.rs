//! The QUIC configuration of every flow, and the version of HTTP that its transport implies.

use crate::network::QuicEnds;
use crate::read::Errors;
use crate::spec::{Defaults, Transport};
use lightlag_core::{Bytes, Duration};
use lightlag_quic::{Ends, OptionError, Options};
use lightlag_tcp::Options as TcpOptions;
use lightlag_traffic::{Http, Setup, Tls, Traffic};
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

/// Idle timeout of most implementations, for ends of a proxy that have none.
const USUAL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of unidirectional streams that an endpoint with HTTP/3 permits at least (RFC 9114 §6.2).
const MIN_UNIDIRECTIONAL: u64 = 3;

/// The parts of a flow that determine its QUIC configurations.
pub(crate) struct QuicFlow<'a> {
    pub(crate) transport: Transport,
    pub(crate) own: &'a Options,
    /// The table of TCP options, with the congestion control of the flow's turn.
    pub(crate) tcp: &'a TcpOptions,
    pub(crate) traffic: &'a Traffic,
    pub(crate) setup: Option<Setup>,
}

/// Returns the traffic of a flow at the path `flow` with the version of HTTP that its transport implies, if the scenario
/// does not choose one, and rejects a version that needs another transport.
pub(crate) fn with_http(transport: Transport, traffic: &Arc<Traffic>, flow: &str, errors: &mut Errors) -> Arc<Traffic> {
    let error = match (transport, traffic.http()) {
        (Transport::Quic, Some(Http::Auto)) => {
            let mut traffic = (**traffic).clone();
            traffic.http_mut().into_iter().for_each(|http| *http = Http::Three);
            return Arc::new(traffic);
        }
        (Transport::Quic, Some(Http::One)) => r#""1.1" needs TCP, and the flow uses QUIC; write "3", or omit it"#,
        (Transport::Quic, Some(Http::Two)) => r#""2" needs TCP, and the flow uses QUIC; write "3", or omit it"#,
        (Transport::Tcp, Some(Http::Three)) => {
            r#""3" needs QUIC, and the flow uses TCP; write transport = "quic", or "1.1" or "2""#
        }
        _ => return traffic.clone(),
    };
    errors.push(format_args!("{flow}.traffic.http"), error.to_owned());
    traffic.clone()
}

impl<'a> QuicResolver<'a> {
    pub(crate) fn new(defaults: &'a Defaults, errors: &mut Errors) -> Self {
        let refused = defaults.quic.resolve().err();
        if let Some(error) = &refused {
            errors.push(format_args!("defaults.quic.{}", error.key), error.message.clone());
        }
        Self { defaults, refused, known: Vec::new() }
    }

    /// Returns the configurations of the endpoints of a flow at the path `flow`; `None` for other transports, and after
    /// an error. The congestion control of the flow's TCP options also applies to QUIC, unless a table of QUIC options
    /// sets one. `defaults.tcp.congestion` applies last, so that one scenario compares transports with the same
    /// congestion control. A set-up with early data of TLS is 0-RTT, unless the options decide.
    pub(crate) fn ends(&mut self, of: QuicFlow<'_>, flow: &str, errors: &mut Errors) -> Option<Arc<QuicEnds>> {
        let QuicFlow { transport, own, tcp, traffic, setup } = of;
        if transport != Transport::Quic {
            return None;
        }
        let merged = self.defaults.quic.merge(own);
        let congestion = own.congestion.as_ref().or(tcp.congestion.as_ref()).or(merged.congestion.as_ref());
        let congestion = congestion.or(self.defaults.tcp.congestion.as_ref()).cloned();
        let is_early = traffic.is_dialogue() && setup.is_some_and(|setup| setup.tls == Tls::Early);
        let says = merged.zero_rtt.or(merged.client.as_ref().and_then(|client| client.zero_rtt));
        let options = Options { congestion, zero_rtt: says.or(is_early.then_some(true)), ..merged };
        let sender_accepts = traffic.is_dialogue();
        let is_equal = |known: &&Known| known.1 == sender_accepts && known.0 == options;
        let resolved = match self.known.iter().rev().take(COMPARED).find(is_equal) {
            Some((_, _, resolved)) => resolved.clone(),
            None => {
                let resolved = options.resolve().map(|mut ends| {
                    if sender_accepts {
                        permit_control(&mut ends);
                    }
                    let Ends { client, server } = ends;
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

    /// Returns the configurations of a tunnel's endpoints, whose table of options is at the path `tunnel`. `full` is the
    /// UDP payload of a packet of 1,500 B.
    pub(crate) fn of_tunnel(&self, own: &Options, full: u16, tunnel: &str, errors: &mut Errors) -> Option<Ends> {
        let merged = self.defaults.quic.merge(own);
        let congestion = merged.congestion.clone().or_else(|| self.defaults.tcp.congestion.clone());
        let keeps_alive = merged.keep_alive.is_none();
        let options = Options { congestion, datagram: own.datagram, ..merged };
        // The search for the path MTU has a largest datagram.
        let searched = options.resolve().ok().and_then(|ends| Some(ends.client.mtu?.max));
        let datagram = own.datagram.unwrap_or(Bytes(searched.unwrap_or(full).min(full).into()));
        match (Options { datagram: Some(datagram), ..options }).resolve() {
            Ok(mut ends) => {
                if keeps_alive {
                    keep_alive(&mut ends);
                }
                Some(ends)
            }
            Err(error) => {
                errors.push(format_args!("{tunnel}.quic.{}", error.key), error.message);
                None
            }
        }
    }

    /// Returns the configurations of a proxy's endpoints.
    pub(crate) fn of_proxy(&self, own: &Options, proxy: &str, errors: &mut Errors) -> Option<Arc<Ends>> {
        let merged = self.defaults.quic.merge(own);
        let congestion = merged.congestion.clone().or_else(|| self.defaults.tcp.congestion.clone());
        let keeps_alive = merged.keep_alive.is_none();
        match (Options { congestion, ..merged }).resolve() {
            Ok(mut ends) => {
                permit_control(&mut ends);
                if keeps_alive {
                    keep_alive(&mut ends);
                }
                Some(Arc::new(ends))
            }
            Err(error) => {
                if self.refused.as_ref() != Some(&error) {
                    errors.push(format_args!("{proxy}.quic.{}", error.key), error.message);
                }
                None
            }
        }
    }
}

/// Makes the ends of a proxy or a tunnel keep their connection alive. A connection of a proxy is idle while the proxy
/// still sends its data on the other one, and one of a tunnel while no packet passes.
fn keep_alive(ends: &mut Ends) {
    for end in [&mut ends.client, &mut ends.server].map(Arc::make_mut) {
        let idle = if end.idle_timeout.is_zero() { USUAL_IDLE_TIMEOUT } else { end.idle_timeout };
        end.keep_alive = Some(idle / 3);
    }
}

/// Permits the unidirectional streams of HTTP/3.
fn permit_control(ends: &mut Ends) {
    let [client, server] = [&mut ends.client, &mut ends.server].map(Arc::make_mut);
    let remembered = client.ticket.as_mut().map(|ticket| &mut ticket.unidirectional);
    let limits = [&mut client.flow.unidirectional, &mut server.flow.unidirectional];
    limits.into_iter().chain(remembered).for_each(|limit| *limit = (*limit).max(MIN_UNIDIRECTIONAL));
}
