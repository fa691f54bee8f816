//! An algorithm in Rust, and the table that offers it.

use crate::records::{Ack, Congestion, Control, Idle, Moment, Start};
use crate::table::{Head, Parameter, Table};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A congestion control. A value is the state of one connection, beside the [`Control`] that holds its window.
///
/// Its fields have 8 bytes each and no padding, and what it does depends on its arguments alone: the run could not be repeated
/// otherwise. A panic ends the run.
pub trait CongestionControl: Copy + Send + Sync + 'static {
    /// The name of the algorithm in results.
    const NAME: &'static CStr;
    /// What it does, in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Its parameters: [`parameter!`](crate::parameter).
    const PARAMETERS: &'static [Parameter] = &[];
    /// The sum of its needs: numbers of [`needs`](crate::needs).
    const NEEDS: u64 = 0;
    /// The state before the start, with the defaults of the parameters.
    const INITIAL: Self;

    /// The connection starts to send.
    fn on_start(&mut self, _control: &mut Control, _start: &Start) {}

    /// New data was acknowledged or SACKed, in recovery or not.
    fn on_ack(&mut self, control: &mut Control, ack: &Ack);

    /// An episode of congestion started.
    fn on_congestion(&mut self, control: &mut Control, event: &Congestion);

    /// The last reaction was to a spurious loss.
    fn on_undo(&mut self, control: &mut Control, _moment: &Moment) {
        control.restore();
    }

    /// The sender was idle, or did not use its window.
    fn on_idle(&mut self, control: &mut Control, idle: &Idle) {
        control.restart(idle);
    }

    /// The repair of losses ended.
    fn on_recovered(&mut self, _control: &mut Control, _moment: &Moment) {}
}

/// The record of a connection of the algorithm `A`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Own<A> {
    /// The window.
    pub control: Control,
    /// The algorithm's parameters and state.
    pub algorithm: A,
}

impl<A: CongestionControl> Own<A> {
    /// The record before the start.
    pub const INITIAL: Self = Self {
        control: Control {
            cwnd: 1.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
            segment_size: 0.0,
            prior_cwnd: 0.0,
            prior_ssthresh: 0.0,
            random: 0,
            fault: 0,
            epoch_ns: -1,
            epoch_w_max: 0.0,
            epoch_k: 0.0,
        },
        algorithm: A::INITIAL,
    };

    const IS_PLAIN: () = assert!(
        size_of::<A>().is_multiple_of(8)
            && align_of::<A>() <= 8
            && size_of::<Self>() == size_of::<Control>() + size_of::<A>(),
        "the fields of an algorithm have 8 bytes each"
    );
}

/// The table of an algorithm, whose records start as `initial`.
pub const fn table<A: CongestionControl>(initial: &'static Own<A>) -> Table {
    let () = Own::<A>::IS_PLAIN;
    Table {
        head: Head {
            interface: crate::INTERFACE,
            size: size_of::<Own<A>>() as u32,
            name: A::NAME.as_ptr(),
            about: A::ABOUT.as_ptr(),
            initial: std::ptr::from_ref(initial).cast(),
            parameters: A::PARAMETERS.as_ptr(),
            parameter_count: A::PARAMETERS.len() as u64,
        },
        needs: A::NEEDS,
        on_start: Some(on_start::<A>),
        on_ack: Some(on_ack::<A>),
        on_congestion: Some(on_congestion::<A>),
        on_undo: Some(on_undo::<A>),
        on_idle: Some(on_idle::<A>),
        on_recovered: Some(on_recovered::<A>),
    }
}

macro_rules! hooks {
    ($($hook:ident($record:ty);)*) => {
        $(unsafe extern "C" fn $hook<A: CongestionControl>(own: *mut c_void, record: *const $record) {
            // SAFETY: lightlag gives the record of a connection, which it made with the size and the initial value of the
            // table, and a record that lives during the call; nothing else refers to either.
            let (Own { control, algorithm }, record) = unsafe { (&mut *own.cast::<Own<A>>(), &*record) };
            // A panic must not leave a function of C.
            if catch_unwind(AssertUnwindSafe(|| algorithm.$hook(control, record))).is_err() {
                control.fault = 1;
            }
        })*
    };
}

hooks! {
    on_start(Start);
    on_ack(Ack);
    on_congestion(Congestion);
    on_undo(Moment);
    on_idle(Idle);
    on_recovered(Moment);
}

/// A parameter of an algorithm: the field of a type with its range, its unit and its meaning. The field is an `f64`; with
/// `whole` before the range an `i64`, and a field of type `i64` that is `flag` is true or false. The word `queue` before the type
/// says that it is a queue discipline, `traffic` that it is traffic, `response` that it is a loss response.
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
    (@ $head:ty, $algorithm:ty, $field:ident, whole $least:literal ..= $most:literal, $unit:expr, $meaning:expr) => {
        $crate::parameter!(
            @@ $head, $algorithm, $field, $crate::kind::WHOLE, $least as f64, $most as f64, $unit, $meaning
        )
    };
    (@ $head:ty, $algorithm:ty, $field:ident, $least:literal ..= $most:literal, $unit:expr, $meaning:expr) => {
        $crate::parameter!(@@ $head, $algorithm, $field, $crate::kind::NUMBER, $least, $most, $unit, $meaning)
    };
    (@@ $head:ty, $algorithm:ty, $field:ident, $kind:expr, $least:expr, $most:expr, $unit:expr, $meaning:expr) => {
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
            least: $least,
            most: $most,
        }
    };
    ($algorithm:ty, $($rest:tt)*) => {
        $crate::parameter!(@ $crate::Control, $algorithm, $($rest)*)
    };
}

/// Exports an algorithm from a library, which holds one.
#[macro_export]
macro_rules! export_congestion_control {
    ($algorithm:ty) => {
        /// The table of the algorithm, for lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_congestion_control() -> *const $crate::Table {
            static INITIAL: $crate::Own<$algorithm> = $crate::Own::<$algorithm>::INITIAL;
            static TABLE: $crate::Table = $crate::table(&INITIAL);
            &TABLE
        }
    };
}
