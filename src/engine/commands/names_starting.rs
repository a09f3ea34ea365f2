//! Lists the symbols of the workspace's files that begin with some letters, for a completion: in bounded time.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::state::workspace::Workspace;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_RANKED};
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// Most names.
const MOST: usize = 200;
/// The time after which what is found has to do: a completion is a key of the user's.
const PATIENCE: Duration = Duration::from_millis(250);

/// The names that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StartingNames {
    /// As a request gives them: `total`, `Cart.total`.
    pub names: BTreeSet<String>,
    /// True if there may be more.
    pub is_cut: bool,
}

/// The names of symbols that begin with these letters, on disk. A search that takes long ends with what it has.
pub(crate) async fn names_starting(workspace: &Workspace, lead: &str) -> StartingNames {
    let (root, lead) = (workspace.root.clone(), lead.to_owned());
    let look = move || search(&root, &lead, Instant::now() + PATIENCE);
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

fn search(root: &Root, lead: &str, end: Instant) -> StartingNames {
    let mut found = StartingNames::default();
    // A text without the last part of the name has no symbol of it.
    let part = lead.rsplit('.').find(|part| !part.is_empty()).unwrap_or(lead);
    if part.is_empty() {
        return found;
    }
    let list = workspace_files::list(root, "", MOST_RANKED);
    found.is_cut = list.more;
    for path in list.files {
        if Instant::now() > end || found.names.len() >= MOST {
            found.is_cut = true;
            break;
        }
        let Some(language) = language::of_path(&path) else { continue };
        let Some(text) = workspace_files::text(root, &path).filter(|text| text.contains(part)) else { continue };
        let outline = Outline::parse(language, &text);
        for symbol in 0..outline.symbols.len() {
            found.names.extend(spellings(&outline.path_of(symbol)).into_iter().filter(|name| name.starts_with(lead)));
        }
    }
    found
}

/// `Cart.total` and `total`. A name with a space in it cannot stand in a request.
fn spellings(path: &str) -> Vec<String> {
    let whole = path.replace("::", ".");
    if whole.contains(char::is_whitespace) {
        return Vec::new();
    }
    let last = whole.rsplit('.').next().unwrap_or_default().to_owned();
    vec![last, whole]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_that_nobody_opened_are_found_and_a_search_without_time_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "class Cart:\n    def total(self):\n        return 1\n\n\ndef total_of():\n    return 2\n";
        std::fs::write(folder.path().join("a.py"), text).expect("a file");
        std::fs::write(folder.path().join("notes.txt"), "total\n").expect("a file");
        let root = Root::new(folder.path()).expect("a root");
        let later = Instant::now() + Duration::from_secs(60);
        let names = |lead: &str| search(&root, lead, later).names.into_iter().collect::<Vec<_>>();
        assert_eq!(names("tot"), ["total", "total_of"]);
        assert_eq!(names("Cart.t"), ["Cart.total"]);
        assert_eq!(names("Cart."), ["Cart.total"]);
        assert!(names("").is_empty() && names("x").is_empty());
        let late = Instant::now().checked_sub(Duration::from_secs(1)).expect("a time");
        assert_eq!(search(&root, "tot", late), StartingNames { is_cut: true, ..StartingNames::default() });
    }
}
