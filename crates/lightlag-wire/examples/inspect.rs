//! Prints the connections of a capture as JSON: `cargo run --example inspect FILE`.

use lightlag_wire::analysis::{Analysis, Limits};
use lightlag_wire::capture::Reader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a capture")?;
    let mut reader = Reader::open(std::fs::File::open(path)?)?;
    let mut analysis = Analysis::new(Limits::default());
    while let Some(packet) = reader.next_packet()? {
        analysis.captured(&packet);
    }
    println!("{}", serde_json::to_string_pretty(&analysis.finish())?);
    Ok(())
}
