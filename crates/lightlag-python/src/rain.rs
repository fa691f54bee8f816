//! MODCODs, and attenuations of rain without a run.

use lightlag_core::{Decibels, Duration, RandomStream};
use lightlag_net::{ModcodTable, RainFade};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the MODCODs of a table as name, bits per symbol and minimum Es/N0 in dB, in the order of the standard.
#[pyfunction]
pub(crate) fn modcods(table: &str, pilots: bool) -> PyResult<Vec<(String, f64, f64)>> {
    let Some(found) = ModcodTable::ALL.into_iter().find(|known| known.name() == table) else {
        let names = ModcodTable::ALL.map(ModcodTable::name).join(", ");
        return Err(PyValueError::new_err(format!("{table:?} is not a table of MODCODs; write one of {names}")));
    };
    let rows = found.modcods(pilots).into_iter();
    Ok(rows.map(|modcod| (modcod.name.into_owned(), modcod.bits_per_symbol, modcod.threshold)).collect())
}

/// Returns `count` attenuations in dB of rain with these parameters, one per step, from a stream with this seed. `rain`
/// is mean and standard deviation of ln A, the offset in dB, and the correlation time in seconds.
#[pyfunction]
pub(crate) fn attenuations(rain: (f64, f64, f64, f64), step_s: f64, count: usize, seed: u64) -> PyResult<Vec<f64>> {
    let (mean, deviation, offset, correlation_s) = rain;
    let time = |seconds: f64| match seconds > 0.0 && seconds < 1e9 {
        true => Ok(Duration::from_nanos((seconds * 1e9) as u64)),
        false => Err(PyValueError::new_err(format!("{seconds} s is not a time above 0 s and below 1e9 s"))),
    };
    let offset = Decibels::new(offset).ok_or_else(|| PyValueError::new_err("the offset is not finite"))?;
    let fade = RainFade { mean, deviation, correlation_time: time(correlation_s)?, offset };
    Ok(fade.attenuations(time(step_s)?, RandomStream::new(seed, "attenuations")).take(count).collect())
}
