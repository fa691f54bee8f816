//! An emulation for Python: it is started with devices, hosts and a scenario, observed while it runs, and stopped.

use crate::scenario_error;
use lightlag_live::emulation::{
    Devices, EmulationError, EmulationOptions, EmulationPlan, Handle, NetworkPlan, OptionsError,
};
use lightlag_live::{Emulation as Forwarding, Tun, TunError, priority};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// Starts an emulation. The options are a JSON object: devices with their nodes, hosts, and scenario.
#[pyfunction]
pub(crate) fn emulate(py: Python<'_>, options: &str) -> PyResult<Emulation> {
    let options: EmulationOptions =
        serde_json::from_str(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let plan = options.resolve().map_err(|error| match error {
        OptionsError::Scenario(errors) => scenario_error(py, &errors),
        OptionsError::Option(message) => PyValueError::new_err(message),
    })?;
    py.detach(|| start(plan)).map_err(emulation_error)
}

fn start(plan: EmulationPlan) -> Result<Emulation, EmulationError> {
    let tuns: Vec<Tun> = plan.devices.iter().map(Tun::open).collect::<Result<_, _>>()?;
    let addresses: Vec<_> = tuns.iter().map(|tun| tun.addresses().to_vec()).collect();
    let mut forwarding = Forwarding::new(&plan, &addresses)?;
    let handle = Arc::new(Handle::default());
    let devices: Vec<Value> = tuns.iter().map(about_device).collect();
    let (shared, wanted) = (Arc::clone(&handle), plan.priority);
    let (report, given) = mpsc::sync_channel(1);
    let run = move || {
        let _ = report.send(priority::raise(wanted));
        // The devices go away when this ends, for whatever reason.
        forwarding.run(&mut Devices::new(tuns), &shared)
    };
    let thread = std::thread::Builder::new().name("emulation".to_owned()).spawn(run)?;
    let priority = given.recv().map_or_else(|_| String::new(), |priority| priority.to_string());
    let network = plan.network.as_ref();
    let about = json!({
        "devices": devices,
        "nodes": network.map(|network| network.device_nodes().collect::<Vec<_>>()).unwrap_or_default(),
        "hosts": about_hosts(&plan),
        "priority": priority,
        "scenario": network.map(NetworkPlan::name),
    });
    Ok(Emulation { about: about.to_string(), handle, thread: Mutex::new(Some(thread)) })
}

fn about_device(tun: &Tun) -> Value {
    json!({ "device": tun.place(), "made": tun.is_ours(), "left_out": tun.left_out() })
}

fn about_hosts(plan: &EmulationPlan) -> Vec<Value> {
    let mut nodes = plan.network.iter().flat_map(NetworkPlan::host_nodes);
    plan.hosts.iter().map(|host| json!({ "node": nodes.next(), "address": host.address() })).collect()
}

fn emulation_error(error: EmulationError) -> PyErr {
    match error {
        EmulationError::Tun(TunError::Name(_) | TunError::NoNamespace(_)) | EmulationError::NoAddress(_) => {
            PyValueError::new_err(error.to_string())
        }
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// A running emulation. It ends when it is stopped, when its time is over, when its hosts have finished, after an
/// error, or when no Python object refers to it any more.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Emulation {
    about: String,
    handle: Arc<Handle>,
    thread: Mutex<Option<JoinHandle<Result<(), EmulationError>>>>,
}

#[pymethods]
impl Emulation {
    /// Returns a description of the emulation as a JSON object: devices and whether they were created, nodes, hosts,
    /// actual priority, and scenario.
    #[getter]
    fn about(&self) -> &str {
        &self.about
    }

    /// Returns true if the emulation still forwards packets.
    #[getter]
    fn is_running(&self) -> bool {
        self.thread.lock().is_ok_and(|thread| thread.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Returns the emulation's statistics as a JSON object, at most 50 ms old.
    fn statistics(&self) -> String {
        serde_json::to_string(&self.handle.snapshot()).expect("a snapshot is plain data")
    }

    /// Returns the events of the hosts since the last call, each as a JSON object.
    fn events(&self) -> Vec<String> {
        let events = self.handle.take_events();
        events.iter().map(|event| serde_json::to_string(event).expect("an event is plain data")).collect()
    }

    /// Ends the emulation and removes the devices that it created. Raises an error if the emulation had already ended
    /// with one.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.stop();
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        match py.detach(|| thread.map(JoinHandle::join)) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(emulation_error(error)),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        self.handle.stop();
    }
}
