use super::super::background::Levels;
use super::*;
use crate::phy::error_model::ErrorModel;
use crate::phy::{Band, Guard, Timing};
use lightlag_core::RandomStream;
use proptest::prelude::*;

const FRAME: u64 = 7;

fn after(micros: f64) -> Instant {
    Instant::ZERO + Duration::from_nanos((micros * 1e3) as u64)
}

fn sent(mode: PhyMode, size: u32, curves: &ErrorCurves) -> Sent {
    let bits = mode.carried_bits(lightlag_core::Bytes(size.into()));
    let safe = curves.safe_sinr(mode, (bits as u32).next_power_of_two());
    let (headers, certain_header) = (mode.header_duration(), curves.certain_header_sinr(mode));
    Sent { mode, size, bits: bits as f64, headers, safe, certain_header }
}

/// A receiver with a single frame on the air, `snr_db` above the noise, and optionally a faint frame.
struct Scene {
    snr_db: f64,
    faint: Option<(f64, f64, f64)>,
    drawn: f64,
    size: u32,
}

impl Scene {
    /// Returns the outcome of the frame, and the time for which the medium was busy. With `early`, the receiver is also
    /// advanced once before the frame ends.
    fn fate(&self, early: bool) -> (ReceptionEnd, Duration) {
        let thresholds = Arc::new(Thresholds::new(&Radio::default(), Width::Mhz20));
        let curves = ErrorCurves::new(ErrorModel::Nist);
        let mode = PhyMode::ht(3, Width::Mhz20, Guard::Long, Band::Ghz5).unwrap();
        let (noise, on) = (thresholds.noise, sent(mode, self.size, &curves));
        let mut access = Access::new(Timing::new(Band::Ghz5), None, RandomStream::new(1, "backoff"));
        let mut background = Background::default();
        if let Some((snr_db, start, length)) = self.faint {
            let power = noise * ratio(snr_db);
            let levels = Levels { powers: vec![power], squares: vec![9e4] };
            let span = (after(start), after(start + length));
            background.add(FRAME - 1, span, Duration::from_micros(1), levels);
        }
        let mut hearing = Hearing::new(thresholds, lightlag_net::StationId(0));
        let (arrival, end, now) = (after(1_000.0), after(1_400.0), after(1_400.5));
        let record = FrameReception { frame: FRAME, arrival, end, power: noise * ratio(self.snr_db) };
        hearing.add(record, after(990.0), &mut access, &mut background);
        if early {
            hearing.advance(after(1_200.0), &mut access, &mut background);
        }
        let tools = (&curves, &mut background);
        let none: &[Mpdu<()>] = &[];
        let fate = hearing.end_at(now, FRAME, &mut access, (&on, none), tools, |_| self.drawn);
        assert!(hearing.locked.is_none() && hearing.noticed == 1 && hearing.first == 0);
        (fate, access.busy(now))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn a_frame_alone_has_the_same_fate_at_any_time_of_the_call(
        snr_db in 8.0f64..26.0,
        faint in proptest::option::of((-6.0f64..11.0, 500.0f64..1_450.0, 1.0f64..600.0)),
        drawn in prop_oneof![0.0f64..1.0, 0.98f64..1.0],
        size in 14u32..4_000,
    ) {
        let scene = Scene { snr_db, faint, drawn, size };
        let ((one, busy), (other, busy_other)) = (scene.fate(false), scene.fate(true));
        prop_assert_eq!(busy, busy_other);
        match (one, other) {
            // Whether others were on the air counts for lost frames alone.
            (ReceptionEnd::Heard { arrived: u64::MAX, ratio, .. }, ReceptionEnd::Heard { arrived, ratio: same, header, .. }) => {
                prop_assert!(header && arrived == u64::MAX && ratio == same);
            }
            (one, other) => prop_assert_eq!(one, other),
        }
    }
}
