//! Random access of 100,000 sensors to a satellite.

use crate::measure::{Sample, in_child};
use crate::report::{Verdicts, repeated};

/// Measures an hour of 100,000 sensors with CRDSA, in passes, and with NB-IoT, and whether the cost is linear in bursts.
pub fn sensors(verdicts: &mut Verdicts) {
    let crdsa = repeated(2, &["once", "sensors-100k"]);
    let passes = "topology.medium.passes={ duration = \"8 min\", period = \"20 min\" }";
    let passes: Sample = in_child(&["once", "sensors-100k", passes]);
    let nb_iot =
        ["topology.medium.technique=nb-iot", "topology.medium.nprach_period=40 ms", "topology.medium.data_carriers=4"];
    let nb_iot: Sample = in_child(&[&["once", "sensors-100k"], &nb_iot[..]].concat());
    for (name, sample) in [("CRDSA", crdsa), ("CRDSA in passes", passes), ("NB-IoT", nb_iot)] {
        let gib = sample.max_rss_kib as f64 / 1_048_576.0;
        let text = format!("sensors-100k, {name}: {:.1} s of CPU time, {gib:.2} GiB (at most 60 s)", sample.cpu_s);
        verdicts.add(sample.cpu_s <= 60.0, text);
    }
    let half = repeated(2, &["once", "sensors-100k", "topology.flow.traffic.every=1200 s"]);
    let ratio = crdsa.cpu_s / half.cpu_s;
    verdicts
        .add(ratio <= 2.5, format!("sensors-100k: {ratio:.2} × the CPU time of half as many bursts (at most 2.5 ×)"));
}
