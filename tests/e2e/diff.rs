//! `sextant diff` on real git repositories, with the real basedpyright and ruff.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::project::Project;
use crate::support::servers::tool;

/// A project under git. Its name has a blank and a letter beyond ASCII, as people's folders do.
struct Repository {
    project: Project,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let repository = Self { project: Project::named("my shöp", files) };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit("one");
        repository
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new(tool("git"))
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"])
            .args(["-c", "core.quotePath=false"])
            .args(arguments)
            .current_dir(self.project.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    fn write(&self, path: &str, text: &str) {
        self.project.write(path, text);
    }

    fn diff(&self, arguments: &[&str]) -> Answer {
        self.diff_in(self.project.root(), arguments)
    }

    fn diff_in(&self, folder: &Path, arguments: &[&str]) -> Answer {
        tool("basedpyright-langserver");
        let tools = tool("ruff").parent().expect("a folder").to_owned();
        let tools = tools.to_str().expect("UTF-8");
        sextant(&self.project, folder, &[&["diff", "--servers", tools], arguments].concat())
    }

    fn json(&self, arguments: &[&str]) -> (Value, i32) {
        let answer = self.diff(&[&["--format", "json"], arguments].concat());
        let value = serde_json::from_str(&answer.text).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        (value, answer.status)
    }

    /// Everything that a run could have touched: the files, and git's own with them.
    fn bytes(&self) -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let mut all = self.project.bytes();
        // The objects are there or not; what may change is beside them.
        all.retain(|(path, _)| !path.components().any(|part| part.as_os_str() == "objects"));
        all
    }
}

#[derive(Debug)]
struct Answer {
    text: String,
    complaint: String,
    status: i32,
}

fn sextant(project: &Project, folder: &Path, arguments: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CONFIG_HOME", project.beside("config"))
        .env("XDG_STATE_HOME", project.state_home())
        .env("TMPDIR", project.beside("temporary"))
        .output()
        .expect("the binary");
    let left = fs::read_dir(project.beside("temporary")).expect("a folder");
    let left: Vec<_> = left.flatten().filter(|entry| entry.file_name().to_string_lossy().contains("sextant")).collect();
    assert!(left.is_empty(), "it leaves its checkouts behind: {left:?}");
    answer(&output)
}

fn answer(output: &Output) -> Answer {
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    Answer { text: read(&output.stdout), complaint: read(&output.stderr), status: output.status.code().unwrap_or(-1) }
}

/// `symbol code` of every diagnostic of a list.
fn names(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list} is no list"));
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    list.iter().map(|one| format!("{} {}", word(&one["symbol"]), word(&one["code"]))).collect()
}

/// Fails unless the text is a SARIF 2.1.0 log by its schema.
fn validate(log: &str, project: &Project) {
    const SCRIPT: &str = "import json, sys\nfrom jsonschema import Draft4Validator\n\
        schema, log = (json.load(open(path, encoding='utf-8')) for path in sys.argv[1:])\n\
        Draft4Validator.check_schema(schema)\n\
        errors = [f'{error.json_path}: {error.message}' for error in Draft4Validator(schema).iter_errors(log)]\n\
        sys.exit('\\n'.join(errors) or 0)";
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sarif/sarif-2.1.0-rtm.5.json");
    let file = project.beside("sarif").join("log.sarif");
    fs::write(&file, log).expect("a file");
    let output = Command::new(tool("python3")).arg("-c").arg(SCRIPT).args([schema, file]).output().expect("Python");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(!complaint.contains("No module named"), "Python's jsonschema is needed: {complaint}");
    assert!(output.status.success(), "{complaint}");
}

const CART: &str = "from shop.price import price\n\n\nclass Cart:\n    def total(self, names: list[str]) -> int:\n        return sum(price(name) for name in names)\n\n    def old(self) -> int:\n        return \"x\"\n";
const PRICE: &str = "import os\n\n\ndef price(name: str) -> int:\n    return len(name)\n";

fn shop() -> Repository {
    Repository::new(&[("shop/__init__.py", ""), ("shop/ü cart.py", CART), ("shop/price.py", PRICE)])
}

#[test]
fn what_a_commit_broke_in_the_changed_file_and_in_another_is_said_in_every_format() {
    let shop = shop();
    shop.write(
        "shop/price.py",
        &PRICE.replace("import os\n", "").replace("-> int:\n    return len(name)", "-> str:\n    return nam"),
    );
    shop.commit("two");
    let before = shop.bytes();

    let (found, status) = shop.json(&["HEAD~1"]);
    assert_eq!(status, 1, "{found}");
    assert_eq!(
        (&found["status"], &found["files"]),
        (&json!("complete"), &json!({"checked": 3, "changed": 1})),
        "{found}"
    );
    let new = names(&found["new"]);
    // Both checkers see the misspelt name; the caller is broken by the other return type.
    assert!(new.contains(&"price reportUndefinedVariable".to_owned()), "{new:?}");
    assert!(new.iter().any(|name| name.starts_with("Cart::total ")), "{new:?}");
    assert!(!new.iter().any(|name| name.starts_with("Cart::old")), "{new:?}");
    assert_eq!(names(&found["fixed"]), ["shop/price.py F401"]);
    assert_eq!(found["updated"], json!([]), "{found}");
    assert!(found["counts"]["unchanged"].as_u64() >= Some(1), "Cart::old was wrong before: {found}");
    assert_eq!(found["providers"], json!(["lsp:basedpyright", "lsp:ruff"]));

    let text = shop.diff(&["HEAD~1", "HEAD", "--fail-on", "never"]);
    assert_eq!(text.status, 0, "{text:?}");
    let lines: Vec<&str> = text.text.lines().collect();
    let (price, cart) = ("shop/price.py", "shop/ü cart.py");
    assert!(lines.iter().position(|line| *line == price) < lines.iter().position(|line| *line == cart), "{text:?}");
    assert!(lines.iter().any(|line| line.starts_with("  Cart::total: new error: ")), "{text:?}");
    assert!(lines.iter().any(|line| line.starts_with("  shop/price.py: fixed warning: ") && line.contains("[F401]")));
    assert!(lines.last().is_some_and(|sums| sums.starts_with("HEAD~1 → HEAD: ") && sums.contains(" 1 fixed")));

    let log = shop.diff(&["HEAD~1", "HEAD", "--format", "sarif"]);
    assert_eq!(log.status, 1, "{log:?}");
    validate(&log.text, &shop.project);
    let log: Value = serde_json::from_str(&log.text).expect("JSON");
    let runs: Vec<&Value> = log["runs"].as_array().expect("a list").iter().collect();
    let names: Vec<&str> = runs.iter().filter_map(|run| run["tool"]["driver"]["name"].as_str()).collect();
    assert_eq!(names, ["lsp:basedpyright", "lsp:ruff"]);
    let of = |run: &Value, state: &str| {
        let results = run["results"].as_array().expect("a list").iter();
        results.filter(|result| result["baselineState"] == state).cloned().collect::<Vec<_>>()
    };
    let broken = of(runs[0], "new");
    let cart = broken
        .iter()
        .map(|result| &result["locations"][0])
        .find(|place| place["physicalLocation"]["artifactLocation"]["uri"] == "shop/%C3%BC%20cart.py");
    assert_eq!(cart.expect("the caller")["logicalLocations"][0]["fullyQualifiedName"], "Cart::total");
    assert!(broken.iter().all(|result| result["partialFingerprints"].as_object().is_some_and(|map| map.len() == 1)));
    assert_eq!((of(runs[1], "absent").len(), of(runs[0], "unchanged").is_empty()), (1, false), "{log}");

    let list = shop.diff(&["HEAD~1..HEAD", "--format", "errorformat", "--", price]);
    assert_eq!(list.status, 1, "{list:?}");
    assert!(list.text.lines().any(|line| {
        line.starts_with("shop/price.py:4:12: error: price: ") && line.ends_with(" [reportUndefinedVariable]")
    }));
    assert!(!list.text.contains("cart.py"), "only what was asked about: {list:?}");
    assert_eq!(shop.bytes(), before, "nothing is written to the repository");
}

#[test]
fn moved_code_and_a_renamed_file_bring_nothing_new() {
    let helper = "def helper(values: list[int]) -> str:\n    total = 0\n    for value in values:\n        total += value\n    return total\n";
    let shop = Repository::new(&[
        ("a/one.py", &format!("X = 1\n\n\n{helper}")),
        ("a/two.py", "Y: int = \"y\"\n"),
        ("b/three.py", "def three() -> int:\n    return \"3\"\n"),
    ]);
    shop.write("a/one.py", "X = 1\n");
    shop.write("a/two.py", &format!("Y: int = \"y\"\n\n\n{helper}"));
    shop.git(&["mv", "b/three.py", "b/vier und drei.py"]);
    shop.commit("two");
    let (found, status) = shop.json(&["HEAD~1"]);
    assert_eq!(status, 0, "{found}");
    let quiet = (&found["new"], &found["fixed"], &found["masked"], &found["revealed"]);
    let none = json!([]);
    // ruff has a word on the new file's name, which is no moved diagnostic.
    let new: Vec<String> = names(quiet.0).into_iter().filter(|name| !name.ends_with(" N999")).collect();
    assert_eq!(new, Vec::<String>::new(), "{found}");
    assert_eq!((quiet.1, quiet.2, quiet.3), (&none, &none, &none), "{found}");
    assert!(found["counts"]["unchanged"].as_u64() >= Some(3), "{found}");

    // The folder to which the code moved, seen alone: where it came from is looked at all the same.
    let answer = shop.diff_in(&shop.project.root().join("a"), &["HEAD~1", "HEAD", "two.py"]);
    assert_eq!(answer.status, 0, "{answer:?}");
    assert!(answer.text.contains("0 new, 0 fixed"), "{answer:?}");
}

#[test]
fn the_working_tree_is_compared_with_what_git_ignores_on_both_sides() {
    let user = "from generated import VERSION\nfrom vendored import answer\n\n\ndef use() -> str:\n    return VERSION + answer()\n";
    let shop = Repository::new(&[
        (".gitignore", ".venv/\ngenerated.py\n"),
        ("generated.py", "VERSION = \"1\"\n"),
        (".venv/lib/python3.11/site-packages/vendored.py", "def answer() -> str:\n    return \"\"\n"),
        ("user.py", user),
        ("gone.py", "def gone() -> int:\n    return \"\"\n"),
    ]);
    shop.write("user.py", &user.replace("return VERSION", "return 1 + VERSION"));
    shop.write("neu ü.py", "def neu() -> int:\n    return None\n");
    fs::remove_file(shop.project.root().join("gone.py")).expect("a file");
    let before = shop.bytes();
    let (found, status) = shop.json(&[]);
    assert_eq!(status, 1, "{found}");
    assert_eq!(found["after"], json!({"revision": "working tree", "commit": null}));
    let errors: Vec<String> = names(&found["new"]).into_iter().filter(|name| !name.ends_with(" N999")).collect();
    assert_eq!(errors, ["neu reportReturnType", "use reportOperatorIssue"], "{found}");
    assert_eq!(names(&found["fixed"]), ["gone reportReturnType"], "{found}");
    assert_eq!(found["revealed"], json!([]), "the imports were found on both sides: {found}");
    assert_eq!(shop.bytes(), before, "nothing is written to the repository");

    let (found, status) = shop.json(&["--changed-only", "user.py", "--severity", "error"]);
    assert_eq!((status, names(&found["new"])), (1, vec!["use reportOperatorIssue".to_owned()]), "{found}");
}

#[test]
fn an_error_whose_statement_was_rewritten_is_neither_new_nor_fixed() {
    let text = |body: &str| format!("def use(all: list[object]) -> list[int]:\n    return {body}\n");
    let shop = Repository::new(&[("user.py", &text("(one for one in all)"))]);
    for body in ["[one for one in all]", "list(all)", "all"] {
        shop.write("user.py", &text(body));
        let (found, status) = shop.json(&["--severity", "error"]);
        assert_eq!(
            (status, names(&found["new"]), names(&found["fixed"])),
            (0, Vec::new(), Vec::new()),
            "{body}: {found}"
        );
        assert_eq!(names(&found["updated"]), ["use reportReturnType"], "{body}: {found}");
    }
    shop.write("user.py", &text("[one for one in gone]"));
    let (found, status) = shop.json(&["--severity", "error"]);
    assert_eq!(status, 1, "{found}");
    assert!(
        names(&found["new"]).contains(&"use reportUndefinedVariable".to_owned()),
        "another fault stays new: {found}"
    );
}

#[test]
fn a_project_below_the_top_of_its_repository_is_a_project_of_its_own() {
    let user = "from shared import one\n\n\ndef use() -> int:\n    return one()\n";
    let files = [
        ("api/pyproject.toml", "[tool.basedpyright]\ntypeCheckingMode = \"standard\"\n"),
        ("api/shared.py", "def one() -> int:\n    return 1\n"),
        ("api/use.py", user),
        ("web/shared.py", "X = 1\n"),
    ];
    let shop = Repository::new(&files);
    shop.git(&["switch", "--quiet", "--create", "topic"]);
    shop.write("api/shared.py", "def one() -> str:\n    return \"1\"\n");
    shop.write("web/shared.py", "X: int = \"\"\n");
    shop.commit("two");
    shop.git(&["switch", "--quiet", "main"]);
    shop.write("api/use.py", "def use() -> int:\n    return None\n");
    shop.commit("on main only");
    let api = shop.project.root().join("api");
    let answer = shop.diff_in(&api, &["main...topic", "--format", "json"]);
    let found: Value = serde_json::from_str(&answer.text).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
    assert_eq!(found["before"]["revision"], "merge base of main and topic");
    assert_eq!(names(&found["new"]), ["use reportReturnType"], "{found}");
    assert_eq!((&found["new"][0]["path"], &found["files"]["checked"]), (&json!("use.py"), &json!(2)), "{found}");
}

#[test]
fn a_configured_command_is_a_provider_and_runs_outside_of_the_repository() {
    let shop = shop();
    let config = shop.project.beside("config").join("sextant");
    fs::create_dir_all(&config).expect("a folder");
    let script = "echo > left-behind; echo \"$1:1: warning: $(wc -l < \"$1\") lines\"";
    let lines = format!(
        "servers = []\n[[commands]]\nname = \"lines\"\nlanguages = [\"python\"]\nran = [0]\n\
        command = [\"sh\", \"-c\", {script:?}, \"lines\", \"{{file}}\"]\n\
        format = {{ regex = ['^(?P<file>.+?):(?P<line>\\d+): (?P<severity>\\w+): (?P<message>.+)$'] }}\n\
        severity = {{ warning = \"warning\" }}\n"
    );
    fs::write(config.join("config.toml"), lines).expect("a file");
    shop.write("shop/new.py", "x = 1\n");
    let before = shop.bytes();
    let (found, status) = shop.json(&["--fail-on", "warning"]);
    assert_eq!(status, 1, "{found}");
    assert_eq!((&found["providers"], &found["status"]), (&json!(["tool:lines"]), &json!("complete")), "{found}");
    assert_eq!((&found["new"][0]["path"], &found["new"][0]["message"]), (&json!("shop/new.py"), &json!("1 lines")));
    assert_eq!((&found["counts"]["new"], &found["counts"]["unchanged"]), (&json!(1), &json!(3)), "{found}");
    assert_eq!(shop.bytes(), before, "what it left behind is not in the repository");
}

#[test]
fn a_run_that_is_stopped_leaves_nothing_behind() {
    // Only the working tree has something to check, so that one server is started.
    let shop = Repository::new(&[("README.md", "")]);
    shop.write("a.py", "x = 1\n");
    let signal = shop.project.beside("signals").join("up");
    assert!(Command::new(tool("mkfifo")).arg(&signal).status().expect("mkfifo").success());
    let config = shop.project.beside("config").join("sextant");
    fs::create_dir_all(&config).expect("a folder");
    // It says its process id once it runs, and never answers.
    let script = format!("echo $$ > '{}'; exec cat > /dev/null", signal.display());
    let server =
        format!("[[servers]]\nname = \"deaf\"\ncommand = [\"sh\", \"-c\", {script:?}]\nlanguages = [\"python\"]\n");
    fs::write(config.join("config.toml"), server).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .arg("diff")
        .current_dir(shop.project.root())
        .env("XDG_CONFIG_HOME", shop.project.beside("config"))
        .env("TMPDIR", shop.project.beside("temporary"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    assert!(!fs::read_to_string(&signal).expect("the server starts").is_empty());
    let id = child.id().to_string();
    assert!(Command::new(tool("kill")).args(["-TERM", &id]).status().expect("kill").success());
    let ended = answer(&child.wait_with_output().expect("an end"));
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(ended.complaint.contains("stopped"), "{ended:?}");
    assert_eq!(fs::read_dir(shop.project.beside("temporary")).expect("a folder").count(), 0);
}

#[test]
fn a_question_that_cannot_be_answered_is_an_exit_status_of_two_and_a_way_out() {
    let shop = shop();
    let failed = |answer: Answer, words: &str| {
        assert_eq!(answer.status, 2, "{answer:?}");
        assert!(answer.complaint.contains(words) && answer.complaint.contains("→"), "{answer:?}");
    };
    failed(shop.diff(&["HEAD~7"]), "\"HEAD~7\" is neither a revision nor a file");
    failed(shop.diff(&["HEAD", "nowhere.py"]), "\"nowhere.py\" is neither");
    failed(shop.diff(&["HEAD", "--", "nowhere.py"]), "nowhere.py is in neither of the two states");
    failed(shop.diff(&["HEAD", "--", "../elsewhere"]), "../elsewhere is outside of");
    failed(shop.diff(&["HEAD", "--config", "missing.toml"]), "missing.toml cannot be read");
    failed(shop.diff_in(&shop.project.beside("plain"), &[]), "is not in a git repository");
    let answer = shop.diff(&["--format", "json", "HEAD~7"]);
    let value: Value = serde_json::from_str(&answer.text).expect("JSON");
    assert_eq!((&value["type"], &value["failure"]["kind"]), (&json!("failed"), &json!("user")), "{value}");

    // Without any server there is no answer, and an empty one would look like a good one.
    let config = shop.project.beside("config").join("sextant");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.toml"), "servers = []\n").expect("a file");
    failed(shop.diff(&[]), "no provider of diagnostics was found");
    let dead = "[[servers]]\nname = \"dead\"\ncommand = [\"/nonexistent/server\"]\nlanguages = [\"python\"]\n";
    fs::write(config.join("config.toml"), dead).expect("a file");
    failed(shop.diff(&[]), "no provider could answer: lsp:dead");

    // One of two: its part is missing, and said to be.
    let ruff = tool("ruff").display().to_string();
    let two =
        format!("{dead}[[servers]]\nname = \"ruff\"\ncommand = [{ruff:?}, \"server\"]\nlanguages = [\"python\"]\n");
    fs::write(config.join("config.toml"), two).expect("a file");
    shop.write("shop/price.py", &format!("{PRICE}\nimport sys\n"));
    let (found, status) = shop.json(&["--fail-on", "warning"]);
    assert_eq!((status, &found["status"]), (1, &json!("partial")), "{found}");
    assert!(names(&found["new"]).contains(&"shop/price.py F401".to_owned()), "{found}");
    assert_eq!(found["silent"][0]["provider"], "lsp:dead");
    assert!(found["notes"][0].as_str().is_some_and(|note| note.starts_with("dead did not answer for ")), "{found}");
    let answer = shop.diff(&["--strict", "--progress"]);
    assert_eq!(answer.status, 2, "{answer:?}");
    assert!(answer.text.contains("\nnot known: dead did not answer"), "{answer:?}");
    assert!(answer.complaint.contains("ruff has answered for 3 of 3 files"), "{answer:?}");
}

#[test]
fn cases_are_answered_line_by_line_and_garbage_is_answered_too() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sextant"))
        .args(["diff", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary");
    let mut input = child.stdin.take().expect("a pipe");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let said = json!({"file": "a.py", "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 7}},
        "severity": 1, "code": "E", "source": "x", "message": "m"});
    let mut moved = said.clone();
    moved["range"] = json!({"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 7}});
    let files = json!({"a.py": {"before": "x = bad\n", "after": "y = 1\nx = bad\n"}});
    let lines = [
        json!({"id": "one", "files": files, "before": [said], "after": [moved]}).to_string(),
        "{\"id\": \"two\", \"fil".to_owned(),
        json!({"id": 3, "files": files, "before": [], "after": [moved]}).to_string(),
    ];
    let mut answers = Vec::new();
    for line in lines {
        // The next line is written only when the answer to this one is there.
        writeln!(input, "{line}").expect("it reads");
        let mut answer = String::new();
        std::io::BufRead::read_line(&mut output, &mut answer).expect("it answers");
        answers.push(serde_json::from_str::<Value>(&answer).expect("JSON"));
    }
    drop(input);
    assert!(child.wait().expect("an end").success());
    assert_eq!((&answers[0]["pairs"], &answers[0]["new"]), (&json!([[0, 0]]), &json!([])));
    assert!(answers[1]["id"].is_null() && answers[1]["error"].is_string(), "{}", answers[1]);
    assert_eq!((&answers[2]["id"], &answers[2]["new"]), (&json!(3), &json!([0])));
}

/// A repository of one file that did not change and one that did, checked by a fake server that publishes these items.
fn checked_by_fake(items: &Value) -> Repository {
    let repository = Repository::new(&[("same.py", "x = 1\n"), ("changed.py", "y = 1\n")]);
    repository.write("changed.py", "y = 2\n");
    let publish = json!({"publish": {"version": "same", "items": items}});
    let script = json!({"on": {"textDocument/didOpen": [publish]}});
    let folder = repository.project.beside("fake");
    fs::write(folder.join("script.json"), script.to_string()).expect("a script");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fake_server.py");
    let python = tool("python3").display().to_string();
    let command = json!([python, program, folder.join("script.json")]);
    // A name of one that is known to publish once.
    let config = format!("[[servers]]\nname = \"pylsp\"\ncommand = {command}\nlanguages = [\"python\"]\n");
    let settings = repository.project.beside("config").join("sextant");
    fs::create_dir_all(&settings).expect("a folder");
    fs::write(settings.join("config.toml"), config).expect("a file");
    repository
}

#[test]
fn what_differs_in_a_file_that_did_not_change_is_told_only_where_another_run_finds_it_too() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let cycle = json!([{"range": place, "severity": 1, "code": "cycle", "message": "a cycle"}]);
    // The two processes of the first question say one thing and the other; all further ones the same.
    let repository = checked_by_fake(&json!({"by_run": [cycle, [], cycle]}));
    let (found, status) = repository.json(&["same.py"]);
    assert_eq!(status, 0, "{found}");
    assert_eq!((&found["new"], &found["fixed"], &found["unconfirmed"]), (&json!([]), &json!([]), &json!(1)), "{found}");
    let repository = checked_by_fake(&json!({"by_run": [cycle, [], cycle]}));
    let answer = repository.diff(&["same.py"]);
    assert!(answer.text.contains("left out: 1 difference in files that did not change"), "{answer:?}");
}

#[test]
fn import_cycles_in_another_order_with_each_run_are_no_difference() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let chain = |first: &str, second: &str| {
        let message = format!("Cycle detected in import chain\n  {first}\n  {second}");
        json!([{"range": place, "severity": 1, "code": "reportImportCycles", "message": message}])
    };
    let (one, other) = (chain("same.py", "changed.py"), chain("changed.py", "same.py"));
    // The last is what all further runs say.
    for runs in [json!([one, other, one]), json!([other, one, one]), json!([one, [], one]), json!([[], one, []])] {
        let repository = checked_by_fake(&json!({"by_run": runs}));
        let (found, status) = repository.json(&["same.py"]);
        assert_eq!((&found["new"], &found["fixed"], status), (&json!([]), &json!([]), 0), "{found}");
        assert!(found["unconfirmed"].as_u64() > Some(0), "{found}");
    }
}

#[test]
fn the_folder_of_a_revision_is_no_difference() {
    let place = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
    let repository = checked_by_fake(&json!([{"range": place, "severity": 1, "code": "c", "message": "in PATH"}]));
    let (found, status) = repository.json(&[]);
    assert_eq!((status, &found["updated"], &found["counts"]["unchanged"]), (0, &json!([]), &json!(2)), "{found}");
}

#[test]
fn importers_that_git_does_not_keep_are_checked_too_or_said_to_be_unknown() {
    let one = "def one() -> int:\n    return 1\n";
    let user = "from shared import one\n\nx: int = one()\n";
    let shop = Repository::new(&[("shared.py", one), (".gitignore", "gen/\n.hidden/\n"), ("gen/use.py", user)]);
    shop.write("other/use.py", user);
    let git = |folder: &Path, arguments: &[&str]| {
        let folder = folder.to_str().expect("UTF-8");
        shop.git(&[&["-C", folder, "-c", "protocol.file.allow=always"], arguments].concat());
    };
    let (top, module) = (shop.project.root().to_owned(), shop.project.beside("module"));
    fs::create_dir_all(&module).expect("a folder");
    fs::write(module.join("use.py"), user).expect("a file");
    for folder in [&top.join("other"), &module] {
        git(folder, &["init", "--quiet"]);
        git(folder, &["add", "--all"]);
        git(folder, &["commit", "--quiet", "--message", "one"]);
    }
    git(&top, &["submodule", "--quiet", "add", module.to_str().expect("UTF-8"), "sub"]);
    git(&top, &["commit", "--quiet", "--message", "two"]);
    shop.write("shared.py", &one.replace("int", "str").replace('1', "\"\""));
    let (found, status) = shop.json(&["--strict"]);
    let new: Vec<&str> =
        found["new"].as_array().expect("a list").iter().filter_map(|one| one["path"].as_str()).collect();
    assert_eq!((status, new), (1, vec!["gen/use.py", "other/use.py", "sub/use.py"]), "{found}");
    assert_eq!(found["status"], "complete", "{found}");
    // A hidden folder is not in the other state.
    shop.write(".hidden/use.py", user);
    let answer = shop.diff(&["--strict"]);
    let unknown = "not known: 1 file that may use a changed name and cannot be checked in both states (.hidden/use.py among them)";
    assert!(answer.status == 2 && answer.text.contains(unknown), "{answer:?}");
    shop.write("shared.py", &one.replace("return 1", "return 2"));
    let answer = shop.diff(&["--strict"]);
    assert_eq!(answer.status, 0, "no name is another one: {answer:?}");
}
