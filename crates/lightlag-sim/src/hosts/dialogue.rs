//! Request and response, and pages of several objects, over one connection or several.
//!
//! A client asks for something, waits until it is there, thinks, and asks again. What it asks for is a *page*: a first
//! object and, as soon as that has arrived, others. The response to a plain request is a page of one object.
//!
//! Here it is decided who writes how much and when; the world does it.

use crate::ids::FlowIndex;
use lightlag_core::{Bytes, Duration, Instant, RandomStream};
use lightlag_net::EndpointId;
use lightlag_scenario::{Flow, Http, Requests, Traffic, Varied, Web};
use std::collections::VecDeque;

/// An order to the world, about an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    /// Open its connection.
    Open(EndpointId),
    /// Write so many bytes.
    Write(EndpointId, u64),
    /// Close its connection.
    Close(EndpointId),
    /// Wake it at this time.
    Wake(EndpointId, Instant),
    /// The dialogue is over.
    Finish,
}

/// One thing that was asked for.
#[derive(Clone, Copy, Debug)]
struct Object {
    request: u64,
    response: u64,
    /// From the arrival of the request to the first byte of the response.
    server_time: Duration,
}

/// A page that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    /// When it was asked for.
    pub(crate) began: Instant,
    /// Until its last byte was there.
    pub(crate) took: Duration,
    /// Bytes of its objects.
    pub(crate) bytes: u64,
}

/// One connection.
#[derive(Debug)]
struct Line {
    client: EndpointId,
    server: EndpointId,
    opened: bool,
    /// Bytes that the client has written, and those that the server will have when it has answered everything.
    asked: u64,
    promised: u64,
    /// Requests on their way: the last of their bytes, and what they ask for.
    coming: VecDeque<(u64, Object)>,
    /// Responses that wait for the server, in the order of their requests.
    ready: VecDeque<(Instant, u64)>,
    /// The last bytes of responses that the client waits for.
    awaited: VecDeque<u64>,
}

/// The parts of a page.
#[derive(Debug)]
struct Plan {
    request: Varied<Bytes>,
    first: Varied<Bytes>,
    /// The number and the lengths of the others.
    others: Option<(Varied<u64>, Varied<Bytes>)>,
    server_time: Option<Varied<Duration>>,
    think: Option<Varied<Duration>>,
}

/// A client and its server.
#[derive(Debug)]
pub(crate) struct Dialogue {
    /// The flow in whose row it stands.
    flow: FlowIndex,
    plan: Plan,
    random: RandomStream,
    lines: Vec<Line>,
    /// Whether all objects share the first connection, each asked for at once.
    multiplexed: bool,
    /// Pages that may still begin, and until when.
    left: u64,
    stop: Instant,
    /// Objects to ask for once the first one is there and a connection is free.
    waiting: VecDeque<Object>,
    is_first_there: bool,
    began: Instant,
    bytes: u64,
    pages: Vec<Page>,
    over: bool,
}

impl Dialogue {
    /// The dialogue whose first connection is that of `flow`, the `index`-th. `ends` are client and server of each.
    pub(crate) fn new(
        index: FlowIndex,
        flow: &Flow,
        seed: u64,
        ends: impl Iterator<Item = [EndpointId; 2]>,
    ) -> Option<Self> {
        if flow.part.connection() > 0 {
            return None;
        }
        let (plan, count, stop, http) = match &*flow.traffic {
            Traffic::Requests(Requests { request, response, server_time, think, count, stop }) => {
                let [server_time, think] = [server_time, think].map(Clone::clone);
                let plan = Plan { request: request.clone(), first: response.clone(), others: None, server_time, think };
                (plan, count, stop, Http::One)
            }
            Traffic::Web(Web { html, objects, object, request, server_time, think, count, stop, http, .. }) => {
                let [server_time, think] = [server_time, think].map(Clone::clone);
                let others = Some((objects.clone(), object.clone()));
                (Plan { request: request.clone(), first: html.clone(), others, server_time, think }, count, stop, *http)
            }
            _ => return None,
        };
        let line = |[client, server]: [EndpointId; 2]| Line {
            client,
            server,
            opened: false,
            asked: 0,
            promised: 0,
            coming: VecDeque::new(),
            ready: VecDeque::new(),
            awaited: VecDeque::new(),
        };
        Some(Self {
            flow: index,
            plan,
            random: RandomStream::new(seed, &format!("flow {} traffic", flow.name)),
            lines: ends.map(line).collect(),
            multiplexed: http == Http::Two,
            left: count.unwrap_or(u64::MAX),
            stop: stop.map_or(Instant::MAX, |stop| Instant::ZERO + stop),
            waiting: VecDeque::new(),
            is_first_there: false,
            began: flow.start,
            bytes: 0,
            pages: Vec::new(),
            over: false,
        })
    }

    /// The flow in whose row it stands.
    pub(crate) fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// Of each connection, whether it was needed.
    pub(crate) fn opened(&self) -> impl Iterator<Item = bool> + '_ {
        self.lines.iter().map(|line| line.opened)
    }

    /// The pages that have arrived.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Bytes of all requests so far.
    pub(crate) fn request_bytes(&self) -> u64 {
        self.lines.iter().map(|line| line.asked).sum()
    }

    /// Whether there are pages to come after the present one, and after this time.
    pub(crate) fn goes_on_at(&self, time: Instant) -> bool {
        !self.over && self.left > 0 && time < self.stop
    }

    /// A connection failed: nothing more is asked for.
    pub(crate) fn fail(&mut self) {
        self.over = true;
    }

    /// It is time for the client to ask for a page.
    pub(crate) fn begin_page(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if self.over {
            return;
        }
        if now >= self.stop {
            return self.finish(actions);
        }
        self.left -= 1;
        (self.began, self.bytes, self.is_first_there) = (now, 0, false);
        // All of a page is drawn at once, so that it does not depend on when what arrives.
        let first = self.plan.first.clone();
        let first = self.object(&first);
        if let Some((number, size)) = self.plan.others.clone() {
            for _ in 0..number.draw(&mut self.random) {
                let object = self.object(&size);
                self.waiting.push_back(object);
            }
        }
        self.ask(0, first, actions);
    }

    /// The server of a connection has received so many bytes.
    pub(crate) fn server_hears(&mut self, now: Instant, line: usize, received: u64, actions: &mut Vec<Action>) {
        let of = &mut self.lines[line];
        while let Some((_, object)) = of.coming.front().copied().filter(|(last, _)| *last <= received) {
            of.coming.pop_front();
            // In the order of requests: what is ready early waits for what was asked for before.
            let due = of.ready.back().map_or(now, |(due, _)| *due).max(now + object.server_time);
            of.ready.push_back((due, object.response));
        }
        self.answer(now, line, actions);
    }

    /// The server of a connection writes what is ready.
    pub(crate) fn answer(&mut self, now: Instant, line: usize, actions: &mut Vec<Action>) {
        let Line { ready, server, .. } = &mut self.lines[line];
        while let Some((due, response)) = ready.front().copied() {
            if due > now {
                return actions.push(Action::Wake(*server, due));
            }
            ready.pop_front();
            actions.push(Action::Write(*server, response));
        }
    }

    /// The client of a connection has received so many bytes.
    pub(crate) fn client_hears(&mut self, now: Instant, line: usize, received: u64, actions: &mut Vec<Action>) {
        while self.lines[line].awaited.front().is_some_and(|last| *last <= received) {
            self.lines[line].awaited.pop_front();
            self.is_first_there = true;
        }
        if !self.is_first_there || self.over {
            return;
        }
        self.ask_for_others(actions);
        if self.waiting.is_empty() && self.lines.iter().all(|line| line.awaited.is_empty()) {
            self.page_is_there(now, actions);
        }
    }

    /// Asks for as much as there are connections for, idle ones first.
    fn ask_for_others(&mut self, actions: &mut Vec<Action>) {
        while !self.waiting.is_empty() {
            let idle = self.lines.iter().position(|line| line.opened && line.awaited.is_empty());
            let new = || self.lines.iter().position(|line| !line.opened);
            let Some(line) = (if self.multiplexed { Some(0) } else { idle.or_else(new) }) else { return };
            let object = self.waiting.pop_front().expect("something waits");
            self.ask(line, object, actions);
        }
    }

    fn ask(&mut self, at: usize, object: Object, actions: &mut Vec<Action>) {
        let line = &mut self.lines[at];
        if !line.opened {
            line.opened = true;
            actions.push(Action::Open(line.client));
        }
        line.asked += object.request;
        line.promised += object.response;
        line.coming.push_back((line.asked, object));
        line.awaited.push_back(line.promised);
        self.bytes += object.response;
        actions.push(Action::Write(line.client, object.request));
    }

    fn page_is_there(&mut self, now: Instant, actions: &mut Vec<Action>) {
        self.is_first_there = false;
        self.pages.push(Page { began: self.began, took: now.since(self.began), bytes: self.bytes });
        let think = self.plan.think.as_ref().map_or(Duration::ZERO, |think| think.draw(&mut self.random));
        let next = now + think;
        if self.left == 0 || next >= self.stop {
            return self.finish(actions);
        }
        if next > now {
            actions.push(Action::Wake(self.lines[0].client, next));
        } else {
            self.begin_page(now, actions);
        }
    }

    fn finish(&mut self, actions: &mut Vec<Action>) {
        self.over = true;
        actions.extend(self.lines.iter().filter(|line| line.opened).map(|line| Action::Close(line.client)));
        actions.push(Action::Finish);
    }

    fn object(&mut self, size: &Varied<Bytes>) -> Object {
        let random = &mut self.random;
        let [request, response] = [&self.plan.request, size].map(|size| size.draw(random).0);
        let server_time = self.plan.server_time.as_ref().map_or(Duration::ZERO, |time| time.draw(random));
        Object { request, response, server_time }
    }
}

#[cfg(test)]
mod tests;
