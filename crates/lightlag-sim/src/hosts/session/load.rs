//! The load of a page: objects that are known, requested and received, and the times of each.

use crate::ids::FlowIndex;
use lightlag_core::{Duration, Instant};
use lightlag_traffic::{WebObject, WebPage};
use std::sync::Arc;

/// A page that has arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LoadedPage {
    /// Time when the page was requested.
    pub(crate) began: Instant,
    /// Time from the request until the first byte of the first object arrived.
    pub(crate) first_byte: Duration,
    /// Time from the request until the last byte of the page arrived.
    pub(crate) took: Duration,
    /// ByteIndex in seconds: the integral over time of the fraction of the page's bytes that has not arrived.
    pub(crate) byte_index: f64,
    /// Total size of the objects of the page in bytes.
    pub(crate) bytes: u64,
}

/// An object that has arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LoadedObject {
    /// Index of the load of its page, from 0.
    pub(crate) page: usize,
    /// Index of the object in its page.
    pub(crate) object: u32,
    /// Flow of its connection.
    pub(crate) connection: FlowIndex,
    pub(crate) times: ObjectTimes,
    /// Time when its last byte arrived.
    pub(crate) end: Instant,
    /// Size of the response in bytes.
    pub(crate) bytes: u64,
    /// Whether a proxy requested it before the client.
    pub(crate) prefetched: bool,
}

/// Times of an object.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ObjectTimes {
    /// Time when the browser could request it.
    pub(crate) known: Instant,
    /// Time when its request was written to a connection.
    pub(crate) requested: Instant,
    /// Time when its first byte arrived.
    pub(crate) first_byte: Option<Instant>,
}

/// The progress of a page.
#[derive(Debug)]
pub(super) struct PageLoad {
    page: Arc<WebPage>,
    began: Instant,
    first_byte: Option<Instant>,
    /// Number of objects before each object that have not arrived, and number of objects that have not arrived.
    missing: Vec<u32>,
    left: usize,
    times: Vec<ObjectTimes>,
    /// Size of the page in bytes, number of bytes that have arrived, and time when the last of them did.
    bytes: u64,
    arrived: u64,
    since: Instant,
    /// Integral of the bytes that have not arrived, in byte-nanoseconds.
    integral: u128,
}

impl PageLoad {
    /// Returns the load of a page that starts now.
    pub(super) fn new(now: Instant, page: Arc<WebPage>) -> Self {
        let objects = page.objects();
        let times = ObjectTimes { known: now, requested: now, first_byte: None };
        Self {
            began: now,
            first_byte: None,
            missing: objects.iter().map(|object| object.after.len() as u32).collect(),
            left: objects.len(),
            times: vec![times; objects.len()],
            bytes: objects.iter().map(|object| object.response.0).sum(),
            arrived: 0,
            since: now,
            integral: 0,
            page,
        }
    }

    /// Returns an object of the page.
    pub(super) fn object(&self, object: u32) -> &WebObject {
        &self.page.objects()[object as usize]
    }

    /// Returns the objects that wait for no other.
    pub(super) fn free(&self) -> Vec<u32> {
        (0..self.missing.len() as u32).filter(|object| self.missing[*object as usize] == 0).collect()
    }

    /// Returns true if all objects have arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.left == 0
    }

    /// Records the time when the browser can request an object.
    pub(super) fn is_known(&mut self, time: Instant, object: u32) {
        self.times[object as usize].known = time;
    }

    /// Records that the request for an object was written.
    pub(super) fn is_requested(&mut self, now: Instant, object: u32) {
        self.times[object as usize].requested = now;
    }

    /// Records that the first byte of an object has arrived, unless it arrived before.
    pub(super) fn first_byte(&mut self, now: Instant, object: u32) {
        self.times[object as usize].first_byte.get_or_insert(now);
    }

    /// Records the arrival of this number of bytes of responses.
    pub(super) fn bytes_arrive(&mut self, now: Instant, bytes: u64) {
        if bytes > 0 {
            self.first_byte.get_or_insert(now);
            self.integral += u128::from(self.bytes - self.arrived) * u128::from(now.since(self.since).as_nanos());
            self.arrived += bytes;
            self.since = now;
        }
    }

    /// Records the arrival of an object. Returns the objects that waited only for it.
    pub(super) fn object_arrives(&mut self, object: u32) -> Vec<u32> {
        self.left -= 1;
        let page = self.page.clone();
        let is_free = |follower: &u32| {
            let missing = &mut self.missing[*follower as usize];
            *missing -= 1;
            *missing == 0
        };
        page.followers(object).iter().copied().filter(is_free).collect()
    }

    /// Returns the results of an object that has arrived.
    pub(super) fn loaded(&self, now: Instant, object: u32, connection: FlowIndex, page: usize) -> LoadedObject {
        let (times, bytes) = (self.times[object as usize], self.object(object).response.0);
        LoadedObject { page, object, connection, times, end: now, bytes, prefetched: false }
    }

    /// Returns the results of the page, which is complete.
    pub(super) fn finished(&self, now: Instant) -> LoadedPage {
        LoadedPage {
            began: self.began,
            first_byte: self.first_byte.unwrap_or(now).since(self.began),
            took: now.since(self.began),
            byte_index: self.integral as f64 / self.bytes as f64 / 1e9,
            bytes: self.bytes,
        }
    }
}
