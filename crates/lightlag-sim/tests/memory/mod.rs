//! Files in memory, for tests that read captures back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A file in memory that can be written and read through clones.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
