//! What a request may change: only a repair that was asked for, and nothing where the request forbids it.

use serde_json::json;
use sextant::engine::Request;

use crate::cli::{outcome, sextant};
use crate::engine::{TEXT, project};
use crate::support::engine::{Setup, TestEngine, act, last, plan_of, planned};
use crate::support::project::Project;
use crate::support::replies::change;

#[test]
fn the_offline_model_edits_for_a_request_to_repair_and_for_no_other() {
    let project = Project::new(&[("a.py", "import os\nimport sys\n\n\ndef f() -> int:\n    return 1\n")]);
    let before = project.bytes();
    let ask = |command: &str, text: &str| {
        let arguments = [command, text, "--file", "a.py", "--json"];
        let approve: &[&str] = if command == "plan" { &["--approve"] } else { &[] };
        outcome(&sextant(&project, &[&arguments[..], approve].concat()))
    };
    for (command, text) in [
        ("ask", "do not change anything"),
        ("ask", "no toques nada"),
        ("ask", "hello"),
        ("ask", "run the tests"),
        ("ask", "fix the errors but not the imports"),
        ("plan", "do not change anything"),
        ("plan", "arregla los errores sin cambiar nada"),
        ("plan", "hola"),
    ] {
        let said = ask(command, text);
        assert_eq!(project.bytes(), before, "{command} {text}: {said}");
    }
    let said = ask("ask", "¿puedes arreglar los avisos?");
    assert_eq!(said["outcome"]["fixed"], 2, "{said}");
    assert!(!project.read("a.py").contains("import"), "{said}");
}

#[test]
fn a_repair_that_repairs_nothing_is_not_done_where_the_errors_have_no_code_either() {
    let project = Project::new(&[("a.py", "def broken(:\n    return 1\n")]);
    let output = sextant(&project, &["ask", "fix the errors", "--file", "a.py", "--json"]);
    let said = outcome(&output);
    assert!(said["outcome"]["summary"].to_string().contains("Not done: nothing was repaired"), "{said}");
    assert_eq!((&said["outcome"]["ok"], output.status.code()), (&json!(false), Some(1)), "{said}");
}

fn edit() -> sextant::llm::step::StepReply {
    act("edit_file", change("a.py", "return 1", "return 2"))
}

#[tokio::test]
async fn no_model_edits_where_the_request_forbids_it() {
    for text in ["explain f, but do not change anything", "explica f sin tocar nada", "only look at f"] {
        let project = project();
        let engine = TestEngine::new(&project, Setup { replies: vec![edit(), edit()], ..Setup::default() });
        let outcome = engine.ask(text).await;
        assert_eq!((project.read("a.py").as_str(), &outcome["files"]), (TEXT, &json!([])), "{text}: {outcome}");
        assert!(engine.trace().contains("the request says that nothing may be changed"), "{}", engine.trace());
    }
    // One that leaves a part alone is no such request.
    let project = project();
    let engine = TestEngine::new(&project, Setup { replies: vec![edit()], ..Setup::default() });
    engine.ask("raise f without changing its signature").await;
    assert_ne!(project.read("a.py"), TEXT);
}

#[tokio::test]
async fn an_approval_lifts_only_what_was_forbidden_for_the_time_being() {
    for (text, edits) in [("raise f, do not change anything", false), ("raise f, but change nothing yet", true)] {
        let project = project();
        let plans = vec![plan_of([planned("raise it", &["a.py::f"])])];
        let last = last("edit_file", change("a.py", "return 1", "return 2"));
        let engine = TestEngine::new(&project, Setup { plans, replies: vec![last], ..Setup::default() });
        let request = Request { text: text.into(), path: Some("a.py".into()), ..Request::default() };
        engine.plan_for(&request).await.expect("a plan");
        let _ = engine.approve().await;
        assert_eq!(project.read("a.py") != TEXT, edits, "{text}");
    }
}

#[test]
fn a_file_that_is_too_large_is_refused_before_it_is_read() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let large = std::fs::File::create(project.root().join("large.py")).expect("a file");
    large.set_len(200 << 20).expect("room for a hole");
    let output = sextant(&project, &["ask", "fix the errors", "--file", "large.py"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("large.py has 200 MB, and files of up to 10 MB"), "{said}");
}

#[test]
fn a_request_in_spanish_is_framed_in_english_and_one_thing_is_counted_as_one() {
    let project = Project::new(&[("a.py", "import os\n\n\ndef f() -> int:\n    return 1\n")]);
    let said = |text: &str| {
        let output = sextant(&project, &["ask", text, "--file", "a.py"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let spanish = said("arregla los avisos");
    assert!(spanish.contains("1 whole file may be changed"), "{spanish}");
    assert!(spanish.contains("changed a.py. 0 new diagnostics, 1 fixed, "), "{spanish}");
    let english = said("fix the warnings");
    // The answer that opens a plan, and its labels; and a request in English whose names are Spanish words.
    let project = Project::new(&[("a.py", "import os\n\n\ndef f() -> int:\n    return 1\n")]);
    let plan = |text: &str| {
        let output = sextant(&project, &["plan", text, "--file", "a.py"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let shown = plan("arregla los avisos");
    assert!(shown.contains("risk medium (steps: about 1, ") && shown.contains("  - symbols: `a.py`"), "{shown}");
    let shown = plan("fix todo y los avisos");
    assert!(shown.contains("risk medium (steps: about 1, ") && shown.contains("  - symbols: `a.py`"), "{shown}");
    assert!(english.contains("1 whole file may be changed") && english.contains("nothing was changed."), "{english}");
}

#[test]
fn a_request_without_a_file_looks_at_the_workspace_and_speaks_of_the_shell() {
    let project =
        Project::new(&[("a.py", "import os\n\n\ndef f() -> int:\n    return 1\n"), ("b/c.py", "x: int = 1\n")]);
    let output = sextant(&project, &["ask", "fix the warnings"]);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        !said.contains("attach a language server") && !said.contains(":Agent") && !said.contains(":help"),
        "{said}"
    );
    assert!(said.contains("looked at all 2 files of the workspace") && said.contains("F401 in a.py"), "{said}");
}

#[test]
fn sixty_offered_fixes_are_one_plan_that_leaves_none() {
    let text: String =
        (0..60).map(|n| format!("def f{n:02}() -> None:\n    import os\n    print({n})\n\n\n")).collect();
    let project = Project::new(&[("a.py", &text)]);
    let run = |project: &Project, text: &str| {
        let done = outcome(&sextant(project, &["plan", text, "--approve", "--json"]));
        done["outcome"]["summary"].as_str().unwrap_or_default().to_owned()
    };
    let left = |project: &Project, files: &[&str]| {
        files.iter().map(|file| project.read(file).matches("import").count()).sum::<usize>()
    };
    let summary = run(&project, "fix all warnings");
    assert!(left(&project, &["a.py"]) == 0 && !summary.contains("on offer"), "{summary}");
}

#[test]
fn fixes_that_read_alike_are_one_plan_however_many_they_are() {
    // Two servers report each, so that 240 are reported: more than a task has steps, outside of any symbol.
    let run = |project: &Project, text: &str| {
        let done = outcome(&sextant(project, &["plan", text, "--approve", "--json"]));
        done["outcome"]["summary"].as_str().unwrap_or_default().to_owned()
    };
    let text: String = (0..60).map(|n| format!("import os as os_{n}\n")).collect();
    let project = Project::new(&[("a.py", &text), ("b.py", &text)]);
    let summary = run(&project, "fix all warnings");
    let left = project.read("a.py") + &project.read("b.py");
    assert!(left.trim().is_empty() && !summary.contains("on offer"), "{summary}");
    assert!(summary.contains("2 of 2 steps done. ") && summary.contains(", 120 fixed"), "{summary}");
}

#[test]
fn a_file_that_exists_is_read_whatever_a_symbol_may_be_called() {
    let project = Project::new(&[("notes.txt", "buy milk\n"), ("LICENSE", "as you like\n")]);
    for (text, wanted) in [("read notes.txt", "buy milk"), ("lee LICENSE", "as you like")] {
        let output = sextant(&project, &["ask", text]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && said.contains(wanted), "{said}");
    }
}

#[test]
fn the_warnings_and_all_warnings_are_the_same_to_the_offline_model() {
    // One that two servers report, and one that nobody but ruff does.
    let text = "import re\n\nprint(f\"a\")\n";
    let after = |request: &str| {
        let project = Project::new(&[("a.py", text), ("b/c.py", text)]);
        let output = sextant(&project, &["ask", request]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!said.contains("Change a.py"), "nobody could answer: {said}");
        [project.read("a.py"), project.read("b/c.py")]
    };
    let (some, all) = (after("fix the warnings"), after("fix all warnings"));
    assert_eq!(some, all);
    assert_eq!(some[1].trim(), "print(\"a\")");
}

/// Where two words stand without a space between them: behind a closing mark, outside of code, quotes and names.
fn glued(text: &str) -> Option<String> {
    let mut code = false;
    for word in text.split_whitespace() {
        let marks = word.matches(['`', '“', '”', '«', '»', '"']).count();
        let plain =
            !code && marks == 0 && !word.contains(['/', '=', '_', '(', '[', '{', '#', '*']) && !word.contains("::");
        code ^= word.matches('`').count() % 2 == 1;
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let name = [".py", ".md", ".json", ".toml"].iter().any(|end| bare.contains(end)) || bare == "e.g";
        let joint = bare.char_indices().find(|(at, c)| {
            let (before, after) = (&bare[..*at], &bare[at + c.len_utf8()..]);
            let letters = before.chars().next_back().is_some_and(char::is_lowercase);
            // A place is written `a.py:1:2`, a time `1:02`.
            ".;:,".contains(*c) && letters && after.starts_with(char::is_alphabetic)
        });
        if plain && !name && joint.is_some() {
            return Some(word.to_owned());
        }
    }
    None
}

#[test]
fn no_two_words_of_what_the_shell_prints_are_glued_together() {
    assert_eq!(glued("Done.Nothing new, a.py:1:2, `x.y`, “a.b”"), Some("Done.Nothing".to_owned()));
    let text = "import os\nimport sys\n\n\ndef f() -> int:\n    return \"x\"\n";
    let project = Project::new(&[("a.py", text), ("b/c.py", "import re\n")]);
    for arguments in [
        &["ask", "what is f?"][..],
        &["ask", "read f"],
        &["ask", "where is f used"],
        &["ask", "hello"],
        &["ask", "rename f to g", "--file", "a.py"],
        &["ask", "fix the errors"],
        &["plan", "fix all warnings", "--approve"],
        &["plan", "explain f", "--file", "a.py"],
        &["undo", "--list"],
        &["undo"],
        &["redo"],
        &["why"],
        &["why", "--list"],
        &["resume"],
        &["stats"],
        &["ask", "remember that I prefer short answers"],
        &["ask", "what do you remember"],
        &["ask", "arregla todos los avisos"],
        &["ask", "forget everything", "--answer", "1"],
        &["ask", "fix it", "--file", "gone.py"],
    ] {
        let output = sextant(&project, arguments);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!said.trim().is_empty(), "{arguments:?}");
        assert_eq!(glued(&said), None, "{arguments:?}: {said}");
    }
}
