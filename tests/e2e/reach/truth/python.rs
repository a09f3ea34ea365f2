//! The truth about Python: basedpyright's own command.

use std::path::Path;

use serde_json::Value;
use sextant::diagnostics::model::{Diagnostic, Severity};

use crate::reach::truth::Said;
use crate::support::servers::tool;

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
    let position = |end: &str| (number(&one["range"][end]["line"]), number(&one["range"][end]["character"]));
    let severity = match one["severity"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let said = Said {
        file: &Path::new(one["file"].as_str()?).strip_prefix(root).ok()?.display().to_string(),
        start: position("start"),
        end: position("end"),
        severity,
        code: one["rule"].as_str(),
        message: one["message"].as_str().unwrap_or_default(),
    };
    Some(said.diagnostic("lsp:basedpyright"))
}
