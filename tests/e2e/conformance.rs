//! The scenarios of `tests/conformance/`, each on every side: a real Neovim, the proxy before a scripted Helix of both
//! versions, and a session without an editor.

mod client;
mod headless;
mod helix;
mod neovim;
mod run;
mod scenario;

use std::collections::BTreeSet;

/// A module a scenario, with a test a side.
macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        /// The scenarios that are run.
        const ALL: &[&str] = &[$(stringify!($name)),*];

        $(mod $name {
            use crate::conformance::run::{Side, run};

            #[tokio::test(flavor = "multi_thread")]
            async fn neovim() {
                run(stringify!($name), Side::Neovim).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn helix_release() {
                run(stringify!($name), Side::HelixRelease).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn helix_master() {
                run(stringify!($name), Side::HelixMaster).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn headless() {
                run(stringify!($name), Side::Headless).await;
            }
        })*
    };
}

scenarios!(ask, plan, edit_plan, approve, step, new_diagnostics, undo, cross_file, stale_version, typed_after, crash);

#[test]
fn every_scenario_has_its_file_and_runs_on_every_side() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        name.strip_suffix(".toml").unwrap_or_else(|| panic!("{name} is no scenario")).to_owned()
    };
    let files: BTreeSet<String> = std::fs::read_dir(folder).expect("the scenarios").map(name).collect();
    assert_eq!(files, ALL.iter().map(|name| (*name).to_owned()).collect());
}
