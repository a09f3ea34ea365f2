//! Rust's packages: crates that this repository is built with, as `Cargo.lock` pins them. They need no network.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toml::{Table, Value as Toml};

use crate::reach::packages::{Package, texts};
use crate::support::project::Project;
use crate::support::servers::tool;

/// A library with its own tests, a workspace of two crates, small libraries.
pub const USUAL: &[&str] = &["bytes", "globset+ignore", "ipnet", "walkdir"];

/// A crate as it was fetched.
struct Crate {
    name: String,
    folder: PathBuf,
    manifest: Table,
}

/// The named crates; `one+other` are the members of a workspace.
pub fn list(names: Vec<&str>) -> Vec<Package> {
    let (repository, host) = (Path::new(env!("CARGO_MANIFEST_DIR")), host());
    // Crates for other platforms need not be there.
    let metadata = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", &host];
    let known = output("cargo", repository, &metadata);
    let known: Value = serde_json::from_str(&known).expect("JSON");
    names.into_iter().map(|name| package(&known, name)).collect()
}

fn output(program: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(tool(program)).args(arguments).current_dir(folder).output().expect("a program");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The platform of the compiler.
fn host() -> String {
    let about = output("rustc", Path::new("."), &["-vV"]);
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.expect("rustc names its platform").to_owned()
}

fn package(known: &Value, name: &str) -> Package {
    let crates: Vec<Crate> = name.split('+').map(|name| fetched(known, name)).collect();
    let mut files = vec![(".gitignore".to_owned(), "/target\n".to_owned())];
    for one in &crates {
        let at = if crates.len() == 1 { String::new() } else { format!("{}/", one.name) };
        let is_built = |path: &str| path.starts_with("src/") || path.starts_with("tests/");
        let own = texts(&one.folder, "rs").into_iter().filter(|(path, _)| is_built(path));
        files.extend(own.map(|(path, text)| (format!("{at}{path}"), text)));
        files.push((format!("{at}Cargo.toml"), manifest(one, &crates)));
    }
    if crates.len() > 1 {
        let members: Vec<String> = crates.iter().map(|one| format!("{:?}", one.name)).collect();
        let text = format!("[workspace]\nresolver = \"2\"\nmembers = [{}]\n", members.join(", "));
        files.push(("Cargo.toml".to_owned(), text));
    }
    let mut package = Package { name: name.to_owned(), files };
    let lock = lock(&package.project());
    package.files.push(("Cargo.lock".to_owned(), lock));
    package
}

/// The newest crate of a name.
fn fetched(known: &Value, name: &str) -> Crate {
    let all = known["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let version = |one: &&Value| -> Vec<u64> {
        one["version"].as_str().unwrap_or_default().split('.').filter_map(|part| part.parse().ok()).collect()
    };
    let newest = all.iter().filter(|one| one["name"] == name).max_by_key(version);
    let newest = newest.unwrap_or_else(|| panic!("Cargo.lock has no {name}"));
    let file = PathBuf::from(newest["manifest_path"].as_str().expect("a path"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}: {error}: run cargo fetch"));
    let manifest = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    Crate { name: name.to_owned(), folder: file.parent().expect("a folder").to_owned(), manifest }
}

/// What builds a crate with its usual features, beside the others of its workspace: nothing that only its tests need.
fn manifest(one: &Crate, crates: &[Crate]) -> String {
    let part = |name: &str| one.manifest.get(name).and_then(Toml::as_table).cloned().unwrap_or_default();
    let only = |table: Table, keys: &[&str]| -> Table {
        table.into_iter().filter(|(key, _)| keys.contains(&key.as_str())).collect()
    };
    let mut dependencies = part("dependencies");
    dependencies.retain(|_, needed| needed.get("optional") != Some(&Toml::Boolean(true)));
    for (name, needed) in dependencies.iter_mut().filter(|(name, _)| crates.iter().any(|one| one.name == **name)) {
        if let Toml::Table(needed) = needed {
            needed.insert("path".to_owned(), Toml::String(format!("../{name}")));
        }
    }
    let mut features = part("features");
    let named: Vec<String> = features.keys().chain(dependencies.keys()).cloned().collect();
    for needed in features.iter_mut().filter_map(|(_, needed)| needed.as_array_mut()) {
        let first = |feature: &str| feature.split(['/', '?']).next().unwrap_or_default().to_owned();
        needed.retain(|feature| feature.as_str().is_some_and(|feature| named.contains(&first(feature))));
    }
    let mut whole = Table::new();
    whole.insert("package".to_owned(), only(part("package"), &["name", "version", "edition"]).into());
    whole.insert("lib".to_owned(), only(part("lib"), &["name", "path"]).into());
    whole.insert("dependencies".to_owned(), dependencies.into());
    whole.insert("features".to_owned(), features.into());
    whole.to_string()
}

/// Pins what a project needs to what is on this machine.
fn lock(project: &Project) -> String {
    output("cargo", project.root(), &["generate-lockfile", "--offline", "--quiet"]);
    project.read("Cargo.lock")
}
