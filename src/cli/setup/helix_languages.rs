//! Decides if Helix knows a language, whose table it takes from its own file then.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use toml_edit::DocumentMut;

use crate::cli::setup::tables;
use sextant_base::failure::Failure;
use sextant_diagnostics::program;
use sextant_text::symbols::nearest_file;

/// The names in Helix's own `languages.toml`.
const NAMES: &str = include_str!("helix_languages.txt");

/// The time limit for Helix's answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The first language that Helix does not know; with one that may be meant.
///
/// # Errors
/// Helix would refuse its whole file for it.
pub(super) async fn check(places: &[PathBuf], document: &DocumentMut, languages: &[String]) -> Result<(), Failure> {
    for name in languages {
        if is_known(places, document, name).await {
            continue;
        }
        let all: Vec<String> = NAMES.split_whitespace().map(str::to_owned).collect();
        let hint = match nearest_file::nearest(name, &all) {
            Some(near) => format!("`--alone {near}` is a language of Helix"),
            None => "`hx --health languages` lists them".to_owned(),
        };
        return Err(Failure::user(format!("Helix knows no language {name}; nothing was changed"), hint));
    }
    Ok(())
}

/// True if Helix has the rest of a language's table, or the file has it. An installed Helix is asked, since its list
/// grows.
pub(in crate::cli) async fn is_known(places: &[PathBuf], document: &DocumentMut, name: &str) -> bool {
    let has_scope = tables::language(document, name).is_some_and(|table| table.contains_key("scope"));
    if has_scope {
        return true;
    }
    let listed = || NAMES.split_whitespace().any(|known| known == name);
    match ["hx", "helix"].iter().find_map(|hx| program::find(places, hx)) {
        Some(hx) => answer(&hx, name).await.unwrap_or_else(listed),
        None => listed(),
    }
}

/// Helix's own answer; `None` if it is not understood.
async fn answer(hx: &Path, name: &str) -> Option<bool> {
    if !name.starts_with(|first: char| first.is_alphanumeric()) {
        return None;
    }
    let mut command = program::command(hx).ok()?;
    command.args(["--health", name]).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    understood(&String::from_utf8_lossy(&output.stdout), name)
}

fn understood(text: &str, name: &str) -> Option<bool> {
    if text.contains(&format!("'{name}' not found")) {
        return Some(false);
    }
    text.contains("Configured language server").then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::setup::helix_servers::LANGUAGES;

    #[tokio::test]
    async fn a_language_is_known_by_helix_s_list_or_by_its_own_scope() {
        let document: DocumentMut =
            "[[language]]\nname = \"mine\"\nscope = \"source.mine\"\n[[language]]\nname = \"half\"\n".parse().unwrap();
        for name in LANGUAGES.iter().map(|language| language.name).chain(["markdown", "mine", "c-sharp"]) {
            assert!(is_known(&[], &document, name).await, "{name}");
        }
        for name in ["half", "klingon", ""] {
            assert!(!is_known(&[], &document, name).await, "{name}");
        }
        let said = |name: &str| {
            let names = [name.to_owned()];
            let checked = futures::executor::block_on(check(&[], &document, &names));
            checked.unwrap_err().to_string()
        };
        assert!(said("klingon").contains("knows no language klingon"), "{}", said("klingon"));
    }

    #[test]
    fn helix_s_answer_goes_before_the_list() {
        assert_eq!(understood("\u{1b}[31mLanguage 'x' not found\u{1b}[0m\n", "x"), Some(false));
        assert_eq!(understood("Configured language servers: None\n", "x"), Some(true));
        assert_eq!(understood("helix 25.07.1\n", "x"), None);
    }
}
