//! Reads Helix's documents in any form of TOML: the tables of `language`, and the values of a document by their path.
//!
//! The tables may be in an array of tables or in an inline array.

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, RawString, Table, TableLike, Value, value};

/// The tables of `language`; `None` if another kind of value is there.
pub(super) fn languages(document: &DocumentMut) -> Option<Vec<&dyn TableLike>> {
    fn like(table: &impl TableLike) -> &dyn TableLike {
        table
    }
    match document.get("language") {
        None | Some(Item::None) => Some(Vec::new()),
        Some(Item::ArrayOfTables(tables)) => Some(tables.iter().map(like).collect()),
        Some(Item::Value(Value::Array(list))) => list.iter().map(|entry| entry.as_inline_table().map(like)).collect(),
        Some(_) => None,
    }
}

/// The table of a language.
pub(super) fn language<'a>(document: &'a DocumentMut, name: &str) -> Option<&'a dyn TableLike> {
    languages(document)?.into_iter().find(|table| name_of(*table) == Some(name))
}

pub(super) fn name_of(table: &dyn TableLike) -> Option<&str> {
    table.get("name").and_then(Item::as_str)
}

pub(super) fn language_mut<'a>(document: &'a mut DocumentMut, name: &str) -> Option<&'a mut dyn TableLike> {
    let at = place(document, name)?;
    match document.get_mut("language")? {
        Item::ArrayOfTables(tables) => tables.get_mut(at).map(|table| table as &mut dyn TableLike),
        item => Some(item.as_array_mut()?.get_mut(at)?.as_inline_table_mut()?),
    }
}

fn place(document: &DocumentMut, name: &str) -> Option<usize> {
    languages(document)?.iter().position(|table| name_of(*table) == Some(name))
}

/// Adds the table of a language in the form of the others.
pub(super) fn add_language(document: &mut DocumentMut, name: &str) {
    let languages = document.entry("language").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    match languages {
        Item::ArrayOfTables(tables) => {
            let mut table = Table::new();
            table["name"] = value(name);
            tables.push(table);
        }
        item => {
            if let Some(list) = item.as_array_mut() {
                push_inline(list, InlineTable::from_iter([("name", name)]));
            }
        }
    }
}

/// The new table gets its own line if the one before has one. A comment behind the last comma stays in its place.
fn push_inline(list: &mut Array, table: InlineTable) {
    let indent = list
        .iter()
        .last()
        .and_then(|last| text(last.decor().prefix()).rsplit_once('\n').map(|(_, rest)| rest.to_owned()));
    let mut new = Value::InlineTable(table);
    if let Some(indent) = &indent {
        let last = list.len().saturating_sub(1);
        let mut behind = text(Some(list.trailing()));
        if !list.trailing_comma() {
            let decor = list.get_mut(last).map(Value::decor_mut);
            behind
                .insert_str(0, &decor.map(|decor| (text(decor.suffix()), decor.set_suffix(""))).unwrap_or_default().0);
        }
        let (comments, rest) = behind.rsplit_once('\n').unwrap_or((&behind, ""));
        new.decor_mut().set_prefix(format!("{comments}\n{indent}"));
        list.set_trailing(format!("\n{rest}"));
    }
    if indent.is_none() && !list.is_empty() {
        new.decor_mut().set_prefix(" ");
    }
    list.push_formatted(new);
}

fn remove_inline(list: &mut Array, at: usize) {
    let comments = text(list.remove(at).decor().prefix());
    let Some(comments) = comments.rsplit_once('\n').map(|(comments, _)| comments).filter(|text| text.contains('#'))
    else {
        return;
    };
    // What follows a comment begins on a line of its own.
    let followed = |behind: String| format!("{comments}{}{behind}", if behind.contains('\n') { "" } else { "\n" });
    match list.get_mut(at).map(Value::decor_mut) {
        Some(next) => next.set_prefix(followed(text(next.prefix()))),
        None => list.set_trailing(followed(text(Some(list.trailing())))),
    }
}

/// The spaces and comments of a decoration.
pub(super) fn text(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

/// Removes the table of a language. Returns the lines above it, if they have no place any more.
pub(super) fn remove_language(document: &mut DocumentMut, name: &str) -> String {
    let Some(at) = place(document, name) else { return String::new() };
    let mut above = String::new();
    let emptied = match document.get_mut("language") {
        Some(Item::ArrayOfTables(tables)) => {
            above = text(tables.get(at).and_then(|table| table.decor().prefix()));
            tables.remove(at);
            tables.is_empty()
        }
        Some(item) => {
            item.as_array_mut().into_iter().for_each(|list| remove_inline(list, at));
            false
        }
        None => false,
    };
    if emptied {
        document.remove("language");
    }
    above
}

/// The table at a path, made if it is missing; `None` if another kind of value is there.
pub(super) fn table_at<'a>(item: &'a mut Item, path: &[&str]) -> Option<&'a mut Item> {
    let mut at = item;
    for part in path {
        let inline = at.is_inline_table();
        at = at.as_table_like_mut()?.entry(part).or_insert_with(|| {
            if inline {
                return value(InlineTable::new());
            }
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
    }
    at.is_table_like().then_some(at)
}

/// Replaces a value by another, with the comments of the old one.
pub(super) fn put(table: &mut dyn TableLike, key: &str, mut new: Value) {
    match table.get_mut(key) {
        Some(item) if !item.is_none() => {
            if let Some(old) = item.as_value() {
                *new.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(new);
        }
        _ => drop(table.insert(key, Item::Value(new))),
    }
}

/// Every value with its path; a language goes by its name.
pub(super) fn values(document: &DocumentMut) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    for (key, item) in document.iter() {
        if key != "language" {
            walk(&[key.to_owned()], item, &mut found);
        }
    }
    for table in languages(document).unwrap_or_default() {
        let Some(name) = name_of(table) else { continue };
        for (key, item) in table.iter() {
            walk(&["language", name, key].map(str::to_owned), item, &mut found);
        }
    }
    found
}

fn walk<'a>(path: &[String], item: &'a Item, found: &mut Vec<(Vec<String>, &'a Value)>) {
    if let Some(table) = item.as_table_like() {
        for (key, item) in table.iter() {
            walk(&[path, &[key.to_owned()]].concat(), item, found);
        }
    } else if let Some(value) = item.as_value() {
        found.push((path.to_owned(), value));
    }
}

/// The table that holds the last part of a path.
pub(super) fn holder<'a>(document: &'a mut DocumentMut, path: &[String]) -> Option<&'a mut dyn TableLike> {
    let (_, above) = path.split_last()?;
    if let [first, name, rest @ ..] = above
        && first == "language"
    {
        return below(language_mut(document, name)?, rest);
    }
    below(document.as_table_mut(), above)
}

fn below<'a>(table: &'a mut dyn TableLike, path: &[String]) -> Option<&'a mut dyn TableLike> {
    path.iter().try_fold(table, |table, part| table.get_mut(part)?.as_table_like_mut())
}

/// Equal whatever their spaces, quotes and comments.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    let read = |value: &Value| format!("x = {}", value.clone().decorated("", "")).parse::<toml::Table>().ok();
    read(one) == read(other)
}
