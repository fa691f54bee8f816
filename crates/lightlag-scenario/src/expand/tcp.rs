//! The TCP configuration of every flow, with its congestion control and all defaults.

use crate::read::Errors;
use crate::spec::is_empty;
use lightlag_control::congestion::Choice;
use lightlag_tcp::{Config, OptionError, Options};
use std::borrow::Cow;
use std::fmt::Display;
use std::iter::Cycle;
use std::slice::Iter;
use std::sync::Arc;

/// Assigns the congestion controls of `defaults.congestion` in turn to the flows that do not set one.
pub(crate) struct Turns<'a> {
    choices: Cycle<Iter<'a, Choice>>,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(choices: &'a [Choice]) -> Self {
        Self { choices: choices.iter().cycle() }
    }

    /// Returns the TCP options of the next flow: `own`, with the next congestion control in turn if it has none.
    pub(crate) fn next<'b>(&mut self, own: &'b Options) -> Cow<'b, Options> {
        match own.congestion {
            None => match self.choices.next() {
                Some(choice) => Cow::Owned(Options { congestion: Some(choice.clone()), ..own.clone() }),
                None => Cow::Borrowed(own),
            },
            Some(_) => Cow::Borrowed(own),
        }
    }
}

/// Completes the TCP options of flows with defaults. Flows with equal options share the result.
pub(crate) struct Resolver<'a> {
    defaults: &'a Options,
    /// Error of the defaults themselves, which is reported once instead of once per flow.
    refused: Option<OptionError>,
    known: Vec<(Options, Result<Arc<Config>, OptionError>)>,
}

/// Maximum number of recent results that are compared before options are completed again.
const COMPARED: usize = 16;

impl<'a> Resolver<'a> {
    pub(crate) fn new(defaults: &'a Options, errors: &mut Errors) -> Self {
        let refused = defaults.resolve().err();
        if let Some(error) = &refused {
            errors.push(format_args!("defaults.tcp.{}", error.key), error.message.clone());
        }
        Self { defaults, refused, known: Vec::new() }
    }

    /// Returns the complete TCP configuration of the flow at the path `key`.
    pub(crate) fn resolve(&mut self, options: &Options, key: &str, errors: &mut Errors) -> Option<Arc<Config>> {
        self.resolve_at(options, format_args!("{key}.tcp"), errors)
    }

    /// Returns the complete TCP configurations of the endpoints of the flow at the path `flow`: the one that opens the
    /// connection, and the one that accepts it. `ends` override `both`.
    pub(crate) fn resolve_ends(
        &mut self,
        both: &Options,
        ends: [&Options; 2],
        flow: &str,
        errors: &mut Errors,
    ) -> Option<[Arc<Config>; 2]> {
        let mut shared = None;
        if ends.iter().any(|own| is_empty(own)) {
            shared = Some(self.resolve(both, flow, errors)?);
        }
        let mut end = |own: &Options, key: &str| match &shared {
            Some(shared) if is_empty(own) => Some(shared.clone()),
            _ => self.resolve_at(&both.merge(own), format_args!("{flow}.{key}"), errors),
        };
        let [client, server] = [end(ends[0], "client"), end(ends[1], "server")];
        Some([client?, server?])
    }

    /// Returns the complete TCP configuration for the options at this path.
    pub(crate) fn resolve_at(
        &mut self,
        options: &Options,
        key_path: impl Display,
        errors: &mut Errors,
    ) -> Option<Arc<Config>> {
        let known = self.known.iter().rev().take(COMPARED).find(|(known, _)| known == options);
        let resolved = match known {
            Some((_, resolved)) => resolved.clone(),
            None => {
                let resolved = self.defaults.merge(options).resolve().map(Arc::new);
                self.known.push((options.clone(), resolved.clone()));
                resolved
            }
        };
        match resolved {
            Ok(config) => Some(config),
            Err(error) => {
                if self.refused.as_ref() != Some(&error) {
                    errors.push(format_args!("{key_path}.{}", error.key), error.message);
                }
                None
            }
        }
    }
}
