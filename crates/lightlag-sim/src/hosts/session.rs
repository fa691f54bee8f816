//! Dialogues over one connection or several: requests with responses, and pages of several objects.
//!
//! A client sends a request, waits for the response, pauses (its think time), and sends the next request. The response
//! is a *page*: a first object and, as soon as that has arrived, others. The response to a plain request is a page of
//! one object.
//!
//! This module decides when the client and the server write, and how much. The world executes these actions.

use crate::ids::FlowIndex;
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Varied};
use lightlag_net::EndpointId;
use lightlag_scenario::Flow;
use lightlag_traffic::{Http, Requests, Traffic, Web};
use std::collections::VecDeque;

/// An action that the world must execute at an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SessionAction {
    /// Open the connection of the endpoint.
    Open(EndpointId),
    /// Write this number of bytes.
    Write(EndpointId, u64),
    /// Close the connection of the endpoint.
    Close(EndpointId),
    /// Set the timer of the endpoint to this time.
    Wake(EndpointId, Instant),
    /// End the dialogue.
    Finish,
}

/// An object that the client requests, with the sizes of its request and response in bytes.
#[derive(Clone, Copy, Debug)]
struct PageObject {
    request: u64,
    response: u64,
    /// Time from the arrival of the request to the first byte of the response.
    server_time: Duration,
}

/// A page that has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Page {
    /// Time when the page was requested.
    pub(crate) began: Instant,
    /// Time from the request until the last byte of the page arrived.
    pub(crate) took: Duration,
    /// Total size of the objects of the page in bytes.
    pub(crate) bytes: u64,
}

/// One connection of a dialogue.
#[derive(Debug)]
struct SessionConnection {
    client: EndpointId,
    server: EndpointId,
    /// Time when the client opened the connection, if it did.
    opened: Option<Instant>,
    /// Number of bytes that the client has written; then the number that the server will have written after all
    /// responses.
    asked: u64,
    promised: u64,
    /// Requests in transit, each with the offset of its last byte and the requested object.
    coming: VecDeque<(u64, PageObject)>,
    /// Responses that the server has not written yet, each with its time and size, in the order of the requests.
    ready: VecDeque<(Instant, u64)>,
    /// Offsets of the last bytes of the responses that the client waits for.
    awaited: VecDeque<u64>,
}

/// The random properties of a page.
#[derive(Debug)]
struct PagePlan {
    request: Varied<Bytes>,
    first: Varied<Bytes>,
    /// Number and sizes of the objects after the first one.
    others: Option<(Varied<u64>, Varied<Bytes>)>,
    server_time: Option<Varied<Duration>>,
    think: Option<Varied<Duration>>,
}

/// A dialogue between a client and its server.
#[derive(Debug)]
pub(crate) struct Session {
    /// Flow whose row in the results describes the dialogue.
    flow: FlowIndex,
    plan: PagePlan,
    random: RandomStream,
    lines: Vec<SessionConnection>,
    /// Whether all objects are requested immediately on the first connection (HTTP/2).
    multiplexed: bool,
    /// Number of pages that may still start, and the time limit: no page starts later.
    left: u64,
    stop: Instant,
    /// Objects to request as soon as the first object has arrived and a connection is free.
    waiting: VecDeque<PageObject>,
    is_first_there: bool,
    began: Instant,
    bytes: u64,
    pages: Vec<Page>,
    over: bool,
}

impl Session {
    /// Returns the dialogue of `flow`, which has the index `index`; `None` unless the flow is the first connection of a
    /// dialogue. `ends` are the client and the server of each connection.
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
                let plan =
                    PagePlan { request: request.clone(), first: response.clone(), others: None, server_time, think };
                (plan, count, stop, Http::One)
            }
            Traffic::Web(Web { html, objects, object, request, server_time, think, count, stop, http, .. }) => {
                let [server_time, think] = [server_time, think].map(Clone::clone);
                let others = Some((objects.clone(), object.clone()));
                (
                    PagePlan { request: request.clone(), first: html.clone(), others, server_time, think },
                    count,
                    stop,
                    *http,
                )
            }
            _ => return None,
        };
        let line = |[client, server]: [EndpointId; 2]| SessionConnection {
            client,
            server,
            opened: None,
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

    /// Returns the flow whose row in the results describes the dialogue.
    pub(crate) fn flow(&self) -> FlowIndex {
        self.flow
    }

    /// Returns, for each connection, the time when it was opened, if it was.
    pub(crate) fn opened(&self) -> impl Iterator<Item = Option<Instant>> + '_ {
        self.lines.iter().map(|line| line.opened)
    }

    /// Returns the pages that have arrived.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// Returns the total size of all requests so far in bytes.
    pub(crate) fn request_bytes(&self) -> u64 {
        self.lines.iter().map(|line| line.asked).sum()
    }

    /// Returns true if another page may follow the current one at this time.
    pub(crate) fn goes_on_at(&self, time: Instant) -> bool {
        !self.over && self.left > 0 && time < self.stop
    }

    /// Records that a connection failed. The dialogue sends no further requests.
    pub(crate) fn fail(&mut self) {
        self.over = true;
    }

    /// Requests the next page, or ends the dialogue if its time is over.
    pub(crate) fn begin_page(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        if self.over {
            return;
        }
        if now >= self.stop {
            return self.finish(actions);
        }
        self.left -= 1;
        (self.began, self.bytes, self.is_first_there) = (now, 0, false);
        // All random values of a page are drawn immediately, so that they do not depend on the order of arrivals.
        let first = self.plan.first.clone();
        let first = self.object(&first);
        if let Some((number, size)) = self.plan.others.clone() {
            for _ in 0..number.draw(&mut self.random) {
                let object = self.object(&size);
                self.waiting.push_back(object);
            }
        }
        self.ask(now, 0, first, actions);
    }

    /// Handles the arrival of requests at the server of a connection, which has `received` bytes in total.
    pub(crate) fn server_hears(&mut self, now: Instant, line: usize, received: u64, actions: &mut Vec<SessionAction>) {
        let state = &mut self.lines[line];
        while let Some((_, object)) = state.coming.front().copied().filter(|(last, _)| *last <= received) {
            state.coming.pop_front();
            // In the order of requests: a response that is ready early waits for earlier ones.
            let due = state.ready.back().map_or(now, |(due, _)| *due).max(now + object.server_time);
            state.ready.push_back((due, object.response));
        }
        self.answer(now, line, actions);
    }

    /// Writes the responses that are due at the server of a connection.
    pub(crate) fn answer(&mut self, now: Instant, line: usize, actions: &mut Vec<SessionAction>) {
        let SessionConnection { ready, server, .. } = &mut self.lines[line];
        while let Some((due, response)) = ready.front().copied() {
            if due > now {
                return actions.push(SessionAction::Wake(*server, due));
            }
            ready.pop_front();
            actions.push(SessionAction::Write(*server, response));
        }
    }

    /// Handles the arrival of responses at the client of a connection, which has `received` bytes in total.
    pub(crate) fn client_hears(&mut self, now: Instant, line: usize, received: u64, actions: &mut Vec<SessionAction>) {
        while self.lines[line].awaited.front().is_some_and(|last| *last <= received) {
            self.lines[line].awaited.pop_front();
            self.is_first_there = true;
        }
        if !self.is_first_there || self.over {
            return;
        }
        self.ask_for_others(now, actions);
        if self.waiting.is_empty() && self.lines.iter().all(|line| line.awaited.is_empty()) {
            self.page_is_there(now, actions);
        }
    }

    /// Requests as many of the waiting objects as possible, on idle connections first, then on new ones.
    fn ask_for_others(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        while !self.waiting.is_empty() {
            let idle = self.lines.iter().position(|line| line.opened.is_some() && line.awaited.is_empty());
            let new = || self.lines.iter().position(|line| line.opened.is_none());
            let Some(line) = (if self.multiplexed { Some(0) } else { idle.or_else(new) }) else { return };
            let object = self.waiting.pop_front().expect("an object is waiting");
            self.ask(now, line, object, actions);
        }
    }

    fn ask(&mut self, now: Instant, index: usize, object: PageObject, actions: &mut Vec<SessionAction>) {
        let line = &mut self.lines[index];
        if line.opened.is_none() {
            line.opened = Some(now);
            actions.push(SessionAction::Open(line.client));
        }
        line.asked += object.request;
        line.promised += object.response;
        line.coming.push_back((line.asked, object));
        line.awaited.push_back(line.promised);
        self.bytes += object.response;
        actions.push(SessionAction::Write(line.client, object.request));
    }

    fn page_is_there(&mut self, now: Instant, actions: &mut Vec<SessionAction>) {
        self.is_first_there = false;
        self.pages.push(Page { began: self.began, took: now.since(self.began), bytes: self.bytes });
        let think = self.plan.think.as_ref().map_or(Duration::ZERO, |think| think.draw(&mut self.random));
        let next = now + think;
        if self.left == 0 || next >= self.stop {
            return self.finish(actions);
        }
        if next > now {
            actions.push(SessionAction::Wake(self.lines[0].client, next));
        } else {
            self.begin_page(now, actions);
        }
    }

    fn finish(&mut self, actions: &mut Vec<SessionAction>) {
        self.over = true;
        actions.extend(
            self.lines.iter().filter(|line| line.opened.is_some()).map(|line| SessionAction::Close(line.client)),
        );
        actions.push(SessionAction::Finish);
    }

    fn object(&mut self, size: &Varied<Bytes>) -> PageObject {
        let random = &mut self.random;
        let [request, response] = [&self.plan.request, size].map(|size| size.draw(random).0);
        let server_time = self.plan.server_time.as_ref().map_or(Duration::ZERO, |time| time.draw(random));
        PageObject { request, response, server_time }
    }
}

#[cfg(test)]
mod tests;
