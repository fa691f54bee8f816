//! Algorithms of a user: classes of Python, plain or compiled, and libraries.
//!
//! - `plain`: a class whose methods the interpreter runs.
//! - `compiled`: a class whose methods are machine code behind the C interface.
//! - `base`: what both inherit, and the records that methods are given.
//! - `class`: a class of either kind, as the engine describes it.
//! - `queue`: queue disciplines.
//! - `response`: loss responses.
//! - `router`: routers of nodes with radios.
//! - `sky_router`: routers of constellations.
//! - `traffic`: traffic.

pub(crate) mod base;
mod class;
pub(crate) mod compiled;
pub(crate) mod plain;
pub(crate) mod queue;
pub(crate) mod response;
pub(crate) mod router;
pub(crate) mod sky_router;
pub(crate) mod traffic;

use lightlag_control::congestion::{self, response as responses};
use lightlag_core::own::{Facts, Origin};
use lightlag_net::queue as disciplines;
use lightlag_orbit::own_ways;
use lightlag_routing::own as routing;
use lightlag_scenario::own_traffic;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lets scenarios name algorithms in files.
pub(crate) fn let_files_be_named() {
    congestion::own::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_own::library::open(file),
        other => match class(other)? {
            Algorithm::Congestion(maker) => Ok(maker),
            other => Err(other.is_no("congestion control")),
        },
    });
    responses::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_own::library::open_response(file),
        other => match class(other)? {
            Algorithm::Response(maker) => Ok(maker),
            other => Err(other.is_no("loss response")),
        },
    });
    disciplines::own::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_own::library::open_discipline(file),
        other => match class(other)? {
            Algorithm::Queue(maker) => Ok(maker),
            other => Err(other.is_no("queue discipline")),
        },
    });
    own_traffic::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_own::library::open_traffic(file),
        other => match class(other)? {
            Algorithm::Traffic(maker) => Ok(maker),
            other => Err(other.is_no("traffic")),
        },
    });
    routing::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => Err(format!("{file}: a router is a class of Python; a library cannot be one")),
        other => match class(other)? {
            Algorithm::Router(maker) => Ok(maker),
            other => Err(other.is_no("router of nodes with radios")),
        },
    });
    own_ways::OUTSIDE.load_by(|origin| match origin {
        Origin::Plugin(file) => Err(format!("{file}: a router is a class of Python; a library cannot be one")),
        other => match class(other)? {
            Algorithm::SkyRouter(maker) => Ok(maker),
            other => Err(other.is_no("router of constellations")),
        },
    });
}

/// The algorithm of a class in a file.
fn class(origin: &Origin) -> Result<Algorithm, String> {
    let Origin::Python(class) = origin else { return Err("a registered algorithm has no file".to_owned()) };
    Python::attach(|py| {
        let loaded = py.import("lightlag.own").and_then(|own| own.call_method1("load", (class,)));
        let made = loaded.and_then(|made| Ok(made.cast::<Made>()?.get().0.clone()));
        made.map_err(|error| error.value(py).to_string())
    })
}

/// An algorithm of any kind.
#[derive(Clone)]
pub(crate) enum Algorithm {
    Congestion(Arc<dyn congestion::own::Maker>),
    Response(Arc<dyn responses::Maker>),
    Queue(Arc<dyn disciplines::own::Maker>),
    Traffic(Arc<dyn own_traffic::Maker>),
    Router(Arc<dyn routing::Maker>),
    SkyRouter(Arc<dyn own_ways::Maker>),
}

/// An algorithm that is ready to be named by scenarios.
#[pyclass(frozen, name = "Algorithm", module = "lightlag._engine")]
pub(crate) struct Made(Algorithm);

impl Algorithm {
    fn facts(&self) -> &Facts {
        match self {
            Self::Congestion(maker) => maker.facts(),
            Self::Response(maker) => maker.facts(),
            Self::Queue(maker) => maker.facts(),
            Self::Traffic(maker) => maker.facts(),
            Self::Router(maker) => maker.facts(),
            Self::SkyRouter(maker) => maker.facts(),
        }
    }

    /// The message for one that stands where another kind of algorithm is due.
    fn is_no(&self, due: &str) -> String {
        let kind = match self {
            Self::Congestion(_) => "a congestion control",
            Self::Response(_) => "a loss response",
            Self::Queue(_) => "a queue discipline",
            Self::Traffic(_) => "traffic",
            Self::Router(_) => "a router of nodes with radios",
            Self::SkyRouter(_) => "a router of constellations",
        };
        format!("{} is {kind}, and no {due}", self.facts().name)
    }
}

#[pymethods]
impl Made {
    /// Makes it known by its name.
    fn register(&self) -> PyResult<()> {
        let done = match &self.0 {
            Algorithm::Congestion(maker) => congestion::register(Arc::clone(maker)),
            Algorithm::Response(maker) => lightlag_tcp::config::register_response(Arc::clone(maker)),
            Algorithm::Queue(maker) => disciplines::own::register(Arc::clone(maker)),
            Algorithm::Traffic(maker) => own_traffic::register(Arc::clone(maker)),
            Algorithm::Router(maker) => lightlag_routing::register(Arc::clone(maker)),
            Algorithm::SkyRouter(maker) => {
                own_ways::OUTSIDE.add(Arc::clone(maker));
                Ok(())
            }
        };
        done.map_err(pyo3::exceptions::PyValueError::new_err)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.facts().name
    }

    /// The digest of its code.
    #[getter]
    fn code(&self) -> &str {
        &self.0.facts().code
    }
}

/// The files of the crate `lightlag-plugin` and its header of C, by their paths in the crate: a plug-in is built from them.
#[pyfunction]
pub(crate) fn plugin_sources() -> BTreeMap<&'static str, &'static str> {
    macro_rules! file {
        ($path:literal) => {
            ($path, include_str!(concat!("../../lightlag-plugin/", $path)))
        };
    }
    BTreeMap::from([
        file!("include/lightlag.h"),
        file!("src/congestion.rs"),
        file!("src/discipline.rs"),
        file!("src/lib.rs"),
        file!("src/queue.rs"),
        file!("src/records.rs"),
        file!("src/response.rs"),
        file!("src/table.rs"),
        file!("src/traffic.rs"),
    ])
}

/// The place of an algorithm in a scenario: `file` is "FILE:CLASS" for one in a file.
pub(crate) fn origin(file: Option<String>) -> Origin {
    file.map_or(Origin::Registered, Origin::Python)
}
