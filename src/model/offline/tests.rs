//! The offline model over small questions.

use proptest::prelude::*;
use serde_json::json;

use crate::input::{ModelContext, ModelInput, PlanAsk, PlanInput, ReportFacts, RequestFacts, StepInput};
use crate::offline::{OfflineModel, plan, step};
use crate::step::{DiagnosticLine, FixOffer, LastResult, Model, Spoken};
use sextant_base::suppressions::is_title;

fn line(severity: &str, symbol: &str, code: &str, message: &str) -> DiagnosticLine {
    DiagnosticLine {
        severity: severity.into(),
        symbol: symbol.into(),
        code: code.into(),
        message: message.into(),
        source: "lsp:basedpyright".into(),
        confidence: String::new(),
        suggested_action: None,
        theme: String::new(),
        also: Vec::new(),
        unanswered: Vec::new(),
    }
}

fn fix(id: &str, title: &str, symbol: &str, diagnostic: Option<usize>, preferred: bool) -> FixOffer {
    FixOffer { id: id.into(), title: title.into(), symbol: symbol.into(), diagnostic, preferred, changes: Vec::new() }
}

fn question() -> StepInput {
    with(
        "fix what is reported",
        ReportFacts {
            diagnostics: vec![
                line("warning", "a.py", "F401", "`os` imported but unused"),
                line("error", "a.py::f", "reportUndefinedVariable", "\"Path\" is not defined"),
                line("error", "a.py::g", "reportReturnType", "Type \"str\" is not assignable to \"int\""),
            ],
            fixes: vec![
                fix("1", "Remove unused import", "a.py", Some(0), true),
                fix("2", "Add `# pyright: ignore[reportUndefinedVariable]`", "a.py::f", Some(1), true),
                fix("3", "Import `Path` from `pathlib2`", "a.py::f", Some(1), false),
                fix("4", "Import `Path` from `pathlib`", "a.py::f", Some(1), true),
                fix("5", "Organize imports", "a.py", None, true),
            ],
            ..ReportFacts::default()
        },
    )
}

fn with<A: Default>(query: &str, reports: ReportFacts) -> ModelInput<A> {
    let request = RequestFacts { query: query.into(), ..RequestFacts::default() };
    ModelInput { context: ModelContext { request, reports, ..ModelContext::default() }, ask: A::default() }
}

/// A request to fix the reports, and nothing else.
fn repair(diagnostics: Vec<DiagnosticLine>) -> StepInput {
    with("fix it", ReportFacts { diagnostics, ..ReportFacts::default() })
}

/// A request to fix, and nothing else.
fn asked() -> StepInput {
    repair(Vec::new())
}

fn chosen(input: &StepInput) -> Option<String> {
    step(input).action.and_then(|action| action.parameters["fix"].as_str().map(str::to_owned))
}

#[test]
fn severity_then_preference_then_order_and_never_a_suppression() {
    let mut input = question();
    let reply = step(&input);
    assert_eq!(reply.action.as_ref().map(|a| &a.parameters), Some(&json!({"fix": "4"})));
    assert!(reply.proceed && reply.answer.is_empty());
    assert_eq!(
        reply.reasoning,
        "basedpyright reports error reportUndefinedVariable in a.py::f: \"Path\" is not defined. \
         The server offers “Import `Path` from `pathlib`”."
    );
    let mut order = Vec::new();
    while let Some(id) = chosen(&input) {
        input.context.reports.fixes.retain(|fix| fix.id != id);
        order.push(id);
    }
    assert_eq!(order, ["4", "3", "1", "5"]);
}

#[test]
fn the_end_says_what_is_left_and_why() {
    let mut input = question();
    input.context.reports.fixes.retain(|fix| is_title(&fix.title));
    input.ask.applied = 14;
    input.ask.results = vec![LastResult { tool: "apply_fix".into(), ok: true, text: String::new() }];
    let reply = step(&input);
    assert_eq!((reply.action, reply.proceed), (None, false));
    assert!(reply.answer.starts_with(
        "Applied 14 offered fixes. No fix that may be applied here is offered for 3 diagnostics: warning F401 in a.py"
    ));
    assert!(reply.answer.contains("error reportReturnType in a.py::g"), "{}", reply.answer);
    assert!(reply.answer.contains("[model]"), "the way out is named");

    input.context.reports.unsettled = vec!["basedpyright (a.py)".to_owned()];
    let silent = " Not heard yet about the text as it is: basedpyright (a.py).";
    assert!(step(&input).answer.contains(silent), "the answer admits that more may be wrong");
    let unknown =
        step(&with("fix it", ReportFacts { unsettled: input.context.reports.unsettled, ..ReportFacts::default() }));
    assert!(unknown.answer.starts_with("Nothing is known to be wrong here.") && unknown.answer.contains(silent));

    let nothing = step(&asked());
    assert_eq!(nothing.answer, "Nothing is reported here, so there is nothing to fix.");
}

#[test]
fn many_left_overs_are_counted_not_listed() {
    let diagnostics = (0..12).map(|i| line("error", &format!("a.py::f{i}"), "X", "m")).collect();
    let answer = step(&repair(diagnostics)).answer;
    assert!(answer.contains("12 diagnostics") && answer.contains("7 more") && !answer.contains("f5"), "{answer}");
    let diagnostics = vec![
        line("error", "a.py::f", "X", "m"),
        line("error", "a.py::g", "X", "m"),
        line("error", "a.py::f", "X", "n"),
    ];
    let answer = step(&repair(diagnostics)).answer;
    assert!(answer.contains("3 diagnostics: error X in a.py::f (2 times), error X in a.py::g."), "{answer}");
}

#[test]
fn a_question_gets_an_honest_answer_and_no_edit() {
    for (query, part) in [
        ("explain a.py::f", "Answering it needs a language model, and none is configured"),
        ("rename f to h", "Doing it needs a language model, and none is configured"),
        ("fix nothing", "Nothing was changed, as you say"),
        ("no toques nada", "Nothing was changed, as you say"),
        ("fix the errors but not the warnings", "Nothing was changed: to fix one thing and leave another"),
        ("hello", "say so: `fix the errors`"),
        ("forget everything", "say so: `fix the errors`"),
        ("", "say so: `fix the errors`"),
    ] {
        let input = with(query, question().context.reports);
        let reply = step(&input);
        assert_eq!((reply.action, reply.proceed), (None, false), "{query}");
        assert!(reply.answer.contains(part) && reply.answer.contains("[model]"), "{query}: {}", reply.answer);
        let planned =
            plan(&with(query, ReportFacts { fixes: question().context.reports.fixes, ..ReportFacts::default() }));
        assert!(planned.steps.is_empty() && planned.reason.contains(part), "{query}: {planned:?}");
        assert!(reply.answer.contains("reportReturnType"), "the known reports are named all the same");
    }
    let planned = plan(&with("why is f slow?", ReportFacts::default()));
    assert!(planned.steps.is_empty() && planned.reason.contains("none is configured"));
}

#[test]
fn a_plan_has_one_step_a_symbol_severest_first() {
    let reply = plan(&PlanInput { context: question().context, ask: PlanAsk::default() });
    let symbols: Vec<_> = reply.steps.iter().map(|step| step.symbols.join(" ")).collect();
    assert_eq!(symbols, ["a.py::f", "a.py"]);
    assert_eq!(reply.steps[0].title, "Apply “Import `Path` from `pathlib`” to a.py::f", "one fix a diagnostic");
    assert_eq!(reply.steps[0].because, "basedpyright reports error reportUndefinedVariable: \"Path\" is not defined");
    assert!(reply.steps[0].expect.contains("error reportUndefinedVariable is no longer reported"));
    assert!(reply.steps[1].title.contains("“Remove unused import”, “Organize imports”"));
    assert!(
        reply
            .reason
            .contains("No fix that may be applied here is offered for 1 diagnostic: error reportReturnType in a.py::g")
    );
    assert!(reply.reason.starts_with("The language servers offer 3 fixes, in 2 steps."));

    let empty = plan(&with("fix it", ReportFacts::default()));
    assert!(empty.steps.is_empty() && empty.reason.contains("nothing to fix"));
}

#[test]
fn fixes_that_share_a_symbol_share_a_step() {
    let line = |symbol: &str, code: &str| line("error", symbol, code, "no");
    let import = |id: &str, symbol: &str, diagnostic| {
        let mut fix = fix(id, "import json", symbol, Some(diagnostic), false);
        fix.changes = vec!["a.py".into()];
        fix
    };
    let diagnostics =
        vec![line("a.py::f", "1"), line("a.py::C", "2"), line("a.py::C::m", "3"), line("a.py", "4"), line("b.py", "5")];
    let fixes = vec![
        import("f1", "a.py::f", 0),
        fix("f2", "fix C", "a.py::C", Some(1), false),
        fix("f3", "fix m", "a.py::C::m", Some(2), false),
        fix("f4", "fix a", "a.py", Some(3), false),
        fix("f5", "fix b", "b.py", Some(4), false),
    ];
    let reply = plan(&with("fix", ReportFacts { diagnostics, fixes, ..ReportFacts::default() }));
    let symbols: Vec<_> = reply.steps.iter().map(|step| step.symbols.join(" ")).collect();
    assert_eq!(symbols, ["a.py::f a.py", "a.py::C a.py::C::m", "b.py"]);
    assert_eq!(reply.steps[0].title, "Apply “import json”, “fix a” to a.py::f, a.py");
}

#[tokio::test]
async fn words_are_the_reasoning_and_no_tokens_are_spent() {
    let heard = std::sync::Mutex::new(String::new());
    let words = |words: Spoken<'_>| heard.lock().expect("lock").push_str(words.text);
    let (reply, usage) = OfflineModel.step(&question(), &words).await;
    assert_eq!(*heard.lock().expect("lock"), reply.expect("offline never fails").reasoning);
    assert_eq!((usage.calls, usage.prompt_tokens, usage.estimated), (0, 0, false));
}

proptest! {
    /// For any offers, the chosen fix was offered and is not a suppression, and the run ends.
    #[test]
    fn only_offers_are_chosen_and_they_run_out(
        offers in proptest::collection::vec((any::<bool>(), any::<bool>(), proptest::option::of(0_usize..6)), 0..12),
    ) {
        let mut input = question();
        input.context.reports.fixes = offers.iter().enumerate().map(|(i, (suppresses, preferred, diagnostic))| {
            let title = if *suppresses { "Disable F401 for this line" } else { "Do it" };
            fix(&i.to_string(), title, "a.py::f", *diagnostic, *preferred)
        }).collect();
        for _ in 0..offers.len() {
            let Some(id) = chosen(&input) else { break };
            let at = input.context.reports.fixes.iter().position(|fix| fix.id == id).expect("offered");
            prop_assert!(!is_title(&input.context.reports.fixes.remove(at).title));
        }
        prop_assert_eq!(chosen(&input), None);
        prop_assert!(input.context.reports.fixes.iter().all(|fix| is_title(&fix.title)));
    }
}

#[tokio::test]
async fn a_plan_is_not_changed_by_words_that_nobody_understands() {
    let mut input = PlanInput::default();
    input.ask.change = "leave g alone".into();
    let (reply, _) = OfflineModel.plan(&input, &|_| {}).await;
    assert!(reply.expect_err("no model").to_string().contains("needs a language model"));
}
