//! An emulation for Python: started with a scenario and two devices, observed while it runs, stopped.

use crate::scenario_error;
use lightlag_core::{Duration, Instant};
use lightlag_live::emulation::{Devices, Handle};
use lightlag_live::{Emulation as Forwarding, Priority, Tun, TunConfig, TunError, priority};
use lightlag_net::NodeId;
use lightlag_scenario::{Network, Scenario};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// A device: namespace or None, name, addresses as ("10.0.0.1", 24).
type Device = (Option<String>, String, Vec<(String, u8)>);

/// Starts to forward packets between two TUN devices through the links of a scenario, given as JSON. `at` names the
/// nodes of the devices; the default is the ends of the first flow. `priority` is "fifo", "nice" or "normal".
#[pyfunction]
#[pyo3(signature = (scenario, devices, at=None, mtu=1500, duration_s=None, priority="fifo"))]
pub(crate) fn emulate(
    py: Python<'_>,
    scenario: &str,
    devices: [Device; 2],
    at: Option<(String, String)>,
    mtu: u16,
    duration_s: Option<f64>,
    priority: &str,
) -> PyResult<Emulation> {
    let read = lightlag_scenario::parse_json(scenario, &[]).and_then(|scenario| Ok((scenario.expand()?, scenario)));
    let (network, scenario) = read.map_err(|errors| scenario_error(py, &errors))?;
    network.check_wired().map_err(PyValueError::new_err)?;
    let ends = ends(&network, at)?;
    let wanted = match priority {
        "fifo" => Priority::Fifo,
        "nice" => Priority::Nice,
        "normal" => Priority::Normal,
        other => return Err(PyValueError::new_err(format!("priority {other:?} is not fifo, nice or normal"))),
    };
    let [a, b] = devices.map(|device| config(device, mtu));
    let (a, b) = (a?, b?);
    let tuns = py.detach(|| Ok([Tun::open(&a)?, Tun::open(&b)?])).map_err(tun_error)?;
    let end = duration_s.map(|seconds| Instant::ZERO + Duration::from_secs_f64(seconds));
    start(&network, &scenario, ends, tuns, end, wanted)
}

fn start(
    network: &Network,
    scenario: &Scenario,
    ends: [NodeId; 2],
    tuns: [Tun; 2],
    end: Option<Instant>,
    wanted: Priority,
) -> PyResult<Emulation> {
    let handle = Arc::new(Handle::default());
    let [a, b] = &tuns;
    let devices = [a, b].map(|tun| json!({ "device": tun.place(), "made": tun.is_ours(), "left_out": tun.left_out() }));
    let name = |end: NodeId| network.nodes[end.0 as usize].clone();
    let (network, seed, shared) = (network.clone(), scenario.seed, Arc::clone(&handle));
    let (report, given) = mpsc::sync_channel(1);
    let run = move || {
        let _ = report.send(priority::raise(wanted));
        // The devices go away when this ends, for whatever reason.
        Forwarding::new(&network, ends, seed).run(&mut Devices::new(tuns), &shared, end)
    };
    let thread = std::thread::Builder::new().name("emulation".to_owned()).spawn(run);
    let thread = thread.map_err(|error| PyOSError::new_err(format!("starting a thread: {error}")))?;
    let priority = given.recv().map_or_else(|_| String::new(), |priority| priority.to_string());
    let about = json!({ "devices": devices, "nodes": ends.map(name), "priority": priority, "scenario": scenario.name });
    Ok(Emulation { about: about.to_string(), handle, thread: Mutex::new(Some(thread)) })
}

/// The nodes of the two devices.
fn ends(network: &Network, at: Option<(String, String)>) -> PyResult<[NodeId; 2]> {
    let ends = match at {
        Some((a, b)) => [node(network, &a)?, node(network, &b)?],
        // A scenario has at least one flow.
        None => network.flows.first().map_or([NodeId(0), NodeId(1)], |flow| [flow.from, flow.to]),
    };
    let [a, b] = ends;
    let name = |node: NodeId| &network.nodes[node.0 as usize];
    if a == b {
        return Err(PyValueError::new_err(format!("both devices are at node {:?}; name two nodes", name(a))));
    }
    if !network.routes.at_start().reaches(a, b) {
        let message =
            format!("node {:?} cannot be reached from {:?}; name two nodes that are joined", name(b), name(a));
        return Err(PyValueError::new_err(message));
    }
    Ok(ends)
}

fn node(network: &Network, name: &str) -> PyResult<NodeId> {
    let at = network.nodes.iter().position(|node| node == name);
    at.map(|at| NodeId(at as u32)).ok_or_else(|| {
        let some: Vec<&str> = network.nodes.iter().take(8).map(String::as_str).collect();
        PyValueError::new_err(format!("there is no node {name:?} in the scenario; there are {}", some.join(", ")))
    })
}

fn config((namespace, name, addresses): Device, mtu: u16) -> PyResult<TunConfig> {
    let address = |(text, prefix): (String, u8)| {
        let address: IpAddr = text.parse().map_err(|_| PyValueError::new_err(format!("{text:?} is no IP address")))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if prefix > most {
            return Err(PyValueError::new_err(format!("{text}/{prefix}: a prefix has at most {most} bits")));
        }
        Ok((address, prefix))
    };
    let addresses = addresses.into_iter().map(address).collect::<PyResult<_>>()?;
    Ok(TunConfig { name, namespace, mtu, addresses })
}

fn tun_error(error: TunError) -> PyErr {
    match error {
        TunError::Name(_) | TunError::NoNamespace(_) => PyValueError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// A running emulation. It ends when it is stopped, when its time is over, when a device is gone, or when nothing
/// refers to it any more.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Emulation {
    about: String,
    handle: Arc<Handle>,
    thread: Mutex<Option<JoinHandle<Result<(), TunError>>>>,
}

#[pymethods]
impl Emulation {
    /// Its description as a JSON object: devices and whether they were created, nodes, its actual priority, scenario.
    #[getter]
    fn about(&self) -> &str {
        &self.about
    }

    /// Whether it still forwards packets.
    #[getter]
    fn is_running(&self) -> bool {
        self.thread.lock().is_ok_and(|thread| thread.as_ref().is_some_and(|thread| !thread.is_finished()))
    }

    /// Its statistics as a JSON object, at most 50 ms old.
    fn statistics(&self) -> String {
        serde_json::to_string(&self.handle.snapshot()).expect("a snapshot is plain data")
    }

    /// Ends it and removes the devices that it created. Raises the error if a lost device had ended it before.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.handle.stop();
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        match py.detach(|| thread.map(JoinHandle::join)) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(tun_error(error)),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        self.handle.stop();
    }
}
