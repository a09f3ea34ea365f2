//! The packages that are edited, as projects of their own.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::project::Project;
use crate::support::servers::tool;

/// Four kinds: typed throughout, typed in part, classes, untyped functions.
const USUAL: &[&str] = &["semver-3.0.2", "mistune-3.0.2", "cachetools-5.5.0", "toolz-0.12.1"];

pub struct Package {
    pub name: String,
    files: Vec<(String, String)>,
}

/// The named packages of the benchmark of tasks, which are fetched where they are missing.
pub async fn list(names: &str) -> Vec<Package> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fetch = repository.join("tests/agent_bench/fetch.py");
    let done = tokio::process::Command::new(tool("python3")).arg(fetch).stdout(Stdio::null()).status().await;
    assert!(done.expect("python3").success(), "the packages are needed: see tests/agent_bench/fetch.py");
    let place = repository.join(".tools/agent_bench/packages");
    let named: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let wanted = if named.is_empty() { USUAL.to_vec() } else { named };
    wanted.into_iter().map(|name| Package::read(name, &place.join(name))).collect()
}

impl Package {
    fn read(name: &str, folder: &Path) -> Self {
        let mut files = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(at) = folders.pop() {
            let entries = std::fs::read_dir(folder.join(&at)).unwrap_or_else(|error| panic!("{name}: {error}"));
            for entry in entries.flatten() {
                let path = at.join(entry.file_name());
                if entry.path().is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "py") {
                    let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
                    files.push((path.display().to_string(), text));
                }
            }
        }
        files.sort();
        Self { name: name.to_owned(), files }
    }

    /// A copy of its Python files, checked in the mode that most projects use.
    pub fn project(&self) -> Project {
        let project = Project::new(&[("pyrightconfig.json", "{\"typeCheckingMode\": \"standard\"}\n")]);
        self.files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }
}
