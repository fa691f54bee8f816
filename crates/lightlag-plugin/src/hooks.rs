//! Records of algorithms: a part that is shared with lightlag, and the part of the algorithm.

use crate::table::{Head, Parameter};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Record of an algorithm `A`, which starts with a part `H` that is shared with lightlag.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AlgorithmRecord<H, A> {
    /// The shared part.
    pub head: H,
    /// Parameters and state of the algorithm.
    pub algorithm: A,
}

impl<H, A> AlgorithmRecord<H, A> {
    /// Creates an initial record.
    pub const fn new(head: H, algorithm: A) -> Self {
        const {
            assert!(
                size_of::<A>().is_multiple_of(8)
                    && align_of::<A>() <= 8
                    && size_of::<Self>() == size_of::<H>() + size_of::<A>(),
                "the fields of an algorithm have 8 bytes each"
            );
        }
        Self { head, algorithm }
    }

    /// Returns the head of the table of an algorithm. New records are copies of `initial`.
    pub(crate) const fn describe(
        initial: &'static Self,
        name: &'static CStr,
        about: &'static CStr,
        parameters: &'static [Parameter],
    ) -> Head {
        Head {
            interface: crate::INTERFACE,
            size: size_of::<Self>() as u32,
            name: name.as_ptr(),
            about: about.as_ptr(),
            initial: std::ptr::from_ref(initial).cast(),
            parameters: parameters.as_ptr(),
            parameter_count: parameters.len() as u64,
        }
    }
}

/// The part of a record that is shared with lightlag.
pub(crate) trait Shared {
    /// Marks the algorithm as failed, which ends the run.
    fn fail(&mut self);
}

/// Calls a method with the two parts of a record, and with a record of the event.
///
/// # Safety
/// `own` is a record that lightlag made with the size and the initial value of the table of `A`, and `input` lives
/// during the call; nothing else refers to either.
pub(crate) unsafe fn call<H: Shared, A, T, R: Default>(
    own: *mut c_void,
    input: *const T,
    method: impl FnOnce(&mut A, &mut H, &T) -> R,
) -> R {
    // SAFETY: by the contract above.
    let (AlgorithmRecord { head, algorithm }, argument) =
        unsafe { (&mut *own.cast::<AlgorithmRecord<H, A>>(), &*input) };
    // A panic must not leave a function of C.
    catch_unwind(AssertUnwindSafe(|| method(algorithm, head, argument))).unwrap_or_else(|_| {
        head.fail();
        R::default()
    })
}

/// Defines functions of the C interface that call the methods of a trait. Algorithms with this trait share a head with
/// lightlag.
macro_rules! hooks {
    ($trait:path, $head:ty; $($hook:ident($told:ty) $(-> $answer:ty)?;)*) => {
        impl $crate::hooks::Shared for $head {
            fn fail(&mut self) {
                self.fault = 1;
            }
        }

        $(unsafe extern "C" fn $hook<A: $trait>(own: *mut std::ffi::c_void, told: *const $told) $(-> $answer)? {
            // SAFETY: lightlag gives a record that it made, and one that lives during the call.
            unsafe { $crate::hooks::call::<$head, A, _, _>(own, told, A::$hook) }
        })*
    };
}

pub(crate) use hooks;
