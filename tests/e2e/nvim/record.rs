//! The record and the links of a workspace as a real Neovim meets them.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use crate::nvim::ask::{options, step};
use crate::support::model_server::ModelServer;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::change;
use serde_json::{Value, json};

const TEXT: &str = "x = 1\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_somebody_holds_is_done_without_and_a_stop_does_not_wait_for_it() {
    let project = Project::new(&[("a.py", TEXT)]);
    drop(project.memory());
    let lock = std::fs::File::options().write(true).open(project.record().folder().join("memory.db.lock"));
    let lock = lock.expect("the lock");
    lock.lock().expect("held");
    let edit = step("edit_file", change("a.py", "x = 1", "x = 2"), false);
    let server = ModelServer::start([edit]).await;
    let mut nvim = Nvim::open(&project, &options(&server), &[], "a.py").await;
    nvim.command("AgentAsk change it").await;
    let asked = Instant::now();
    let failure = nvim.failed_task("AgentStop").await;
    assert!(
        failure["kind"] == "cancelled" && asked.elapsed() < Duration::from_secs(1),
        "{:?} {failure}",
        asked.elapsed()
    );
    nvim.task("AgentAsk change it").await;
    assert_eq!(project.read("a.py"), "x = 2\n", "the work goes on");
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffer_under_another_name_of_its_file_is_edited_and_reviewed() {
    let project = Project::new(&[("a.py", TEXT)]);
    symlink(project.root().join("a.py"), project.root().join("link.py")).expect("a link");
    let edit = step("edit_file", change("a.py", "x = 1", "x = absent"), false);
    let server = ModelServer::start([edit]).await;
    let mut nvim = Nvim::open_on_screen(&project, &options(&server), &["ruff"], "link.py").await;
    nvim.task("AgentAsk change it").await;
    assert_eq!(nvim.text().await, "x = absent\n", "{}", nvim.screen.text());
    nvim.command("AgentReview").await;
    nvim.screen.shows("1/1 ").await;
    nvim.screen.shows("▎new: ").await;
    nvim.keys("ga").await;
    nvim.screen.shows("reviewed 1 of 1").await;
    nvim.task("AgentUndo").await;
    assert_eq!(nvim.text().await, TEXT);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buffer_is_not_written_where_its_folder_has_become_a_link() {
    let project = Project::new(&[("src/a.py", TEXT)]);
    let elsewhere = project.beside("others");
    std::fs::write(elsewhere.join("a.py"), TEXT).expect("a file");
    let server = ModelServer::start([]).await;
    let nvim = Nvim::start(&project, &options(&server), &[]).await;
    std::fs::remove_dir_all(project.root().join("src")).expect("removed");
    symlink(&elsewhere, project.root().join("src")).expect("a link");
    let made: Value = nvim
        .lua(
            "local answer
            local path = vim.fn.getcwd() .. '/src/deep/new.py'
            local edit = { op = 'create', path = path, newline = true, hunks = { { 0, 0, 0, 0, { 'y = 1' } } } }
            require('sextant.edit.apply').apply({ edits = { edit }, save = 'if_clean' }, function(err, results)
              answer = err or results[1]
            end)
            vim.wait(20000, function() return answer ~= nil end, 5)
            return { answer.saved, answer.note }",
        )
        .await;
    assert_eq!(made, json!([false, "not written: a folder or file on its path is a link now"]));
    let left: Vec<_> =
        std::fs::read_dir(&elsewhere).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["a.py"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_of_a_buffer_under_a_link_s_name_are_those_of_its_file() {
    let project = Project::new(&[("src/a.py", "import os\n")]);
    symlink(project.root().join("src/a.py"), project.root().join("src/link.py")).expect("a link");
    let mut nvim = Nvim::open_on_screen(&project, "{}", &["ruff"], "src/link.py").await;
    let found = "return (vim.wait(60000, function() return #vim.diagnostic.get(0) == 1 end, 10))";
    assert!(nvim.lua::<bool>(found).await);
    let (name, data) = {
        nvim.command("AgentPlan make this file clean").await;
        nvim.wait_for(&["SextantPlan", "SextantFailed"]).await
    };
    assert_eq!(name, "SextantPlan", "{data}");
    nvim.keys("a").await;
    nvim.finished().await;
    assert_eq!(project.read("src/a.py"), "");
}
