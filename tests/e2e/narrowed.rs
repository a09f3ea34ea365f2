//! What a request names is what the offline model repairs, with the real servers, as a script calls it.

use serde_json::{Value, json};

use crate::cli::{outcome, sextant};
use crate::support::project::Project;

const REPORT: &str = "from pathlib import Path\n\n\ndef count(items: list[str]) -> str:\n    return json.dumps(len(items))\n\n\ndef rows() -> str:\n    return f\"rows\"\n";
const TOOLS: &str = "import sys\n\n\ndef pack() -> str:\n    return os.sep\n";

fn project() -> Project {
    Project::new(&[("inv/report.py", REPORT), ("inv/tools.py", TOOLS)])
}

/// The exit status, the outcome and all that was said.
fn ask(project: &Project, request: &str) -> (Option<i32>, Value, String) {
    let output = sextant(project, &["ask", request, "--file", "inv/report.py", "--headless", "--json"]);
    let last = outcome(&output);
    (output.status.code(), last["outcome"].clone(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_request_that_names_what_it_means_changes_that_alone() {
    let fixed = |text: &str, from: &str, to: &str| text.replace(from, to);
    let count = |text: &str| format!("import json\n{text}");
    for (request, report, tools) in [
        ("fix the error in count", count(REPORT), TOOLS.to_owned()),
        ("fix #F541 in @rows", fixed(REPORT, "f\"rows\"", "\"rows\""), TOOLS.to_owned()),
        ("fix F541", fixed(REPORT, "f\"rows\"", "\"rows\""), TOOLS.to_owned()),
        ("corrige solo el import sin usar", fixed(REPORT, "from pathlib import Path\n", ""), TOOLS.to_owned()),
        ("fix the errors in inv/tools.py", REPORT.to_owned(), format!("import os\n{TOOLS}")),
        ("behebe die Fehler", count(REPORT), TOOLS.to_owned()),
    ] {
        let project = project();
        let (status, outcome, said) = ask(&project, request);
        assert_eq!((status, &outcome["ok"]), (Some(0), &json!(true)), "{request}: {said}");
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&project.read("inv/report.py")), lines(&report), "{request}: {said}");
        assert_eq!(lines(&project.read("inv/tools.py")), lines(&tools), "{request}: {said}");
    }
}

#[test]
fn what_is_not_reported_not_found_or_not_possible_is_said() {
    let project = project();
    for (request, status, says) in [
        ("fix E501", 0, "No E501 is reported in inv/report.py."),
        ("fix the syntax error", 0, "No syntax error is reported in inv/report.py."),
        ("fix the errors in nowhere", 1, "`nowhere` is not found"),
        ("explain count", 1, "needs a language model"),
    ] {
        let (code, outcome, said) = ask(&project, request);
        assert_eq!((code, &outcome["ok"]), (Some(status), &json!(status == 0)), "{request}: {said}");
        assert!(outcome["answer"].as_str().is_some_and(|answer| answer.contains(says)), "{request}: {said}");
        assert_eq!((project.read("inv/report.py"), project.read("inv/tools.py")), (REPORT.into(), TOOLS.into()));
    }
    let (code, outcome, said) = ask(&project, "fix F541 and add a test");
    assert_eq!((code, &outcome["ok"]), (Some(1), &json!(false)), "{said}");
    assert!(outcome["summary"].as_str().is_some_and(|text| text.contains("Not done: “add a test”")), "{outcome}");
    assert!(project.read("inv/report.py").contains("return \"rows\""), "the rest is done");
    for (request, status) in [("add a test for count", 1), ("fix E501", 0)] {
        let output = sextant(&project, &["plan", request, "--file", "inv/report.py", "--headless", "--json"]);
        assert_eq!(output.status.code(), Some(status), "{request}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn all_counts_of_a_task_are_the_same() {
    let names = ["json", "math", "re", "os", "sys", "csv", "time", "copy", "enum"];
    let imports: String = names.iter().map(|name| format!("import {name}\n")).collect();
    let project = Project::new(&[("inv/report.py", imports.as_str())]);
    let (_, outcome, said) = ask(&project, "fix the unused imports");
    let events: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let applied = events.iter().filter(|event| event["tool"] == "apply_fix" && event["ok"] == true).count();
    assert_eq!(applied, 9, "{said}");
    let answer = outcome["answer"].as_str().unwrap_or_default();
    assert!(answer.starts_with("Applied 9 offered fixes. "), "{answer}");
    // An import that is gone may take a second report with it.
    assert!(outcome["fixed"].as_u64().is_some_and(|fixed| fixed >= 9), "{outcome}");
}

/// What a shell prints, without the lines that repeat the request.
fn said(project: &Project, arguments: &[&str]) -> String {
    let output = sextant(project, arguments);
    let text = [output.stdout, output.stderr].concat();
    let request = arguments[1];
    String::from_utf8_lossy(&text).lines().filter(|line| !line.contains(request)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_spanish_and_a_german_request_are_answered_in_whole_english() {
    for (request, says) in [
        ("arregla los errores de este archivo", "changed inv/report.py. 0 new diagnostics, 1 fixed"),
        ("behebe die Fehler in dieser Datei", "changed inv/report.py. 0 new diagnostics, 1 fixed"),
        ("dónde está count", "inv/report.py::count, line 4"),
        ("arregla los errores y añade un test", "needs a language model"),
    ] {
        let project = project();
        let asked = said(&project, &["ask", request, "--file", "inv/report.py", "--headless"]);
        assert!(asked.contains(says), "{request}: {asked}");
        let own = asked.replace("añade un test", "");
        let foreign = |c: char| "áéíóúñ¿¡äöüß".contains(c);
        assert!(!own.contains(foreign) && !own.contains("cambiado") && !own.contains("riesgo"), "{request}: {asked}");
    }
    for request in ["arregla los errores de este archivo", "behebe die Fehler in dieser Datei"] {
        let project = project();
        let planned = said(&project, &["plan", request, "--file", "inv/report.py", "--headless", "--approve"]);
        assert!(planned.contains("  - because: ") && planned.contains("1 of 1 step done"), "{planned}");
        assert!(!planned.contains("porque") && !planned.contains("hechos") && !planned.contains("riesgo"), "{planned}");
    }
}
