//! Congestion control algorithms in Rust, and the table that exports one.

use crate::hooks::{AlgorithmRecord, hooks};
use crate::records::{Ack, Congestion, Control, Idle, Moment, Start};
use crate::table::{Parameter, Table};
use std::ffi::CStr;

/// A congestion control algorithm. A value of the type is the state of a connection; it is stored after the [`Control`]
/// that holds the window.
///
/// Each field of the type has 8 bytes, without padding. To make runs repeatable, the behaviour may depend on nothing
/// but the arguments. A panic ends the run.
pub trait CongestionControl: Copy + Send + Sync + 'static {
    /// Name of the algorithm in results.
    const NAME: &'static CStr;
    /// Description in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Parameters, each built by [`parameter!`](crate::parameter).
    const PARAMETERS: &'static [Parameter] = &[];
    /// Needs of the algorithm, as a sum of the numbers in [`needs`](crate::needs).
    const NEEDS: u64 = 0;
    /// State of a new connection, with the defaults of the parameters.
    const INITIAL: Self;

    /// Called when a connection starts to send.
    fn on_start(&mut self, _control: &mut Control, _start: &Start) {}

    /// Called when new data was acknowledged or SACKed, in recovery or not.
    fn on_ack(&mut self, control: &mut Control, ack: &Ack);

    /// Called when a congestion episode starts.
    fn on_congestion(&mut self, control: &mut Control, event: &Congestion);

    /// Called when the last reaction was to a spurious loss.
    fn on_undo(&mut self, control: &mut Control, _moment: &Moment) {
        control.restore();
    }

    /// Called when the sender was idle, or did not use its window.
    fn on_idle(&mut self, control: &mut Control, idle: &Idle) {
        control.restart(idle);
    }

    /// Called when the repair of losses has ended.
    fn on_recovered(&mut self, _control: &mut Control, _moment: &Moment) {}
}

/// Record of a connection: its [`Control`], followed by the state of the algorithm `A`.
pub type ConnectionRecord<A> = AlgorithmRecord<Control, A>;

/// Returns the table of an algorithm. New records are copies of `initial`.
pub const fn table<A: CongestionControl>(initial: &'static ConnectionRecord<A>) -> Table {
    Table {
        head: AlgorithmRecord::describe(initial, A::NAME, A::ABOUT, A::PARAMETERS),
        needs: A::NEEDS,
        on_start: Some(on_start::<A>),
        on_ack: Some(on_ack::<A>),
        on_congestion: Some(on_congestion::<A>),
        on_undo: Some(on_undo::<A>),
        on_idle: Some(on_idle::<A>),
        on_recovered: Some(on_recovered::<A>),
    }
}

hooks! {
    CongestionControl, Control;
    on_start(Start);
    on_ack(Ack);
    on_congestion(Congestion);
    on_undo(Moment);
    on_idle(Idle);
    on_recovered(Moment);
}

/// Builds the description of a parameter from a field of the algorithm's type, its range, unit and meaning. The field
/// is an `f64`; with `whole` before the range it is an `i64`. With `flag` instead of range and unit it is an `i64` that
/// is true or false. A keyword before the type selects another kind of algorithm: `queue` a queue discipline, `traffic`
/// a traffic source, `response` a loss response.
#[macro_export]
macro_rules! parameter {
    (queue $($rest:tt)*) => {
        $crate::parameter!(@ $crate::Queue, $($rest)*)
    };
    (traffic $($rest:tt)*) => {
        $crate::parameter!(@ $crate::Source, $($rest)*)
    };
    (response $($rest:tt)*) => {
        $crate::parameter!(@ $crate::Response, $($rest)*)
    };
    (@ $head:ty, $algorithm:ty, $field:ident, flag, $meaning:expr) => {
        $crate::parameter!(@@ $head, $algorithm, $field, $crate::kind::FLAG, 0.0, 1.0, c"", $meaning)
    };
    (@ $head:ty, $algorithm:ty, $field:ident, whole $min:literal ..= $max:literal, $unit:expr, $meaning:expr) => {
        $crate::parameter!(
            @@ $head, $algorithm, $field, $crate::kind::WHOLE, $min as f64, $max as f64, $unit, $meaning
        )
    };
    (@ $head:ty, $algorithm:ty, $field:ident, $min:literal ..= $max:literal, $unit:expr, $meaning:expr) => {
        $crate::parameter!(@@ $head, $algorithm, $field, $crate::kind::NUMBER, $min, $max, $unit, $meaning)
    };
    (@@ $head:ty, $algorithm:ty, $field:ident, $kind:expr, $min:expr, $max:expr, $unit:expr, $meaning:expr) => {
        $crate::Parameter {
            name: {
                const NAME: &::std::ffi::CStr =
                    match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($field), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("the name of a field has no zero in it"),
                    };
                NAME.as_ptr()
            },
            unit: $unit.as_ptr(),
            meaning: $meaning.as_ptr(),
            offset: (size_of::<$head>() + ::std::mem::offset_of!($algorithm, $field)) as u64,
            kind: $kind,
            min: $min,
            max: $max,
        }
    };
    ($algorithm:ty, $($rest:tt)*) => {
        $crate::parameter!(@ $crate::Control, $algorithm, $($rest)*)
    };
}

/// Exports an algorithm from a library. A library exports one.
#[macro_export]
macro_rules! export_congestion_control {
    ($algorithm:ty) => {
        /// Returns the table of the algorithm; called by lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_congestion_control() -> *const $crate::Table {
            static INITIAL: $crate::ConnectionRecord<$algorithm> =
                $crate::AlgorithmRecord::new($crate::Control::NONE, <$algorithm as $crate::CongestionControl>::INITIAL);
            static TABLE: $crate::Table = $crate::table(&INITIAL);
            &TABLE
        }
    };
}
