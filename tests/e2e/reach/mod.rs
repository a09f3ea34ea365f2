//! Answers about edits of real packages, at four doors, held against the checker's own run over the whole project.
//!
//! `make reach` makes 300 edits at each door. The suite makes a few at one door, so that this keeps working.
//!
//! Variables: `REACH_LANGUAGE` (`python`, `rust`, `typescript`), `REACH_CHECKER` (what the doors have: `cargo` or `clippy`;
//! `vtsls`, `tsc` or `typescript-language-server`), `REACH_N` (edits), `REACH_SEED`, `REACH_DOORS` (`ask,mcp,nvim,helix`),
//! `REACH_PACKAGES` (as `packages` names them), `REACH_KINDS` (`body,remove`), `REACH_SHOW` (a line an answer),
//! `REACH_BINARY` (another build of Sextant for the doors `ask` and `mcp`, to compare times with).

mod doors;
mod edits;
mod examples;
mod language;
mod packages;
mod setup;
mod truth;
mod unit_tests;
mod verdicts;

use crate::reach::doors::{Door, DoorKind};
use crate::reach::edits::ProjectEdit;
use crate::reach::language::{Checker, Language};
use crate::reach::verdicts::Verdicts;

fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).ok().filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

/// What is edited, and where.
struct Run {
    language: Language,
    checker: Checker,
    doors: Vec<DoorKind>,
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_about_a_real_package_is_complete_with_one_missing_or_invented() {
    let edits: usize = setting("REACH_N", "3").parse().expect("REACH_N is a number");
    let language = Language::wanted();
    let doors = DoorKind::list(&setting("REACH_DOORS", "mcp"));
    let run = Run { language, checker: Checker::wanted(language), doors };
    run.hold(edits, &setting("REACH_PACKAGES", "")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_about_rust_and_typescript_are_held_in_the_same_way() {
    let small = [(Language::Rust, Checker::Cargo, "walkdir"), (Language::TypeScript, Checker::Vtsls, "immer@10.1.1")];
    for (language, checker, package) in small {
        Run { language, checker, doors: vec![DoorKind::Mcp] }.hold(2, package).await;
    }
}

impl Run {
    async fn hold(&self, edits: usize, names: &str) {
        let seed: u64 = setting("REACH_SEED", "1").parse().expect("REACH_SEED is a number");
        let packages = packages::list(self.language, names).await;
        let mut verdicts = Verdicts::default();
        let mut made = 0;
        for (at, package) in packages.iter().enumerate() {
            // A package that has fewer edits leaves the rest to those after it.
            let count = (edits - made) / (packages.len() - at);
            if count > 0 {
                made += self.of_package(package, count, seed + at as u64, &mut verdicts).await;
            }
        }
        verdicts.print();
        assert_eq!(made, edits, "the packages have no further edits of these kinds");
        assert!(verdicts.wrong.is_empty(), "{:#?}", verdicts.wrong);
        let least = self.checker.least_told();
        assert!(verdicts.told() >= least, "only {:.3} of what was broken was reported", verdicts.told());
    }

    async fn of_package(&self, package: &packages::Package, count: usize, seed: u64, verdicts: &mut Verdicts) -> usize {
        let project = package.project();
        let checked = package.project();
        let truth = || truth::of(self.language, self.checker, checked.root());
        let before = truth().await.unwrap_or_else(|| panic!("{} cannot be checked", package.name));
        let mut edits = Vec::new();
        // Those that the checker can say nothing about are left out.
        let is_read = |edit: &ProjectEdit| {
            edit.files.iter().all(|file| truth::is_read(self.language, checked.root(), &file.path))
        };
        for edit in edits::random(self.language, &project, 4 * count, seed).into_iter().filter(is_read) {
            if edits.len() == count {
                break;
            }
            edit.write(&checked);
            let after = truth().await;
            edit.restore(&checked);
            edits.extend(after.map(|after| (edit, after)));
        }
        for kind in &self.doors {
            let mut door = Door::open(*kind, self, &project).await;
            for (edit, after) in &edits {
                let answer = door.make(&project, edit).await;
                edit.assert_written(&project, &answer);
                let change = truth::delta(&before, after, &edit.files);
                let about = format!("{} {kind:?} {}", package.name, edit.request);
                verdicts.hold(edit.kind, *kind, &about, &answer, &change);
                door.take_back(&project, edit).await;
                edit.assert_restored(&project);
            }
            door.close().await;
        }
        edits.len()
    }
}
