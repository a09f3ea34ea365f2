//! Offers the agent's commands for the languages of the project that have no server.

use std::path::Path;

use toml_edit::DocumentMut;

use crate::cli::setup::helix_config;
use crate::cli::setup::helix_servers::{self, LANGUAGES, OFFERED};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_PARSED};

/// A note for each language of the project around a folder that no server is there for.
pub(super) fn notes(
    folder: &Path,
    document: &DocumentMut,
    installed: impl Fn(&str) -> bool,
    alone: &[String],
) -> Vec<String> {
    let files = files(folder);
    let has = |endings: &[&str]| files.iter().any(|file| endings.iter().any(|ending| file.ends_with(ending)));
    let is_served = |name: &str| {
        let servers = LANGUAGES.iter().find(|language| language.name == name).map_or(&[][..], |known| known.groups);
        let mut servers = servers.iter().flat_map(|group| group.iter()).filter_map(|name| helix_servers::named(name));
        alone.iter().any(|one| one == name)
            || helix_config::listed(document, name).is_some()
            || servers.any(|server| installed(server.program))
    };
    let offered = OFFERED.iter().filter(|(name, endings)| has(endings) && !is_served(name));
    offered.map(|(name, _)| {
        format!("this project has files in {name}, and no server for it is installed; `--alone {name}` gives them the commands")
    }).collect()
}

/// True if the project around a folder has files in Rust.
pub(in crate::cli) fn has_rust(folder: &Path) -> bool {
    files(folder).iter().any(|file| file.ends_with(".rs") || file.ends_with("Cargo.toml"))
}

fn files(folder: &Path) -> Vec<String> {
    Root::find(folder).map(|root| workspace_files::list(&root, "", MOST_PARSED).files).unwrap_or_default()
}
