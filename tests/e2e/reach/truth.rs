//! The truth: the type checker's own run over all files of a project, and two of them matched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use sextant::base::positions::{Position, Range};
use sextant::diagnostics::delta::{SnapshotChange, SnapshotFile, delta as matched};
use sextant::diagnostics::model::{Confidence, Diagnostic, Location, Severity};

use crate::reach::edits::EditedFile;
use crate::support::servers::tool;

/// A diagnostic as it is compared: file, line from 1, code.
pub type Place = (String, u32, String);

/// How an edit changes what the checker says.
#[derive(Debug, Default)]
pub struct Change {
    pub new: BTreeSet<Place>,
    pub revealed: BTreeSet<Place>,
    /// The words of each of them.
    pub messages: BTreeMap<Place, String>,
}

/// Runs the checker over a folder.
pub async fn of(root: &Path) -> Vec<Diagnostic> {
    let run = tokio::process::Command::new(tool("basedpyright")).arg("--outputjson").current_dir(root).output();
    let output = run.await.expect("basedpyright runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let found = report["generalDiagnostics"].as_array().expect("a list");
    found.iter().filter_map(|one| diagnostic(root, one)).collect()
}

fn diagnostic(root: &Path, one: &Value) -> Option<Diagnostic> {
    let number = |value: &Value| u32::try_from(value.as_u64().unwrap_or_default()).unwrap_or_default();
    let position = |end: &str| Position {
        line: number(&one["range"][end]["line"]),
        character: number(&one["range"][end]["character"]),
    };
    let severity = match one["severity"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let file = Path::new(one["file"].as_str()?).strip_prefix(root).ok()?.display().to_string();
    Some(Diagnostic {
        source: "lsp:basedpyright".into(),
        severity,
        code: one["rule"].as_str().map(str::to_owned),
        message: one["message"].as_str().unwrap_or_default().to_owned(),
        location: Location::Range { file, range: Range { start: position("start"), end: position("end") } },
        confidence: Confidence::High,
        suggested_action: None,
        evidence: None,
    })
}

/// The difference of two runs over an edit of these files.
pub fn delta(before: &[Diagnostic], after: &[Diagnostic], files: &[EditedFile]) -> Change {
    let text = |file: &EditedFile| (file.path.clone(), file.before.clone(), file.after.clone());
    let texts: Vec<(String, String, String)> = files.iter().map(text).collect();
    let files =
        texts.iter().map(|(path, before, after)| SnapshotFile { path, before: Some(before), after: Some(after) });
    let change = SnapshotChange { files: files.collect(), renames: Vec::new() };
    let found = matched(&change, before, after);
    let mut out = Change::default();
    for (list, indices) in [(&mut out.new, &found.new), (&mut out.revealed, &found.revealed)] {
        for index in indices {
            let one = &after[*index];
            let Location::Range { file, range } = &one.location else { continue };
            let place = (file.clone(), range.start.line + 1, one.code.clone().unwrap_or_default());
            out.messages.insert(place.clone(), one.message.clone());
            list.insert(place);
        }
    }
    out
}
