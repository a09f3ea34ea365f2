//! The packages that are edited, as projects of their own.

mod python;
mod rust;
mod typescript;

use std::path::{Path, PathBuf};

use crate::reach::language::Language;
use crate::support::project::Project;

pub struct Package {
    pub name: String,
    files: Vec<(String, String)>,
}

/// The named packages of a language, or its usual ones; those that are missing are fetched.
pub async fn list(language: Language, names: &str) -> Vec<Package> {
    let named: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let or = |usual: &[&'static str]| if named.is_empty() { usual.to_vec() } else { named.clone() };
    match language {
        Language::Python => python::list(or(python::USUAL)).await,
        Language::Rust => rust::list(or(rust::USUAL)),
        Language::TypeScript => typescript::list(or(typescript::USUAL)).await,
    }
}

impl Package {
    pub fn project(&self) -> Project {
        let project = Project::new(&[]);
        self.files.iter().for_each(|(path, text)| project.write(path, text));
        project
    }
}

/// The texts of the files with this ending in a folder and beneath, by their paths from there.
fn texts(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(at) = folders.pop() {
        let place = folder.join(&at);
        let entries = std::fs::read_dir(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        for entry in entries.flatten() {
            let path = at.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                files.push((path.display().to_string(), std::fs::read_to_string(entry.path()).unwrap_or_default()));
            }
        }
    }
    files.sort();
    files
}
