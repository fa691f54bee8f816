//! A packet number space.

use crate::crypto::Crypto;
use crate::frame::Frame;
use crate::kind::SpaceId;
use crate::received::Received;
use crate::sent::Sent;
use lightlag_core::Instant;
use std::ops::{Index, IndexMut};
use std::sync::LazyLock;

/// Keys of a space (RFC 9001 §4.9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Keys {
    /// Not available yet.
    #[default]
    Missing,
    /// Available.
    Ready,
    /// Discarded.
    Discarded,
}

/// State of a packet number space.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) sent: Sent,
    pub(crate) received: Received,
    pub(crate) crypto: Crypto,
    /// Keys to send and to receive.
    pub(crate) sending: Keys,
    pub(crate) receiving: Keys,
    /// Time when the oldest packet below the largest acknowledged one is lost; [`Instant::MAX`] if there is none.
    pub(crate) loss_time: Instant,
    /// Probes that a timeout has requested.
    pub(crate) probes: u8,
    /// Transmission times of the first and the last eliciting packet in a row of lost ones.
    pub(crate) lost_run: Option<(Instant, Instant)>,
    /// Other frames to send.
    pub(crate) frames: Vec<Frame>,
}

impl Default for Space {
    fn default() -> Self {
        Self {
            sent: Sent::default(),
            received: Received::default(),
            crypto: Crypto::default(),
            sending: Keys::Missing,
            receiving: Keys::Missing,
            loss_time: Instant::MAX,
            probes: 0,
            lost_run: None,
            frames: Vec::new(),
        }
    }
}

impl Space {
    /// Returns a space whose keys are discarded.
    pub(crate) fn discarded() -> Self {
        Self { sending: Keys::Discarded, receiving: Keys::Discarded, ..Self::default() }
    }
}

/// The three spaces, by the values of [`SpaceId`]. The first two are freed when the handshake is confirmed.
#[derive(Debug)]
pub(crate) struct Spaces {
    application: Space,
    early: Option<Box<[Space; 2]>>,
}

/// A space of the handshake after it was freed.
static FREED: LazyLock<Space> = LazyLock::new(Space::discarded);

impl Spaces {
    pub(crate) fn new() -> Self {
        Self { application: Space::default(), early: Some(Box::default()) }
    }

    /// Frees the spaces of the handshake, whose keys are discarded.
    pub(crate) fn free(&mut self) {
        self.early = None;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Space> {
        (0..3).map(|index| &self[index])
    }

    #[inline(never)]
    fn early_mut(&mut self, index: usize) -> &mut Space {
        // A packet that confirms the handshake may have further frames of its space.
        &mut self.early.get_or_insert_with(|| Box::new([Space::discarded(), Space::discarded()]))[index]
    }
}

impl Index<usize> for Spaces {
    type Output = Space;

    #[inline(always)]
    fn index(&self, index: usize) -> &Space {
        match &self.early {
            _ if index == SpaceId::Application as usize => &self.application,
            Some(early) => &early[index],
            None => &FREED,
        }
    }
}

impl IndexMut<usize> for Spaces {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut Space {
        if index == SpaceId::Application as usize { &mut self.application } else { self.early_mut(index) }
    }
}

/// Number of unused lists that keep their memory.
const MAX_SPARE: usize = 2;

/// The control frames of sent packets. Lists are reused.
#[derive(Debug, Default)]
pub(crate) struct FrameLists {
    lists: Vec<Vec<Frame>>,
    free: Vec<u32>,
}

impl FrameLists {
    /// Adds a list, and returns its index.
    pub(crate) fn add(&mut self, frames: impl Iterator<Item = Frame>) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        });
        self.lists[index as usize].extend(frames);
        index
    }

    /// Returns true if a list has a CRYPTO frame.
    pub(crate) fn has_crypto(&self, index: u32) -> bool {
        self.lists[index as usize].iter().any(|frame| matches!(frame, Frame::Crypto { .. }))
    }

    /// Removes all DATAGRAM frames, and passes their tags to `lost`.
    #[cold]
    pub(crate) fn take_datagrams(&mut self, mut lost: impl FnMut(u64)) {
        for list in &mut self.lists {
            list.retain(|frame| match *frame {
                Frame::Datagram { tag, .. } => {
                    lost(tag);
                    false
                }
                _ => true,
            });
        }
    }

    /// Takes a list for reading; [`Self::put_back`] or [`Self::free`] follows.
    pub(crate) fn take(&mut self, index: u32) -> Vec<Frame> {
        std::mem::take(&mut self.lists[index as usize])
    }

    pub(crate) fn put_back(&mut self, index: u32, list: Vec<Frame>) {
        self.lists[index as usize] = list;
    }

    /// Frees a list.
    pub(crate) fn free(&mut self, index: u32) {
        self.lists[index as usize].clear();
        self.free.push(index);
        if self.free.len() == self.lists.len() && self.lists.len() > MAX_SPARE {
            *self = Self::default();
        }
    }
}
