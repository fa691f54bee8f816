//! A results folder: `run.json`, one Parquet file a table, and a folder of captures if there are any.
//!
//! Everything is written to a sibling folder first, which takes the final name at the end: what stands under
//! the final name is complete, also when the disk fills up or the power fails.

use crate::columns::Named;
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file that makes a folder a results folder.
const MARK: &str = "run.json";

/// Why a results folder could not be written.
pub(crate) enum FolderError {
    /// Something stands there already.
    Exists(String),
    /// The file system refused.
    Io(String),
}

/// Whether results may be written to `folder`, before hours are spent on a run.
pub(crate) fn check(folder: &Path, force: bool) -> Result<(), FolderError> {
    let shown = folder.display();
    let Ok(kind) = fs::symlink_metadata(folder) else { return check_parents(folder) };
    let empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !kind.is_dir() {
        return Err(FolderError::Exists(format!("{shown}: is not a folder; choose another place for the results")));
    }
    if !force {
        return Err(FolderError::Exists(format!(
            "{shown}: exists already; replace it with --force or choose another place with --out"
        )));
    }
    if !folder.join(MARK).is_file() && !empty() {
        return Err(FolderError::Exists(format!(
            "{shown}: holds something else than results (no {MARK}), which --force does not replace; choose another place"
        )));
    }
    Ok(())
}

/// Whether the nearest parent that exists is a folder.
fn check_parents(folder: &Path) -> Result<(), FolderError> {
    let nearest = folder.ancestors().skip(1).find_map(|parent| Some((parent, fs::metadata(parent).ok()?)));
    match nearest {
        Some((parent, kind)) if !kind.is_dir() => {
            let shown = parent.display();
            Err(FolderError::Exists(format!("{shown}: is not a folder; choose another place for the results")))
        }
        _ => Ok(()),
    }
}

/// The folder of captures in a results folder.
const CAPTURES: &str = "captures";

/// Writes a results folder with at most `jobs` threads; files of `captures` are joined to it or copied.
pub(crate) fn write(
    folder: &Path,
    force: bool,
    jobs: usize,
    run_json: &str,
    tables: &[Named],
    captures: &[PathBuf],
) -> Result<(), FolderError> {
    check(folder, force)?;
    let partial = Partial::create(folder).map_err(|error| at(folder, &error))?;
    let json = partial.path.join(MARK);
    write_text(&json, run_json).map_err(|error| at(&folder.join(MARK), &error))?;
    write_tables(&partial.path, folder, jobs, tables)?;
    let kept = keep_captures(&partial.path.join(CAPTURES), captures);
    kept.map_err(|error| at(&folder.join(CAPTURES), &error))?;
    partial.take_name(folder).map_err(|error| at(folder, &error))
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> FolderError {
    FolderError::Io(format!("{}: cannot write: {error}", path.display()))
}

fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives captures a second name in `folder`; where that cannot be, as on another disk, they are copied.
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

/// Writes the tables to `partial`; errors name the files in the `folder` that it will become.
fn write_tables(partial: &Path, folder: &Path, jobs: usize, tables: &[Named]) -> Result<(), FolderError> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), FolderError> {
        loop {
            let at_table = next.fetch_add(1, Ordering::Relaxed);
            let Some((table, columns)) = tables.get(at_table) else { return Ok(()) };
            let name = format!("{table}.parquet");
            write_table(&partial.join(&name), columns).map_err(|error| match error {
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

fn write_table(path: &Path, table: &RecordBatch) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("lightlag {}", env!("CARGO_PKG_VERSION")))
        .build();
    let file = File::create(path)?;
    let mut writer = ArrowWriter::try_new(&file, table.schema(), Some(properties))?;
    writer.write(table)?;
    writer.close()?;
    Ok(file.sync_all()?)
}

/// A folder under construction; removed unless it takes its final name.
struct Partial {
    path: PathBuf,
}

impl Partial {
    fn create(folder: &Path) -> io::Result<Self> {
        let name = folder.file_name().ok_or_else(|| io::Error::other("not the name of a folder"))?;
        let parent = folder.parent().unwrap_or(Path::new(""));
        if !parent.as_os_str().is_empty() {
            fs::create_dir_all(parent)?;
        }
        let path = parent.join(format!(".{}.{}.partial", name.to_string_lossy(), std::process::id()));
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir(&path)?;
        Ok(Self { path })
    }

    fn take_name(self, folder: &Path) -> io::Result<()> {
        let old = self.path.with_extension("old");
        let replaces = folder.exists();
        if replaces {
            fs::rename(folder, &old)?;
        }
        if let Err(error) = fs::rename(&self.path, folder) {
            if replaces {
                fs::rename(&old, folder)?;
            }
            return Err(error);
        }
        if replaces { fs::remove_dir_all(&old) } else { Ok(()) }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After `take_name` nothing is left under this name; before, what is left is of no use.
        let _ = fs::remove_dir_all(&self.path);
    }
}
