//! Records the values that setup has written into a user's file, and makes the file without them; the rest stays.

use serde::{Deserialize, Serialize};
use toml_edit::{Array, DocumentMut, Item, Key, Table, TableLike, Value};

use crate::cli::setup::helix_config::{ALONE, behind, listed_name};
use crate::cli::setup::tables;

/// One value that setup has put into a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenLine {
    /// A language goes by its name: `language`, `python`, `language-servers`.
    path: Vec<String>,
    /// As TOML. `None` if there was no value.
    was: Option<String>,
    set: String,
}

/// The changes of one file by all runs of setup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrittenLines {
    /// The whole text of the last write, as long as no other program has changed the file since the first run.
    pub(super) text: Option<String>,
    lines: Vec<WrittenLine>,
}

/// A file without the values of setup.
pub(super) struct UndoneFile {
    pub(super) document: DocumentMut,
    /// Values of setup that the user has changed since and that still lead to Sextant.
    pub(super) changed: Vec<String>,
}

impl WrittenLine {
    fn set(&self) -> Option<Value> {
        self.set.parse().ok()
    }

    fn is_name_of_language(&self) -> bool {
        matches!(&self.path[..], [language, _, key] if language == "language" && key == "name")
    }
}

impl WrittenLines {
    /// Adds the values that one more run has put from `before` to `after`; `texts` are the two files.
    pub(super) fn and(mut self, before: &DocumentMut, after: &DocumentMut, texts: (&str, &str)) -> Self {
        let alone = self.lines.is_empty() || self.text.as_deref() == Some(texts.0);
        self.text = alone.then(|| texts.1.to_owned());
        let shown = |value: &Value| value.clone().decorated("", "").to_string();
        let had = tables::values(before);
        for (path, value) in tables::values(after) {
            let old = had.iter().find(|(known, _)| *known == path).map(|(_, value)| *value);
            if old.is_some_and(|old| tables::same(old, value)) {
                continue;
            }
            let known = self.lines.iter().position(|line| line.path == path).map(|at| self.lines.remove(at));
            // A value of an earlier run is not the user's.
            let ours = known.filter(|line| line.set().zip(old).is_some_and(|(set, old)| tables::same(&set, old)));
            let was = ours.map_or_else(|| old.map(shown), |line| line.was);
            self.lines.push(WrittenLine { path, was, set: shown(value) });
        }
        self
    }

    /// The document without these values. Tables that are empty then go too, but for those of `before`. `all` also
    /// removes the values that the user has changed since.
    pub(super) fn undone(&self, now: &DocumentMut, before: &DocumentMut, all: bool) -> UndoneFile {
        let (document, changed, comments) = (now.clone(), Vec::new(), String::new());
        let mut undoing = Undoing { written: self, before, all, document, changed, comments };
        self.lines.iter().for_each(|line| undoing.take_back(line));
        self.lines.iter().for_each(|line| undoing.prune(&line.path));
        let Undoing { mut document, changed, comments, .. } = undoing;
        if !comments.is_empty() {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{trailing}{comments}"));
        }
        UndoneFile { document, changed }
    }

    fn of(&self, table: &[String], key: &str) -> Option<&WrittenLine> {
        self.lines.iter().find(|line| line.path.split_last().is_some_and(|(last, above)| last == key && above == table))
    }
}

struct Undoing<'a> {
    written: &'a WrittenLines,
    before: &'a DocumentMut,
    all: bool,
    document: DocumentMut,
    changed: Vec<String>,
    /// Lines above the removed value.
    comments: String,
}

impl Undoing<'_> {
    fn take_back(&mut self, line: &WrittenLine) {
        let (Some((key, above)), Some(set)) = (line.path.split_last(), line.set()) else { return };
        if line.is_name_of_language() {
            return;
        }
        if above.first().is_some_and(|first| first == "language-server") {
            return self.server(above);
        }
        let Some(holder) = tables::holder(&mut self.document, &line.path) else { return };
        let Some(now) = holder.get(key).and_then(Item::as_value) else { return };
        let ours = now.as_str().is_some_and(|typed| typed.contains("agent."));
        if tables::same(now, &set) || ours && self.all {
            restore(holder, line, &mut self.comments);
        } else if ours {
            self.changed.push(line.path.join("."));
        } else if let (Some(list), Some(set)) = (holder.get_mut(key).and_then(Item::as_array_mut), set.as_array()) {
            let was: Option<Value> = line.was.as_deref().and_then(|was| was.parse().ok());
            without(list, set, was.as_ref().and_then(Value::as_array));
        }
    }

    /// Undoes the program and the arguments together: a server that was undone by half would not start.
    fn server(&mut self, table: &[String]) {
        let lines = ["command", "args"].map(|key| self.written.of(table, key));
        let [program_set, words_set] = lines.map(|line| line.and_then(WrittenLine::set));
        let Some(server) = tables::holder(&mut self.document, &[table, &["command".to_owned()]].concat()) else {
            return;
        };
        let Some(program) = server.get("command").and_then(Item::as_str).map(str::to_owned) else { return };
        let now = words(server.get("args").and_then(Item::as_value));
        let own = program_set.as_ref().and_then(Value::as_str).unwrap_or(&program);
        // Otherwise the value is the user's by now.
        let Some((_, inner)) = behind(&program, &now, own) else { return };
        let set = words(words_set.as_ref());
        if (program != own || now != set) && !self.all {
            let name = table.join(".");
            if !self.changed.contains(&name) {
                self.changed.push(name);
            }
            return;
        }
        // The user may have changed the command of the server itself.
        let as_set = behind(own, &set, own).is_none_or(|(_, was)| was == inner);
        match inner.split_first().filter(|_| !as_set) {
            Some((program, rest)) => {
                tables::put(server, "command", program.as_str().into());
                tables::put(server, "args", Value::Array(rest.iter().map(String::as_str).collect::<Array>()));
            }
            None => lines.into_iter().flatten().for_each(|line| restore(server, line, &mut self.comments)),
        }
    }

    /// Removes the tables on a path that are empty now and were not there before, from the innermost one.
    fn prune(&mut self, path: &[String]) {
        let language = path.get(1).filter(|_| path[0] == "language");
        self.prune_tables(path, if language.is_some() { 3 } else { 1 });
        if let Some(name) = language {
            let made = self.written.of(&path[..2], "name").is_some_and(|line| line.was.is_none());
            let left = |table: &dyn TableLike| table.iter().any(|(key, _)| key != "name");
            if made && tables::language(&self.document, name).is_some_and(|table| !left(table)) {
                let above = tables::remove_language(&mut self.document, name);
                self.comments.push_str(&comments(&above));
            }
        }
    }

    /// The same for the tables below the first so many parts of the path.
    fn prune_tables(&mut self, path: &[String], from: usize) {
        let mut before = self.before.clone();
        for end in (from..path.len()).rev() {
            let (path, key) = (&path[..end], &path[end - 1]);
            let Some(holder) = tables::holder(&mut self.document, path) else { continue };
            let empty = holder.get(key).and_then(Item::as_table_like).is_some_and(TableLike::is_empty);
            if empty && !tables::holder(&mut before, path).is_some_and(|table| table.contains_key(key)) {
                let above = holder.get(key).and_then(Item::as_table).map(Table::decor);
                self.comments.push_str(&comments(&tables::text(above.and_then(|decor| decor.prefix()))));
                holder.remove(key);
            }
        }
    }
}

/// Restores the earlier value, or removes the value if there was none. The lines above a removed value are kept.
fn restore(table: &mut dyn TableLike, line: &WrittenLine, above: &mut String) {
    let Some(key) = line.path.last() else { return };
    match line.was.as_deref().map(str::parse::<Value>) {
        Some(Ok(was)) => tables::put(table, key, was),
        Some(Err(_)) => {}
        None => {
            let decor = table.key(key).map(Key::leaf_decor);
            above.push_str(&comments(&tables::text(decor.and_then(|decor| decor.prefix()))));
            table.remove(key);
        }
    }
}

/// The comments among these lines.
fn comments(above: &str) -> String {
    above.lines().filter(|line| line.trim_start().starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// Removes setup's entries from a list that the user has changed since. If there was no list before, the entries that
/// can be started without Sextant stay: Helix would start nothing else.
fn without(list: &mut Array, set: &Array, was: Option<&Array>) {
    let named = |list: &Array, name: &str| list.iter().any(|entry| listed_name(entry) == Some(name));
    let ours = |name: &str| match was {
        Some(was) => named(set, name) && !named(was, name),
        None => name == ALONE,
    };
    for at in (0..list.len()).rev() {
        if list.get(at).and_then(listed_name).is_some_and(ours) {
            let gone = list.remove(at);
            if let Some(first) = list.get_mut(0).filter(|_| at == 0) {
                first.decor_mut().set_prefix(tables::text(gone.decor().prefix()));
            }
        }
    }
}

fn words(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "[language-server.own]\ncommand = \"own-ls\" # mine\nargs = [\"--x\"]\n";

    fn read(text: &str) -> DocumentMut {
        text.parse().unwrap()
    }

    /// The rest of a file that was set up with these two servers and a key, and changed by the user then.
    fn undone(change: &[(&str, &str)], all: bool) -> (String, Vec<String>) {
        let set = "[language-server.own]\ncommand = \"sextant\" # mine\nargs = [\"lsp\", \"--\", \"own-ls\", \"--x\"]\n\n[language-server.ruff]\ncommand = \"sextant\"\nargs = [\"lsp\", \"--\", \"ruff\", \"server\"]\n\n[keys.A]\na = \":agent.ask\"\n";
        let written = WrittenLines::default().and(&read(BEFORE), &read(set), (BEFORE, set));
        let mut now = set.to_owned();
        for (old, new) in change {
            assert!(now.contains(old), "{old} in {now}");
            now = now.replacen(old, new, 1);
        }
        let UndoneFile { document, changed } = written.undone(&read(&now), &read(BEFORE), all);
        (document.to_string(), changed)
    }

    #[test]
    fn what_setup_wrote_goes_and_what_was_there_before_is_back_with_its_comment() {
        assert_eq!(undone(&[], false), (BEFORE.to_owned(), Vec::new()));
    }

    #[test]
    fn what_the_user_has_changed_since_and_leads_to_sextant_is_named_and_goes_only_on_their_word() {
        for (old, new, name) in [
            ("\":agent.ask\"", "\":agent.ask mine\"", "keys.A.a"),
            ("\"lsp\", \"--\", \"ruff\"", "\"lsp\", \"--quiet\", \"--\", \"ruff\"", "language-server.ruff"),
        ] {
            let (text, changed) = undone(&[(old, new)], false);
            assert!(text.contains(new) && changed == [name], "{changed:?} of\n{text}");
            assert_eq!(undone(&[(old, new)], true), (BEFORE.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn what_the_user_has_made_their_own_stays_whatever_their_word() {
        for all in [false, true] {
            let (text, changed) = undone(&[("\":agent.ask\"", "\":w\"")], all);
            assert!(text.contains("[keys.A]\na = \":w\"\n") && changed.is_empty(), "{text}");
            let (text, changed) = undone(&[("command = \"sextant\"\n", "command = \"ruff-lsp\"\n")], all);
            assert!(text.contains("command = \"ruff-lsp\"\n") && changed.is_empty(), "{text}");
        }
        // The command of the server itself is the user's.
        let (text, _) = undone(&[("\"--\", \"own-ls\", \"--x\"", "\"--\", \"own-ls\", \"--y\"")], true);
        assert!(text.contains("command = \"own-ls\" # mine\nargs = [\"--y\"]\n"), "{text}");
    }
}
