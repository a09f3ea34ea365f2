//! Python's packages: those of the benchmark of tasks.

use std::path::Path;
use std::process::Stdio;

use crate::reach::packages::{Package, texts};
use crate::support::servers::tool;

/// Four kinds: typed throughout, typed in part, classes, untyped functions.
pub const USUAL: &[&str] = &["semver-3.0.2", "mistune-3.0.2", "cachetools-5.5.0", "toolz-0.12.1"];

/// The mode that most projects use.
const MODE: &str = "{\"typeCheckingMode\": \"standard\"}\n";

/// The named packages of the benchmark of tasks, which are fetched where they are missing.
pub async fn list(names: Vec<&str>) -> Vec<Package> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fetch = repository.join("tests/agent_bench/fetch.py");
    let done = tokio::process::Command::new(tool("python3")).arg(fetch).stdout(Stdio::null()).status().await;
    assert!(done.expect("python3").success(), "the packages are needed: see tests/agent_bench/fetch.py");
    let place = repository.join(".tools/agent_bench/packages");
    let package = |name: &str| {
        let mut files = texts(&place.join(name), "py");
        files.push(("pyrightconfig.json".to_owned(), MODE.to_owned()));
        Package { name: name.to_owned(), files }
    };
    names.into_iter().map(package).collect()
}
