//! Changes Helix's own configuration so that Sextant stands before its language servers.
//!
//! The changes are pure, of two documents; everything else in them stays as it is, comments too.

use std::path::Path;

use toml_edit::{Array, DocumentMut, InlineTable, Item, TableLike, Value, value};

use crate::cli::setup::helix_servers::{self, LANGUAGES};
use crate::cli::setup::key_places::{self, KeyPlace, MODES};
use crate::cli::setup::tables;

/// The name of the server without a server behind it, for Markdown and the pages of the agent.
pub(super) const ALONE: &str = "sextant";

/// The keys before those of the agent's commands, where the user names no others.
pub(in crate::cli) const PREFIX: &str = "space A";

/// The user's settings that would have been changed, and are left as they are.
pub(super) type SetupNotes = Vec<String>;

/// The keys, and the text that each types. Those that end in `<left>` leave the prompt open, between the quotes. A server
/// does not learn which buffer has the focus: a command about one names it. Helix lists the beginnings of these texts
/// beside the keys, so the name of each command tells it from the others.
const KEYS: &[(&str, &str)] = &[
    (
        "a",
        "@:lsp-workspace-command agent.ask-lines {\"lines\":[%{selection_line_start},%{selection_line_end}],\"buffer\":\"%{buffer_name}\"} \"\"<left>",
    ),
    ("f", "@:lsp-workspace-command agent.ask-file {\"buffer\":\"%{buffer_name}\"} \"\"<left>"),
    ("F", "@:lsp-workspace-command agent.ask-workspace \"\"<left>"),
    (
        "e",
        ":lsp-workspace-command agent.ask-page {\"lines\":[%{selection_line_start},%{selection_line_end}],\"buffer\":\"%{buffer_name}\"}",
    ),
    ("p", "@:lsp-workspace-command agent.plan {\"buffer\":\"%{buffer_name}\"} \"\"<left>"),
    ("P", ":lsp-workspace-command agent.plan"),
    ("c", "@:lsp-workspace-command agent.change \"\"<left>"),
    ("y", ":lsp-workspace-command agent.approve"),
    ("n", ":lsp-workspace-command agent.step"),
    ("r", "@:lsp-workspace-command agent.answer \"\"<left>"),
    ("b", ":lsp-workspace-command agent.apply {\"line\":%{cursor_line},\"buffer\":\"%{buffer_name}\"}"),
    ("s", ":lsp-workspace-command agent.stop"),
    ("u", ":lsp-workspace-command agent.undo"),
    ("U", ":lsp-workspace-command agent.redo"),
    ("g", ":lsp-workspace-command agent.resume"),
    ("m", "@:lsp-workspace-command agent.mode \"\"<left>"),
    ("o", ":lsp-workspace-command agent.show"),
    ("d", ":lsp-workspace-command agent.diagnostics {\"buffer\":\"%{buffer_name}\"}"),
    ("D", ":lsp-workspace-command agent.diff"),
    ("h", ":lsp-workspace-command agent.history"),
    ("i", ":lsp-workspace-command agent.stats"),
    ("w", ":lsp-workspace-command agent.why"),
];

/// Puts `program` before the servers of each language for which the user has named servers, or has them installed.
/// A language of `alone` gets the commands without a server.
pub(super) fn languages(
    document: &mut DocumentMut,
    program: &str,
    installed: impl Fn(&str) -> bool,
    alone: &[String],
) -> SetupNotes {
    let mut notes = SetupNotes::new();
    if tables::languages(document).is_none() {
        notes.push("`language` is not a list of tables and stays; no language has commands".to_owned());
    }
    let mut first: Vec<String> = Vec::new();
    let mut other: Vec<String> = Vec::new();
    for (language, servers) in wanted(document, &installed) {
        let mut proxied = servers.iter().filter(|name| starts(document, name, program).is_some());
        let Some(carries) = proxied.next() else { continue };
        first.push(carries.clone());
        other.extend(proxied.cloned());
        if !list(document, &language, &servers) {
            notes.push(format!(
                "the language-servers of {language} are not a list and stay; {language} has no commands"
            ));
        }
    }
    notes.extend(serve_alone(document, alone));
    for name in other.iter().filter(|name| first.contains(name)) {
        notes.push(format!("{name} is the first server of one language and a further one of another; where Helix says that two servers have a command, take it out of one list"));
    }
    let all = first.iter().map(|name| (name, true)).chain(other.iter().map(|name| (name, false)));
    let mut done: Vec<&String> = Vec::new();
    for (name, carries) in all {
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        if let Some(command) = starts(document, name, program) {
            proxy(document, name, program, carries, &command);
        }
    }
    notes.extend(serve_pages(document, installed("marksman")));
    start_with(document, ALONE, program, ["lsp"].into_iter().collect());
    notes
}

/// Gives languages without a server the commands.
fn serve_alone(document: &mut DocumentMut, alone: &[String]) -> SetupNotes {
    let mut notes = SetupNotes::new();
    for language in alone {
        if listed(document, language).is_some_and(|servers| servers.iter().any(|name| name != ALONE)) {
            notes.push(format!("{language} has servers of its own, and the commands with them"));
        } else if !list(document, language, &[ALONE.to_owned()]) {
            notes.push(format!("the language-servers of {language} are not a list and stay"));
        }
    }
    notes
}

/// Serves Markdown, the language of the agent's pages.
fn serve_pages(document: &mut DocumentMut, marksman: bool) -> Option<String> {
    let mut markdown =
        listed(document, "markdown").unwrap_or_else(|| marksman.then(|| "marksman".to_owned()).into_iter().collect());
    if !markdown.iter().any(|name| name == ALONE) {
        markdown.push(ALONE.to_owned());
    }
    let note = "the language-servers of markdown cannot be changed; the pages of the agent have no commands";
    let note = (!list(document, "markdown", &markdown)).then(|| note.to_owned());
    // The lines of an answer are as long as its paragraphs.
    if let Some(markdown) = tables::language_mut(document, "markdown")
        && !markdown.contains_key("soft-wrap")
    {
        let mut wrap = InlineTable::new();
        wrap.insert("enable", true.into());
        markdown.insert("soft-wrap", value(wrap));
    }
    note
}

/// Languages with the names of their servers: from the user's list, else the installed ones.
fn wanted(document: &DocumentMut, installed: &impl Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for name in tables::languages(document).unwrap_or_default().into_iter().filter_map(tables::name_of) {
        if let Some(servers) = listed(document, name).filter(|servers| name != "markdown" && *servers != [ALONE]) {
            out.push((name.to_owned(), servers));
        }
    }
    let unlisted = |name: &str| listed(document, name).is_none_or(|servers| servers == [ALONE]);
    for language in LANGUAGES.iter().filter(|language| unlisted(language.name)) {
        let there = |name: &&&str| helix_servers::named(name).is_some_and(|server| installed(server.program));
        let servers = language.groups.iter().filter_map(|group| group.iter().find(there));
        let servers: Vec<String> = servers.map(|name| (*name).to_owned()).collect();
        if !servers.is_empty() {
            out.push((language.name.to_owned(), servers));
        }
    }
    out
}

/// The user's own list of a language, by names.
pub(super) fn listed(document: &DocumentMut, language: &str) -> Option<Vec<String>> {
    let list = tables::language(document, language)?.get("language-servers")?.as_array()?;
    Some(list.iter().filter_map(listed_name).map(str::to_owned).collect())
}

/// The server that an entry of a list names.
pub(super) fn listed_name(entry: &Value) -> Option<&str> {
    let table = entry.as_inline_table().and_then(|table| table.get("name"));
    entry.as_str().or(table.and_then(Value::as_str))
}

/// Writes the list of a language; existing entries stay as they are written. False if another kind of value is in its
/// place.
fn list(document: &mut DocumentMut, language: &str, servers: &[String]) -> bool {
    if tables::languages(document).is_none() {
        return false;
    }
    if tables::language(document, language).is_none() {
        tables::add_language(document, language);
    }
    let Some(table) = tables::language_mut(document, language) else { return false };
    let entry = table.entry("language-servers").or_insert_with(|| value(Array::new()));
    let Some(list) = entry.as_array_mut() else { return false };
    for server in servers {
        if !list.iter().any(|entry| listed_name(entry) == Some(server)) {
            list.push(server.as_str());
        }
    }
    true
}

/// The command of a server: the user's, else the known one. `None` for an unknown server.
fn starts(document: &DocumentMut, name: &str, own_program: &str) -> Option<Vec<String>> {
    if name == ALONE {
        return None;
    }
    let (command, words) = given(document, name);
    // If Sextant already stands before it, the command behind is used.
    let ours = command.as_deref().zip(words.as_deref()).and_then(|(given, words)| behind(given, words, own_program));
    if let Some((_, behind)) = ours {
        return Some(behind.to_vec()).filter(|command| !command.is_empty());
    }
    let known = helix_servers::named(name);
    let program = command.or_else(|| known.map(|known| known.program.to_owned()))?;
    let arguments = words.unwrap_or_else(|| {
        known.map(|known| known.arguments.iter().map(|word| (*word).to_owned()).collect()).unwrap_or_default()
    });
    Some(std::iter::once(program).chain(arguments).collect())
}

/// The command and the arguments that the file starts a server with.
pub(super) fn given(document: &DocumentMut, name: &str) -> (Option<String>, Option<Vec<String>>) {
    let server = document.get("language-server").and_then(|servers| servers.get(name));
    let of = |key| server.and_then(|server| server.get(key));
    let words = of("args").and_then(Item::as_array);
    let words = words.map(|words| words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    (of("command").and_then(Item::as_str).map(str::to_owned), words)
}

/// The options of a command that is Sextant as a proxy, and the command of the server behind it, empty for none. Other
/// programs have a subcommand of that name too.
pub(super) fn behind<'a>(command: &str, words: &'a [String], own: &str) -> Option<(&'a [String], &'a [String])> {
    let ours = command == own || is_sextant(command);
    let words = words.split_first().filter(|(word, _)| ours && *word == "lsp")?.1;
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    Some((&words[..at], words.get(at + 1..).unwrap_or_default()))
}

pub(super) fn is_sextant(command: &str) -> bool {
    Path::new(command).file_name().is_some_and(|name| name == "sextant")
}

fn proxy(document: &mut DocumentMut, name: &str, program: &str, carries: bool, command: &[String]) {
    let mut words = vec!["lsp"];
    words.extend((!carries).then_some("--quiet"));
    words.push("--");
    let arguments = words.into_iter().chain(command.iter().map(String::as_str)).collect();
    start_with(document, name, program, arguments);
}

/// Sets the command of a server; the rest of its table stays. A value that is not a table is not changed.
fn start_with(document: &mut DocumentMut, name: &str, program: &str, arguments: Array) {
    let server = tables::table_at(document.as_item_mut(), &["language-server", name]);
    if let Some(server) = server.and_then(Item::as_table_like_mut) {
        tables::put(server, "command", program.into());
        tables::put(server, "args", Value::Array(arguments));
    }
}

/// Puts the keys behind others (`space A`), in normal and in select mode. With one of them taken, neither gets new ones.
pub(super) fn keys(document: &mut DocumentMut, prefix: &str) -> SetupNotes {
    let note = key_places::taken(document, prefix);
    for mode in MODES {
        let owner = key_places::owner(document, mode, prefix);
        if owner == KeyPlace::Agents || (owner == KeyPlace::Free && note.is_none()) {
            let table = tables::table_at(document.as_item_mut(), &key_places::path(mode, prefix));
            table.and_then(Item::as_table_like_mut).into_iter().for_each(put_keys);
        }
    }
    if let Some(lsp) = tables::table_at(document.as_item_mut(), &["editor", "lsp"])
        && lsp.get("display-progress-messages").is_none()
    {
        lsp["display-progress-messages"] = value(true);
    }
    note.into_iter().collect()
}

/// The keys that are not there yet.
fn put_keys(keys: &mut dyn TableLike) {
    for (key, typed) in KEYS {
        if !keys.contains_key(key) {
            tables::put(keys, key, (*typed).into());
        }
    }
}

/// True if keys of the agent are there; the user may have put others beside them.
pub(super) fn is_ours(item: &Item) -> bool {
    let ours = |(_, key): (&str, &Item)| key.as_str().is_some_and(|typed| typed.contains("agent."));
    item.as_table_like().is_some_and(|table| table.is_empty() || table.iter().any(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, installed: &[&str]) -> (String, SetupNotes) {
        let mut document: DocumentMut = text.parse().unwrap();
        let notes = languages(&mut document, "sextant", |program| installed.contains(&program), &[]);
        (document.to_string(), notes)
    }

    #[test]
    fn a_language_without_a_server_has_the_commands_on_request_and_its_server_later() {
        let mut document = DocumentMut::new();
        let wish = ["typescript".to_owned()];
        assert!(languages(&mut document, "sextant", |_| false, &wish).is_empty());
        let text = document.to_string();
        assert!(text.contains("name = \"typescript\"\nlanguage-servers = [\"sextant\"]"), "{text}");
        let (later, _) = changed(&text, &["typescript-language-server"]);
        assert!(later.contains("[\"sextant\", \"typescript-language-server\"]"), "{later}");
        let (both, _) = changed("", &["typescript-language-server", "vtsls"]);
        assert!(both.contains("name = \"tsx\"\nlanguage-servers = [\"vtsls\"]"), "{both}");
        let notes = languages(&mut later.parse().unwrap(), "sextant", |_| false, &wish);
        assert!(notes[0].contains("servers of its own"), "{notes:?}");
    }

    #[test]
    fn what_is_installed_stands_behind_sextant_and_one_server_has_the_commands() {
        let (text, notes) = changed("", &["basedpyright-langserver", "ruff", "ty", "marksman"]);
        assert!(notes.is_empty(), "{notes:?}");
        for part in [
            "name = \"python\"\nlanguage-servers = [\"basedpyright\", \"ruff\"]",
            "[language-server.basedpyright]\ncommand = \"sextant\"\nargs = [\"lsp\", \"--\", \"basedpyright-langserver\", \"--stdio\"]",
            "args = [\"lsp\", \"--quiet\", \"--\", \"ruff\", \"server\"]",
            "name = \"markdown\"\nlanguage-servers = [\"marksman\", \"sextant\"]",
            "[language-server.sextant]\ncommand = \"sextant\"\nargs = [\"lsp\"]",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let again = changed(&text, &["basedpyright-langserver", "ruff", "ty", "marksman"]).0;
        assert_eq!(again, text, "doing it twice is doing it once");
        let document: toml::Table = text.parse().unwrap();
        assert_eq!(document["language"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_server_whose_subcommand_is_lsp_is_not_taken_for_ours() {
        let text = "[[language]]\nname = \"typescript\"\nlanguage-servers = [\"deno\", \"before\"]\n\n[language-server.deno]\ncommand = \"deno\"\nargs = [\"lsp\"]\n\n[language-server.before]\ncommand = \"/opt/sextant\"\nargs = [\"lsp\", \"--\", \"tsls\", \"--stdio\"]\n";
        let (new, _) = changed(text, &[]);
        assert!(new.contains("command = \"sextant\"\nargs = [\"lsp\", \"--\", \"deno\", \"lsp\"]"), "{new}");
        assert!(new.contains("args = [\"lsp\", \"--quiet\", \"--\", \"tsls\", \"--stdio\"]"), "{new}");
        assert_eq!(changed(&new, &[]).0, new, "doing it twice is doing it once");
    }

    #[test]
    fn what_the_user_has_stays_with_its_comments() {
        let text = "# mine\n[[language]]\nname = \"python\" # the snake\nauto-format = true\nlanguage-servers = [{ name = \"own\", only-features = [\"hover\"] }, \"ruff\"]\n\n[language-server.own]\ncommand = \"own-ls\" # here\nargs = [\"--x\"]\nconfig = { a = 1 }\n";
        let (new, _) = changed(text, &["ruff"]);
        for part in [
            "# mine\n",
            "name = \"python\" # the snake\nauto-format = true\n",
            "{ name = \"own\", only-features = [\"hover\"] }, \"ruff\"]",
            "args = [\"lsp\", \"--\", \"own-ls\", \"--x\"]",
            "config = { a = 1 }",
            "\"--quiet\", \"--\", \"ruff\"",
        ] {
            assert!(new.contains(part), "{part} in\n{new}");
        }
    }

    #[test]
    fn the_list_of_keys_tells_each_by_the_name_of_its_command() {
        let mut names: Vec<&str> = Vec::new();
        for (key, typed) in KEYS {
            let name = typed.split(' ').find(|word| word.starts_with("agent.")).unwrap();
            assert!(*key == "P" || !names.contains(&name), "{key}: {name}");
            assert!(typed.find(name).unwrap() + name.len() <= 60, "a narrow screen shows it: {typed}");
            names.push(name);
        }
    }

    #[test]
    fn keys_are_put_where_none_are_and_never_over_others() {
        let mut document: DocumentMut = "theme = \"x\" # mine\n[keys.normal]\nC-s = \":w\"\n".parse().unwrap();
        assert!(keys(&mut document, PREFIX).is_empty());
        let text = document.to_string();
        assert!(text.starts_with("theme = \"x\" # mine\n") && text.contains("C-s = \":w\"\n"), "{text}");
        assert!(text.contains("[keys.normal.space.A]\n") && text.contains("[keys.select.space.A]\n"), "{text}");
        assert!(text.contains("display-progress-messages = true"), "{text}");
        assert!(keys(&mut document, PREFIX).is_empty());
        assert_eq!(document.to_string(), text);
        let _: toml::Table = text.parse().unwrap();
        let mut taken: DocumentMut =
            "[keys.normal.space]\nA = \":w\"\n[editor.lsp]\ndisplay-progress-messages = false\n".parse().unwrap();
        assert_eq!(keys(&mut taken, PREFIX).len(), 1);
        assert!(!taken.to_string().contains("agent."), "select mode alone is no setup: {taken}");
        assert!(taken.to_string().contains("A = \":w\"\n") && taken.to_string().contains("messages = false"));
        let mut flat: DocumentMut = "keys = 3\n".parse().unwrap();
        assert_eq!(keys(&mut flat, PREFIX).len(), 1);
        assert!(keys(&mut taken, "space B").is_empty() && keys(&mut taken, "C-a").is_empty());
        let text = taken.to_string();
        assert!(text.contains("[keys.normal.space.B]\n") && text.contains("[keys.select.C-a]\n"), "{text}");
        assert!(text.contains("A = \":w\"\n"), "{text}");
    }
}
