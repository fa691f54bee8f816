//! Algorithms in shared libraries.

// A library is opened and its function is called.
#![allow(unsafe_code)]

use crate::copied::Copied;
use crate::elf;
use crate::native::Native;
use crate::queue::NativeQueue;
use crate::response::NativeResponse;
use crate::traffic::NativeTraffic;
use libloading::{Library, Symbol};
use lightlag_control::congestion::custom::AlgorithmFactory;
use lightlag_control::congestion::response::ResponseFactory as ResponseMaker;
use lightlag_core::custom::{Factory, Origin};
use lightlag_net::queue::custom::DisciplineFactory as QueueMaker;
use lightlag_plugin::{ENTRY, QUEUE_ENTRY, RESPONSE_ENTRY, TRAFFIC_ENTRY};
use lightlag_traffic::custom::TrafficFactory as TrafficMaker;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The libraries that were opened for one kind of algorithm, by path.
type Opened<M> = Mutex<BTreeMap<String, Arc<M>>>;

static CONTROLS: Opened<dyn AlgorithmFactory> = Mutex::new(BTreeMap::new());
static DISCIPLINES: Opened<dyn QueueMaker> = Mutex::new(BTreeMap::new());
static RESPONSES: Opened<dyn ResponseMaker> = Mutex::new(BTreeMap::new());
static TRAFFIC: Opened<dyn TrafficMaker> = Mutex::new(BTreeMap::new());

/// Returns the congestion control in the library `file`.
///
/// # Errors
/// If the file cannot be opened, contains no algorithm or one for another version of the interface; or if the file has
/// changed since this process opened it: a process keeps the library that it opened first.
pub fn open(file: &str) -> Result<Arc<dyn AlgorithmFactory>, String> {
    let make = |table: *const _, origin, code, library: Loaded| -> Result<Arc<dyn AlgorithmFactory>, String> {
        // SAFETY: the user who names a library vouches for its table, which stays in memory with the library.
        Ok(Arc::new(unsafe { Native::new(table, origin, code, Box::new(library)) }?))
    };
    open_in(&CONTROLS, file, ENTRY, make)
}

/// Returns the queue discipline in the library `file`.
///
/// # Errors
/// As [`open`].
pub fn open_discipline(file: &str) -> Result<Arc<dyn QueueMaker>, String> {
    let make = |table: *const _, origin, code, library: Loaded| -> Result<Arc<dyn QueueMaker>, String> {
        // SAFETY: as above.
        Ok(Arc::new(unsafe { NativeQueue::new(table, origin, code, Box::new(library)) }?))
    };
    open_in(&DISCIPLINES, file, QUEUE_ENTRY, make)
}

/// Returns the loss response in the library `file`.
///
/// # Errors
/// As [`open`].
pub fn open_response(file: &str) -> Result<Arc<dyn ResponseMaker>, String> {
    let make = |table: *const _, origin, code, library: Loaded| -> Result<Arc<dyn ResponseMaker>, String> {
        // SAFETY: as above.
        Ok(Arc::new(unsafe { NativeResponse::new(table, origin, code, Box::new(library)) }?))
    };
    open_in(&RESPONSES, file, RESPONSE_ENTRY, make)
}

/// Returns the traffic in the library `file`.
///
/// # Errors
/// As [`open`].
pub fn open_traffic(file: &str) -> Result<Arc<dyn TrafficMaker>, String> {
    let make = |table: *const _, origin, code, library: Loaded| -> Result<Arc<dyn TrafficMaker>, String> {
        // SAFETY: as above.
        Ok(Arc::new(unsafe { NativeTraffic::new(table, origin, code, Box::new(library)) }?))
    };
    open_in(&TRAFFIC, file, TRAFFIC_ENTRY, make)
}

/// Returns the algorithm in a library. The library exports its table, of type `T`, through the function `entry`.
fn open_in<M: Factory + ?Sized, T>(
    opened: &Opened<M>,
    file: &str,
    entry: &str,
    make: impl FnOnce(*const T, Origin, String, Loaded) -> Result<Arc<M>, String>,
) -> Result<Arc<M>, String> {
    let failed = |what: String| format!("{file}: {what}");
    let unreadable = |error| failed(format!("cannot be read: {error}"));
    // A pipe without a writer would be waited for, and a device has no end.
    if !std::fs::metadata(file).map_err(unreadable)?.is_file() {
        return Err(failed("is not a regular file".to_owned()));
    }
    let bytes = std::fs::read(file).map_err(unreadable)?;
    elf::check(&bytes).map_err(failed)?;
    let code = digest(&bytes);
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    match opened.get(file) {
        Some(maker) if maker.facts().code == code => return Ok(Arc::clone(maker)),
        Some(_) => return Err(failed("has changed since it was opened; restart Python".to_owned())),
        None => {}
    }
    // A name without a slash would be looked for in the directories of the system.
    let path = std::path::absolute(Path::new(file)).map_err(|error| failed(error.to_string()))?;
    let library =
        Loaded::new(&path, &bytes).map_err(|error| failed(format!("is not a valid library: {}", reason(&error))))?;
    let table = || -> Result<*const T, libloading::Error> {
        // SAFETY: the interface defines that a function of this name has this type, and that it may be called at any
        // time.
        unsafe {
            let entry: Symbol<unsafe extern "C" fn() -> *const T> = library.library.get(entry.as_bytes())?;
            Ok(entry())
        }
    };
    let table = table().map_err(|_| failed(format!("has no function {entry}, which describes its algorithm")))?;
    if table.is_null() {
        return Err(failed(format!("{entry} returns no table")));
    }
    let maker = make(table, Origin::Plugin(file.to_owned()), code, library).map_err(failed)?;
    opened.insert(file.to_owned(), Arc::clone(&maker));
    Ok(maker)
}

/// A library that is loaded in memory.
struct Loaded {
    library: Library,
    /// The file that the code was loaded from. It has to exist, because backtraces and debuggers read names and lines
    /// from it.
    _copy: Option<Copied>,
}

impl Loaded {
    /// Loads a private copy of a library. If the copy cannot be loaded, loads the file itself: the system may forbid
    /// copies, and a library may load others from its own directory.
    fn new(path: &Path, bytes: &[u8]) -> Result<Self, libloading::Error> {
        // SAFETY: the user who names a library lets its code run, including its initialisers.
        let load = |path: &Path| unsafe { Library::new(path) };
        if let Some(copy) = Copied::of(path, bytes)
            && let Ok(library) = load(&copy.path())
        {
            return Ok(Self { library, _copy: Some(copy) });
        }
        Ok(Self { library: load(path)?, _copy: None })
    }
}

/// Returns a digest of the code: the first 128 bits of SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the system's reason for an error, in one line.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.replace('\n', " ")
}
