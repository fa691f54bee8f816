//! Compares lightlag-quic with quinn-proto and prints a table, or the logs of one pattern.
//!
//! ```text
//! quic-judge                       the table
//! quic-judge --times N             the table for N times as many patterns
//! quic-judge --examples            downloads over a geostationary path
//! quic-judge --speed               time of one of them in both stacks
//! quic-judge --write FILE          write patterns for aioquic_run.py
//! quic-judge --aioquic FILE LOGS   compare with its logs
//! quic-judge --aioquic FILE LOGS N both logs of the pattern with index N
//! quic-judge --pack FILE LOGS OUT  store its logs for the test
//! quic-judge CLASS                 the first differences of a class
//! quic-judge CLASS SEED [COUNT]    both logs of a pattern, up to COUNT datagrams beyond the first difference
//! ```

use lightlag_quic_judge::compare::Outcome;
use lightlag_quic_judge::pattern::Pattern;
use lightlag_quic_judge::{aioquic, compare, examples, fixture, judge, pattern, speed};

const USAGE: &str = "the arguments are at the top of this file";

/// Prints the table, and the first difference of each pattern.
fn print_outcomes(outcomes: &[(Pattern, Outcome)]) {
    print!("{}", judge::table(outcomes));
    for (index, (pattern, outcome)) in outcomes.iter().enumerate() {
        if let Some(difference) = &outcome.difference {
            let Pattern { class, seed, congestion, .. } = pattern;
            println!("{index} {class} {seed} ({congestion}): after {} datagrams\n{difference}", outcome.agreed);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => print!("{}", judge::table(&judge::quinn_all(1))),
        [option] if option == "--examples" => print!("{}", examples::table()),
        [option] if option == "--speed" => println!("{}", speed::line()),
        [option, file, count] if option == "--write" => {
            let count = count.parse().expect("a number");
            let patterns = serde_json::to_string(&aioquic::patterns(count)).expect("patterns as JSON");
            std::fs::write(file, patterns).expect("a file to write");
        }
        [option, patterns, logs, rest @ ..] if option == "--aioquic" => {
            let read = |file: &String| std::fs::read_to_string(file).expect("a file to read");
            let records = aioquic::records(&read(patterns), &read(logs));
            match rest {
                [] => print_outcomes(&aioquic::outcomes(records)),
                [index] => print!("{}", aioquic::listing(&records[index.parse::<usize>().expect("a number")])),
                _ => panic!("{USAGE}"),
            }
        }
        [option, patterns, logs, file] if option == "--pack" => {
            let read = |file: &String| std::fs::read_to_string(file).expect("a file to read");
            let bytes = fixture::pack(&aioquic::records(&read(patterns), &read(logs)));
            std::fs::write(file, bytes).expect("a file to write");
        }
        [option, times] if option == "--times" => {
            print_outcomes(&judge::quinn_all(times.parse().expect("a number")));
        }
        [class] => {
            let (_, count) = pattern::CLASSES.iter().find(|(name, _)| name == class).expect("a class");
            for seed in 0..*count {
                let pattern = pattern::generate(class, seed);
                let (ours, theirs) = judge::quinn_logs(&pattern);
                let outcome = compare::compare(&ours, &theirs);
                if let Some(difference) = outcome.difference {
                    println!(
                        "{class} {seed} ({}): after {} datagrams\n{difference}",
                        pattern.congestion, outcome.agreed
                    );
                }
            }
        }
        [class, seed, rest @ ..] => {
            let pattern = pattern::generate(class, seed.parse().expect("a number"));
            let (ours, theirs) = judge::quinn_logs(&pattern);
            let outcome = compare::compare(&ours, &theirs);
            let more = rest.first().map_or(6, |count| count.parse().expect("a number"));
            for (name, log) in [("ours", &ours), ("theirs", &theirs)] {
                println!("{name}");
                for logged in log.iter().take(outcome.agreed + more) {
                    println!("{}", compare::line(logged));
                }
            }
            println!("{}", outcome.difference.unwrap_or_default());
        }
    }
}
