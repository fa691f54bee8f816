//! The files of a results directory: `run.json`, one Parquet file per table, and a directory of captures if there are
//! any.
//!
//! They are written to a sibling directory, which Python creates and finally renames. A directory with the final name
//! is therefore always complete, even if the disk fills up or the power fails.

use crate::columns::{Named, Rows};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file that identifies a directory as a results directory.
const MARK: &str = "run.json";

/// The subdirectory for captures in a results directory.
const CAPTURES: &str = "captures";

/// Writes the files of a results directory to `partial` with at most `jobs` threads. The files in `captures` are linked
/// into it, or copied. Error messages name files by their final directory `folder`.
pub(crate) fn write(
    partial: &Path,
    folder: &Path,
    jobs: usize,
    run_json: &impl Serialize,
    tables: &[Named],
    captures: &[PathBuf],
) -> Result<(), String> {
    write_json(&partial.join(MARK), run_json).map_err(|error| at(&folder.join(MARK), &error))?;
    write_tables(partial, folder, jobs, tables)?;
    keep_captures(&partial.join(CAPTURES), captures).map_err(|error| at(&folder.join(CAPTURES), &error))
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: cannot write: {error}", path.display())
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut file, value)?;
    file.write_all(b"\n")?;
    file.into_inner()?.sync_all()
}

/// Links captures into `folder`, or copies them if linking is impossible, for example across disks.
fn keep_captures(folder: &Path, captures: &[PathBuf]) -> io::Result<()> {
    if captures.is_empty() {
        return Ok(());
    }
    fs::create_dir(folder)?;
    for capture in captures {
        let name = folder.join(capture.file_name().expect("a capture has a name"));
        if fs::hard_link(capture, &name).is_err() {
            fs::copy(capture, &name)?;
        }
    }
    Ok(())
}

/// Writes the tables to `partial`. Error messages name files by their final directory `folder`.
fn write_tables(partial: &Path, folder: &Path, jobs: usize, tables: &[Named]) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        loop {
            let at_table = next.fetch_add(1, Ordering::Relaxed);
            let Some((table, rows)) = tables.get(at_table) else { return Ok(()) };
            let name = format!("{table}.parquet");
            write_table(&partial.join(&name), rows).map_err(|error| match error {
                ParquetError::External(inner) => at(&folder.join(&name), &inner),
                other => at(&folder.join(&name), &other),
            })?;
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs.clamp(1, tables.len())).map(|_| scope.spawn(work)).collect();
        let mine = work();
        others.into_iter().map(|other| other.join().expect("a writer does not panic")).fold(mine, Result::and)
    })
}

fn write_table(path: &Path, rows: &Rows) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("lightlag {}", env!("CARGO_PKG_VERSION")))
        .build();
    let file = File::create(path)?;
    let batches = rows.batches();
    let mut writer = ArrowWriter::try_new(&file, batches.schema(), Some(properties))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(file.sync_all()?)
}
