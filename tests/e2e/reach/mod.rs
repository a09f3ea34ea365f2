//! Answers about edits of real packages, at four doors, held against the type checker's own run over the whole project.
//!
//! `make reach` makes 300 edits at each door. The suite makes three at one door, so that this keeps working.
//!
//! Variables: `REACH_N` (edits), `REACH_SEED`, `REACH_DOORS` (`ask,mcp,nvim,helix`), `REACH_PACKAGES` (folders of
//! `.tools/agent_bench/packages`), `REACH_KINDS` (`body,remove`), `REACH_SHOW` (a line an answer), `REACH_BINARY` (another
//! build of Sextant for the doors `ask` and `mcp`, to compare times with).

mod doors;
mod edits;
mod packages;
mod truth;
mod verdicts;

use crate::reach::doors::{Door, DoorKind};
use crate::reach::verdicts::Verdicts;

fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).ok().filter(|text| !text.is_empty()).unwrap_or_else(|| otherwise.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_about_a_real_package_is_complete_with_one_missing_or_invented() {
    let edits: usize = setting("REACH_N", "3").parse().expect("REACH_N is a number");
    let seed: u64 = setting("REACH_SEED", "1").parse().expect("REACH_SEED is a number");
    let doors = DoorKind::list(&setting("REACH_DOORS", "mcp"));
    let packages = packages::list(&setting("REACH_PACKAGES", "")).await;
    let mut verdicts = Verdicts::default();
    let mut made = 0;
    for (at, package) in packages.iter().enumerate() {
        // A package that has fewer edits leaves the rest to those after it.
        let count = (edits - made) / (packages.len() - at);
        if count > 0 {
            made += of_package(package, count, seed + at as u64, &doors, &mut verdicts).await;
        }
    }
    verdicts.print();
    assert_eq!(made, edits, "the packages have no further edits of these kinds");
    assert!(verdicts.wrong.is_empty(), "{:#?}", verdicts.wrong);
    assert!(verdicts.told() >= 0.98, "only {:.3} of what was broken was reported", verdicts.told());
}

async fn of_package(
    package: &packages::Package,
    count: usize,
    seed: u64,
    doors: &[DoorKind],
    verdicts: &mut Verdicts,
) -> usize {
    let project = package.project();
    let checked = package.project();
    let before = truth::of(checked.root()).await;
    let edits = edits::random(&project, count, seed);
    let mut truths = Vec::new();
    for edit in &edits {
        edit.write(&checked);
        truths.push(truth::of(checked.root()).await);
        edit.restore(&checked);
    }
    for kind in doors {
        let mut door = Door::open(*kind, &project).await;
        for (edit, after) in edits.iter().zip(&truths) {
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
