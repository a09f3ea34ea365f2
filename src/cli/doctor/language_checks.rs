//! Checks that each language of the workspace has a server or a command: without one, edits are checked by the parser
//! alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::cli::doctor::programs::PATIENCE;
use crate::cli::doctor::{CheckedThing, Health};
use sextant_base::one_line::headline;
use sextant_base::plural::counted;
use sextant_diagnostics::language_checkers::{CHECKERS, LanguageCheckers};
use sextant_diagnostics::program;
use sextant_diagnostics::server::language_id::language_id;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};

const NAME: &str = "language";

/// The languages of a workspace, with the files of each.
pub(super) struct FoundLanguages(BTreeMap<&'static str, Vec<String>>);

/// A checker of files: its name and its languages; an empty list means any.
pub(super) struct WorkingChecker<'a> {
    pub(super) name: &'a str,
    pub(super) languages: &'a [String],
}

impl WorkingChecker<'_> {
    fn covers(&self, row: &LanguageCheckers) -> bool {
        is_of(self.languages, |name| row.languages.contains(&name))
    }
}

fn is_of(languages: &[String], is_one: impl Fn(&str) -> bool) -> bool {
    languages.is_empty() || languages.iter().any(|name| is_one(name))
}

impl FoundLanguages {
    pub(super) fn of(root: &Root) -> Self {
        let mut found: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for file in workspace_files::list(root, "", MOST_FILES).files {
            found.entry(language_id(&file)).or_default().push(file);
        }
        Self(found)
    }

    /// True if a server of these languages has a file here. Where no file has a checker, every server counts.
    pub(super) fn concern(&self, languages: &[String]) -> bool {
        self.rows().next().is_none() || is_of(languages, |name| self.0.contains_key(name))
    }

    /// The languages here that something can check, with their files.
    fn rows(&self) -> impl Iterator<Item = (&'static LanguageCheckers, Vec<&str>)> {
        let files = |row: &LanguageCheckers| -> Vec<&str> {
            row.languages.iter().filter_map(|name| self.0.get(name)).flatten().map(String::as_str).collect()
        };
        CHECKERS.iter().map(move |row| (row, files(row))).filter(|(_, files)| !files.is_empty())
    }

    pub(super) async fn checked(
        &self,
        root: &Path,
        working: &[WorkingChecker<'_>],
        places: &[PathBuf],
    ) -> Vec<CheckedThing> {
        let mut out = Vec::new();
        for (row, files) in self.rows() {
            let by: Vec<&str> = working.iter().filter(|one| one.covers(row)).map(|one| one.name).collect();
            let about = format!("{}: {}", row.title, counted(files.len(), "file"));
            out.push(match by.as_slice() {
                [] => unchecked(row, &about, places).await,
                _ => checked(row, &format!("{about}, checked by {}", by.join(" and ")), root, &files, places),
            });
        }
        out
    }
}

/// A language that something checks, with what that lacks.
fn checked(row: &LanguageCheckers, about: &str, root: &Path, files: &[&str], places: &[PathBuf]) -> CheckedThing {
    if let Some(needed) = row.needs.filter(|needed| program::find(places, needed).is_none()) {
        let text = format!("{about}, which finds nothing without {needed}");
        return CheckedThing::of(NAME, Health::Warning, text, format!("install {needed}"));
    }
    if !row.build_files.is_empty() && !has_one(root, files, row.build_files) {
        let first = row.build_files[0];
        let text = format!("{about}, and no {first} names their include paths: edits are often known in part only");
        let hint =
            format!("let the build write {first} (CMake: -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; make: `bear -- make`)");
        return CheckedThing::of(NAME, Health::Warning, text, hint);
    }
    CheckedThing::ok(NAME, about)
}

/// True if one of these files is beside one of the sources, or in a folder around it.
fn has_one(root: &Path, sources: &[&str], wanted: &[&str]) -> bool {
    let inside = |source: &&str| root.join(source).ancestors().skip(1).map(Path::to_owned).collect::<Vec<_>>();
    let folders: BTreeSet<PathBuf> = sources.iter().flat_map(inside).collect();
    folders.iter().any(|folder| wanted.iter().any(|name| folder.join(name).is_file()))
}

async fn unchecked(row: &LanguageCheckers, about: &str, places: &[PathBuf]) -> CheckedThing {
    let (mut tried, mut fixes) = (Vec::new(), Vec::new());
    let known = row.servers();
    if !known.is_empty() {
        tried.push(format!("no server of these answers: {}", known.join(", ")));
        fixes.push(format!("install {}", known[0]));
    }
    for server in row.named {
        let is_here = program::find(places, server.program);
        let name = server.program;
        let Some(program) = &is_here else {
            tried.push(format!("{name} is not installed"));
            fixes.push(match server.install {
                "" => format!("install {name} and name it in `[[servers]]`"),
                install => format!("`{install}`, and name it in `[[servers]]`"),
            });
            continue;
        };
        match why_not(program, server.version).await {
            None => {
                tried.push(format!("{name} ({}) is not started unless it is named", program.display()));
                fixes.push(format!("name {name} in `[[servers]]`: it runs code of the project"));
            }
            Some(why) => {
                tried.push(format!("{name} ({}) does not run: {why}", program.display()));
                fixes.push(match server.install {
                    "" => format!("repair {name}"),
                    install => format!("`{install}`, and name it in `[[servers]]`"),
                });
            }
        }
    }
    fixes.extend(row.command().map(|command| format!("`commands = [\"{command}\"]` in the configuration")));
    let text = format!("{about}, and only the parser checks them; {}", tried.join("; "));
    CheckedThing::of(NAME, Health::Warning, text, fixes.join("; or "))
}

/// The words of a program that cannot even print its version: a shim without its program. It starts outside of the
/// project.
async fn why_not(program: &Path, version: Option<&str>) -> Option<String> {
    let mut command = program::command(program).ok()?;
    command.arg(version?).current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    if output.status.success() {
        return None;
    }
    let said = [output.stderr, output.stdout].map(|bytes| headline(&String::from_utf8_lossy(&bytes)));
    let words = said.into_iter().find(|words| !words.is_empty());
    Some(words.unwrap_or_else(|| format!("{}", output.status)))
}
