//! Reads the setup of Helix from its two documents: each language's servers behind Sextant, and the place of the keys.
//!
//! It changes nothing.

use std::path::Path;

use toml_edit::{DocumentMut, Item};

use crate::cli::setup::helix_config::{self, PREFIX};
use crate::cli::setup::helix_servers::{self, LANGUAGES};
use crate::cli::setup::tables;

/// A server that Sextant stands before, or Sextant alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct ProxiedInSetup {
    pub(in crate::cli) name: String,
    /// The program that Helix starts.
    pub(in crate::cli) program: String,
    /// The command behind it, program first; empty for Sextant alone.
    pub(in crate::cli) inner: Vec<String>,
    /// True if it leaves the commands to another server.
    pub(in crate::cli) quiet: bool,
}

/// A language and the servers that Helix starts for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct LanguageInSetup {
    pub(in crate::cli) name: String,
    pub(in crate::cli) proxied: Vec<ProxiedInSetup>,
    /// The servers that Sextant does not stand before.
    pub(in crate::cli) direct: Vec<String>,
    /// True if the user's file lists them; else Helix uses its own list.
    pub(in crate::cli) listed: bool,
}

/// The owner of the agent's keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum KeysInSetup {
    /// They are behind these.
    Ours(String),
    Users,
    Nobodys,
}

/// Every server of the file that Sextant stands before.
pub(in crate::cli) fn proxied(document: &DocumentMut, program: &str) -> Vec<ProxiedInSetup> {
    let servers = document.get("language-server").and_then(Item::as_table_like);
    servers
        .into_iter()
        .flat_map(|servers| servers.iter())
        .filter_map(|(name, _)| proxy(document, name, program))
        .collect()
}

fn proxy(document: &DocumentMut, name: &str, own: &str) -> Option<ProxiedInSetup> {
    let (Some(program), Some(words)) = helix_config::given(document, name) else { return None };
    let (options, inner) = helix_config::behind(&program, &words, own)?;
    let quiet = options.iter().any(|word| word == "--quiet");
    Some(ProxiedInSetup { name: name.to_owned(), inner: inner.to_vec(), quiet, program })
}

/// The languages that the file lists servers for, and those with installed servers.
pub(in crate::cli) fn languages(
    document: &DocumentMut,
    program: &str,
    installed: impl Fn(&str) -> bool,
) -> Vec<LanguageInSetup> {
    let mut found = Vec::new();
    for name in tables::languages(document).unwrap_or_default().into_iter().filter_map(tables::name_of) {
        if let Some(servers) = helix_config::listed(document, name) {
            found.push(language(document, program, name, servers, true));
        }
    }
    for known in LANGUAGES.iter().filter(|known| helix_config::listed(document, known.name).is_none()) {
        let there = |name: &&&str| {
            let named = |server: &helix_servers::HelixServer| installed(server.program);
            proxy(document, name, program).is_some() || helix_servers::named(name).is_some_and(named)
        };
        let servers: Vec<String> =
            known.groups.iter().flat_map(|group| group.iter()).filter(there).map(|name| (*name).to_owned()).collect();
        if !servers.is_empty() {
            found.push(language(document, program, known.name, servers, false));
        }
    }
    found
}

fn language(document: &DocumentMut, program: &str, name: &str, servers: Vec<String>, listed: bool) -> LanguageInSetup {
    let proxied: Vec<_> = servers.iter().filter_map(|name| proxy(document, name, program)).collect();
    let direct = servers.into_iter().filter(|name| proxied.iter().all(|proxy| proxy.name != *name)).collect();
    LanguageInSetup { name: name.to_owned(), proxied, direct, listed }
}

/// The languages that a server is known to be for.
pub(in crate::cli) fn known_for(server: &str) -> Vec<&'static str> {
    let has = |groups: &[&[&str]]| groups.iter().any(|group| group.contains(&server));
    LANGUAGES.iter().filter(|language| has(language.groups)).map(|language| language.name).collect()
}

/// The keys of normal mode, which decide.
pub(in crate::cli) fn keys(document: &DocumentMut) -> KeysInSetup {
    let normal = ["keys", "normal"].iter().try_fold(document.as_item(), |item, part| item.get(part));
    if let Some(prefix) = normal.and_then(ours_in) {
        return KeysInSetup::Ours(prefix);
    }
    let mut default = PREFIX.split_whitespace();
    match normal.and_then(|normal| default.try_fold(normal, |item, part| item.get(part))) {
        None => KeysInSetup::Nobodys,
        Some(_) => KeysInSetup::Users,
    }
}

/// The keys before the agent's in a table of keys.
fn ours_in(keys: &Item) -> Option<String> {
    keys.as_table_like()?.iter().find_map(|(key, item)| {
        let is_ours = item.as_table_like().is_some_and(|table| !table.is_empty()) && helix_config::is_ours(item);
        let deeper = || ours_in(item).map(|rest| format!("{key} {rest}"));
        if is_ours { Some(key.to_owned()) } else { deeper() }
    })
}

/// True if the status line shows the progress of a task.
pub(in crate::cli) fn shows_progress(document: &DocumentMut) -> bool {
    let mut at = ["editor", "lsp", "display-progress-messages"].iter();
    at.try_fold(document.as_item(), |item, part| item.get(part)).and_then(Item::as_bool) == Some(true)
}

/// A program by its name, or by a full path.
pub(in crate::cli) fn program(places: &[std::path::PathBuf], name: &str) -> Option<std::path::PathBuf> {
    let path = Path::new(name);
    if path.is_absolute() {
        return sextant_diagnostics::program::find(&[path.parent()?.to_owned()], path.file_name()?.to_str()?);
    }
    (path.components().count() == 1).then(|| sextant_diagnostics::program::find(places, name)).flatten()
}
