//! The functions of `libm` that the engine uses, for algorithms of Python: the same bits on every machine.

use pyo3::prelude::*;
use std::collections::BTreeMap;

macro_rules! functions {
    ($($name:ident($($argument:ident),+);)*) => {
        mod c {
            $(pub(super) extern "C" fn $name($($argument: f64),+) -> f64 {
                libm::$name($($argument),+)
            })*
        }

        /// The addresses of C functions of numbers, by their names, with the number of their arguments.
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
