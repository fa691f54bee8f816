//! The engine behind a door: requests in JSON, answers in JSON and columns of numbers.
//!
//! A web page has this crate as a module of WebAssembly, and the local server of `lightlag studio` as a part of the native
//! engine, so both speak the same. The door touches no disk and runs no algorithm from outside: the files that a scenario
//! names come with the request.
//!
//! - [`answer`]: the form of answers.
//! - `request`: the requests.
//! - `scenario`: a text that is read and checked, and the network that it describes.
//! - `text`: places in a text, and changes to it that keep its comments.
//! - `capture`: what a capture that somebody brings tells.
//! - `course`: runs, step by step.
//! - `places`: satellites and nodes that fly, at any time.
//! - `exports`: the functions of the module of WebAssembly.

pub mod answer;
mod capture;
mod course;
#[cfg(target_family = "wasm")]
mod exports;
mod places;
mod request;
mod scenario;
mod text;

use answer::Answer;
use course::Course;
use lightlag_control::congestion;
use lightlag_scenario::WarningKind;
use lightlag_tcp::Profile;
use places::Places;
use request::Request;
use serde_json::json;

/// The engine, with the runs and skies that were opened and not yet closed.
#[derive(Default)]
pub struct Door {
    courses: Shelf<Course>,
    places: Shelf<Places>,
}

impl Door {
    /// Answers a request. What cannot be answered is an answer, too: an object `error` with a message.
    pub fn ask(&mut self, request: &str) -> Vec<u8> {
        let answer = match serde_json::from_str(request) {
            Ok(request) => self.answer(request),
            Err(error) => Err(format!("not a request: {error}")),
        };
        answer.unwrap_or_else(Answer::refusal).into_bytes()
    }

    fn answer(&mut self, request: Request) -> Result<Answer, String> {
        match request {
            Request::About => Ok(Answer::of(about())),
            Request::Schema { schema } => {
                lightlag_scenario::know_schema(schema);
                Ok(Answer::of(json!({})))
            }
            Request::Check(asked) => Ok(Answer::of(scenario::check(&asked))),
            Request::Edit { toml, path, value } => {
                Ok(Answer::of(json!({ "toml": text::edited(&toml, &path, value)? })))
            }
            Request::Write { scenario } => Ok(Answer::of(json!({ "toml": text::written(scenario)? }))),
            Request::Inspect { data } => Ok(Answer::of(capture::inspected(&data)?)),
            Request::Network(asked) => scenario::network(&asked),
            Request::Start { asked, seed, packets, captures } => {
                match Course::start(&asked.scenario(), seed, packets, captures)? {
                    Err(errors) => Ok(Answer::of(json!({ "errors": errors }))),
                    Ok(course) => {
                        let mut about = course.about();
                        about["run"] = self.courses.put(course).into();
                        Ok(Answer::of(about))
                    }
                }
            }
            Request::Step { run, until_s, events } => Ok(self.courses.at(run)?.step(until_s, events)),
            Request::Finish { run, whole } => Ok(self.courses.take(run)?.finish(whole)),
            Request::Close { run } => self.courses.take(run).map(|_| Answer::of(json!({}))),
            Request::Sky(asked) => self.open(Places::sky(&asked)?),
            Request::Flight(asked) => self.open(Places::flight(&asked)?),
            Request::PlacesAt { place, time_s } => Ok(self.places.at(place)?.at(time_s)),
            Request::Courses { place, from, to, until_s } => self.places.at(place)?.courses(from, to, until_s),
            Request::Analyse { request } => Ok(Answer::of(json!({ "answer": request.answer()? }))),
            Request::Leave { place } => self.places.take(place).map(|_| Answer::of(json!({}))),
        }
    }

    fn open(&mut self, places: Result<Places, Vec<scenario::Problem>>) -> Result<Answer, String> {
        match places {
            Err(errors) => Ok(Answer::of(json!({ "errors": errors }))),
            Ok(places) => {
                let mut about = places.about();
                about["place"] = self.places.put(places).into();
                Ok(Answer::of(about))
            }
        }
    }
}

/// Everything that is chosen by name, and what the tables of results hold.
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

/// Things with numbers, which stay the same until they are taken away.
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
    format!("nothing is open under the number {number}; start it first")
}
