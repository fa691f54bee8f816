//! Traces of real links, read line by line: the properties of a link over time, or its delivery opportunities.
//!
//! A CSV trace has a header and a row for each change. Its columns are `time_s` and any of `rate_bps` (0: nothing gets
//! through), `delay_s` and `loss`, in any order. A mahimahi trace (Netravali et al., *Mahimahi: accurate
//! record-and-replay for HTTP*, USENIX ATC 2015) has a line for each opportunity to deliver 1500 bytes, with its time
//! in milliseconds. The trace repeats after its end.
//!
//! Every line must end with a newline, since otherwise a truncated file would appear complete.

use lightlag_core::{Duration, Probability, Rate};
use std::io::{BufRead, Read};

/// Maximum time in a trace.
const LONGEST: Duration = Duration::from_secs(20 * 24 * 3600);
/// Maximum rate in a trace.
const FASTEST: Rate = Rate::from_mbps(1_000_000_000);
/// Maximum length of a line.
const LONGEST_LINE: u64 = 1_000;
/// Maximum number of lines, which result in 1.3 GB of phases.
const MOST_LINES: usize = 40_000_000;
/// Columns of a CSV trace.
const COLUMNS: [&str; 4] = ["time_s", "rate_bps", "delay_s", "loss"];

/// An error in a trace, with its line number.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct TraceError {
    /// Line number, starting at 1.
    pub line: usize,
    /// The value and the fix.
    pub message: String,
}

/// A row of a CSV trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// Time when the row starts to apply.
    pub at: Duration,
    /// Rate, if the trace has rates.
    pub rate: Option<TracedRate>,
    /// Delay, if the trace has delays.
    pub delay: Option<Duration>,
    /// Probability that a packet is lost, if the trace has losses.
    pub loss: Option<Probability>,
}

/// A rate in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TracedRate {
    /// Nothing gets through.
    Down,
    /// Transmission rate.
    Up(Rate),
}

/// Reads a CSV trace, and passes each row to `take`.
///
/// # Errors
/// Describes the first invalid line.
pub fn read_csv(mut text: impl BufRead, mut take: impl FnMut(Row)) -> Result<(), TraceError> {
    let mut lines = Lines::new(&mut text);
    let Some(header) = lines.next()? else {
        return Err(lines.error("the file is empty; a trace starts with a header such as time_s,rate_bps"));
    };
    let columns = columns(&header).map_err(|message| lines.error(message))?;
    let mut last = Duration::ZERO;
    while let Some(line) = lines.next()? {
        let row = row(&line, &columns).map_err(|message| lines.error(message))?;
        if row.at < last {
            let message =
                format!("time_s decreases from {last} to {}; rows must be in ascending order of time", row.at);
            return Err(lines.error(message));
        }
        last = row.at;
        take(row);
    }
    if lines.line == 1 {
        return Err(lines.error("there is no row after the header"));
    }
    Ok(())
}

/// Reads the opportunities of a mahimahi trace, in milliseconds.
///
/// # Errors
/// Describes the first invalid line.
pub fn read_mahimahi(mut text: impl BufRead) -> Result<Vec<u32>, TraceError> {
    let mut lines = Lines::new(&mut text);
    let mut times: Vec<u32> = Vec::new();
    while let Some(line) = lines.next()? {
        let max_ms = LONGEST.as_nanos() / 1_000_000;
        let time = line.trim().parse::<u32>().ok().filter(|time| u64::from(*time) <= max_ms);
        let Some(time) = time else {
            return Err(
                lines.error(format!("{line:?} is not a time in milliseconds, a whole number from 0 to {max_ms}"))
            );
        };
        if let Some(last) = times.last().filter(|last| **last > time) {
            return Err(lines
                .error(format!("the time decreases from {last} to {time}; lines must be in ascending order of time")));
        }
        times.push(time);
    }
    match times.last() {
        None => Err(lines.error("the file is empty; each line is a time in milliseconds")),
        Some(0) => Err(lines.error("the last time is 0: the trace repeats after its last time, which must be above 0")),
        Some(_) => Ok(times),
    }
}

/// Reads text line by line.
struct Lines<'a, T> {
    text: &'a mut T,
    /// Number of the last line that was read.
    line: usize,
    bytes: Vec<u8>,
}

impl<'a, T: BufRead> Lines<'a, T> {
    fn new(text: &'a mut T) -> Self {
        Self { text, line: 0, bytes: Vec::new() }
    }

    fn error(&self, message: impl Into<String>) -> TraceError {
        TraceError { line: self.line.max(1), message: message.into() }
    }

    /// Returns the next line without its line ending.
    fn next(&mut self) -> Result<Option<String>, TraceError> {
        self.bytes.clear();
        let read = self.text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.bytes);
        if let Ok(0) = read {
            return Ok(None);
        }
        self.line += 1;
        read.map_err(|error| self.error(format!("cannot be read: {error}")))?;
        if self.line > MOST_LINES {
            return Err(self.error(format!("a trace has at most {MOST_LINES} lines")));
        }
        if self.bytes.pop() != Some(b'\n') {
            return Err(self.error(if self.bytes.len() + 1 == LONGEST_LINE as usize {
                "longer than a line of a trace may be"
            } else {
                "the last line has no newline, so the file may be truncated; if the line is complete, add a newline"
            }));
        }
        if self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        match str::from_utf8(&self.bytes) {
            Ok(line) => Ok(Some(line.to_owned())),
            Err(_) => Err(self.error("is not text in UTF-8")),
        }
    }
}

/// Returns the index in [`COLUMNS`] of each field.
fn columns(header: &str) -> Result<Vec<usize>, String> {
    let mut columns = Vec::new();
    for name in header.split(',').map(str::trim) {
        let Some(column) = COLUMNS.iter().position(|known| *known == name) else {
            return Err(format!("{name:?} is not a column; a trace has {}", COLUMNS.join(", ")));
        };
        if columns.contains(&column) {
            return Err(format!("the column {name} is duplicated"));
        }
        columns.push(column);
    }
    if !columns.contains(&0) {
        return Err("the column time_s is missing".to_owned());
    }
    if columns.len() == 1 {
        return Err("time_s alone has no effect; add rate_bps, delay_s or loss".to_owned());
    }
    Ok(columns)
}

fn row(line: &str, columns: &[usize]) -> Result<Row, String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if fields.len() != columns.len() {
        return Err(format!("{} fields where the header has {}", fields.len(), columns.len()));
    }
    let mut row = Row { at: Duration::ZERO, rate: None, delay: None, loss: None };
    for (field, column) in fields.into_iter().zip(columns) {
        let name = COLUMNS[*column];
        let number = field.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("{name}: {field:?} is not a number"))?;
        if number < 0.0 {
            return Err(format!("{name}: {field} is negative"));
        }
        match name {
            "time_s" => row.at = time(number, name)?,
            "delay_s" => row.delay = Some(time(number, name)?),
            "rate_bps" => row.rate = Some(rate(number)?),
            _ => {
                let loss = Probability::new(number).ok_or_else(|| format!("{name}: {field} is not a probability"))?;
                row.loss = Some(loss);
            }
        }
    }
    Ok(row)
}

fn time(seconds: f64, name: &str) -> Result<Duration, String> {
    let time = Duration::from_secs_f64(seconds);
    if time > LONGEST { Err(format!("{name}: {seconds} is above 480 h")) } else { Ok(time) }
}

/// Returns a rate, rounded to 1 bit/s. A rate that is rounded to 0 means that nothing gets through.
fn rate(bps: f64) -> Result<TracedRate, String> {
    if bps > FASTEST.as_bps() as f64 {
        return Err(format!("rate_bps: {bps} is above {FASTEST}, the highest rate of a link"));
    }
    Ok(Rate::from_bps(libm::round(bps) as u64).map_or(TracedRate::Down, TracedRate::Up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        read_csv(text.as_bytes(), |row| rows.push(row)).map_err(|error| error.to_string())?;
        Ok(rows)
    }

    #[test]
    fn columns_come_in_any_order_and_number() {
        let millis = Duration::from_millis;
        let none = Row { at: millis(0), rate: None, delay: None, loss: None };
        let up = |bps| Some(TracedRate::Up(Rate::from_bps(bps).unwrap()));
        let expected = [
            Row { rate: up(5_000_000), loss: Probability::new(0.01), ..none },
            Row { at: millis(1_500), rate: Some(TracedRate::Down), loss: Probability::new(0.0), ..none },
        ];
        assert_eq!(rows("loss, time_s,rate_bps\r\n0.01,0,5e6\r\n0,1.5,0\r\n").unwrap(), expected);
        assert_eq!(
            rows("time_s,delay_s\n2,0.25\n").unwrap(),
            [Row { at: millis(2_000), delay: Some(millis(250)), ..none }]
        );
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let long = format!("time_s,loss\n0,{}\n", "0".repeat(2_000));
        let cases = [
            ("", "line 1: the file is empty"),
            ("time_s,rate_bps\n", "line 1: there is no row"),
            ("rate_bps\n1\n", "line 1: the column time_s is missing"),
            ("time_s\n1\n", "line 1: time_s alone"),
            ("time_s,rate\n1,2\n", "line 1: \"rate\" is not a column"),
            ("time_s,loss,loss\n1,0,0\n", "line 1: the column loss is duplicated"),
            ("1,2\n", "line 1: \"1\" is not a column"),
            ("time_s,loss\n1,0\n2\n", "line 3: 1 fields where the header has 2"),
            ("time_s,loss\n1,0\n2,0,0\n", "line 3: 3 fields"),
            ("time_s,loss\n1,0\n\n", "line 3: 1 fields"),
            ("time_s,loss\n2,0\n1,0\n", "line 3: time_s decreases from 2 s to 1 s"),
            ("time_s,rate_bps\n1,-5\n", "line 2: rate_bps: -5 is negative"),
            ("time_s,rate_bps\n-1,5\n", "line 2: time_s: -1 is negative"),
            ("time_s,rate_bps\n1,1e16\n", "line 2: rate_bps: 10000000000000000 is above"),
            ("time_s,rate_bps\n1,fast\n", "line 2: rate_bps: \"fast\" is not a number"),
            ("time_s,rate_bps\n1,inf\n", "line 2: rate_bps: \"inf\" is not a number"),
            ("time_s,rate_bps\n1,\n", "line 2: rate_bps: \"\" is not a number"),
            ("time_s,delay_s\n1,1e9\n", "line 2: delay_s: 1000000000 is above 480 h"),
            ("time_s,loss\n1,1.5\n", "line 2: loss: 1.5 is not a probability"),
            ("time_s,rate_bps\n1,5000000\n2,50000", "line 3: the last line has no newline"),
            (&long, "line 2: longer than"),
        ];
        for (text, message) in cases {
            let error = rows(text).unwrap_err();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
        let error = read_csv(&b"time_s,loss\n\xff,0\n"[..], |_| {}).unwrap_err();
        assert_eq!(error.to_string(), "line 2: is not text in UTF-8");
    }

    #[test]
    fn opportunities_are_times_in_milliseconds() {
        assert_eq!(read_mahimahi(&b"0\n0\n3\n7\n"[..]).unwrap(), [0, 0, 3, 7]);
        let cases = [
            ("", "line 1: the file is empty"),
            ("0\n0\n", "line 2: the last time is 0"),
            ("1\n3\n2\n", "line 3: the time decreases from 3 to 2"),
            ("1\n-3\n", "line 2: \"-3\" is not a time"),
            ("1\n2.5\n", "line 2: \"2.5\" is not a time"),
            ("1\n\n", "line 2: \"\" is not a time"),
            ("1\n9999999999\n", "line 2: \"9999999999\" is not a time"),
            ("1\n23", "line 2: the last line has no newline"),
        ];
        for (text, message) in cases {
            let error = read_mahimahi(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
    }
}
