//! The documentation is true of the source, as far as text alone can tell: options, tags, events, flags.
//!
//! Nothing of the product is linked here.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every file with this ending below a folder, as text.
fn texts(folder: &Path, ending: &str) -> Vec<String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(texts(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            out.push(fs::read_to_string(path).unwrap());
        }
    }
    out
}

/// One row of the table of options.
#[derive(Clone, Debug, Default)]
struct Row {
    name: String,
    /// As LuaCATS writes it; the choices where there are some.
    kind: String,
    default: String,
    help: String,
}

/// The rows of `lua/sextant/options.lua`.
fn options(source: &str) -> Vec<Row> {
    let table = source.split_once("M.rows = {\n").expect("the rows").1.split_once("\n}").expect("their end").0;
    let mut rows = Vec::new();
    for line in table.lines().map(str::trim) {
        if line == "{" {
            rows.push(Row { default: "nil".to_owned(), ..Row::default() });
        }
        let (Some((key, value)), Some(row)) = (line.split_once(" = "), rows.last_mut()) else { continue };
        let value = value.strip_suffix(',').expect("a value a line");
        let text = value.trim_matches(['\'', '"']).to_owned();
        match key {
            "name" => row.name = text,
            "type" => row.kind = text,
            "choices" => row.kind = value.trim_matches(['{', '}', ' ']).replace(", ", "|"),
            "default" => row.default = value.to_owned(),
            "help" => row.help = text,
            _ => {}
        }
    }
    rows
}

/// The LuaCATS classes of the options, so that an editor completes `setup({`.
fn classes(rows: &[Row]) -> String {
    let mut sections: Vec<(String, String)> = vec![(String::new(), "---@class sextant.Options\n".to_owned())];
    for Row { name, kind, help, .. } in rows {
        let (section, key) = name.split_once('.').unwrap_or(("", name));
        if !sections.iter().any(|(known, _)| known == section) {
            sections[0].1 += &format!("---@field {section}? sextant.Options.{section}\n");
            sections.push((section.to_owned(), format!("---@class sextant.Options.{section}\n")));
        }
        let text = &mut sections.iter_mut().find(|(known, _)| known == section).expect("just put there").1;
        *text += &format!("---@field {key}? {kind} {help}\n");
    }
    sections.into_iter().map(|(_, text)| text + "\n").collect()
}

/// What stands between a tag and the next one.
fn entry<'t>(help: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = help.split_once(&format!("*{tag}*"))?;
    Some(rest.split_once(" *").map_or(rest, |(text, _)| text))
}

/// The options that the help leaves out, or gives another default.
fn undocumented(source: &str, help: &str) -> Vec<String> {
    let stated = |Row { name, default, .. }: &Row| {
        let text = entry(help, &format!("sextant-option-{name}"));
        text.is_some_and(|text| text.contains(&format!("Default: `{default}`\n")))
    };
    options(source).into_iter().filter(|option| !stated(option)).map(|row| row.name).collect()
}

/// The words of a text between two marks, without blanks in them.
fn between(text: &str, open: &str, close: char) -> BTreeSet<String> {
    let after = text.match_indices(open).map(|(at, _)| &text[at + open.len()..]);
    let words = after.filter_map(|rest| rest.split_once(close).map(|(word, _)| word));
    words.filter(|word| !word.is_empty() && !word.contains(char::is_whitespace)).map(str::to_owned).collect()
}

fn tags(help: &str) -> BTreeSet<String> {
    between(help, "*", '*')
}

#[test]
fn every_option_is_in_the_help_with_its_default() {
    let source = read("lua/sextant/options.lua");
    let names: Vec<String> = options(&source).into_iter().map(|row| row.name).collect();
    for known in ["binary", "model", "diagnostics.on_edit", "save", "quickfix.open", "window.height", "limits.steps"] {
        assert!(names.iter().any(|name| name == known), "{known} was not read: {names:?}");
    }
    let help = read("doc/sextant.txt");
    assert_eq!(undocumented(&source, &help), Vec::<String>::new());
    let row = "  {\n    name = 'extra.more',\n    type = 'integer',\n    default = 1,\n    help = 'x',\n  },\n";
    let more = source.replace("M.rows = {\n", &format!("M.rows = {{\n{row}")).replace("default = 20,", "default = 21,");
    assert_eq!(undocumented(&more, &help), ["extra.more", "diagnostics.max"], "the rule objects");
    for tag in tags(&help).iter().filter_map(|tag| tag.strip_prefix("sextant-option-")) {
        assert!(names.iter().any(|name| name == tag), "{tag} is no option any more");
    }
}

#[test]
fn every_option_is_a_field_that_an_editor_completes() {
    let source = read("lua/sextant/options.lua");
    let rows = options(&source);
    let wanted = classes(&rows);
    assert!(wanted.contains("---@field mode? 'planner'|'supervised' "), "{wanted}");
    assert!(source.contains(&wanted), "lua/sextant/options.lua needs these classes:\n{wanted}");
    let more = Row { name: "limits.more".to_owned(), kind: "integer".to_owned(), ..Row::default() };
    let more: Vec<Row> = rows.into_iter().chain([more]).collect();
    assert!(!source.contains(&classes(&more)), "the rule objects");
}

/// The rows that the health check of Neovim needs for the providers of models in the source of a dialect.
fn health_rows(source: &str) -> Vec<String> {
    let facts = source.match_indices("ProviderFacts {").map(|(at, _)| &source[at..]);
    let facts = facts.filter_map(|rest| rest.split_once('}')).map(|(facts, _)| facts);
    let text = |facts: &str, field: &str| {
        let (_, rest) = facts.split_once(&format!("{field}\""))?;
        rest.split_once('"').map(|(text, _)| text.to_owned())
    };
    let row = |facts: &str| {
        let (name, home) = (text(facts, "name: ")?, text(facts, "home: Some(")?);
        let url = home.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
        let key = text(facts, "key_variable: Some(").map(|key| format!(", key = '{key}'")).unwrap_or_default();
        Some(format!("{name} = {{ url = '{url}'{key} }}"))
    };
    facts.filter_map(row).collect()
}

#[test]
fn the_health_check_and_the_help_know_every_provider_of_models() {
    let rows: Vec<String> =
        texts(&repository().join("src/model/dialect"), "rs").iter().flat_map(|source| health_rows(source)).collect();
    assert!(
        rows.contains(&"openai = { url = 'https://api.openai.com', key = 'OPENAI_API_KEY' }".to_owned()),
        "{rows:?}"
    );
    assert!(rows.contains(&"ollama = { url = 'http://127.0.0.1:11434' }".to_owned()), "{rows:?}");
    let (health, help) = (read("lua/sextant/health_model.lua"), read("doc/sextant.txt"));
    for row in rows {
        assert!(health.contains(&row), "lua/sextant/health_model.lua needs the row {row}");
        let name = row.split(' ').next().unwrap_or_default();
        assert!(help.contains(&format!("`'{name}'`")), "doc/sextant.txt does not have the provider {name}");
    }
}

#[test]
fn every_option_of_a_model_is_in_the_help() {
    let source = read("src/model/model_options.rs");
    let (_, list) = source.split_once("OPTIONS: &[&str] = &[").expect("the list of options");
    let mut names: Vec<&str> = list.split_once(']').expect("its end").0.split('"').skip(1).step_by(2).collect();
    let reach = read("src/model/endpoint.rs");
    let (_, fields) = reach.split_once("pub struct RemoteConfig {").expect("the configuration");
    let fields = fields.split_once("\n}").expect("its end").0;
    names
        .extend(fields.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':')).map(|pair| pair.0));
    names.retain(|name| *name != "manner");
    assert!(names.len() >= 19, "{names:?}");
    let help = read("doc/sextant.txt");
    let (_, models) = help.split_once("*sextant-models*").expect("the section");
    let models = models.split_once("\n=====").expect("its end").0;
    for name in names {
        assert!(
            models
                .lines()
                .any(|line| line.trim_end() == format!("    {name}") || line.starts_with(&format!("    {name} "))),
            "{name}"
        );
    }
}

#[test]
fn every_help_tag_that_is_named_exists() {
    let help = read("doc/sextant.txt");
    let tags = tags(&help);
    let own = |tag: &String| tag.starts_with("sextant");
    let mut named: BTreeSet<String> = between(&help, "|", '|').into_iter().filter(own).collect();
    let mut sources = texts(&repository().join("src"), "rs");
    sources.extend(texts(&repository().join("lua"), "lua"));
    sources.push(read("README.md"));
    for text in &sources {
        for (at, found) in text.match_indices(":help sextant") {
            let rest = &text[at + found.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
            named.insert(format!("sextant{}", &rest[..end]));
        }
    }
    assert!(named.contains("sextant-options") && named.contains("sextant-models"), "{named:?}");
    let missing: Vec<&String> = named.iter().filter(|tag| !tags.contains(*tag)).collect();
    assert!(missing.is_empty(), "no such tag: {missing:?}");
    for tag in &tags {
        assert_eq!(help.matches(&format!("*{tag}*")).count(), 1, "{tag} twice");
    }
}

#[test]
fn every_command_and_event_is_in_the_help() {
    let help = tags(&read("doc/sextant.txt"));
    let commands = between(&read("plugin/sextant.lua"), "command('", '\'');
    let events = between(&read("lua/sextant/ui/show.lua"), "emit('", '\'');
    assert!(commands.contains("AgentAsk") && events.contains("SextantFinished"));
    for name in &commands {
        assert!(help.contains(&format!(":{name}")), ":{name} is not in the help");
        assert!(read("README.md").contains(&format!(":{name}")), ":{name} is not in the README");
    }
    for name in &events {
        assert!(help.contains(name), "{name} is not in the help");
    }
}

#[test]
fn every_flag_in_the_readme_exists() {
    let source = texts(&repository().join("src/cli"), "rs").join("\n");
    let readme = read("README.md");
    let shell: String =
        readme.lines().filter(|line| line.contains("sextant ask") || line.contains("sextant plan")).collect();
    let flags: BTreeSet<&str> = shell.split_whitespace().filter_map(|word| word.strip_prefix("--")).collect();
    assert!(flags.contains("approve"), "{flags:?}");
    for flag in flags {
        let field = flag.trim_matches('`').replace('-', "_");
        assert!(source.contains(&format!("{field}:")), "--{flag} does not exist");
    }
}

/// What the README says is missing, by the first words of each entry.
const MISSING: &[&str] = &[
    "Files of more than 10 MB",
    "The offline model does one thing",
    "Undo goes back as far",
    "Vue, Svelte, HTML",
    "Edits are checked by language servers, by the `commands`",
    "Sextant's own messages are in English",
];

/// The names of the subcommands, and what their help names in capitals: editors and protocols.
fn doors(source: &str) -> BTreeSet<String> {
    let variants =
        source.split_once("enum SextantCommand {").expect("the subcommands").1.split_once("\n}").expect("an end").0;
    let words = variants.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    let named = words.filter(|word| *word == "Helix" || word.chars().all(|c| c.is_ascii_uppercase()));
    named.map(str::to_owned).collect()
}

#[test]
fn what_the_readme_says_is_missing_is_missing() {
    let readme = read("README.md");
    let section = readme.split_once("## What it does not do yet\n").expect("the section").1;
    let entries: Vec<&str> =
        section.split("\n## ").next().unwrap().lines().filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(entries.len(), MISSING.len(), "{entries:#?}");
    for (entry, first) in entries.iter().zip(MISSING) {
        assert!(entry.starts_with(first), "{entry} is not in the list of what is missing");
    }
    let doors = doors(&read("src/cli/mod.rs"));
    assert!(["MCP", "LSP"].iter().all(|door| doors.contains(*door)), "{doors:?}");
    for door in doors.iter().map(String::as_str).chain(["JSON-RPC", "Helix"]) {
        let denies = |entry: &&&str| entry.contains(door) && entry.contains("not there");
        assert_eq!(entries.iter().find(denies), None, "{door} is there");
    }
    let table = readme.split_once("## Languages\n").expect("the table").1.split("\n## ").next().unwrap().to_lowercase();
    for folder in fs::read_dir(repository().join("queries")).unwrap().flatten() {
        let name = folder.file_name().into_string().unwrap();
        let shown = match name.as_str() {
            "cpp" => "c++",
            "csharp" => "c#",
            "bash" => "shell",
            "ecmascript" => "javascript",
            name => name,
        };
        assert!(table.contains(shown), "{name} is not in the table of languages");
    }
    assert_eq!(readme.matches("Exit statuses").count(), 1, "exit statuses are described once");
    assert!(!section.contains("by language servers only"), "commands and the parser check edits too");
}

#[test]
fn the_page_about_security_has_what_a_server_is_asked_to_run() {
    assert!(
        read("src/diagnostics/server/server_code_actions.rs").contains("ExecuteCommandRequest"),
        "a server's commands are sent"
    );
    assert!(read("SECURITY.md").contains("`workspace/executeCommand`"), "the page says so");
}

#[test]
fn the_map_of_the_source_has_every_crate() {
    let map = read("doc/architecture.md");
    for entry in fs::read_dir(repository().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let room = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!path.is_dir() || map.contains(&format!("| `src/{room}` |")), "{room} is not in the table of crates");
    }
    for (at, _) in map.match_indices("`src/").chain(map.match_indices("`lua/")).chain(map.match_indices("`tests/")) {
        let name = map[at + 1..].split('`').next().unwrap();
        assert!(repository().join(name).exists(), "{name} is named and does not exist");
    }
}

/// A method as the reference shows it.
struct RpcMethod {
    name: String,
    what: String,
    parameters: String,
    answer: String,
    example: String,
}

/// The methods of a trait, from its text: documentation, name, signature.
fn rpc_methods(source: &str) -> Vec<RpcMethod> {
    let Some((head, body)) = source.split_once("namespace = \"") else { return Vec::new() };
    assert!(head.contains("#[rpc("), "a namespace of something else");
    let (namespace, body) = body.split_once('"').expect("its end");
    let (mut what, mut example, mut out) = (Vec::new(), String::new(), Vec::new());
    let mut lines = body.lines().map(str::trim).peekable();
    let mut name = String::new();
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("/// Example: ") {
            text.trim_matches('`').clone_into(&mut example);
        } else if let Some(text) = line.strip_prefix("/// ") {
            what.push(text);
        } else if let Some((_, rest)) = line.split_once("name = \"") {
            name = format!("{namespace}/{}", rest.split('"').next().unwrap_or_default());
        } else if line.starts_with("async fn ") {
            let mut signature = line.to_owned();
            while !signature.ends_with(';') {
                signature.push_str(lines.next().expect("the rest of a signature"));
                signature.push(' ');
                signature = signature.trim_end().to_owned();
            }
            let (given, answer) = signature.split_once(") -> ").expect("an answer");
            let parameters = given.split_once("&self").expect("a method").1;
            let parameters = parameters.trim_matches([',', ' ']).replace(",", ", ").replace(",  ", ", ");
            let answer = answer.trim_end_matches(';').strip_prefix("Result<");
            let answer = match answer.and_then(|answer| answer.strip_suffix(", CallError>")) {
                Some(answer) => answer.to_owned(),
                None => "Delivery, many times".to_owned(),
            };
            let (name, example) = (std::mem::take(&mut name), std::mem::take(&mut example));
            let what = std::mem::take(&mut what).join(" ");
            out.push(RpcMethod {
                name,
                what,
                parameters: parameters.trim_end_matches([',', ' ']).to_owned(),
                answer,
                example,
            });
        }
    }
    out
}

/// The part of `doc/rpc.md` that is made from the traits.
fn rpc_reference() -> String {
    let mut sources = Vec::new();
    for entry in fs::read_dir(repository().join("src/serve/rpc/api")).unwrap() {
        sources.push(entry.unwrap().path());
    }
    sources.sort();
    let mut out = String::new();
    for source in sources {
        let text = fs::read_to_string(&source).unwrap();
        for method in rpc_methods(&text) {
            let RpcMethod { name, what, parameters, answer, example } = method;
            assert!(!what.is_empty() && !example.is_empty(), "{name} lacks words or an example");
            let parameters = if parameters.is_empty() { "none".to_owned() } else { format!("`{parameters}`") };
            let answer = if answer == "()" { "none".to_owned() } else { format!("`{answer}`") };
            out += &format!(
                "### {name}\n\n{what}\n\n- Parameters: {parameters}\n- Answer: {answer}\n\n```json\n\
                 {{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"{name}\", \"params\": {example}}}\n```\n\n"
            );
        }
    }
    out
}

#[test]
fn the_reference_of_the_methods_is_made_from_them() {
    let path = repository().join("doc/rpc.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, standing) = text.split_once("## Methods\n\n").expect("the methods");
    let made = rpc_reference();
    assert!(made.matches("### ").count() > 20, "{made}");
    if std::env::var_os("SEXTANT_WRITE_REFERENCE").is_some() {
        fs::write(&path, format!("{head}## Methods\n\n{}\n", made.trim_end())).unwrap();
        return;
    }
    assert!(
        standing.trim_end() == made.trim_end(),
        "doc/rpc.md is behind the traits: SEXTANT_WRITE_REFERENCE=1 cargo test --test docs writes it"
    );
}
