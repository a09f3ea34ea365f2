//! A task that is talked over: several calls an answer, messages that are only added to, an end that is one.

use crate::support::undo::UndoWords;
use serde_json::json;
use sextant::engine::{Event, Request};
use sextant::llm::chat::{ChatMessage, ChatReply, ToolUse};
use sextant::llm::step::{PlanReplyStep, StepReply};

use crate::engine::{TEXT, project, replace};
use crate::support::engine::{Setup, Talked, TestEngine, act, calls, last, plan_of, planned, says};
use crate::support::project::Project;
use crate::support::servers::fake_config;

fn talk(chats: Vec<ChatReply>) -> Setup {
    Setup { chats, syntax: true, ..Setup::default() }
}

/// True if each question begins with the whole of the one before.
fn only_added_to(talked: &[Talked]) -> bool {
    talked.windows(2).all(|pair| {
        let (before, after) = (&pair[0], &pair[1]);
        before.system == after.system && before.tools == after.tools && after.messages.starts_with(&before.messages)
    })
}

#[tokio::test]
async fn reads_go_together_and_edits_in_order_until_one_fails() {
    let project = project();
    let mut engine = TestEngine::new(
        &project,
        talk(vec![
            calls(&[("read_symbol", json!({"symbol": "a.py::g"})), ("search", json!({"pattern": "return"}))]),
            calls(&[
                ("edit_file", replace("return 1", "return 11")),
                ("edit_file", replace("return 7", "return 8")),
                ("edit_file", replace("return 11", "return 12")),
                ("read_symbol", json!({"symbol": "a.py::f"})),
            ]),
            says("f gives 11."),
        ]),
    );
    let outcome = engine.ask("make f return 11").await;
    assert_eq!((&outcome["ok"], &outcome["answer"]), (&json!(true), &json!("f gives 11.")), "{outcome}");
    assert!(project.read("a.py").contains("return 11\n"));
    let talked = engine.talked();
    assert!(only_added_to(&talked), "{talked:#?}");
    assert!(talked[0].system.contains("never by line number") && talked[0].last().contains("Request: make f"));
    assert!(talked[1].last().contains("read_symbol true") && talked[1].last().contains("search true"));
    let shown: Vec<bool> = engine
        .seen()
        .iter()
        .filter_map(|event| match event {
            Event::Acting { .. } => Some(true),
            Event::Acted { .. } => Some(false),
            _ => None,
        })
        .collect();
    assert_eq!(shown[..4], [true, true, false, false], "both reads are under way before one comes back");
    let lines: Vec<String> = talked[2].last().lines().map(str::to_owned).collect();
    let at = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((at("edit_file true"), at("edit_file false"), at("read_symbol true")), (1, 2, 1), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("not run: the edit_file before it failed")), "{lines:?}");
    let undone = engine.session.undo().await.result.expect("it can be undone");
    assert!(project.read("a.py") == TEXT, "{undone}");
}

#[tokio::test]
async fn what_cannot_run_is_told_and_too_much_of_it_ends_the_task() {
    let project = project();
    let unknown = || ChatReply {
        uses: vec![ToolUse { problem: Some("there is no tool `rm`".into()), tool: "rm".into(), ..ToolUse::default() }],
        ..ChatReply::default()
    };
    let engine = TestEngine::new(&project, talk(vec![unknown(), unknown(), unknown(), says("never asked")]));
    let outcome = engine.ask("make f return 11").await;
    assert_eq!(outcome["ok"], false);
    assert!(outcome["summary"].as_str().unwrap().contains("gave up after 3 errors"), "{outcome}");
    assert_eq!(engine.talked().len(), 3);
    assert!(engine.talked()[1].last().contains("no tool `rm`"));
}

#[tokio::test]
async fn the_end_behind_a_refused_edit_is_no_error_of_its_own() {
    let project = project();
    let refused =
        || calls(&[("edit_file", replace("return 7", "return 8")), ("done", json!({"answer": "f gives 8."}))]);
    let engine = TestEngine::new(&project, talk(vec![refused(), refused(), refused(), says("never asked")]));
    let outcome = engine.ask("make f return 8").await;
    let summary = outcome["summary"].as_str().unwrap();
    assert!(summary.contains("gave up after 3 errors") && !summary.contains("not over"), "{summary}");
    assert_eq!(engine.talked().len(), 3);
}

#[tokio::test]
async fn an_objection_to_an_end_is_no_error() {
    let project = project();
    let refused = || act("edit_file", replace("return 7", "return 8"));
    let end = StepReply { confidence: 1.0, answer: "done".to_owned(), ..StepReply::default() };
    let broken = act("edit_file", replace("return 1", "return (1"));
    let whole = last("edit_file", replace("return (1", "return 11"));
    let replies = vec![broken, refused(), refused(), end, whole];
    let engine = TestEngine::new(&project, Setup { replies, syntax: true, ..Setup::default() });
    let outcome = engine.ask("make f return 11").await;
    assert_eq!(outcome["ok"], true, "{outcome}");
    assert!(project.read("a.py").contains("return 11\n"));
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_not_asked_for_again_as_it_was() {
    let project = project();
    let cut = ChatReply { cut: true, text: "I will".into(), ..ChatReply::default() };
    let edit = calls(&[("edit_file", replace("return 1", "return 11"))]);
    let engine = TestEngine::new(&project, talk(vec![cut, edit, says("done")]));
    assert_eq!(engine.ask("make f return 11").await["ok"], true);
    assert!(engine.talked()[1].last().contains("Write it in parts"), "{:?}", engine.talked()[1]);
}

#[tokio::test]
async fn new_errors_are_told_twice_and_a_file_that_does_not_parse_is_taken_back() {
    for (rule, stays) in [("undo_syntax", false), ("keep", true)] {
        let project = project();
        let config = json!({"diagnostics": {"new_errors": rule}});
        let chats = vec![
            calls(&[("edit_file", replace("return 1", "return (1"))]),
            says("done"),
            calls(&[("edit_file", replace("return (1", "return (11"))]),
            says("done"),
            says("really done"),
            says("never asked"),
        ];
        let engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
        let outcome = engine.ask("make f return 11").await;
        assert_eq!(outcome["ok"], false, "{outcome}");
        assert_eq!(project.read("a.py").contains("return (11"), stays, "{rule}");
        let talked = engine.talked();
        assert_eq!(talked.len(), 5);
        for asked in [&talked[2], &talked[4]] {
            assert!(asked.last().contains("It is not over") && asked.last().contains("a.py"), "{asked:?}");
        }
        let said = if stays { "Not done: 1 new error stays" } else { "taken back, since a.py did not parse any more" };
        assert!(outcome["summary"].as_str().unwrap().contains(said), "{outcome}");
    }
}

#[tokio::test]
async fn an_error_that_is_mended_after_a_word_is_none() {
    let project = project();
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return (1"))]),
        says("done"),
        calls(&[("edit_file", replace("return (1", "return 11"))]),
        says("done"),
    ];
    let engine = TestEngine::new(&project, talk(chats));
    let outcome = engine.ask("make f return 11").await;
    assert_eq!(outcome["ok"], true, "{outcome}");
    assert!(project.read("a.py").contains("return 11\n"));
}

#[tokio::test]
async fn nothing_changed_is_held_against_a_change_and_not_against_a_question() {
    let project = project();
    for (request, asked, ok) in [("rename f to first", 2, false), ("what does f do?", 1, true)] {
        let engine = TestEngine::new(&project, talk(vec![says("f returns 1."), says("f returns 1.")]));
        let outcome = engine.ask(request).await;
        assert_eq!((engine.talked().len(), &outcome["ok"]), (asked, &json!(ok)), "{request}: {outcome}");
    }
}

#[tokio::test]
async fn the_user_can_widen_the_scope_for_this_task() {
    for choice in [1, 2] {
        let project = project();
        let edit =
            json!({"symbol": "a.py::g", "action": "replace", "content": "def g() -> int:\n    return f() + 1\n"});
        let chats = vec![
            calls(&[
                ("ask_user", json!({"question": "g calls f. May I change it?", "allow": ["a.py::g"]})),
                ("edit_symbol", edit),
            ]),
            calls(&[("edit_file", replace("return 1", "return 11"))]),
            says("done"),
        ];
        let mut engine = TestEngine::new(&project, talk(chats));
        engine.session.answers_come();
        let agent = std::sync::Arc::clone(&engine.session);
        let request = Request { text: "change f and g".into(), symbols: vec!["a.py::f".into()], ..Request::default() };
        let cancel = engine.cancel.clone();
        let asked = tokio::spawn(async move { agent.ask(&request, &cancel).await.result });
        let (question, options) = engine.question().await;
        assert!(question.contains("May I change it?") && question.contains("a.py::g"), "{question}");
        assert_eq!(options.len(), 2);
        engine.session.answer_waiting(choice).expect("a question waits").expect("an option");
        let outcome = asked.await.expect("no panic").expect("an outcome");
        assert!(outcome.ok, "{outcome:?}");
        assert_eq!(project.read("a.py").contains("f() + 1"), choice == 1, "{}", engine.talked()[1].last());
    }
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_is_told_to_the_model() {
    let project = project();
    let chats =
        vec![calls(&[("ask_user", json!({"question": "Which?", "options": ["a", "b"]}))]), says("left as it is")];
    let engine = TestEngine::new(&project, talk(chats));
    engine.ask("what is f?").await;
    let told = engine.talked()[1].last();
    assert!(told.contains("ask_user false") && told.contains("go on without it"), "{told}");
}

#[tokio::test]
async fn the_steps_of_a_plan_are_one_conversation_and_each_carries_the_request() {
    let project = project();
    let plans = vec![plan_of([planned("change f", &["a.py::f"]), planned("change g", &["a.py::g"])])];
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return 11"))]),
        says("f is changed"),
        calls(&[("edit_file", replace("return f()", "return f() + 1"))]),
        says("g is changed"),
    ];
    let engine = TestEngine::new(&project, Setup { plans, ..talk(chats) });
    engine.plan("make both larger").await.expect("a plan");
    let (outcome, _) = engine.approve().await;
    assert!(outcome.expect("it ran").ok);
    let talked = engine.talked();
    assert!(only_added_to(&talked), "{talked:#?}");
    for (asked, step) in [(1, "change f"), (3, "change g")] {
        let told = talked[asked].last();
        assert!(told.contains(&format!("Your step of the plan for it: {step}")), "{told}");
        let said =
            |message: &&ChatMessage| matches!(message, ChatMessage::User(text) if text.contains("make both larger"));
        assert_eq!(talked[asked].messages.iter().filter(said).count(), 1, "the request is there, and is said once");
    }
    assert!(talked[1].last().contains("you are at step 1") && !talked[3].last().contains("you are at step"));
    assert!(project.read("a.py").contains("f() + 1"));
}

#[tokio::test]
async fn a_long_conversation_is_shortened_and_keeps_the_request() {
    let long: String = (0..400).map(|n| format!("value_{n} = {n}\n")).collect();
    let project = Project::new(&[("a.py", TEXT), ("long.py", &long)]);
    let read = |n: usize| calls(&[("read_file", json!({"path": "long.py", "offset": 1 + n * 10}))]);
    let mut chats: Vec<ChatReply> = (0..14).map(read).collect();
    chats.insert(3, calls(&[("edit_file", replace("return 1", "return 11"))]));
    chats.push(says("done"));
    let engine = TestEngine::new(&project, Setup { context: Some(8192), ..talk(chats) });
    let outcome = engine.ask("make f return 11").await;
    assert_eq!(outcome["ok"], true, "{outcome}");
    let talked = engine.talked();
    let last = talked.last().unwrap();
    let Some(ChatMessage::User(first)) = last.messages.first() else { panic!("{last:?}") };
    assert!(first.contains("Request: make f return 11") && first.contains("edited a.py::f"), "{first}");
    assert!(last.messages.len() < 20, "{}", last.messages.len());
}

#[tokio::test]
async fn a_check_that_does_not_hold_goes_back_to_its_step_with_what_it_printed() {
    let wanted = TEXT.replace("return 1", "return 12");
    let project = Project::new(&[("a.py", TEXT), ("wanted.py", &wanted)]);
    let checks = vec!["command diff a.py wanted.py passes".into()];
    let step = PlanReplyStep { checks, ..planned("change f", &["a.py::f"]) };
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return 11"))]),
        says("done"),
        calls(&[("edit_file", replace("return 11", "return 12"))]),
        says("done"),
    ];
    let config = json!({"commands_allowed": ["diff"]});
    let engine = TestEngine::new(&project, Setup { plans: vec![plan_of([step])], config, ..talk(chats) });
    engine.plan("make f return 12").await.expect("a plan");
    let (outcome, _) = engine.approve().await;
    assert!(outcome.expect("it ran").ok);
    let told = engine.talked()[3].last();
    let printed = told.contains("\n<     return 11\n") && told.contains("\n>     return 12");
    assert!(told.contains("The step is not done") && printed, "{told}");
    assert!(project.read("a.py").contains("return 12"));
}

#[tokio::test]
async fn a_reason_against_an_error_ends_the_task_and_the_error_is_still_one() {
    let project = project();
    let config = json!({"diagnostics": {"new_errors": "keep"}});
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return (1"))]),
        says("done"),
        says("The grammar is older than this syntax."),
        says("never asked"),
    ];
    let engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
    let outcome = engine.ask("make f return 11").await;
    assert_eq!((engine.talked().len(), &outcome["ok"]), (3, &json!(false)), "{outcome}");
    assert_eq!(outcome["answer"], "The grammar is older than this syntax.");
}

#[tokio::test]
async fn edits_of_one_answer_are_told_their_diagnostics_together() {
    let project = project();
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return (1")), ("edit_file", replace("return (1", "return 11"))]),
        says("done"),
    ];
    let engine = TestEngine::new(&project, talk(chats));
    let outcome = engine.ask("make f return 11").await;
    assert_eq!(outcome["ok"], true, "{outcome}");
    let told = engine.talked()[1].last();
    assert!(!told.contains("syntax error") && told.contains("diagnostics: with the next result"), "{told}");
}

#[tokio::test]
async fn a_page_of_a_long_file_is_whole_and_says_how_to_go_on() {
    let long: String = (0..4000).map(|n| format!("value_{n} = {n}\n")).collect();
    let project = Project::new(&[("a.py", TEXT), ("long.py", &long)]);
    let chats = vec![calls(&[("read_file", json!({"path": "long.py"}))]), says("many values")];
    let engine = TestEngine::new(&project, Setup { context: Some(8192), ..talk(chats) });
    engine.ask("what is in long.py?").await;
    let told = engine.talked()[1].last();
    assert!(!told.contains("left out here") && told.contains("offset"), "cut once, by its page: {told}");
}

#[tokio::test]
async fn done_behind_what_passes_ends_the_task_without_another_question() {
    let project = project();
    let config = json!({"commands_allowed": ["true"]});
    let chats = vec![
        calls(&[
            ("edit_file", replace("return 1", "return 11")),
            ("run_command", json!({"command": ["true"]})),
            ("done", json!({"answer": "f gives 11."})),
            ("edit_file", replace("return 11", "return 12")),
        ]),
        says("never asked"),
    ];
    let mut engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
    let outcome = engine.ask("make f return 11").await;
    assert_eq!((&outcome["ok"], &outcome["answer"]), (&json!(true), &json!("f gives 11.")), "{outcome}");
    assert_eq!(engine.talked().len(), 1);
    assert!(project.read("a.py").contains("return 11\n"), "what stands behind the end is not run");
    let shown =
        engine.seen().into_iter().any(|event| matches!(event, Event::Words { text, .. } if text == "f gives 11."));
    assert!(shown, "the user reads it as any other answer");
}

#[tokio::test]
async fn an_end_waits_for_the_diagnostics_that_were_put_off() {
    let project = project();
    let edit = json!({"path": "a.py", "old_string": "return 1", "new_string": "return (1", "diagnostics": "defer"});
    let chats = vec![calls(&[("edit_file", edit)]), says("done"), says("it was left"), says("it was left")];
    let engine = TestEngine::new(&project, talk(chats));
    let outcome = engine.ask("make f return 11").await;
    let told = engine.talked()[2].last();
    assert!(told.contains("It is not over") && told.contains("a.py"), "{told}");
    assert_eq!(outcome["ok"], false, "{outcome}");
}

#[tokio::test]
async fn done_ends_nothing_behind_what_has_to_be_read_first() {
    let done = || ("done", json!({"answer": "done"}));
    let put_off = json!({"path": "a.py", "old_string": "return 1", "new_string": "return (1", "diagnostics": "defer"});
    for (before, why) in [
        (("edit_file", replace("return 7", "return 8")), "not over: the edit_file before it failed"),
        (("edit_file", replace("return 1", "return (1")), "not over: this is new: error a.py"),
        (("edit_file", put_off), "not over: this is new: error a.py"),
        (("run_command", json!({"command": ["false"]})), "not over: false has not passed"),
        (("read_symbol", json!({"symbol": "a.py::f"})), "not over: read what read_symbol gave first"),
    ] {
        let project = project();
        let config = json!({"commands_allowed": ["false"]});
        let chats = vec![
            calls(&[before, done()]),
            calls(&[("write_file", json!({"path": "b.py", "content": "x = 1\n"})), done()]),
            says("it was left"),
            says("it was left"),
            says("it was left"),
        ];
        let engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
        engine.ask("make f return 11").await;
        let told = engine.talked()[1].last();
        assert!(told.contains("done false") && told.contains(why), "{told}");
    }
}

#[tokio::test]
async fn done_said_again_ends_what_the_first_one_did_not() {
    let project = project();
    let done = || ("done", json!({"answer": "f gives 11."}));
    let chats = vec![
        calls(&[
            ("edit_file", replace("return 1", "return 11")),
            ("run_command", json!({"command": ["false"]})),
            done(),
        ]),
        calls(&[done()]),
    ];
    let engine = TestEngine::new(&project, Setup { config: json!({"commands_allowed": ["false"]}), ..talk(chats) });
    let outcome = engine.ask("make f return 11").await;
    let talked = engine.talked();
    assert!(talked[1].last().contains("false has not passed. Fix it if"), "{}", talked[1].last());
    assert!(talked[1].last().contains("call done again"), "{}", talked[1].last());
    assert_eq!(
        (talked.len(), &outcome["ok"], &outcome["answer"]),
        (2, &json!(true), &json!("f gives 11.")),
        "{outcome}"
    );
}

#[tokio::test]
async fn what_a_replacement_leaves_above_a_definition_is_said() {
    let text = "import functools\n\n\n@functools.cache\ndef f() -> int:\n    return 1\n";
    let project = Project::new(&[("a.py", text)]);
    let edit = |content: &str| ("edit_symbol", json!({"symbol": "a.py::f", "action": "replace", "content": content}));
    let chats = vec![
        calls(&[edit("def f() -> int:\n    return 2\n")]),
        calls(&[edit("@functools.cache\ndef f() -> int:\n    return 3\n")]),
        says("f gives 3."),
    ];
    let engine = TestEngine::new(&project, talk(chats));
    engine.ask("make f return 3").await;
    let talked = engine.talked();
    let said = "@functools.cache stays above it: edit_file takes it away";
    assert!(talked[1].last().contains(said), "{}", talked[1].last());
    assert!(!talked[2].last().contains("stays above it"), "{}", talked[2].last());
    assert!(project.read("a.py").ends_with("@functools.cache\ndef f() -> int:\n    return 3\n"));
}

#[tokio::test]
async fn what_a_model_says_and_its_last_word_are_paragraphs_of_their_own() {
    let project = project();
    let reply = ChatReply { text: "I did so.".into(), ..calls(&[("done", json!({"answer": "Finished."}))]) };
    let mut engine = TestEngine::new(&project, talk(vec![reply]));
    let outcome = engine.ask("what does f return?").await;
    assert_eq!(outcome["answer"], "Finished.", "{outcome}");
    let words: String = engine
        .seen()
        .iter()
        .filter_map(|event| match event {
            Event::Words { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(words, "I did so.\n\nFinished.");
}

#[tokio::test]
async fn a_source_that_was_edited_and_taken_back_is_shown_again() {
    let project = project();
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return 11"))]),
        says("f gives 11."),
        calls(&[("edit_file", replace("return 1", "return 12"))]),
        says("f gives 12."),
    ];
    let engine = TestEngine::new(&project, talk(chats));
    let request = |text: &str, follows: bool| Request {
        text: text.into(),
        symbols: vec!["a.py::f".into()],
        follows,
        ..Request::default()
    };
    engine.ask_about(&request("make f return 11", false)).await;
    assert!(engine.session.undo().await.result.is_ok() && project.read("a.py") == TEXT);
    engine.ask_about(&request("make f return 12", true)).await;
    let talked = engine.talked();
    let told = talked[2].last();
    assert!(talked[2].messages.len() > 1 && told.contains("make f return 12"), "it is one conversation: {told}");
    assert!(told.contains("    return 1\n"), "the model has edited it since it has read this text: {told}");
}

#[tokio::test]
async fn the_model_reads_that_its_edits_were_taken_back_for_the_fallback() {
    let project = project();
    let step = PlanReplyStep {
        checks: vec!["symbol a.py::h exists".into()],
        fallback: "return 12".into(),
        expect: String::new(),
        ..planned("return 11", &["a.py::f"])
    };
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return 11"))]),
        says("done"),
        says("it is there"),
        says("it is there"),
        calls(&[("edit_file", replace("return 1", "return 12"))]),
        says("done"),
    ];
    let engine = TestEngine::new(&project, Setup { plans: vec![plan_of([step])], ..talk(chats) });
    engine.plan("make f larger").await.expect("a plan");
    let _ = engine.approve().await;
    let talked = engine.talked();
    let told = talked[1].last();
    assert!(told.contains("return 11. Expected after it: checked: symbol a.py::h exists\n"), "{told}");
    let retold = talked.iter().map(Talked::last).find(|told| told.contains("for it: return 12")).expect("its fallback");
    assert!(retold.contains("were taken back: the text is as it was before the step"), "{retold}");
    assert!(retold.contains("    return 1\n"), "{retold}");
    assert!(project.read("a.py").contains("return 12\n"));
}

#[tokio::test]
async fn a_later_question_about_another_file_has_its_source_and_its_reports() {
    let other = "def total() -> int:\n    return bad\n";
    let long: String = (0..2000).map(|n| format!("def h{n}() -> int:\n    return {n}\n")).collect();
    for (path, text, named) in
        [("b.py", "what is the error in this file?", false), ("a.py", "what is the error in b.py?", true)]
    {
        let project = Project::new(&[("a.py", TEXT), ("b.py", other), ("long.py", &long)]);
        let script = json!({"on": {"textDocument/didOpen": [[{"publish": {"version": "same", "items": "scan"}}]]}});
        let servers = vec![fake_config(&project.beside("fake"), &script)];
        let setup = Setup { servers, ..talk(vec![says("f gives 1."), says("It is bad."), says("Functions.")]) };
        let engine = TestEngine::new(&project, setup);
        let request = |text: &str, path: &str, follows: bool| Request {
            text: text.into(),
            path: Some(project.root().join(path).display().to_string()),
            follows,
            ..Request::default()
        };
        engine.ask_about(&request("what does f give?", "a.py", false)).await;
        engine.ask_about(&request(text, path, true)).await;
        let told = engine.talked()[1].last();
        assert!(told.contains("def total() -> int:\n    return bad\n"), "{path}: {told}");
        assert!(told.contains("total bad [fake] this is bad"), "{path}: {told}");
        assert_eq!(told.contains("May edit: a.py"), named, "a question widens nothing: {told}");
        engine.ask_about(&request("what is in long.py?", "a.py", true)).await;
        let told = engine.talked()[2].last();
        assert!(told.contains("long.py") && told.contains("h0, h1"), "what it has: {told}");
    }
}

#[tokio::test]
async fn a_refused_edit_is_named_beside_new_errors_that_stay() {
    let project = Project::new(&[("a.py", TEXT), ("b.py", "x = 1\n")]);
    let config = json!({"diagnostics": {"new_errors": "keep"}});
    let outside = json!({"path": "b.py", "old_string": "x = 1", "new_string": "x = 2"});
    let chats = vec![
        calls(&[("edit_file", replace("return 1", "return (1")), ("edit_file", outside)]),
        says("all is changed"),
        says("all is changed"),
        says("all is changed"),
        says("all is changed"),
    ];
    let engine = TestEngine::new(&project, Setup { config, ..talk(chats) });
    let outcome = engine.ask("make f return 1").await;
    let summary = outcome["summary"].as_str().unwrap();
    assert!(summary.contains("Not done: 1 new error stays; the edit of b.py was refused: "), "{summary}");
    assert_eq!(project.read("b.py"), "x = 1\n");
}
