//! Each form in which an edit can break a closed file, held against the type checker's own run over the same edit.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::mcp::McpClient;
use crate::support::project::Project;

/// One edit and what the type checker reports in other files after it.
#[derive(Default)]
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    pub(crate) files: BTreeMap<&'a str, String>,
    pub(crate) edited: &'a str,
    pub(crate) after: String,
    /// File and code.
    pub(crate) broken: BTreeSet<(String, String)>,
}

/// The cases of `tests/fixtures/reach.txt`, which says how they are written.
pub(crate) fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut is_after = false;
    let mut path = "";
    for line in text.lines().skip_while(|line| !line.starts_with("### ")) {
        let (mark, rest) = line.split_at(line.len().min(4));
        if mark == "### " {
            cases.push(Case { name: rest, ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its name");
        match mark {
            "--- " => {
                (path, is_after) = (rest, false);
                case.files.insert(path, String::new());
            }
            "+++ " => (case.edited, is_after) = (rest, true),
            "!!! " => {
                let (path, code) = rest.split_once(' ').expect("a path and a code");
                case.broken.insert((path.to_owned(), code.to_owned()));
            }
            _ if !case.broken.is_empty() => assert_eq!(line, "", "{}: a line behind the end", case.name),
            _ => {
                let held = if is_after { &mut case.after } else { case.files.get_mut(path).expect("a file") };
                held.push_str(line);
                held.push('\n');
            }
        }
    }
    cases
}

/// Where an answer reports something that the edit introduced or uncovered.
pub(crate) fn reported(answer: &Value) -> BTreeSet<(String, String)> {
    let lists = ["new_diagnostics", "revealed"].map(|name| answer[name].as_array().cloned().unwrap_or_default());
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    lists.into_iter().flatten().map(|line| (word(&line["path"]), word(&line["code"]))).collect()
}

/// The cases whose edit is in code on a condition.
const CONDITIONAL: [&str; 3] = ["conditional_def", "cond_version", "cond_else"];

#[tokio::test]
async fn a_complete_answer_names_every_closed_file_that_an_edit_breaks_in_any_form() {
    let cases = cases(include_str!("../../fixtures/reach.txt"));
    assert!(cases.len() >= 148, "{} cases are read", cases.len());
    let files: Vec<(&str, &str)> =
        cases.iter().flat_map(|case| case.files.iter().map(|(path, text)| (*path, text.as_str()))).collect();
    let project = Project::new(&files);
    let mut client = McpClient::with_servers(&project, "codex").await;
    let mut wrong = Vec::new();
    for case in &cases {
        let write = |text: &str| json!({"path": case.edited, "content": text});
        let answer = client.edit("write_file", write(&case.after)).await;
        let missing: Vec<_> = case.broken.difference(&reported(&answer)).cloned().collect();
        // Which branch of such a condition a checker reads is its own setting.
        let known = if CONDITIONAL.contains(&case.name) { "partial" } else { "complete" };
        if answer["diagnostics_status"] != known || !missing.is_empty() {
            wrong.push(format!("{}: missing {missing:?} in {answer}", case.name));
        }
        client.edit("write_file", write(&case.files[case.edited])).await;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(client.end().await.success());
}
