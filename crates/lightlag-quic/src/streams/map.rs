//! The streams of a connection by their IDs.

/// A sorted list of streams, with the index of the one that was used last.
#[derive(Debug)]
pub(crate) struct StreamMap<T> {
    entries: Vec<(u64, T)>,
    recent: usize,
}

impl<T> StreamMap<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), recent: 0 }
    }

    #[inline(always)]
    fn position(&self, id: u64) -> Result<usize, usize> {
        match self.entries.get(self.recent) {
            Some((recent, _)) if *recent == id => Ok(self.recent),
            None if self.entries.is_empty() => Err(0),
            _ => self.search(id),
        }
    }

    #[inline(never)]
    fn search(&self, id: u64) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&id, |(id, _)| *id)
    }

    /// Returns the stream with this ID.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<&T> {
        self.position(id).ok().map(|index| &self.entries[index].1)
    }

    /// Returns the stream with this ID.
    #[inline(always)]
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut T> {
        self.recent = self.position(id).ok()?;
        Some(&mut self.entries[self.recent].1)
    }

    /// Returns the stream that was used last.
    #[inline(always)]
    pub(super) fn recent_mut(&mut self) -> Option<(u64, &mut T)> {
        self.entries.get_mut(self.recent).map(|(id, stream)| (*id, stream))
    }

    /// Returns true if there is a stream with this ID.
    #[inline]
    pub(super) fn contains(&self, id: u64) -> bool {
        self.position(id).is_ok()
    }

    /// Adds a stream unless there is one with this ID.
    pub(super) fn add(&mut self, id: u64, create: impl FnOnce() -> T) {
        if let Err(index) = self.position(id) {
            if self.entries.is_empty() {
                // Most connections have one stream.
                self.entries.reserve_exact(1);
            }
            self.entries.insert(index, (id, create()));
        }
    }

    /// Removes the stream with this ID, and returns it.
    pub(super) fn remove(&mut self, id: u64) -> Option<T> {
        let index = self.position(id).ok()?;
        Some(self.entries.remove(index).1)
    }

    /// Returns the streams in the order of their IDs.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.entries.iter_mut().map(|(id, stream)| (*id, stream))
    }

    /// Returns the streams in the order of their IDs.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.entries.iter().map(|(id, stream)| (*id, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_found_in_any_order() {
        let mut map = StreamMap::new();
        for id in [8, 0, 4, 1, 8] {
            map.add(id, || id * 10);
        }
        assert_eq!(map.iter().map(|(id, _)| id).collect::<Vec<_>>(), [0, 1, 4, 8]);
        for id in [4, 4, 8, 0, 0, 1] {
            assert_eq!(map.get_mut(id).copied(), Some(id * 10));
            assert_eq!((map.get(id), map.contains(id)), (Some(&(id * 10)), true));
        }
        assert_eq!(map.get_mut(5), None);
        assert!(!map.contains(9));
    }
}
