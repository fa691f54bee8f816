//! The extent of a shared library in the ELF format, checked before the loader maps it.
//!
//! A library that was truncated while it was copied still has its headers. The loader maps the ranges in the headers,
//! and the process is killed by SIGBUS where the file has no bytes. See the System V ABI, chapters 4 and 5, for the
//! 64-bit layout.

/// Checks that an ELF file has all bytes that its headers describe, and is built for this machine.
///
/// Files in other formats pass: the loader rejects them.
///
/// # Errors
/// Returns the reason, in a few words.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    if !bytes.starts_with(b"\x7fELF") {
        return Ok(());
    }
    let torn = || format!("is cut off after {} B; copy or build it again", bytes.len());
    let half = |at: usize| read::<2>(bytes, at).map(u16::from_le_bytes).ok_or_else(torn);
    let long = |at: usize| read::<8>(bytes, at).map(u64::from_le_bytes).ok_or_else(torn);
    let (class, order) = (bytes.get(4).ok_or_else(torn)?, bytes.get(5).ok_or_else(torn)?);
    if (*class, *order) != (2, 1) {
        return Err("is not a 64-bit little-endian library; build it for this machine".to_owned());
    }
    let machine = half(18)?;
    if MACHINE.is_some_and(|own| own != machine) {
        return Err(format!("is for the ELF processor {machine}; build it for this machine"));
    }
    // The table of segments, then the table of sections, which is at the end of the file.
    let (segments, sections) = (long(32)?, long(40)?);
    let (segment_size, segment_count) = (u64::from(half(54)?), u64::from(half(56)?));
    let (section_size, section_count) = (u64::from(half(58)?), u64::from(half(60)?));
    let is_inside = |start: u64, length: u64| start.checked_add(length).is_some_and(|end| end <= bytes.len() as u64);
    if !is_inside(segments, segment_size * segment_count) || !is_inside(sections, section_size * section_count) {
        return Err(torn());
    }
    for number in 0..segment_count {
        let offset = (segments + number * segment_size) as usize;
        // The bytes that the segment takes from the file.
        if !is_inside(long(offset + 8)?, long(offset + 32)?) {
            return Err(torn());
        }
    }
    Ok(())
}

/// Number of this machine in ELF headers, if it is supported.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else {
    None
};

fn read<const N: usize>(bytes: &[u8], index: usize) -> Option<[u8; N]> {
    bytes.get(index..index.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_of_this_program_is_noticed_or_leaves_its_segments() {
        // The test itself is an ELF file on the machines that have the format.
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(check(&whole), Ok(()));
        if whole.starts_with(b"\x7fELF") {
            for length in [5, 20, 64, 1000, whole.len() / 2, whole.len() - 1] {
                assert!(check(&whole[..length]).is_err(), "{length} of {}", whole.len());
            }
        }
        assert_eq!(check(b"a text"), Ok(()));
    }

    #[test]
    fn a_library_of_another_machine_is_rejected() {
        let mut other = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        if other.starts_with(b"\x7fELF") {
            other[18] = 40;
            assert!(check(&other).unwrap_err().contains("processor 40"));
        }
    }
}
