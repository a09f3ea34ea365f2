//! The reach of an edit in a language without symbols: the files with an identifier of a changed line.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::diagnostics::edit_reach::{EditReach, TextChange};
use crate::diagnostics::gone_commands;
use crate::diagnostics::workspace_texts::WorkspaceTexts;
use crate::state::look_reach::family;
use crate::state::unlooked::Unread;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};
use sextant_text::symbols::interface::identifiers;

/// Letters of the shortest identifier that counts where a language has no symbols.
const SHORTEST: usize = 3;
/// Words of the usual languages that are no names.
const KEYWORDS: &str = "\
    and async await bool boolean break case catch char class const continue default delete else end enum export \
    extends false final finally float for from func function impl implements import include int interface let \
    local match mut namespace new nil not null number package private protected pub public readonly require \
    return self static string struct super switch then this throw trait true try type typeof undefined unsigned \
    use using var void where while yield";
/// The files of the same kind that contain an identifier of a changed line.
pub(super) fn of(workspace: &WorkspaceTexts, change: &TextChange) -> EditReach {
    let kind = family(&change.path);
    let Some(before) = &change.before else { return EditReach::default() };
    let (old, new): (HashSet<&str>, HashSet<&str>) = (before.lines().collect(), change.after.lines().collect());
    let changed = old.symmetric_difference(&new).flat_map(|line| identifiers(line));
    let is_name = |word: &&str| {
        word.len() >= SHORTEST
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && KEYWORDS.split(' ').all(|keyword| keyword != *word)
    };
    let names: BTreeSet<String> = changed.filter(is_name).map(str::to_owned).collect();
    if names.is_empty() || kind.is_empty() {
        return EditReach::default();
    }
    let listing = workspace_files::list(workspace.root, "", MOST_FILES);
    let users = gone_commands::users(workspace, &change.path, before, &change.after, &listing.files);
    let unread = if users.is_empty() { BTreeMap::new() } else { BTreeMap::from([(Unread::GoneCommand, users)]) };
    let uses = |file: &String| {
        let text = workspace.text(file).unwrap_or_default();
        identifiers(&text).any(|word| names.contains(word))
    };
    let alike = listing.files.into_iter().filter(|file| family(file) == kind && *file != change.path);
    let files: Vec<String> = alike.filter(uses).collect();
    EditReach {
        names,
        kept: files.iter().cloned().collect(),
        files,
        more: listing.more,
        unread,
        ..EditReach::default()
    }
}
