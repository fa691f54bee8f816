//! The functions of `libm` that the engine uses, for custom algorithms in Python: their results are bit-identical on
//! every machine.

use pyo3::prelude::*;
use std::collections::BTreeMap;

macro_rules! functions {
    ($($name:ident($($argument:ident),+);)*) => {
        mod c {
            $(pub(super) extern "C" fn $name($($argument: f64),+) -> f64 {
                libm::$name($($argument),+)
            })*
        }

        /// Returns the addresses and the number of arguments of C functions that take numbers, by name.
        #[pyfunction]
        pub(crate) fn libm_addresses() -> BTreeMap<&'static str, (usize, usize)> {
            BTreeMap::from([$((stringify!($name), (c::$name as *const () as usize, [$(stringify!($argument)),+].len()))),*])
        }
    };
}

functions! {
    cbrt(x);
    exp(x);
    log(x);
    log2(x);
    pow(x, y);
    sin(x);
    cos(x);
    tanh(x);
    atan(x);
}
