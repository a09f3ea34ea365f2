//! `:checkhealth sextant`: each fault is named at once, with what else is known beside it.

use rusqlite::Connection;
use serde_json::json;

use crate::nvim::servers::Faked;
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::servers::{OPEN, PATIENCE_MS};

const TEXT: &str = "def f() -> int:\n    return 1\n";

async fn health(nvim: &Nvim) -> String {
    nvim.command("checkhealth sextant").await;
    nvim.lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_option_hides_no_other_fault() {
    let project = Project::new(&[("a.py", TEXT)]);
    let options = "{ save = 'maybe', foo = 3, \
                   model = { provider = 'anthropic', model = 'm', api_key_env = 'NO_KEY_HERE' }, \
                   commands = { { name = 'own', command = { 'nowhere-to-be-found' }, format = 'sarif' } } }";
    let nvim = Nvim::start_with(&project, options, &[], "/nonexistent/sextant").await;
    let text = health(&nvim).await;
    for fault in [
        "ERROR setup(): option `save` is \"maybe\" and must be one of if_clean, never",
        "ERROR setup(): unknown option `foo`",
        "ERROR model: no key, $NO_KEY_HERE is not set",
        "ERROR no sextant binary found",
        "/nonexistent/sextant",
        "command own is not installed",
        "the handshake is done when setup() has no mistakes",
    ] {
        assert!(text.contains(fault), "{fault}: {text}");
    }
    let nvim = Nvim::start(&project, "{ mode = 'plannr', model = 'm' }", &[]).await;
    let text = health(&nvim).await;
    assert!(text.contains("option `model` is \"m\"") && !text.contains("model: "), "no default in its place: {text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_file_that_the_first_task_would_set_aside_is_named_and_left() {
    let newer = |project: &Project| {
        drop(project.memory());
        let file = Connection::open(project.memory_file()).expect("a database");
        file.pragma_update(None, "user_version", 9999).expect("a version");
    };
    let junk = |project: &Project| {
        project.record().make().expect("folders");
        std::fs::write(project.memory_file(), "junk, and no database at all\n").expect("a file");
    };
    let sound = |project: &Project| drop(project.memory());
    type Case<'a> = (&'a dyn Fn(&Project), Option<&'static str>);
    let cases: [Case<'_>; 4] = [
        (&newer, Some("its schema 9999 is newer")),
        (&junk, Some("the memory file is damaged")),
        (&sound, None),
        (&|_| (), None),
    ];
    for (make, why) in cases {
        let project = Project::new(&[("a.py", TEXT)]);
        make(&project);
        let nvim = Nvim::open(&project, "{}", &[], "a.py").await;
        let text = health(&nvim).await;
        let folder = project.record().folder();
        let file = format!("ERROR memory and undo: {}: ", project.memory_file().display());
        assert_eq!(text.contains(&file), why.is_some(), "{text}");
        assert!(
            why.is_none_or(|why| text.contains(why) && text.contains("a newer Sextant may have made it")),
            "{text}"
        );
        assert_eq!(text.contains("OK memory and undo: "), why.is_none(), "{text}");
        assert!(!folder.join("memory.db.damaged-1").exists(), "the look changes nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_said_nothing_yet_is_no_fault() {
    let fake = Faked::start("other", &json!({"on": {OPEN: []}}), "ok\n").await;
    let is_there = "return (vim.wait(60000, function() local c = vim.lsp.get_clients()[1]; return c ~= nil and c.initialized end, 5))";
    assert!(fake.nvim.lua::<bool>(is_there).await);
    let text = health(&fake.nvim).await;
    assert!(text.contains("other (in 1 buffer): not known yet: it has just started"), "{text}");
    assert!(!text.contains("publishes_once"), "{text}");
    fake.nvim.command("bwipeout").await;
    drop(fake);
    let push = json!({"publish": {"version": "same", "items": []}});
    let mut fake = Faked::start("other", &json!({"on": {OPEN: [push]}}), "ok\n").await;
    fake.ask(PATIENCE_MS).await;
    let text = health(&fake.nvim).await;
    assert!(text.contains("add 'other' to `publishes_once`"), "{text}");
}
