//! Reads traffic, kind by kind.

use super::super::Varied;
use super::own::{OUTSIDE, OwnTraffic};
use super::{
    Burst, Collect, Constant, Http, KINDS, OnOff, Periodic, Poisson, Requests, Traffic, Transfers, Web, default_buffer,
    default_connections, default_request, default_size,
};
use crate::read::{Errors, FromValue, LARGEST, Path, Table, not_one_of, shown};
use lightlag_core::{Bytes, Duration, Rate};
use serde_json::Value;

/// The most connections of a browser.
const MOST_CONNECTIONS: u64 = 64;

/// The most transfers as a share of a link.
const MOST_LOAD: f64 = 100.0;
/// The most messages of one burst: they all leave in one moment.
const MOST_TOGETHER: u64 = 1_000_000;

impl FromValue for Traffic {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { kind = \"constant\", rate = \"1 Mbit/s\" }";
        let mut table = Table::open(value, at, what, errors)?;
        if let Some(read) = from_outside(value, &mut table, at, errors)? {
            return Some(Self::Own(read)).filter(|_| errors.len() == before);
        }
        let remedy = format!("write one of {}", KINDS.join(", "));
        let kind: String = table.required("kind", &remedy, errors)?;
        let read = match kind.as_str() {
            "bulk" => Some(Self::Bulk),
            "constant" => constant(&mut table, errors).map(Self::Constant),
            "on_off" => on_off(&mut table, errors).map(Self::OnOff),
            "periodic" => periodic(&mut table, errors).map(Self::Periodic),
            "poisson" => poisson(&mut table, errors).map(Self::Poisson),
            "burst" => burst(&mut table, errors).map(Self::Burst),
            "collect" => collect(&mut table, errors).map(Self::Collect),
            "transfers" => transfers(&mut table, errors).map(Self::Transfers),
            "requests" => requests(&mut table, errors).map(Self::Requests),
            "web" => web(&mut table, errors).map(Self::Web),
            other => {
                let known = [&KINDS[..], &OUTSIDE.names()].concat();
                errors.push(Path::Key(at, "kind"), not_one_of(other, "a kind of traffic", &known));
                return None;
            }
        };
        table.finish(errors);
        read.filter(|_| errors.len() == before)
    }
}

/// Traffic from outside, if the table names some; None after an error.
fn from_outside(value: &Value, table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Option<OwnTraffic>> {
    if ["plugin", "python"].iter().all(|key| value.get(key).is_none())
        && value.get("kind").and_then(Value::as_str).is_none_or(|kind| KINDS.contains(&kind))
    {
        return Some(None);
    }
    let stop = value.get("stop").and_then(|_| stop(table, errors));
    OwnTraffic::read(value, stop, at, errors)
}

/// Rate and size of a stream.
fn rate_and_size(table: &mut Table, errors: &mut Errors) -> (Option<Rate>, Option<Bytes>) {
    let rate = table.required("rate", "say how much is sent in a second, such as \"1 Mbit/s\"", errors);
    let size: Option<Varied<Bytes>> = match table.value("size") {
        None => Some(Varied::constant(default_size())),
        Some(value) if value.is_object() => {
            errors.push(table.path("size"), "is a table; messages at a constant rate have one size");
            None
        }
        Some(value) => Varied::read(value, &table.path("size"), errors),
    };
    (rate, size.map(|size| size.largest()))
}

fn collect(table: &mut Table, errors: &mut Errors) -> Option<Collect> {
    let buffer = table.optional("buffer", errors).unwrap_or_else(default_buffer);
    if !(Bytes(1)..=LARGEST).contains(&buffer) {
        errors.push(table.path("buffer"), format!("{buffer} is not a buffer from 1 B to {LARGEST}"));
        return None;
    }
    Some(Collect { buffer })
}

fn constant(table: &mut Table, errors: &mut Errors) -> Option<Constant> {
    let (rate, size) = rate_and_size(table, errors);
    let stop = stop(table, errors);
    Some(Constant { rate: rate?, size: size?, stop })
}

fn on_off(table: &mut Table, errors: &mut Errors) -> Option<OnOff> {
    let (rate, size) = rate_and_size(table, errors);
    let remedy = "say how long that lasts each time, \"1 s\" or { distribution = \"exponential\", mean = \"1 s\" }";
    let [on, off] = ["on", "off"].map(|key| {
        let time = table.required(key, remedy, errors);
        lasting(time, &table.path(key), errors)
    });
    let stop = stop(table, errors);
    Some(OnOff { rate: rate?, size: size?, on: on?, off: off?, stop })
}

fn periodic(table: &mut Table, errors: &mut Errors) -> Option<Periodic> {
    let (size, every) = size_and_every(table, errors);
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    Some(Periodic { size: size?, every: every?, first, count, stop })
}

fn poisson(table: &mut Table, errors: &mut Errors) -> Option<Poisson> {
    let (size, every) = size_and_every(table, errors);
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    Some(Poisson { size: size?, every: every?, first, count, stop })
}

fn burst(table: &mut Table, errors: &mut Errors) -> Option<Burst> {
    let size = message_size(table, errors);
    let messages = table.required_value("messages", "say how many messages a burst has", errors);
    let messages = messages.and_then(|value| {
        let number = value.as_u64().filter(|number| (1..=MOST_TOGETHER).contains(number));
        if number.is_none() {
            let message = format!("{} is not a whole number from 1 to {MOST_TOGETHER}", shown(value));
            errors.push(table.path("messages"), message);
        }
        number
    });
    let every = table.optional("every", errors);
    let every = every.and_then(|every| lasting(Some(every), &table.path("every"), errors));
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    if count.is_some_and(|count| count > 1) && every.is_none() && !errors.any_at(&table.path("every")) {
        errors.push(table.path("every"), "is missing; say how long it is from one burst to the next");
    }
    Some(Burst { size: size?, messages: messages?, every, first, count, stop })
}

fn transfers(table: &mut Table, errors: &mut Errors) -> Option<Transfers> {
    let before = errors.len();
    let size = table.required("size", "say how long a transfer is, such as \"100 kB\"", errors);
    let every: Option<Duration> = table.optional("every", errors);
    if every == Some(Duration::ZERO) {
        errors.push(table.path("every"), "0 s between transfers never ends; write a time such as \"1 s\"");
    }
    let load = table.value("load").and_then(|value| {
        let load = value.as_f64().filter(|load| *load > 0.0 && *load <= MOST_LOAD);
        if load.is_none() {
            let message =
                format!("{} is not a share of a link above 0, up to {MOST_LOAD}; write one such as 0.5", shown(value));
            errors.push(table.path("load"), message);
        }
        load
    });
    match (every, load) {
        (None, None) if errors.len() == before => {
            errors.push(table.path("every"), "is missing; say how often transfers arrive, with every or load");
        }
        (Some(_), Some(_)) => errors.push(table.path("load"), "stands beside every, from which it follows; keep one"),
        _ => {}
    }
    let (count, stop) = (count(table, errors), stop(table, errors));
    Some(Transfers { size: size?, every, load, count, stop })
}

fn requests(table: &mut Table, errors: &mut Errors) -> Option<Requests> {
    let response = table.required("response", "say how long a response is, such as \"10 kB\"", errors);
    let request = table.optional("request", errors).unwrap_or_else(default_request);
    let (server_time, think) = (table.optional("server_time", errors), table.optional("think", errors));
    let (count, stop) = (count(table, errors), stop(table, errors));
    Some(Requests { response: response?, request, server_time, think, count, stop })
}

fn web(table: &mut Table, errors: &mut Errors) -> Option<Web> {
    let html = table.required("html", "say how long the first object is, such as \"30 kB\"", errors);
    let objects = table.required("objects", "say how many objects a page has beside the first, such as 20", errors);
    let object = table.required("object", "say how long these objects are, such as \"20 kB\"", errors);
    let http = table.optional("http", errors).unwrap_or_default();
    let most = if http == Http::Two { 1 } else { MOST_CONNECTIONS };
    let connections = match table.value("connections") {
        None => default_connections().min(most),
        Some(value) => {
            let number = value.as_u64().filter(|number| (1..=most).contains(number));
            if number.is_none() {
                let message = match http {
                    Http::One => format!("{} is not a whole number from 1 to {most}", shown(value)),
                    Http::Two => format!("{} is not 1, all that HTTP/2 uses; leave it out", shown(value)),
                };
                errors.push(table.path("connections"), message);
            }
            number.unwrap_or(1)
        }
    };
    let request = table.optional("request", errors).unwrap_or_else(default_request);
    let (server_time, think) = (table.optional("server_time", errors), table.optional("think", errors));
    let (count, stop) = (count(table, errors), stop(table, errors));
    let (html, objects, object) = (html?, objects?, object?);
    Some(Web { html, objects, object, http, connections, request, server_time, think, count, stop })
}

fn message_size(table: &mut Table, errors: &mut Errors) -> Option<Varied<Bytes>> {
    table.required("size", "say how long a message is, such as \"100 B\"", errors)
}

fn size_and_every(table: &mut Table, errors: &mut Errors) -> (Option<Varied<Bytes>>, Option<Duration>) {
    let size = message_size(table, errors);
    let every: Option<Duration> =
        table.required("every", "say how long it is between messages, such as \"1 s\"", errors);
    if every == Some(Duration::ZERO) {
        errors.push(table.path("every"), "0 s between messages never ends; write a time such as \"1 s\"");
    }
    (size, every)
}

/// Refuses times that pass without time passing.
fn lasting(time: Option<Varied<Duration>>, at: &Path, errors: &mut Errors) -> Option<Varied<Duration>> {
    const LEAST_MEAN: f64 = 1000.0;
    let time = time?;
    if time.law().mean() < LEAST_MEAN {
        errors.push(at, "is shorter than 1 us on average; write a longer time such as \"1 s\"");
        return None;
    }
    Some(time)
}

fn count(table: &mut Table, errors: &mut Errors) -> Option<u64> {
    let count: Option<u64> = table.optional("count", errors);
    if count == Some(0) {
        errors.push(table.path("count"), "0 sends nothing; write how many there are, or leave it out");
    }
    count
}

fn stop(table: &mut Table, errors: &mut Errors) -> Option<Duration> {
    let stop: Option<Duration> = table.optional("stop", errors);
    if stop == Some(Duration::ZERO) {
        errors.push(table.path("stop"), "0 s is the start of the run: nothing is sent; write a later time");
    }
    stop
}
