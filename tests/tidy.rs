//! The rules of the house, read from its text: who may import whom, sizes, names, and what is never written.
//!
//! Nothing of the product is linked here. Every rule is a function from text to problems, and every
//! rule has a sample that it must object to.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floors inside the engine, lowest first: values, what they are looked up in, the way of a change, the loop, plans,
/// commands. A file may name its own floor and those below.
const ENGINE: &[&str] = &[
    "editor",
    "plan",
    "step_executors",
    "events",
    "state",
    "task_budget",
    "symbol_search",
    "target",
    "memory",
    "durable",
    "diagnostics",
    "edit",
    "tools",
    "run",
    "planner",
    "commands",
    "api",
];
/// The one file of the engine that may hand an event to an editor: to the one that it tells of every event.
const FRONT_END: &str = "src/engine/events/stream.rs";
/// What anybody may do with the notes of a task and with what it has spent: read them, and take what is to be written.
/// The rest is the observers'.
const NOTES: &[&str] = &[
    "task.notes.counted()",
    "task.notes.started()",
    "task.notes.worked()",
    "task.notes.had_work()",
    "task.notes.has_drafts()",
    "task.notes.take_drafts()",
    "task.notes.take_run()",
    "task.counts.spent.now()",
];
/// The one file that counts on from what another process has counted.
const COUNTED_ON: &str = "src/engine/durable/task_state.rs";
/// Crates that one room of a crate alone may name. What a whole crate may name is in its Cargo.toml.
const HOMES: &[(&str, &str)] = &[
    ("lsp_types", "src/diagnostics/server"),
    ("rusqlite", "src/store/memory"),
    ("jsonrpsee", "src/serve/rpc"),
    ("rmcp", "src/serve/mcp"),
];

/// Rooms that may start other programs.
const STARTERS: &[&str] = &["src/diagnostics", "src/headless", "src/helix", "src/nvim", "src/cli"];

/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager", "misc"];

/// Query files that Neovim would read as its own.
const NEOVIM_QUERIES: &[&str] =
    &["highlights.scm", "tags.scm", "locals.scm", "folds.scm", "indents.scm", "injections.scm"];

/// Names of languages as the table of languages has them, as far as they mean nothing else.
const LANGUAGE_NAMES: &[&str] = &[
    "python",
    "rust",
    "typescript",
    "typescriptreact",
    "javascript",
    "javascriptreact",
    "cpp",
    "lua",
    "java",
    "shellscript",
];
/// The files that may name a language, each with its reason.
const LANGUAGE_TABLES: &[(&str, &str)] = &[
    ("src/cli/setup/helix_servers.rs", "Helix's names of languages and servers"),
    ("src/diagnostics/delta/syntax_errors.rs", "names of tools"),
    ("src/diagnostics/language_checkers.rs", "the table of checkers"),
    ("src/diagnostics/policy/contradiction.rs", "a rule that is safe in one language only"),
    ("src/diagnostics/policy/silencing_edits.rs", "the language whose rules are read from its tree"),
    ("src/diagnostics/policy/silencing_edits/marks.rs", "endings of files in which words have the searched form"),
    ("src/diagnostics/server/language_id.rs", "languages that only a server knows"),
    ("src/diagnostics/server/pull.rs", "the source of a server's answer"),
    ("src/diagnostics/server/detect_servers.rs", "the table of servers"),
    ("src/diagnostics/server_facts.rs", "the table of servers"),
    ("src/engine/state/look_reach.rs", "endings that a server looks at together"),
    ("src/engine/tools/command_permission.rs", "the table of programs"),
    ("src/store/workspace/secret_files.rs", "endings of sources"),
];

/// The one Lua file that speaks RPC, and what that looks like.
const RPC_FILE: &str = "lua/sextant/rpc/channel.lua";
const RPC_WORDS: &[&str] = &["vim.rpcnotify", "vim.rpcrequest", "jobstart"];

/// The one file that writes to standard output and standard error.
const PRINTER: &str = "src/cli/terminal.rs";
/// The one place that hands standard output to somebody, who writes through that file.
const BATCH: &str = "batch_cases::run(";

/// Longest file, in lines.
const LINES: usize = 400;
const TEST_LINES: usize = 800;

struct File {
    /// Relative to the repository, with `/`.
    path: String,
    text: String,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    fn is(&self, ending: &str) -> bool {
        self.path.ends_with(ending)
    }

    fn under(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
    }

    fn is_test(&self) -> bool {
        self.under("tests") || self.is("/tests.rs") || self.path.contains("/tests/")
    }

    /// `path:line: what`, for every line that the rule objects to.
    fn each_line(&self, rule: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let lines = self.text.lines().enumerate();
        lines.filter_map(|(i, line)| rule(line).map(|what| format!("{}:{}: {what}", self.path, i + 1))).collect()
    }

    fn objection(&self, what: impl AsRef<str>) -> Vec<String> {
        vec![format!("{}: {}", self.path, what.as_ref())]
    }
}

/// A rule: what is wrong with a file.
type Rule = fn(&File) -> Vec<String>;

const RULES: &[(&str, Rule)] = &[
    ("imports go down inside the engine", engine_goes_down),
    ("the loop speaks to the stream alone", one_stream),
    ("observers alone write notes", observers_write_notes),
    ("paths are written in full", paths_in_full),
    ("files are short", short),
    ("files say what they decide", first_line),
    ("names say something", names),
    ("crates stay at home", homes),
    ("programs are started in few places", starters),
    ("one file prints", one_printer),
    ("one file speaks RPC", one_rpc_file),
    ("ways out are codes", hints_are_codes),
    ("the plugin requires nothing at start", quiet_plugin),
    ("queries are not Neovim's", queries),
    ("Lua modules exist", lua_modules),
    ("a language is a row", languages),
    ("no machine is named", machines),
    ("nothing is left undone", undone),
    ("numbers and nouns agree", counted),
];

/// The identifiers that follow a prefix on a line.
fn after<'a>(line: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(prefix).filter_map(move |(at, _)| {
        let whole = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let rest = &line[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (whole && end > 0).then_some(&rest[..end])
    })
}

/// The modules of its own crate that a text names, those of a braced import too.
fn own_modules(text: &str) -> Vec<&str> {
    let word = |text: &str| text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    let mut found = Vec::new();
    for (at, path) in text.match_indices("crate::") {
        let rest = &text[at + path.len()..];
        let Some(inside) = rest.strip_prefix('{') else {
            found.push(&rest[..word(rest)]);
            continue;
        };
        let (mut depth, mut first) = (0, true);
        for (at, c) in inside.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => first = true,
                c if first && !c.is_whitespace() => {
                    found.push(&inside[at..at + word(&inside[at..])]);
                    first = false;
                }
                _ => {}
            }
        }
    }
    found
}

fn engine_goes_down(file: &File) -> Vec<String> {
    let Some(inside) = file.path.strip_prefix("src/engine/").filter(|_| file.is(".rs") && !file.is_test()) else {
        return Vec::new();
    };
    let own = inside.split(['/', '.']).next().unwrap_or_default();
    let floor = |module: &str| ENGINE.iter().position(|known| *known == module);
    if own == "lib" {
        return Vec::new();
    }
    let Some(here) = floor(own) else { return file.objection(format!("`{own}` has no floor")) };
    let lines: Vec<&str> = file.text.lines().map(code).collect();
    let text = lines.join("\n");
    let higher = own_modules(&text).into_iter().filter(|module| floor(module).is_none_or(|there| there > here));
    higher.flat_map(|module| file.objection(format!("{own} may not name {module}"))).collect()
}

/// In the agent nobody shows an event to an editor but the observer that stands for it, nor enters a trace by hand.
fn one_stream(file: &File) -> Vec<String> {
    if !file.under("src/engine") || file.is_test() {
        return Vec::new();
    }
    file.each_line(|line| {
        let shows = code(line).match_indices(".show(").any(|(at, _)| {
            let before = &code(line)[..at];
            !(before.ends_with("events") || (file.path == FRONT_END && before.ends_with("self.0")))
        });
        let traces = code(line).contains(".trace.push(");
        (shows || traces).then(|| "emit it: only the stream's observers show and collect".to_owned())
    })
}

/// What a task did is said to the stream; the loop neither writes notes nor counts what is spent.
fn observers_write_notes(file: &File) -> Vec<String> {
    if !file.under("src/engine") || file.is_test() {
        return Vec::new();
    }
    let allowed = |rest: &str| {
        let counts_on = rest.starts_with("task.notes.count_on(") || rest.starts_with("task.counts.spent.count_on(");
        NOTES.iter().any(|word| rest.starts_with(word)) || counts_on && file.path == COUNTED_ON
    };
    file.each_line(|line| {
        let line = code(line);
        let mut found = ["task.notes", "task.counts.spent"].iter().flat_map(|word| line.match_indices(word));
        let writes = found.any(|(at, _)| !allowed(&line[at..]));
        let by_hand = line.contains("Notes::count_on(") && !file.under("src/engine/state/notes_log");
        (writes || by_hand).then(|| "say it with `task.events.did`: observers keep notes and counts".to_owned())
    })
}

fn paths_in_full(file: &File) -> Vec<String> {
    if !file.is(".rs") || file.path == "tests/tidy.rs" {
        return Vec::new();
    }
    let banned = [concat!("super::", "super"), concat!("use crate::", "*")];
    file.each_line(|line| banned.iter().find(|word| line.contains(**word)).map(|word| format!("`{word}`")))
}

fn short(file: &File) -> Vec<String> {
    let counted = file.is(".rs") || file.is(".lua") || file.is(".py") && !file.under("tests/fixtures");
    let limit = if file.is_test() { TEST_LINES } else { LINES };
    let lines = file.text.lines().count();
    if counted && lines > limit { file.objection(format!("{lines} lines, {limit} at most")) } else { Vec::new() }
}

fn first_line(file: &File) -> Vec<String> {
    let first = file.text.lines().next().unwrap_or("");
    let says = |mark: &str| first.strip_prefix(mark).is_some_and(|rest| rest.trim_matches(['-', ' ']).len() > 10);
    if file.is(".rs") && !says("//! ") {
        file.objection("the first line is no `//!` that says what the file decides")
    } else if file.is(".lua") && !(says("-- ") || says("--- ")) {
        file.objection("the first line is no comment that says what the file decides")
    } else {
        Vec::new()
    }
}

fn names(file: &File) -> Vec<String> {
    let mut parts = file.path.split('/').flat_map(|part| part.split(['.', '_', '-']));
    let part = parts.find(|part| EMPTY_NAMES.contains(&part.to_lowercase().as_str()));
    part.map_or(Vec::new(), |part| file.objection(format!("`{part}` says nothing")))
}

/// Code without a trailing line comment; good enough for finding names.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line)
}

fn homes(file: &File) -> Vec<String> {
    // Tests may play the other side of a protocol with the same crate.
    if !file.is(".rs") || !file.under("src") {
        return Vec::new();
    }
    file.each_line(|line| {
        let named = |name: &str| after(code(line), name).next().is_some() || code(line).contains(&format!("{name}::"));
        let (name, home) = HOMES.iter().find(|(name, home)| named(name) && !file.under(home))?;
        Some(format!("{name} is named only in {home}"))
    })
}

fn starters(file: &File) -> Vec<String> {
    if !file.under("src") || STARTERS.iter().any(|room| file.under(room)) {
        return Vec::new();
    }
    let words = ["process::Command", "Command::new("];
    let objection =
        |at: usize| format!("{}:{}: programs are started only in {}", file.path, at + 1, STARTERS.join(", "));
    // A test may start what it needs.
    let product = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines().enumerate();
    product
        .filter(|(_, line)| words.iter().any(|word| code(line).contains(word)) && !line.contains("clap"))
        .map(|(at, _)| objection(at))
        .collect()
}

/// What is printed goes through the one writer that lets nothing steer the terminal.
fn one_printer(file: &File) -> Vec<String> {
    if !file.under("src") || file.path == PRINTER {
        return Vec::new();
    }
    let words = ["stdout().lock()", "stderr().lock()", "write!(std::io::std", "writeln!(std::io::std"];
    let found = |line: &str| words.iter().any(|word| code(line).contains(word)) && !line.contains(BATCH);
    file.each_line(|line| found(line).then(|| format!("what is printed goes through {PRINTER}")))
}

/// An editor's commands are named by its door alone; what lies below gives a code, see `src/base/hint.rs`.
fn hints_are_codes(file: &File) -> Vec<String> {
    if !file.under("src") || ["src/headless", "src/helix", "src/nvim"].iter().any(|door| file.under(door)) {
        return Vec::new();
    }
    let words = [":Agent", ":help ", ":checkhealth", ":edit!"];
    let named = |line: &str, word: &str| code(line).match_indices(word).any(|(at, _)| !code(line)[..at].ends_with(':'));
    file.each_line(|line| {
        let word = words.iter().find(|word| named(line, word))?;
        Some(format!("`{word}` belongs to Neovim's door: give a HintCode"))
    })
}

fn one_rpc_file(file: &File) -> Vec<String> {
    if !(file.under("lua") || file.under("plugin")) || file.path == RPC_FILE {
        return Vec::new();
    }
    file.each_line(|line| RPC_WORDS.iter().find(|word| line.contains(**word)).map(|w| format!("{w} is for {RPC_FILE}")))
}

fn quiet_plugin(file: &File) -> Vec<String> {
    if !file.under("plugin") {
        return Vec::new();
    }
    // What runs at start stands at the left margin; inside a function it runs when it is called.
    let outer = |line: &str| line.contains("require") && !line.starts_with([' ', '\t', '-']);
    file.each_line(|line| outer(line).then(|| "it requires something when Neovim starts".to_owned()))
}

/// A benchmark that nothing runs beside the tests would not notice a module that has moved.
fn lua_modules(file: &File) -> Vec<String> {
    if !file.is(".lua") {
        return Vec::new();
    }
    let is_there = |name: &str| {
        let path = repository().join("lua").join(name.replace('.', "/"));
        path.with_extension("lua").is_file() || path.join("init.lua").is_file()
    };
    file.each_line(|line| {
        let names = line.split('\'').skip(1).step_by(2).filter(|name| name.starts_with("sextant."));
        let modules = names.filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '_'));
        modules.filter(|name| !name.ends_with(".log")).find(|name| !is_there(name)).map(|name| format!("no {name}"))
    })
}

fn queries(file: &File) -> Vec<String> {
    let name = file.path.rsplit('/').next().unwrap_or("");
    if NEOVIM_QUERIES.contains(&name) { file.objection("Neovim would read this as its own") } else { Vec::new() }
}

fn languages(file: &File) -> Vec<String> {
    if !file.is(".rs") || !file.under("src") || file.is_test() || file.under("src/text/symbols/language_table") {
        return Vec::new();
    }
    if LANGUAGE_TABLES.iter().any(|(known, _)| file.path == *known) {
        return Vec::new();
    }
    let code = file.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let names = |line: &str| LANGUAGE_NAMES.iter().any(|name| line.contains(&format!("\"{name}\"")));
    let named = |(at, line): (usize, &str)| {
        let found = names(line) && !line.trim_start().starts_with("//");
        found.then(|| format!("{}:{}: it names a language: a fact of one belongs to its row", file.path, at + 1))
    };
    code.lines().enumerate().filter_map(named).collect()
}

fn machines(file: &File) -> Vec<String> {
    let exempt = ["Cargo.lock", "tests/tidy.rs"];
    if exempt.contains(&file.path.as_str()) {
        return Vec::new();
    }
    let hosts = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("pythonhosted", ".org"),
        concat!("npmjs", ".org"),
        concat!("proxy.golang", ".org"),
    ];
    let folders = [concat!("/", "root"), concat!("/", "tmp"), concat!("/", "home"), concat!("/", "work")];
    file.each_line(|line| {
        let host = hosts.iter().find(|host| line.contains(**host));
        let folder = folders.iter().find(|folder| !file.is_test() && names_folder(line, folder));
        host.or(folder).map(|what| format!("`{what}` is one machine's"))
    })
}

/// True if a line names an absolute folder, and not the end of another path or a longer word.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~*$)}]>".contains(c));
        let longer = line[at + folder.len()..].starts_with(|c: char| c.is_alphanumeric() || "_-(".contains(c));
        !inside && !longer
    })
}

fn undone(file: &File) -> Vec<String> {
    let source = file.is(".rs") || file.is(".lua") || file.is(".py") || file.is(".scm") || file.path == "Makefile";
    if !source || file.path == "tests/tidy.rs" || file.under("tests/fixtures") {
        return Vec::new();
    }
    let words = ["TODO", "FIXME", "XXX", "HACK"];
    let calls = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"];
    file.each_line(|line| {
        let whole = |word: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
        let word = words.iter().find(|word| whole(word));
        word.or(calls.iter().find(|call| line.contains(**call))).map(|word| format!("`{word}`"))
    })
}

/// Nouns that would stand in the plural behind a number of one.
const COUNTED: &[&str] = &[
    "files",
    "symbols",
    "steps",
    "errors",
    "calls",
    "runs",
    "lookups",
    "entries",
    "tokens",
    "edits",
    "attempts",
    "lines",
    "bytes",
    "seconds",
    "tests",
    "diagnostics",
    "exchanges",
    "fixes",
    "places",
    "warnings",
    "differences",
    "buffers",
    "tasks",
    "preferences",
    "pasos",
    "errores",
    "tareas",
    "archivos",
    "entradas",
];

/// What is counted goes through `base::plural` or `say.counted`.
fn counted(file: &File) -> Vec<String> {
    if file.is_test() || !(file.under("src") || file.under("lua")) {
        return Vec::new();
    }
    file.each_line(|line| {
        let behind = line.match_indices("} ").map(|(at, _)| &line[at + 2..]);
        let behind = behind.chain(line.match_indices("%d ").map(|(at, _)| &line[at + 3..]));
        let noun = |rest: &str| {
            let mut words = rest.split(|c: char| !c.is_alphabetic());
            let first = words.next().unwrap_or_default();
            let word =
                if ["more", "new", "other", "whole", "known"].contains(&first) { words.next() } else { Some(first) };
            word.filter(|word| COUNTED.contains(word)).map(str::to_owned)
        };
        let literal = line.contains('"') || line.contains('\'');
        let code = line.trim_start().starts_with("//") || line.contains("assert") || !literal;
        behind.filter(|_| !code).find_map(noun).map(|noun| format!("a number and `{noun}` in one text"))
    })
}

/// Source files of the same name: one of them is found by its name where the other one is meant.
fn same_names(files: &[File]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.under("src") || file.under("lua")) {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        if !["mod.rs", "lib.rs", "tests.rs", "Cargo.toml"].contains(&name) {
            places.entry(name).or_default().push(&file.path);
        }
    }
    let twice = places.into_values().filter(|places| places.len() > 1);
    twice.map(|places| format!("files have the same name: {}", places.join(", "))).collect()
}

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every text file of the repository; what builds and tools leave behind is not part of it.
fn files() -> Vec<File> {
    let mut out = Vec::new();
    let mut folders = vec![repository()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                let kept = name == ".ci" || name == ".github" || !name.starts_with('.');
                if kept && name != "target" && name != "__pycache__" && !path.is_symlink() {
                    folders.push(path);
                }
            } else if name == ".git" {
                // In a linked working tree this is a file, and not part of the repository.
            } else if let Ok(text) = fs::read_to_string(&path) {
                out.push(File { path: relative(&path), text });
            }
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap().to_string_lossy().replace('\\', "/")
}

#[test]
fn the_house_is_in_order() {
    let files = files();
    assert!(files.iter().any(|file| file.path == "src/lib.rs"), "the files were not found");
    let mut problems = Vec::new();
    for (name, rule) in RULES {
        problems.extend(files.iter().flat_map(rule).map(|problem| format!("{name}: {problem}")));
    }
    problems.extend(same_names(&files));
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn files_of_the_same_name_are_found() {
    let named = |paths: [&str; 2]| same_names(&paths.map(|path| File::new(path, ""))).len();
    assert_eq!(named(["src/base/plan.rs", "src/cli/plan.rs"]), 1);
    assert_eq!(named(["src/base/tests.rs", "src/cli/tests.rs"]) + named(["src/base/plan.rs", "tests/plan.rs"]), 0);
}

#[test]
fn every_rule_objects_to_what_it_forbids() {
    let long = "x\n".repeat(LINES + 1);
    let bad: &[(Rule, &str, &str)] = &[
        (engine_goes_down, "src/engine/edit/change.rs", "use crate::run::start;"),
        (engine_goes_down, "src/engine/edit/change.rs", "use crate::{\n    state::{task, session},\n    planner,\n};"),
        (engine_goes_down, "src/engine/target.rs", "crate::tools::tool_failure()"),
        (engine_goes_down, "src/engine/new/a.rs", ""),
        (hints_are_codes, "src/engine/edit/a.rs", "\"kept; :AgentUndo takes it back\""),
        (hints_are_codes, "src/cli/a.rs", "\"see :help sextant-models\""),
        (one_stream, "src/engine/run/start.rs", "session.editor.show(Event::Progress { text });"),
        (one_stream, "src/engine/edit/edit_transaction.rs", "editor.show(event);"),
        (one_stream, "src/engine/run/run_loop.rs", "task.trace.push(step, entry);"),
        (one_stream, FRONT_END, "editor.show(event);"),
        (observers_write_notes, "src/engine/run/run_loop.rs", "task.notes.calls_saved += 1;"),
        (observers_write_notes, "src/engine/run/run_loop.rs", "task.notes.count_on(counted);"),
        (observers_write_notes, "src/engine/run/start.rs", "let notes = &mut task.notes;"),
        (observers_write_notes, "src/engine/edit/edit_guard.rs", "task.counts.spent.pause(since);"),
        (observers_write_notes, "src/engine/commands/ask.rs", "let notes = Notes::count_on(counted);"),
        (paths_in_full, "src/a.rs", concat!("use super::", "super::x;")),
        (paths_in_full, "src/a.rs", concat!("use crate::", "*;")),
        (short, "src/a.rs", &long),
        (short, "lua/sextant/a.lua", &long),
        (first_line, "src/a.rs", "use std::fs;"),
        (first_line, "src/a.rs", "//! x"),
        (first_line, "lua/sextant/a.lua", "local M = {}"),
        (names, "src/base/util.rs", ""),
        (names, "src/helpers/a.rs", ""),
        (names, "lua/sextant/plan_manager.lua", ""),
        (homes, "src/store/a.rs", "use rusqlite::Row;"),
        (homes, "src/serve/a.rs", "rmcp::serve_server()"),
        (homes, "src/engine/editor/a.rs", "use lsp_types::Range;"),
        (starters, "src/engine/a.rs", "use std::process::Command;"),
        (starters, "src/engine/a.rs", "tokio::process::Command::new(\"ls\")"),
        (one_printer, "src/cli/a.rs", "let _ = writeln!(std::io::stderr(), \"x\");"),
        (one_printer, "src/engine/a.rs", "let mut out = std::io::stdout().lock();"),
        (one_rpc_file, "lua/sextant/a.lua", "vim.rpcnotify(1, 'x')"),
        (one_rpc_file, "plugin/sextant.lua", "vim.fn.jobstart({})"),
        (quiet_plugin, "plugin/sextant.lua", "local s = require('sextant')"),
        (queries, "queries/python/tags.scm", ""),
        (lua_modules, "benches/costs/a.lua", "local b = require('sextant.buffers')"),
        (languages, "src/engine/a.rs", "if language.name == \"python\" {}"),
        (machines, "README.md", concat!("see /", "tmp/x")),
        (machines, "src/a.rs", concat!("\"/", "home\"")),
        (machines, "tests/a.py", concat!("https://pypi", ".org/simple")),
        (undone, "src/a.rs", "// TODO: later"),
        (undone, "src/a.rs", "todo!()"),
        (undone, "src/a.rs", "#[ignore = \"slow\"]"),
        (counted, "src/a.rs", "format!(\"{} files\", n)"),
        (counted, "src/a.rs", "format!(\"{n} more entries\")"),
        (counted, "lua/sextant/a.lua", "('%d steps'):format(n)"),
    ];
    for (rule, path, text) in bad {
        assert!(!rule(&File::new(path, text)).is_empty(), "no objection to {path}: {text:.60}");
    }
    let good: &[(Rule, &str, &str)] = &[
        (engine_goes_down, "src/engine/edit/change.rs", "use crate::state::{run, task}; // crate::run::start"),
        (engine_goes_down, "src/engine/commands/ask.rs", "use crate::{edit, run::{run_loop, start}};"),
        (hints_are_codes, "src/engine/a.rs", "agent::Agent; // as :AgentUndo does"),
        (hints_are_codes, "src/nvim/nvim_wording.rs", "\":AgentUndo takes it back\""),
        (
            one_stream,
            "src/engine/run/start.rs",
            "session.emit(event); events.show(event); task.events.trace(1, entry);",
        ),
        (one_stream, FRONT_END, "self.0.show(event.clone());"),
        (
            observers_write_notes,
            "src/engine/run/run_loop.rs",
            "task.events.did(TaskFact::CallSaved); found.notes.push(x);",
        ),
        (
            observers_write_notes,
            "src/engine/task_budget.rs",
            "let spent = task.counts.spent.now(); task.notes.started()",
        ),
        (observers_write_notes, COUNTED_ON, "task.notes.count_on(self.counted);"),
        (short, "src/a/tests.rs", &long),
        (homes, "src/serve/mcp/a.rs", "use rmcp::model;"),
        (homes, "src/engine/a.rs", "let x = 1; // rusqlite::Row"),
        (starters, "src/diagnostics/command.rs", "tokio::process::Command::new(name)"),
        (one_rpc_file, RPC_FILE, "vim.rpcnotify(1, 'x')"),
        (quiet_plugin, "plugin/sextant.lua", "  require('sextant.command')"),
        (lua_modules, "benches/costs/a.lua", "local b = require('sextant.edit.buffers')"),
        (machines, "src/a.rs", "\"/workspace/symbol\" src/home ~/tmp/x"),
        (machines, "tests/a.rs", concat!("\"/", "tmp\"")),
        (undone, "src/a.rs", "let todos = 1;"),
    ];
    for (rule, path, text) in good {
        assert_eq!(rule(&File::new(path, text)), Vec::<String>::new(), "{path}: {text:.60}");
    }
}
