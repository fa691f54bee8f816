//! The engine's JSON API: requests in JSON, replies in JSON and columns of numbers.
//!
//! A web page loads this crate as a WebAssembly module; the local server of `lightlag studio` uses it as a part of the
//! native engine. Both therefore have the same API. The crate does not access the disk and runs no custom algorithms;
//! the files of a scenario are part of the request.
//!
//! - [`answer`]: the format of replies.
//! - `request`: the requests.
//! - `scenario`: parsing and validation of a scenario text, and the network that it describes.
//! - `text`: positions of keys in a scenario text, and edits that preserve its comments.
//! - `capture`: analysis of a capture of the user.
//! - `started_run`: runs, step by step.
//! - `charts`: the charts of a complete run.
//! - `positions`: positions of satellites and flying nodes at any time.
//! - `exports`: the functions of the WebAssembly module.

pub mod answer;
mod capture;
mod charts;
#[cfg(target_family = "wasm")]
mod exports;
mod positions;
mod request;
mod scenario;
mod started_run;
mod text;

use answer::Reply;
use lightlag_control::congestion;
use lightlag_scenario::WarningKind;
use lightlag_tcp::Profile;
use positions::Positions;
use request::Request;
use serde_json::json;
use started_run::StartedRun;

/// The engine, with its open runs and constellations.
#[derive(Default)]
pub struct Door {
    courses: Shelf<StartedRun>,
    places: Shelf<Positions>,
}

impl Door {
    /// Handles a request and returns the reply. If the request is invalid, the reply is an object `error` with a
    /// message.
    pub fn ask(&mut self, request: &str) -> Vec<u8> {
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.answer(request),
            Err(error) => Err(format!("not a request: {error}")),
        };
        answer.unwrap_or_else(Reply::refusal).into_bytes()
    }

    fn answer(&mut self, request: Request) -> Result<Reply, String> {
        match request {
            Request::About => Ok(Reply::of(about())),
            Request::Schema { schema } => {
                lightlag_scenario::know_schema(schema);
                Ok(Reply::of(json!({})))
            }
            Request::Check(asked) => Ok(Reply::of(scenario::check(&asked))),
            Request::Edit { toml, path, value } => Ok(Reply::of(json!({ "toml": text::edited(&toml, &path, value)? }))),
            Request::Write { scenario } => Ok(Reply::of(json!({ "toml": text::written(scenario)? }))),
            Request::Inspect { data } => Ok(Reply::of(capture::inspected(&data)?)),
            Request::Network(asked) => scenario::network(&asked),
            Request::Start { asked, seed, packets, captures } => {
                match StartedRun::start(&asked.scenario(), seed, packets, captures)? {
                    Err(errors) => Ok(Reply::of(json!({ "errors": errors }))),
                    Ok(course) => {
                        let mut about = course.about();
                        about["run"] = self.courses.put(course).into();
                        Ok(Reply::of(about))
                    }
                }
            }
            Request::Step { run, until_s, events } => Ok(self.courses.at(run)?.step(until_s, events)),
            Request::Finish { run, whole, compared } => self.courses.take(run)?.finish(whole, compared),
            Request::Close { run } => self.courses.take(run).map(|_| Reply::of(json!({}))),
            Request::Sky(asked) => self.open(Positions::sky(&asked)?),
            Request::Flight(asked) => self.open(Positions::flight(&asked)?),
            Request::PlacesAt { place, time_s } => Ok(self.places.at(place)?.at(time_s)),
            Request::Courses { place, from, to, until_s } => self.places.at(place)?.courses(from, to, until_s),
            Request::Analyse { request } => Ok(Reply::of(json!({ "answer": request.answer()? }))),
            Request::Leave { place } => self.places.take(place).map(|_| Reply::of(json!({}))),
        }
    }

    fn open(&mut self, positions: Result<Positions, Vec<scenario::Problem>>) -> Result<Reply, String> {
        match positions {
            Err(errors) => Ok(Reply::of(json!({ "errors": errors }))),
            Ok(positions) => {
                let mut about = positions.about();
                about["place"] = self.places.put(positions).into();
                Ok(Reply::of(about))
            }
        }
    }
}

/// Returns the version, the congestion controls, the TCP profiles, the warnings, and the columns of the result tables.
fn about() -> serde_json::Value {
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| (profile.name(), profile.config())).collect();
    let warnings: Vec<_> = WarningKind::ALL.iter().map(|kind| (kind.name(), kind.about())).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "congestion": congestion::catalog(),
        "profiles": profiles,
        "warnings": warnings,
        "dictionary": lightlag_sim::results::dictionary(),
    })
}

/// Open objects by index. An index stays valid until its object is removed.
struct Shelf<T>(Vec<Option<T>>);

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Shelf<T> {
    fn put(&mut self, thing: T) -> usize {
        let free = self.0.iter().position(Option::is_none).unwrap_or_else(|| {
            self.0.push(None);
            self.0.len() - 1
        });
        self.0[free] = Some(thing);
        free
    }

    fn at(&mut self, number: usize) -> Result<&mut T, String> {
        self.0.get_mut(number).and_then(Option::as_mut).ok_or_else(|| nothing(number))
    }

    fn take(&mut self, number: usize) -> Result<T, String> {
        self.0.get_mut(number).and_then(Option::take).ok_or_else(|| nothing(number))
    }
}

fn nothing(number: usize) -> String {
    format!("there is no open run with ID {number}; start it first")
}
