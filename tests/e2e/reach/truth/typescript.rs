//! The truth about TypeScript: its compiler's own run over the project.

use std::path::Path;

use sextant::diagnostics::model::{Diagnostic, Severity};

use crate::reach::language::{fetched, node_folder};
use crate::reach::truth::Said;

/// Codes of messages that offer another name, and the codes of the same messages without one: the compiler offers names
/// for the first few only, and a server that runs for long counts otherwise.
const OFFERING: &[(&str, &str)] = &[("2552", "2304"), ("2551", "2339"), ("2724", "2305")];

/// The code of a message without an offer.
pub fn plain(code: &str) -> &str {
    OFFERING.iter().find(|(offering, _)| *offering == code).map_or(code, |(_, plain)| plain)
}

/// `None` if it says something about the whole project.
pub async fn of(root: &Path) -> Option<Vec<Diagnostic>> {
    let mut run = tokio::process::Command::new(node_folder().join("bin/node"));
    run.arg(fetched("languages/node_modules/typescript/lib/tsc.js")).args(["--noEmit", "--pretty", "false"]);
    let output = run.current_dir(root).output().await.expect("tsc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    // The lines behind a message that are indented explain it.
    text.lines().filter(|line| !line.starts_with(' ')).map(diagnostic).collect()
}

/// Reads `src/a.ts(3,5): error TS2322: Words.`
fn diagnostic(line: &str) -> Option<Diagnostic> {
    let (place, words) = line.split_once("): error TS")?;
    let (file, position) = place.rsplit_once('(')?;
    let (row, column) = position.split_once(',')?;
    let number = |text: &str| text.parse::<u32>().ok()?.checked_sub(1);
    let start = (number(row)?, number(column)?);
    let (code, message) = words.split_once(": ")?;
    let said = Said { file, start, end: start, severity: Severity::Error, code: Some(plain(code)), message };
    Some(said.diagnostic("tool:tsc"))
}
