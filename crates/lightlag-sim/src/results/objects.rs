//! Results of the objects of pages that files list.

use crate::hosts::session::{LoadedObject, Session};
use crate::table::{NameTable, recorded};
use lightlag_core::Instant;
use lightlag_traffic::WebPage;
use std::sync::Arc;

recorded! {
    /// Objects of pages from files that arrived completely, ordered by flow and then by arrival.
    pub struct Objects {
        /// Time when the browser could request the object: the objects before it and its delay were over.
        time_s: Vec<f64> ["s"],
        /// Flow that the page belongs to.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Index of the load of the page, from 1.
        page: Vec<u32> [""],
        /// Id of the object in its file.
        object: Vec<u32> ["", named(NameTable::Objects)],
        /// Flow of the connection that carried the object.
        connection: Vec<u32> ["", named(NameTable::Flows)],
        /// Time when the request was written to the connection, after its TLS handshake.
        start_s: Vec<f64> ["s"],
        /// Arrival time of the first byte.
        first_byte_s: Vec<f64> ["s"],
        /// Arrival time of the last byte.
        end_s: Vec<f64> ["s"],
        /// Size of the response.
        bytes: Vec<u64> ["B"],
        /// Whether a proxy requested the object before the client. In runs with a proxy that prefetches.
        prefetched: Vec<bool> ["", optional],
    }
}

/// The pages of all dialogues, with the index of the first object of each in the list of names.
#[derive(Default)]
pub(super) struct ObjectNames {
    pages: Vec<(Arc<WebPage>, u32)>,
    names: Vec<String>,
}

impl ObjectNames {
    /// Returns the index of the first object of a page. Pages of the same file share their names.
    fn first(&mut self, page: &Arc<WebPage>) -> u32 {
        if let Some((_, first)) = self.pages.iter().find(|(other, _)| Arc::ptr_eq(other, page)) {
            return *first;
        }
        let first = self.names.len() as u32;
        self.names.extend(page.objects().iter().map(|object| object.id.clone()));
        self.pages.push((page.clone(), first));
        first
    }

    /// Returns the names of the objects, in the order of their indices in the table.
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}

impl Objects {
    pub(super) fn add(&mut self, dialogue: &Session, names: &mut ObjectNames) {
        let Some(page) = dialogue.listed() else { return };
        let first = names.first(page);
        let seconds = Instant::as_secs_f64;
        for LoadedObject { page, object, connection, times, end, bytes, prefetched } in
            dialogue.objects().iter().copied()
        {
            self.time_s.push(seconds(times.known));
            self.flow.push(dialogue.flow().0);
            self.page.push(page as u32 + 1);
            self.object.push(first + object);
            self.connection.push(connection.0);
            self.start_s.push(seconds(times.requested));
            self.first_byte_s.push(seconds(times.first_byte.unwrap_or(end)));
            self.end_s.push(seconds(end));
            self.bytes.push(bytes);
            self.prefetched.push(prefetched);
        }
    }
}
