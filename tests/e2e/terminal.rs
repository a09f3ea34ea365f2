//! What a shell prints of texts that strangers wrote: no byte of them steers the terminal.

use std::process::Output;

use serde_json::{Value, json};

use crate::cli::sextant;
use crate::support::model_server::{Dealing, ModelServer, Reply};
use crate::support::project::Project;

/// A title, colours, the eight-bit introducer, a line that is written over, a delete, a turned direction.
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}b\u{1b}[2Jc\u{9b}31md\re\u{7f}f\u{202e}g\u{2066}h\u{200f}i\u{8}j";

fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

fn harmless(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(text).expect("UTF-8");
    let found: Vec<char> = text.chars().filter(|c| steers(*c)).collect();
    assert!(found.is_empty(), "{found:?} in {text:?}");
    text
}

fn run(project: &Project, arguments: &[&str]) -> Output {
    tokio::task::block_in_place(|| sextant(project, arguments))
}

fn project() -> Project {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    project.write("hostile.py", &format!("# first {HOSTILE}\n# last\n"));
    project.write("evil\u{1b}[31m\u{202e}.txt", "plain\n");
    project
}

fn asks<'a>(text: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let arguments = ["ask", text, "--file", "a.py", "--model", "openai_compatible:m", "--base-url", url];
    [&arguments[..], more].concat()
}

fn answer(fields: &Value) -> Reply {
    let mut reply = json!({"reasoning": "", "action": null, "continue": false, "confidence": 1, "answer": ""});
    for (name, value) in fields.as_object().expect("fields") {
        reply[name] = value.clone();
    }
    Reply::Json(reply)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_words_steer_no_terminal_however_they_are_cut() {
    let project = project();
    for bytes in [1, 3, 4096] {
        let acts = json!({
            "reasoning": format!("why {HOSTILE}"),
            "action": {"tool": "read_file", "parameters": {"path": format!("no{HOSTILE}.py")}},
            "continue": true,
        });
        let script = [answer(&acts), answer(&json!({"answer": format!("said {HOSTILE} done")}))];
        let server = ModelServer::dealing(script, Dealing { characters: 1, bytes }).await;
        let text = harmless(&run(&project, &asks("what is this?", &server.url(), &[])));
        assert!(text.contains("said a") && text.contains("j done"), "the words themselves are there: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_lines_are_escaped_and_say_the_same() {
    let project = project();
    let server = ModelServer::start([answer(&json!({"answer": HOSTILE}))]).await;
    let text = harmless(&run(&project, &asks("what is this?", &server.url(), &["--json"])));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.last().expect("an outcome")["outcome"]["answer"], HOSTILE);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_names_requests_and_failures_steer_no_terminal() {
    let project = project();
    let said = harmless(&run(&project, &["ask", "read hostile.py", "--model", "offline"]));
    assert!(said.contains("first a") && said.contains("last"), "{said}");
    let name = "evil\u{1b}[31m\u{202e}.txt";
    harmless(&run(&project, &["ask", "what is this?", "--file", name, "--model", "offline"]));
    for arguments in [
        &["ask", HOSTILE, "--file", "a.py", "--model", "offline"][..],
        &["ask", "fix this", "--file", HOSTILE, "--model", "offline"],
        &["plan", HOSTILE, "--file", "a.py", "--model", HOSTILE],
        &["undo", HOSTILE],
        &["ask", "fix this", "--symbol", HOSTILE, "--json"],
        &["ask", "--no-such-option", HOSTILE, "x", "y"],
        &[HOSTILE],
    ] {
        harmless(&run(&project, arguments));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_of_models_answers_steers_no_terminal() {
    let project = project();
    let body = json!({"error": {"message": HOSTILE}}).to_string();
    let server = ModelServer::start([Reply::Status(401, Vec::new(), body)]).await;
    let output = run(&project, &asks("what is this?", &server.url(), &[]));
    assert!(!output.status.success());
    harmless(&output);
}

#[test]
fn git_and_the_names_of_changed_files_steer_no_terminal() {
    let project = project();
    let git = |arguments: &[&str]| {
        let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
        let mut command = std::process::Command::new("git");
        let done = command.args(fixed).args(arguments).current_dir(project.root()).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    project.write("new\u{1b}[31m\u{202e}.py", "print(missing)\n");
    for format in ["text", "json", "errorformat", "sarif"] {
        let diff = |more: &[&str]| {
            let tools = crate::support::servers::tool("ruff").parent().expect("a folder").to_owned();
            std::process::Command::new(env!("CARGO_BIN_EXE_sextant"))
                .args(["diff", "--format", format, "--servers"])
                .arg(tools)
                .args(more)
                .current_dir(project.root())
                .env("XDG_CONFIG_HOME", project.beside("config"))
                .output()
                .expect("the binary")
        };
        let text = harmless(&diff(&[]));
        assert!(text.contains("missing"), "{text}");
        harmless(&diff(&[HOSTILE]));
    }
}
