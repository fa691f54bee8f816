//! Algorithms in shared libraries.

// A library is opened and its function is called.
#![allow(unsafe_code)]

use crate::native::Native;
use libloading::{Library, Symbol};
use lightlag_control::congestion::own::{Maker, Origin};
use lightlag_plugin::{ENTRY, Table};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The libraries that were opened, by path.
static OPEN: Mutex<BTreeMap<String, Arc<dyn Maker>>> = Mutex::new(BTreeMap::new());

/// The algorithm in the library `file`.
///
/// # Errors
/// If the file cannot be opened, holds no algorithm, or one of another version of the interface; or if it has changed: a process
/// keeps the library that it opened first.
pub fn open(file: &str) -> Result<Arc<dyn Maker>, String> {
    let failed = |what: String| format!("{file}: {what}");
    let bytes = std::fs::read(file).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let code = digest(&bytes);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    match open.get(file) {
        Some(maker) if maker.facts().code == code => return Ok(Arc::clone(maker)),
        Some(_) => return Err(failed("has changed since it was opened; start Python anew".to_owned())),
        None => {}
    }
    let table = |library: &Library| -> Result<*const Table, libloading::Error> {
        // SAFETY: the interface says that a function of this name has this type, and that it may be called at any time.
        unsafe {
            let entry: Symbol<unsafe extern "C" fn() -> *const Table> = library.get(ENTRY.as_bytes())?;
            Ok(entry())
        }
    };
    // A name without a slash would be looked for in the folders of the system.
    let path = std::path::absolute(Path::new(file)).map_err(|error| failed(error.to_string()))?;
    // SAFETY: whoever names a library lets its code run, that which opening it starts included.
    let library =
        unsafe { Library::new(&path) }.map_err(|error| failed(format!("is no library: {}", reason(&error))))?;
    let table = table(&library).map_err(|_| failed(format!("has no function {ENTRY}, which tells its algorithm")))?;
    if table.is_null() {
        return Err(failed(format!("{ENTRY} returns no table")));
    }
    let origin = Origin::Plugin(file.to_owned());
    // SAFETY: whoever names a library vouches for its table, which stays in memory with the library.
    let native = unsafe { Native::new(table, origin, code, Box::new(library)) }.map_err(failed)?;
    let maker: Arc<dyn Maker> = Arc::new(native);
    open.insert(file.to_owned(), Arc::clone(&maker));
    Ok(maker)
}

/// The digest of a code: the first 128 bits of SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The reason of the system, in one line.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.replace('\n', " ")
}
