//! Reads files with the paths of nodes, which may be compressed with gzip.

use super::files::Files;
use flate2::read::MultiGzDecoder;
use lightlag_mobility::Paths;
use lightlag_mobility::models::trace::TraceFormat;
use std::io::Read;

/// Maximum size of an uncompressed file: 2 GiB.
const MOST: u64 = 1 << 31;
/// The first bytes of a gzip member (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reads the paths in a file. BonnMotion files have `dimension` coordinates per position, 2 or 3.
///
/// # Errors
/// The message states why the file cannot be read, or describes its first invalid line.
pub fn read_paths(files: &Files, file: &str, format: TraceFormat, dimension: u32) -> Result<Paths, String> {
    let (file, _) = files.open(file)?;
    let bytes = unpacked(bounded(file, MOST, "cannot be read")?, MOST)?;
    Paths::read(format, dimension, &bytes).map_err(|error| error.to_string())
}

/// Returns all bytes if there are at most `max`. `failing` is the start of the error message.
fn bounded(from: impl Read, max: u64, failing: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(max + 1).read_to_end(&mut bytes).map_err(|error| format!("{failing}: {error}"))?;
    if bytes.len() as u64 > max {
        return Err(format!("is longer than {max} bytes"));
    }
    Ok(bytes)
}

/// Returns the contents of a compressed file, or the bytes unchanged if they are not compressed.
fn unpacked(bytes: Vec<u8>, max: u64) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    bounded(MultiGzDecoder::new(bytes.as_slice()), max, "is not a complete gzip file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    const TEXT: &[u8] = b"0 1 2 10 3 4\n0 5 6\n";

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_compressed_file_is_read_as_its_contents() {
        assert_eq!(unpacked(TEXT.to_vec(), MOST).unwrap(), TEXT);
        assert_eq!(unpacked(packed(TEXT), MOST).unwrap(), TEXT);
        let folder = std::env::temp_dir().join(format!("lightlag-path-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("two.movements.gz");
        std::fs::write(&file, packed(TEXT)).unwrap();
        let read = |path: &std::path::Path, dimension| {
            read_paths(&Files::Disk, path.to_str().unwrap(), TraceFormat::BonnMotion, dimension)
        };
        assert_eq!(read(&file, 2), Ok(Paths::read(TraceFormat::BonnMotion, 2, TEXT).unwrap()));
        let refusals = [read(&file, 3), read(&folder, 2), read(&folder.join("none"), 2)].map(Result::unwrap_err);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(refusals[0], "line 1: 6 numbers are not a sequence of time x y z; did you mean dimension = 2?");
        assert_eq!(refusals[1], "is not a file");
        assert!(refusals[2].starts_with("cannot be read: "), "{}", refusals[2]);
    }

    #[test]
    fn a_broken_or_huge_file_is_rejected() {
        let whole = packed(&[b'0'; 10_000]);
        assert_eq!(unpacked(whole.clone(), 10_000).unwrap().len(), 10_000);
        assert_eq!(unpacked(whole.clone(), 9_999).unwrap_err(), "is longer than 9999 bytes");
        for cut in 2..whole.len() {
            let error = unpacked(whole[..cut].to_vec(), MOST).unwrap_err();
            assert!(error.starts_with("is not a complete gzip file: "), "{cut}: {error}");
        }
    }
}
