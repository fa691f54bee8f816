//! Any file is a complete shared library, a file of another format, or rejected with a reason; never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_custom::elf::check;

fuzz_target!(|file: &[u8]| {
    match check(file) {
        Ok(()) => {
            // More bytes at the end take nothing away, and without any of its headers a library is torn.
            let longer = [file, &[0; 64]].concat();
            assert_eq!(check(&longer), Ok(()));
            if file.starts_with(b"\x7fELF") {
                assert!(check(&file[..61]).is_err());
            }
        }
        Err(reason) => assert!(!reason.is_empty() && !reason.chars().any(char::is_control), "{reason:?}"),
    }
});
