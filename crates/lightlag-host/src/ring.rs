//! Ring buffer for the bytes of a stream, addressed by their 64-bit offsets: bytes that are written and not yet
//! acknowledged, or received and not yet read.

/// A window of a byte stream. It starts at offset [`ByteRing::start`], and its storage grows when needed.
#[derive(Debug, Default)]
pub(crate) struct ByteRing {
    /// Storage, whose length is a power of two or zero.
    bytes: Vec<u8>,
    start: u64,
}

/// Initial size of the storage, in bytes.
const SMALLEST: usize = 4096;

impl ByteRing {
    /// Returns the first offset that the ring holds.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the size of the storage in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Frees the storage. The ring must be empty: its contents are lost.
    pub(crate) fn release(&mut self) {
        self.bytes = Vec::new();
    }

    /// Stores `data` at `offset`, which must not be below the start.
    pub(crate) fn put(&mut self, offset: u64, data: &[u8]) {
        debug_assert!(offset >= self.start, "bytes before the window of a stream");
        self.reserve((offset - self.start) as usize + data.len());
        let (first, second) = self.slices_mut(offset, data.len());
        let (head, tail) = data.split_at(first.len());
        first.copy_from_slice(head);
        second.copy_from_slice(tail);
    }

    /// Copies the bytes starting at `offset` into `data`. The ring must hold all of them.
    pub(crate) fn get(&self, offset: u64, data: &mut [u8]) {
        debug_assert!(offset >= self.start && (offset - self.start) as usize + data.len() <= self.bytes.len());
        let start = self.place(offset);
        let first = data.len().min(self.bytes.len() - start);
        let (head, tail) = data.split_at_mut(first);
        head.copy_from_slice(&self.bytes[start..start + first]);
        tail.copy_from_slice(&self.bytes[..tail.len()]);
    }

    /// Appends `len` bytes, starting at `offset`, to `out`.
    pub(crate) fn append_to(&self, offset: u64, len: usize, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + len, 0);
        self.get(offset, &mut out[start..]);
    }

    /// Discards the data below `offset`, which becomes the start.
    pub(crate) fn advance(&mut self, offset: u64) {
        self.start = self.start.max(offset);
    }

    fn place(&self, offset: u64) -> usize {
        if self.bytes.is_empty() { 0 } else { offset as usize & (self.bytes.len() - 1) }
    }

    fn slices_mut(&mut self, offset: u64, len: usize) -> (&mut [u8], &mut [u8]) {
        let start = self.place(offset);
        let first = len.min(self.bytes.len() - start);
        let (low, high) = self.bytes.split_at_mut(start);
        (&mut high[..first], &mut low[..len - first])
    }

    /// Reserves storage for `span` bytes, counted from the start.
    fn reserve(&mut self, span: usize) {
        if span <= self.bytes.len() {
            return;
        }
        let mut larger = Self { bytes: vec![0; span.next_power_of_two().max(SMALLEST)], start: self.start };
        let mut old = vec![0; self.bytes.len()];
        self.get(self.start, &mut old);
        let (first, second) = larger.slices_mut(self.start, old.len());
        let (head, tail) = old.split_at(first.len());
        first.copy_from_slice(head);
        second.copy_from_slice(tail);
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bytes_out_of_order_are_found_at_their_offsets() {
        let mut ring = ByteRing::default();
        ring.put(100, b"later");
        ring.put(0, b"now");
        let mut back = [0; 5];
        ring.get(100, &mut back);
        assert_eq!(&back, b"later");
        let mut back = [0; 3];
        ring.get(0, &mut back);
        assert_eq!(&back, b"now");
    }

    proptest! {
        #[test]
        fn a_stream_survives_growth_and_wrapping(steps in prop::collection::vec((1usize..9_000, 0usize..9_000), 1..60)) {
            let mut ring = ByteRing::default();
            let byte = |offset: u64| (offset % 251) as u8;
            let (mut written, mut read) = (0_u64, 0_u64);
            for (write, take) in steps {
                let data: Vec<u8> = (written..written + write as u64).map(byte).collect();
                ring.put(written, &data);
                written += write as u64;
                let take = take.min((written - read) as usize);
                let mut back = Vec::new();
                ring.append_to(read, take, &mut back);
                prop_assert!(back.iter().zip(read..).all(|(found, offset)| *found == byte(offset)));
                read += take as u64;
                ring.advance(read);
                prop_assert_eq!(ring.start(), read);
            }
        }
    }
}
