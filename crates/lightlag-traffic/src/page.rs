//! Web pages with the objects of a file: sizes, dependencies, types and hosts. The data flows from the server to the
//! browser: the server is at the start of the flow, the browser at its end.

use crate::kind::{TrafficKind, count, stop};
use crate::web::{Http, MOST_CONNECTIONS};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Varied};
use std::fmt;

/// Maximum number of objects of a page.
pub const MOST_OBJECTS: usize = 10_000;

/// Loads of a web page that a file describes.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// Name of the JSON file.
    pub file: String,
    /// HTTP version; it determines how objects share connections.
    pub http: Http,
    /// Maximum number of simultaneous connections to each host; always one with HTTP/2 and HTTP/3.
    pub connections: Option<u32>,
    /// Whether objects of more important types come first.
    pub priorities: bool,
    /// Time from the last byte of a page to its next load; zero if omitted.
    pub think: Option<Varied<Duration>>,
    /// Number of loads; unlimited if omitted.
    pub count: Option<u64>,
    /// Simulated time when the browser stops starting loads; not limited if omitted.
    pub stop: Option<Duration>,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            file: String::new(),
            http: Http::Auto,
            connections: None,
            priorities: true,
            think: None,
            count: None,
            stop: None,
        }
    }
}

impl Described for Page {
    const ABOUT: &'static str = "Loads of a web page whose objects and dependencies are listed in a file.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::text("file", |of: &mut Self| &mut of.file, "a file")
                .about("JSON file with the objects of the page.")
                .required("name the JSON file with the objects of the page"),
            Setting::choice("http", |of: &mut Self| &mut of.http, "a version of HTTP").about(
                "Rule by which objects share connections: with 1.1 one object at a time on each of several connections \
                 per host (RFC 9112 §9.3); with 2 one connection per host, whose responses are interleaved in frames \
                 of 16,384 B (RFC 9113); with 3 one QUIC connection per host, with a stream for each object \
                 (RFC 9114). auto is 3 over QUIC and 1.1 over TCP.",
            ),
            Setting::count("connections", |of: &mut Self| &mut of.connections, MOST_CONNECTIONS, "a whole number", "")
                .by_default("6; 1 with HTTP/2 and HTTP/3")
                .about("Maximum number of simultaneous connections to each host; always one with HTTP/2 and HTTP/3.")
                .checked(|of| of.http.refuses(of.connections)),
            Setting::flag("priorities", |of: &mut Self| &mut of.priorities).about(
                "Whether objects with a lower urgency wait for others: for a free connection with 1.1, for the frames \
                 of others with 2, and for their streams with 3. Without, all objects are equal.",
            ),
            Setting::drawn_time("think", |of: &mut Self| &mut of.think)
                .about("Time from the last byte of the page to its next load."),
            count(|of: &mut Self| &mut of.count).about("Number of loads; unlimited if omitted."),
            stop(|of: &mut Self| &mut of.stop).about("Time of the run when new loads stop."),
        ]
    }
}

impl TrafficKind for Page {
    fn is_random(&self) -> bool {
        self.think.as_ref().is_some_and(Varied::is_random)
    }

    fn ends(&self) -> bool {
        self.count.is_some() || self.stop.is_some()
    }
}

/// An object of a page.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WebObject {
    /// Name, unique in the page; empty for pages that are drawn.
    pub id: String,
    /// Size of the request.
    pub request: Bytes,
    /// Size of the response.
    pub response: Bytes,
    /// Time from the arrival of the request to the response.
    pub server_time: Duration,
    /// Indices of the objects that must have arrived before this one is requested.
    pub after: Vec<u32>,
    /// Time from the arrival of the last of them to the request.
    pub delay: Duration,
    /// Urgency from 0 (first) to 7 (last), as in RFC 9218 §4.1.
    pub urgency: u8,
    /// Index of the host.
    pub host: u32,
}

/// The objects of a page, and their dependencies. There is no cycle among them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WebPage {
    objects: Vec<WebObject>,
    /// For each object, the objects that wait for it.
    followers: Vec<Vec<u32>>,
    hosts: Vec<String>,
}

/// Reason why objects are not a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PageError {
    /// There is no object.
    Empty,
    /// The objects with these names wait for each other.
    Cycle(Vec<String>),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("lists no object; a page has at least one"),
            Self::Cycle(names) => {
                write!(f, "the objects {} wait for each other; remove one of their dependencies", names.join(", "))
            }
        }
    }
}

impl WebPage {
    /// Returns the page of these objects.
    ///
    /// # Errors
    /// If there is no object, or if objects wait for each other.
    pub fn new(objects: Vec<WebObject>, hosts: Vec<String>) -> Result<Self, PageError> {
        if objects.is_empty() {
            return Err(PageError::Empty);
        }
        let mut followers = vec![Vec::new(); objects.len()];
        for (index, object) in (0_u32..).zip(&objects) {
            object.after.iter().for_each(|before| followers[*before as usize].push(index));
        }
        let page = Self { objects, followers, hosts };
        match page.cycle() {
            Some(names) => Err(PageError::Cycle(names)),
            None => Ok(page),
        }
    }

    /// Returns the names of objects that wait for each other, at most five; `None` if there are none.
    fn cycle(&self) -> Option<Vec<String>> {
        let mut missing: Vec<usize> = self.objects.iter().map(|object| object.after.len()).collect();
        let mut free: Vec<usize> = (0..missing.len()).filter(|object| missing[*object] == 0).collect();
        while let Some(object) = free.pop() {
            for follower in self.followers[object].iter().map(|follower| *follower as usize) {
                missing[follower] -= 1;
                if missing[follower] == 0 {
                    free.push(follower);
                }
            }
        }
        // Each of the others waits for one of them: following that one ends in a cycle.
        let mut object = missing.iter().position(|count| *count > 0)?;
        let mut path = vec![object];
        loop {
            let before = self.objects[object].after.iter().map(|before| *before as usize);
            object = before.clone().find(|before| missing[*before] > 0)?;
            if let Some(first) = path.iter().position(|other| *other == object) {
                let names = path[first..].iter().rev().take(5);
                return Some(names.map(|object| format!("{:?}", self.objects[*object].id)).collect());
            }
            path.push(object);
        }
    }

    /// Returns the objects.
    pub fn objects(&self) -> &[WebObject] {
        &self.objects
    }

    /// Returns the objects that wait for this one.
    pub fn followers(&self, object: u32) -> &[u32] {
        &self.followers[object as usize]
    }

    /// Returns the names of the hosts.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Returns the host of each connection: up to `per_host` for each host, and no more than it has objects.
    pub fn connections(&self, per_host: u32) -> Vec<u32> {
        let objects_of = |host: u32| self.objects.iter().filter(|object| object.host == host).count();
        let of_host = |host: u32| std::iter::repeat_n(host, objects_of(host).min(per_host as usize));
        (0..self.hosts.len() as u32).flat_map(of_host).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: &[&[u32]]) -> Result<WebPage, PageError> {
        let object = |(index, after): (usize, &&[u32])| WebObject {
            id: format!("o{index}"),
            after: after.to_vec(),
            host: u32::from(index > 2),
            ..WebObject::default()
        };
        WebPage::new(after.iter().enumerate().map(object).collect(), vec!["a".to_owned(), "b".to_owned()])
    }

    #[test]
    fn objects_that_wait_for_each_other_are_named() {
        assert_eq!(page(&[]), Err(PageError::Empty));
        let Err(PageError::Cycle(names)) = page(&[&[], &[0, 3], &[1], &[2], &[3]]) else { panic!("a cycle") };
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(sorted, ["\"o1\"", "\"o2\"", "\"o3\""], "the object after the cycle is not in it");
        let Err(PageError::Cycle(own)) = page(&[&[0]]) else { panic!("a cycle") };
        assert_eq!(own, ["\"o0\""]);
    }

    #[test]
    fn followers_and_connections_follow_from_the_objects() {
        let page = page(&[&[], &[0], &[0, 1], &[0], &[]]).unwrap();
        assert_eq!((page.followers(0), page.followers(1), page.followers(4)), (&[1, 2, 3][..], &[2][..], &[][..]));
        assert_eq!(page.connections(6), [0, 0, 0, 1, 1], "three objects on one host, two on the other");
        assert_eq!(page.connections(1), [0, 1]);
    }
}
