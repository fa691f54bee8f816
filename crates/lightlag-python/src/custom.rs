//! Custom algorithms: Python classes, interpreted or compiled, and plug-in libraries.
//!
//! - `plain`: a class whose methods are run by the interpreter.
//! - `compiled`: a class whose methods are compiled to machine code and called through the C interface.
//! - `base`: the base classes of both kinds, and the records that are passed to methods.
//! - `class`: a class of either kind, as the engine describes it.
//! - `queue`: queue disciplines.
//! - `response`: loss responses.
//! - `router`: routers of nodes with radios.
//! - `sky_router`: routers of constellations.
//! - `traffic`: traffic sources.

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
use lightlag_core::custom::{Description, Origin};
use lightlag_net::queue as disciplines;
use lightlag_orbit::satellite_routing;
use lightlag_routing::custom as routing;
use lightlag_traffic::custom as custom_traffic;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Allows scenarios to refer to algorithms in files.
pub(crate) fn let_files_be_named() {
    congestion::custom::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_custom::library::open(file),
        other => match class(other)? {
            Algorithm::Congestion(maker) => Ok(maker),
            other => Err(other.is_no("congestion control")),
        },
    });
    responses::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_custom::library::open_response(file),
        other => match class(other)? {
            Algorithm::Response(maker) => Ok(maker),
            other => Err(other.is_no("loss response")),
        },
    });
    disciplines::custom::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_custom::library::open_discipline(file),
        other => match class(other)? {
            Algorithm::Queue(maker) => Ok(maker),
            other => Err(other.is_no("queue discipline")),
        },
    });
    custom_traffic::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => lightlag_custom::library::open_traffic(file),
        other => match class(other)? {
            Algorithm::Traffic(maker) => Ok(maker),
            other => Err(other.is_no("traffic source")),
        },
    });
    routing::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => Err(format!("{file}: a router must be a Python class, not a library")),
        other => match class(other)? {
            Algorithm::Router(maker) => Ok(maker),
            other => Err(other.is_no("router of nodes with radios")),
        },
    });
    satellite_routing::CUSTOM.load_by(|origin| match origin {
        Origin::Plugin(file) => Err(format!("{file}: a router must be a Python class, not a library")),
        other => match class(other)? {
            Algorithm::SatelliteRouter(maker) => Ok(maker),
            other => Err(other.is_no("router of constellations")),
        },
    });
}

/// Returns the algorithm that a class in a file defines.
fn class(origin: &Origin) -> Result<Algorithm, String> {
    let Origin::Python(class) = origin else { return Err("a registered algorithm has no file".to_owned()) };
    Python::attach(|py| {
        let loaded = py.import("lightlag.custom").and_then(|module| module.call_method1("load", (class,)));
        let made = loaded.and_then(|made| Ok(made.cast::<Made>()?.get().0.clone()));
        made.map_err(|error| error.value(py).to_string())
    })
}

/// A custom algorithm of any kind.
#[derive(Clone)]
pub(crate) enum Algorithm {
    Congestion(Arc<dyn congestion::custom::AlgorithmFactory>),
    Response(Arc<dyn responses::ResponseFactory>),
    Queue(Arc<dyn disciplines::custom::DisciplineFactory>),
    Traffic(Arc<dyn custom_traffic::TrafficFactory>),
    Router(Arc<dyn routing::RouterFactory>),
    SatelliteRouter(Arc<dyn satellite_routing::SatelliteRouterFactory>),
}

/// A custom algorithm that can be registered, so that scenarios can refer to it by name.
#[pyclass(frozen, name = "Algorithm", module = "lightlag._engine")]
pub(crate) struct Made(Algorithm);

impl Algorithm {
    fn facts(&self) -> &Description {
        match self {
            Self::Congestion(maker) => maker.facts(),
            Self::Response(maker) => maker.facts(),
            Self::Queue(maker) => maker.facts(),
            Self::Traffic(maker) => maker.facts(),
            Self::Router(maker) => maker.facts(),
            Self::SatelliteRouter(maker) => maker.facts(),
        }
    }

    /// Returns the error message for an algorithm of the wrong kind.
    fn is_no(&self, due: &str) -> String {
        let kind = match self {
            Self::Congestion(_) => "a congestion control",
            Self::Response(_) => "a loss response",
            Self::Queue(_) => "a queue discipline",
            Self::Traffic(_) => "a traffic source",
            Self::Router(_) => "a router of nodes with radios",
            Self::SatelliteRouter(_) => "a router of constellations",
        };
        format!("{} is {kind}, not a {due}", self.facts().name)
    }
}

#[pymethods]
impl Made {
    /// Registers the algorithm under its name.
    fn register(&self) -> PyResult<()> {
        let done = match &self.0 {
            Algorithm::Congestion(maker) => congestion::register(Arc::clone(maker)),
            Algorithm::Response(maker) => lightlag_tcp::config::register_response(Arc::clone(maker)),
            Algorithm::Queue(maker) => disciplines::custom::register(Arc::clone(maker)),
            Algorithm::Traffic(maker) => custom_traffic::register(Arc::clone(maker)),
            Algorithm::Router(maker) => lightlag_routing::register(Arc::clone(maker)),
            Algorithm::SatelliteRouter(maker) => {
                satellite_routing::CUSTOM.add(Arc::clone(maker));
                Ok(())
            }
        };
        done.map_err(pyo3::exceptions::PyValueError::new_err)
    }

    /// Returns the name of the algorithm.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.facts().name
    }

    /// Returns the digest of the algorithm's code.
    #[getter]
    fn code(&self) -> &str {
        &self.0.facts().code
    }
}

/// Returns the files of the crate `lightlag-plugin` and its C header, by their paths in the crate. Plug-ins are built
/// from them.
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
        file!("src/hooks.rs"),
        file!("src/lib.rs"),
        file!("src/queue.rs"),
        file!("src/records.rs"),
        file!("src/response.rs"),
        file!("src/table.rs"),
        file!("src/traffic.rs"),
    ])
}

/// Returns the origin of an algorithm in a scenario; `file` is "FILE:CLASS" if the algorithm is defined in a file.
pub(crate) fn origin(file: Option<String>) -> Origin {
    file.map_or(Origin::Registered, Origin::Python)
}
