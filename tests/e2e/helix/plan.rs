//! The plan's page: made, edited by the user, refused with lines, approved as it stands, rolled back.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::durable::{TEXT, plan as model_plan, replace};
use crate::helix::{CART, PRICE, with_model};
use crate::nvim::ask::step;
use crate::nvim::commands::{breaking, strict};
use crate::support::link_client::{EditorLink, Told, engine, hello};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::change;

/// A project with a plan of two steps in an open page.
async fn planned(project: &Project) -> (EditorLink, String) {
    let mut link = EditorLink::to(project).await;
    link.open("cart.py");
    let uri = link.uri("cart.py");
    link.command("agent.plan", json!(["fix all the warnings", {"workspace": true}]), Some(&uri));
    let plan = link.until("the page", |told| told.shown.first().cloned()).await;
    assert!(plan.ends_with("/plan.md"), "{plan}");
    let page = plan.clone();
    link.until("the plan", |told| told.texts[&page].1.contains("- [ ] ").then_some(())).await;
    let page = plan.clone();
    link.until("its actions", |told| (told.actions.get(&page)?.len() > 2).then_some(())).await;
    (link, plan)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_edited_and_saved_then_approved_as_it_stands() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let mut other = EditorLink::to(&project).await;
    let (mut link, plan) = planned(&project).await;
    let text = link.text(&plan);
    assert_eq!(text.matches("- [ ] ").count(), 2, "{text}");
    assert!(text.starts_with("<!-- waiting for approval, 0 of 2 done; space a"), "{text}");
    // A fault is told with its line, and the last plan stands.
    link.type_text(&plan, &text.replacen("- [ ] ", "- [?] ", 1));
    link.save(&plan);
    link.message("[?] is not a state").await;
    let faults = link.until("the fault", |told| told.diagnostics.get(&plan).filter(|all| !all.is_empty()).cloned());
    let line = faults.await[0]["range"]["start"]["line"].as_u64().unwrap();
    assert!(text.lines().nth(usize::try_from(line).unwrap()).unwrap().starts_with("- [ ] "));
    // However many servers the editor runs, it stands once.
    other.command("agent.stop", json!([]), None);
    other.message("nothing is running").await;
    assert!(other.told.lock().unwrap().diagnostics.get(&plan).is_none_or(Vec::is_empty));
    // The first step is left out, in other words.
    let edited = text.replacen("- [ ] ", "- [-] ", 1);
    link.type_text(&plan, &edited);
    link.save(&plan);
    let page = plan.clone();
    link.until("the outcome", |told| told.texts[&page].1.contains("skipped by you").then_some(())).await;
    assert!(link.told.lock().unwrap().diagnostics[&plan].is_empty());
    link.command("agent.approve", json!([]), Some(&plan));
    let page = plan.clone();
    link.until("the end", |told| told.texts[&page].1.contains("<!-- done").then_some(())).await;
    let cart = link.text(&link.uri("cart.py"));
    let mended = [!cart.contains("import"), !project.read("price.py").contains("import")];
    assert_eq!(mended.iter().filter(|mended| **mended).count(), 1, "{cart}");
    assert!(link.told.lock().unwrap().hovers[&plan] == 2);
    let messages = link.told.lock().unwrap().progress.clone();
    assert!(messages.iter().any(|value| value["message"].as_str().is_some_and(|text| text.starts_with("step "))));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_step_runs_alone_and_is_rolled_back() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    let of = |link: &EditorLink, title: &str| {
        let told = link.told.lock().unwrap();
        told.actions[&plan].iter().find(|action| action.title.contains(title)).cloned()
    };
    let step = of(&link, "run this step alone").expect("an action");
    link.command(&step.command, json!(step.arguments), Some(&plan));
    let page = plan.clone();
    link.until("one step", |told| told.texts[&page].1.contains("1 of 2 done").then_some(())).await;
    let page = plan.clone();
    let back = link.until("the action", |told| {
        told.actions[&page].iter().find(|action| action.title.contains("roll step 1 back")).cloned()
    });
    let back = back.await;
    link.command(&back.command, json!(back.arguments), Some(&plan));
    link.message("undone").await;
    assert_eq!((link.text(&link.uri("cart.py")), project.read("price.py")), (CART.to_owned(), PRICE.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_unsaved_plan_is_what_is_approved_and_never_written_over() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    let text = link.text(&plan);
    link.type_text(&plan, &text.replace("- [ ] ", "- [ ]"));
    link.type_text(&plan, &text.replace("- [ ] ", "- [-] "));
    link.command("agent.approve", json!([]), Some(&plan));
    link.until("an end", |told| told.messages.last().cloned()).await;
    assert_eq!((link.text(&link.uri("cart.py")), project.read("price.py")), (CART.to_owned(), PRICE.to_owned()));
    assert!(link.text(&plan).contains("- [-] "), "{}", link.text(&plan));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_plan_takes_the_place_of_what_the_user_has_made_of_the_one_before() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    let text = link.text(&plan);
    // Nothing is left of it, or a state that there is not.
    for (broken, said) in
        [("# Nothing\n".to_owned(), "no step is left"), (text.replacen("- [ ] ", "- [?] ", 1), "[?] is not a state")]
    {
        link.type_text(&plan, &broken);
        link.save(&plan);
        link.message(said).await;
    }
    let uri = link.uri("price.py");
    link.open("price.py");
    link.command("agent.plan", json!(["fix all the warnings in price.py"]), Some(&uri));
    link.message("undo in it (u) brings them back").await;
    let page = plan.clone();
    link.until("the new plan", |told| {
        let text = &told.texts[&page].1;
        (text.contains("0 of 1 done") && !text.contains("[?]") && !text.contains("cart.py")).then_some(())
    })
    .await;
    assert!(link.told.lock().unwrap().diagnostics[&plan].is_empty(), "the fault was of the one before");
    link.command("agent.approve", json!([]), Some(&plan));
    let page = plan.clone();
    link.until("the end", |told| told.texts[&page].1.contains("<!-- done").then_some(())).await;
    assert_eq!(link.text(&link.uri("cart.py")), CART, "the plan before was not what was approved");
    assert!(!link.text(&uri).contains("import"), "{}", link.text(&uri));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_below_the_last_one_is_taken_however_far_the_editor_has_drawn_it_in() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    let text = link.text(&plan);
    assert_eq!(text.matches("- [ ] ").count(), 2, "{text}");
    // As deep as a part: only a run writes those.
    let part = format!("{}    - [ ] look at it\n", text.trim_end().to_owned() + "\n");
    link.type_text(&plan, &part);
    link.save(&plan);
    link.message("parts of a step come from its run").await;
    let page = plan.clone();
    let faults =
        link.until("the fault", |told| told.diagnostics.get(&page).filter(|all| !all.is_empty()).cloned()).await;
    let line = faults[0]["range"]["start"]["line"].as_u64().and_then(|line| usize::try_from(line).ok()).unwrap();
    assert_eq!(part.lines().nth(line), Some("    - [ ] look at it"));
    // As `o` below the details of the step before it leaves it.
    link.type_text(&plan, &format!("{}\n  - [ ] Look once more\n    - symbols: `price.py`\n", text.trim_end()));
    link.save(&plan);
    let page = plan.clone();
    link.until("the step", |told| told.texts[&page].1.contains("\n- [ ] Look once more\n").then_some(())).await;
    assert!(link.text(&plan).contains("0 of 3 done"), "{}", link.text(&plan));
}

#[tokio::test(flavor = "multi_thread")]
async fn leftovers_of_pairs_and_misspelt_files_do_not_become_a_part_of_the_plan() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    let text = link.text(&plan);
    // As Helix leaves them where `[` was typed, and Enter behind it.
    let own = "- [ ] Print \"main\" ] ]\n  - symbols: `price.py` ]\n    ]\n";
    link.type_text(&plan, &format!("{text}{own}"));
    link.save(&plan);
    let page = plan.clone();
    let clean = "- [ ] Print \"main\"\n  - symbols: `price.py` (whole file)\n";
    link.until("the step", |told| told.texts[&page].1.ends_with(clean).then_some(())).await;
    let text = link.text(&plan);
    link.type_text(&plan, &format!("{text}- [ ] Fix the total in `crat.py`\n"));
    link.save(&plan);
    link.message("crat.py is not there: did you mean cart.py?").await;
    link.type_text(&plan, &format!("{text}- [ ] Fix it in `nope.py::zz`\n"));
    let line = link.text(&plan).lines().count() - 1;
    link.save(&plan);
    let page = plan.clone();
    let new = "- [ ] Fix it in `nope.py::zz`\n  - creates: `nope.py`\n";
    link.until("the new file", |told| told.texts[&page].1.ends_with(new).then_some(())).await;
    let page = plan.clone();
    let note = |told: &Told| told.diagnostics.get(&page)?.iter().find(|one| one["severity"] == 3).cloned();
    let note = link.until("the note", note).await;
    assert_eq!(note["message"], "this step creates nope.py, which is not there");
    assert_eq!(note["range"]["start"]["line"], line);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_of_the_users_own_needs_no_symbols_and_may_name_another_file() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let total =
        json!({"title": "Change total", "symbols": ["cart.py::total"], "because": "asked", "expect": "changed"});
    let plan = json!({"title": "One change", "reason": "asked", "steps": [total], "confidence": 1});
    let call = |old: &str, new: &str| step("edit_file", change("price.py", old, new), false);
    let edits = [call("import sys\n", ""), call("len(name)", "0")];
    let server = ModelServer::start(std::iter::once(Reply::Json(plan)).chain(edits)).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("it takes us");
    link.open("cart.py");
    link.command("agent.plan", json!(["change total"]), Some(&link.uri("cart.py")));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    let plan = page.clone();
    link.until("the plan", |told| told.texts[&plan].1.contains("- [ ] ").then_some(())).await;
    let text = link.text(&page);
    link.type_text(&page, &format!("{text}- [ ] Look at it\n  - symbols: `nobody`\n"));
    link.save(&page);
    link.message("no single symbol nobody").await;
    // A file alone, and a word of the file beside it; the first step is left out.
    let own = "- [ ] Sort the imports of price.py\n- [ ] Let price in price.py be zero\n";
    link.type_text(&page, &format!("{}{own}", text.replace("- [ ] ", "- [-] ")));
    link.save(&page);
    let plan = page.clone();
    let completed = "- [ ] Sort the imports of price.py\n  - symbols: `price.py` (whole file)\n- [ ] Let price in price.py be zero\n  - symbols: `price.py::price`\n";
    link.until("the steps", |told| told.texts[&plan].1.contains(completed).then_some(())).await;
    // A second save of it changes nothing of that.
    link.type_text(&page, &link.text(&page).replace("Sort the", "Sort all"));
    link.save(&page);
    let plan = page.clone();
    let kept = "- [ ] Sort all imports of price.py\n  - symbols: `price.py` (whole file)\n";
    link.until("the plan", |told| told.texts[&plan].1.contains(kept).then_some(())).await;
    link.command("agent.approve", json!([]), Some(&page));
    let plan = page.clone();
    link.until("the end", |told| told.texts[&plan].1.contains("<!-- done").then_some(())).await;
    assert_eq!(project.read("price.py"), "\n\ndef price(name: str) -> int:\n    return 0\n");
    let asked: Vec<String> = server.requests().iter().map(|request| request.said_by("user").to_owned()).collect();
    assert!(asked[1].contains("May edit: price.py\n"), "the file as a whole: {}", asked[1]);
    assert!(asked[2].contains("May edit: price.py::price, the imports of price.py\n"), "{}", asked[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_plan_leaves_the_first_one_to_be_listed_and_discarded() {
    let project = Project::new(&[("cart.py", CART), ("price.py", PRICE)]);
    let _engine = engine(&project);
    let (mut link, plan) = planned(&project).await;
    link.command("agent.plan", json!(["fix this", {"file": "cart.py"}]), None);
    let page = plan.clone();
    link.until("the second plan", |told| (told.texts[&page].1.matches("- [ ] ").count() == 1).then_some(())).await;
    link.command("agent.show", json!(["waiting"]), None);
    let list = link.until("the list", |told| told.shown.iter().find(|uri| uri.contains("waiting")).cloned()).await;
    let text = link.text(&list);
    assert!(text.contains("1. “") && text.contains("2. “") && text.contains("waiting for approval"), "{text}");
    link.command("agent.discard", json!(["2"]), None);
    link.message("discarded “").await;
    link.command("agent.resume", json!(["2"]), None);
    link.message("nothing that waits is named").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_that_is_reported_after_the_run_marks_its_step() {
    let project = Project::new(&[("a.py", "def f() -> int:\n    return 1\n")]);
    let server = ModelServer::start(breaking()).await;
    let mut options = with_model(&server);
    options["diagnostics"] = json!({"timeout_ms": 300, "start_timeout_ms": 60_000});
    (options["commands"], options["mode"]) = (json!([strict(&project)]), json!("planner"));
    let _engine = engine(&project);
    let mut link = EditorLink::with(&project, hello(&project, None, options)).await.expect("taken");
    // The command reads the disk: of a file that is open and not saved it could report nothing.
    link.command("agent.plan", json!(["break it", {"file": "a.py"}]), None);
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    let has = |part: &'static str| {
        let page = page.clone();
        move |told: &Told| told.texts[&page].1.contains(part).then_some(())
    };
    link.until("the plan", has("- [ ] break f")).await;
    link.command("agent.approve", json!([]), Some(&page));
    link.until("the end", has("whether anything is new is not known: tool:lint (a.py)")).await;
    link.until("the mark", has("- [x] break f")).await;
    std::fs::write(project.beside("gate").join("go"), "").expect("a signal");
    link.until("the outcome", has("after a late answer: 0 fixed, 2 new, the first: bad word")).await;
    link.until("the other mark", has("- [~] break f")).await;
    // It is still a step that can be taken back.
    link.command("agent.undo", json!(["step 1"]), Some(&page));
    link.until("the open step", has("- [ ] break f")).await;
    assert!(!project.read("a.py").contains("bad"), "{}", project.read("a.py"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_saved_during_a_run_counts_behind_it_and_marks_follow_the_run() {
    let project = Project::new(&[("a.py", TEXT)]);
    let _engine = engine(&project);
    let go = Arc::new(Notify::new());
    let held = Reply::Held(Box::new(replace("return 1", "return 11", false)), Arc::clone(&go));
    let server = ModelServer::start([model_plan(&["f", "g"]), held, replace("return 2", "return 22", false)]).await;
    let mut link = EditorLink::with(&project, hello(&project, None, with_model(&server))).await.expect("taken");
    link.open("a.py");
    link.command("agent.plan", json!(["change both"]), Some(&link.uri("a.py")));
    let page = link.until("the page", |told| told.shown.first().cloned()).await;
    let has = |part: &'static str| {
        let page = page.clone();
        move |told: &Told| told.texts[&page].1.contains(part).then_some(())
    };
    link.until("the plan", has("- [ ] change g")).await;
    link.command("agent.plan", json!([]), Some(&page));
    link.until("its head, nothing was run", has("<!-- waiting for approval, 0 of 2 done")).await;
    link.command("agent.step", json!([]), Some(&page));
    link.until("the run", has("- [>] change f")).await;
    // The user rewords the second step while the first one runs.
    link.type_text(
        &page,
        &link.text(&page).replace(
            "because: asked\n  - expect: changed\n- [ ] change g",
            "because: asked\n  - expect: changed\n- [ ] change g well",
        ),
    );
    assert!(link.text(&page).contains("change g well"), "{}", link.text(&page));
    link.save(&page);
    link.message("your plan counts when the running task has ended").await;
    go.notify_one();
    link.until("the first step's own mark", has("- [x] change f")).await;
    link.until("the second step in the user's words", has("- [ ] change g well")).await;
    assert!(link.told.lock().unwrap().diagnostics[&page].is_empty(), "no fault");
    // The third is the user's no, which an undo of the plan leaves.
    link.type_text(&page, &link.text(&page).replace("- [ ] change g well", "- [-] change g well"));
    link.save(&page);
    link.until("the no", has("skipped by you")).await;
    let again = link.until("its action", |told| {
        told.actions[&page].iter().find(|action| action.title == "Sextant: open step 2 again").cloned()
    });
    let again = again.await;
    link.command(&again.command, json!(again.arguments), Some(&page));
    link.until("the yes", has("- [ ] change g well")).await;
    link.command("agent.skip", json!([2]), Some(&page));
    link.until("the no again", has("skipped by you")).await;
    link.command("agent.undo", json!([]), Some(&page));
    link.until("the first step is open", has("- [ ] change f")).await;
    assert!(link.text(&page).contains("- [-] change g well"), "{}", link.text(&page));
}
