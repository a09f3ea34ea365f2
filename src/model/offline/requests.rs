//! Requests for a repair in three languages: the reports that each applies out of the same list, and its answer.

use serde_json::Value;

use crate::input::{ModelContext, ModelInput, PlanAsk, ReportFacts, RequestFacts, StepAsk};
use crate::offline::{narrowed, plan, step};
use crate::request_kind;
use crate::request_kind::filter_reports::RepairPlace;
use crate::request_kind::kinds::Reported;
use crate::step::{DiagnosticLine, FixOffer};

/// Severity, code, theme, source, message and symbol of each report, in this order.
const REPORTED: &[[&str; 6]] = &[
    [
        "error",
        "reportUndefinedVariable",
        "undefined name",
        "basedpyright and ruff",
        "\"json\" is not defined",
        "inv/report.py::count",
    ],
    ["warning", "F541", "", "ruff", "f-string without any placeholders", "inv/report.py::rows"],
    ["warning", "F401", "unused import", "ruff", "`pathlib.Path` imported but unused", "inv/report.py"],
    [
        "warning",
        "F841",
        "unused variable",
        "ruff",
        "Local variable `x` is assigned to but never used",
        "inv/report.py::count",
    ],
    [
        "error",
        "reportReturnType",
        "return type",
        "basedpyright",
        "\"str\" is not assignable to \"int\"",
        "inv/report.py::rows",
    ],
    [
        "error",
        "reportUndefinedVariable",
        "undefined name",
        "basedpyright and ruff",
        "\"os\" is not defined",
        "inv/tools.py::pack",
    ],
    ["warning", "F401", "unused import", "ruff", "`sys` imported but unused", "inv/tools.py"],
];

/// The one report without an offered fix.
const WITHOUT: usize = 4;

/// The meanings of names.
const PLACES: &[(&str, &str)] = &[
    ("count", "inv/report.py::count"),
    ("rows", "inv/report.py::rows"),
    ("pack", "inv/tools.py::pack"),
    ("inv/report.py", "inv/report.py"),
    ("inv/tools.py", "inv/tools.py"),
    ("tools.py", "inv/tools.py"),
    ("tools", "inv/tools.py"),
    ("inv", "inv"),
    ("other", "inv/other.py"),
];

const ALL: &[usize] = &[0, 1, 2, 3, 5, 6];
const ERRORS: &[usize] = &[0, 5];
const WARNINGS: &[usize] = &[1, 2, 3, 6];
const UNUSED: &[usize] = &[2, 6];

/// The request, the repaired reports, and a part of the answer.
const TABLE: &[(&str, &[usize], &str)] = &[
    ("fix this", ALL, "offered for 1 diagnostic: error reportReturnType in inv/report.py::rows."),
    ("make this file type-clean", ALL, "error reportReturnType"),
    ("what is wrong here? Fix it.", ALL, ""),
    ("fix the errors", ERRORS, "4 other diagnostics are reported here and were not asked for."),
    ("fix the warnings", WARNINGS, "3 other diagnostics"),
    ("fix all warnings, thanks", WARNINGS, ""),
    ("fix teh erors", ERRORS, ""),
    ("fix the errors and warnings", ALL, ""),
    ("fix the errors and the warnings in count", &[0, 3], ""),
    ("fix the error in count", &[0], "6 other diagnostics"),
    ("fix the errors in rows", &[], "offered for 1 diagnostic: error reportReturnType"),
    ("fix count", &[0, 3], ""),
    ("fix `count` and `pack`", &[0, 3, 5], ""),
    ("fix the errors in count and pack", ERRORS, ""),
    ("fix the errors in the tools module", &[5], ""),
    ("fix the warnings in inv", WARNINGS, ""),
    ("fix the errors in inv/tools.py", &[5], ""),
    ("fix inv/tools.py", &[5, 6], ""),
    ("fix everything in inv/tools.py", &[5, 6], ""),
    ("fix pack in tools.py", &[5], ""),
    ("fix F541", &[1], ""),
    ("fix f541, please", &[1], ""),
    ("fix the F541 error", &[1], ""),
    ("fix F401 and F541", &[1, 2, 6], ""),
    ("fix F401 in inv/tools.py", &[6], ""),
    ("fix F821", ERRORS, ""),
    ("fix reportUndefinedVariable", ERRORS, ""),
    ("fix E501", &[], "No E501 is reported in the workspace."),
    ("fix F541 and E501", &[1], "No E501 is reported in the workspace."),
    ("fix F541 in inv/tools.py", &[], "No F541 in inv/tools.py is reported."),
    ("only the unused import", UNUSED, ""),
    ("fix only the unused imports", UNUSED, ""),
    ("fix only the unused import in inv/report.py", &[2], ""),
    ("remove the unused imports", UNUSED, ""),
    ("remove the unused imports and variables", &[2, 3, 6], ""),
    ("fix the unused variable", &[3], ""),
    ("fix the undefined names", ERRORS, ""),
    ("fix the undefined name json", &[0], ""),
    ("fix the error that json is not defined", &[0], ""),
    ("add the missing import", ERRORS, ""),
    ("fix the imports", UNUSED, ""),
    ("fix the f-string", &[1], ""),
    ("fix the decorator", &[], "No diagnostic about “decorator” is reported in the workspace."),
    ("fix the syntax error", &[], "No syntax error is reported in the workspace."),
    ("fix the syntax errors in tools", &[], "No syntax error in inv/tools.py is reported."),
    ("fix the type errors", ERRORS, ""),
    ("fix the lint warnings", WARNINGS, ""),
    ("fix the ruff warnings", WARNINGS, ""),
    ("fix the errors that basedpyright reports", ERRORS, ""),
    ("fix the errors that mypy reports", &[], "No error of mypy is reported in the workspace."),
    ("fix the errors in nowhere", &[], "`nowhere` is not found"),
    ("fix the errors in nowhere.py", &[], "`nowhere.py` is not found"),
    ("fix the error in line 40", &[], "`line 40` is not found"),
    ("fix the first error", &[], "`first error` is not found"),
    ("fix only the first warning", &[], "`first warning` is not found"),
    ("fix the last F401", &[], "`last F401` is not found"),
    ("first fix the errors", ERRORS, ""),
    ("fix one error", &[], "`one error` is not found"),
    ("fix F401 but only pathlib", &[2], ""),
    ("fix F401 but only in tools", &[6], ""),
    ("fix F541 in other", &[], "No F541 in inv/other.py is reported."),
    ("fix the errors in other", &[], "No error in inv/other.py is reported."),
    ("fix the errors in other files", ERRORS, ""),
    ("fix the errors in the new module", ERRORS, ""),
    ("fix the errors and add a test", ERRORS, "Not done: “add a test”."),
    ("fix F541, then rename count to total", &[1], "Not done: “rename count to total”."),
    ("fix the errors and explain them", ERRORS, "Not done: “explain them”."),
    ("run the tests and fix the errors", ERRORS, "Not done: “run the tests”."),
    ("fix the errors and docstrings", ERRORS, "Not done: “docstrings”."),
    ("show me the errors, and fix them", ERRORS, ""),
    ("check the file and fix the errors", ERRORS, ""),
    ("corrige todo", ALL, ""),
    ("arregla los errores", ERRORS, "4 other diagnostics"),
    ("corrige los avisos", WARNINGS, ""),
    ("arregla el error en count", &[0], ""),
    ("arregla los errores de inv/tools.py", &[5], ""),
    ("corrige F541", &[1], ""),
    ("corrige E501", &[], "No E501 is reported in the workspace."),
    ("quita los imports sin usar", UNUSED, ""),
    ("corrige solo el import sin usar", UNUSED, ""),
    ("elimina las importaciones no usadas de inv/tools.py", &[6], ""),
    ("arregla los nombres no definidos", ERRORS, ""),
    ("añade el import que falta", ERRORS, ""),
    ("arregla el error de sintaxis", &[], "No syntax error is reported"),
    ("corrige los errores de tipo", ERRORS, ""),
    ("corrige las advertencias de ruff", WARNINGS, ""),
    ("muestra los errores y arréglalos", ERRORS, ""),
    ("arregla los errores en ningunsitio", &[], "`ningunsitio` is not found"),
    ("arregla los errores y añade un test", ERRORS, "Not done: “añade un test”."),
    ("behebe die Fehler", ERRORS, "4 other diagnostics"),
    ("behebe die Warnungen", WARNINGS, ""),
    ("behebe nur die Warnungen", WARNINGS, ""),
    ("behebe nur den ersten Fehler", &[], "`ersten Fehler` is not found"),
    ("corrige el primer error", &[], "`primer error` is not found"),
    ("kannst du die Warnungen beheben?", WARNINGS, ""),
    ("korrigiere den Fehler in count", &[0], ""),
    ("behebe die Fehler in inv/tools.py", &[5], ""),
    ("behebe F541", &[1], ""),
    ("behebe nur den unbenutzten Import", UNUSED, ""),
    ("entferne die unbenutzten Importe", UNUSED, ""),
    ("entferne die unbenutzte Variable", &[3], ""),
    ("füge den fehlenden Import hinzu", ERRORS, ""),
    ("behebe den Syntaxfehler", &[], "No syntax error is reported"),
    ("behebe die Typfehler", ERRORS, ""),
    ("behebe den Fehler in nirgendwo", &[], "`nirgendwo` is not found"),
    ("behebe die Fehler und füge einen Test hinzu", ERRORS, "Not done: “füge einen Test hinzu”."),
];

fn line([severity, code, theme, source, message, symbol]: &[&str; 6]) -> DiagnosticLine {
    let also = if *theme == "undefined name" { vec!["F821".to_owned()] } else { Vec::new() };
    DiagnosticLine {
        severity: (*severity).to_owned(),
        symbol: (*symbol).to_owned(),
        code: (*code).to_owned(),
        message: (*message).to_owned(),
        source: format!("lsp:{source}"),
        confidence: String::new(),
        suggested_action: None,
        theme: (*theme).to_owned(),
        also,
        unanswered: Vec::new(),
    }
}

/// All reports, and the request with its names looked up.
fn context(query: &str) -> ModelContext {
    let place = |name: &str| {
        let known = PLACES.iter().find(|(known, _)| *known == name);
        known.map(|(_, path)| RepairPlace { name: name.to_owned(), paths: vec![(*path).to_owned()] })
    };
    let places =
        request_kind::repair_filter(query, "").names().into_iter().filter_map(|(name, _)| place(name)).collect();
    let request = RequestFacts { query: query.to_owned(), places, ..RequestFacts::default() };
    let diagnostics: Vec<DiagnosticLine> = REPORTED.iter().map(line).collect();
    let reported: Vec<Reported> = diagnostics.iter().map(Reported::from).collect();
    let absent = narrowed(&request).absent(&reported);
    let fix = |index: usize| FixOffer {
        id: index.to_string(),
        title: format!("repair #{index}"),
        symbol: diagnostics[index].symbol.clone(),
        diagnostic: Some(index),
        preferred: true,
        changes: Vec::new(),
    };
    let fixes = (0..REPORTED.len()).filter(|index| *index != WITHOUT).map(fix).collect();
    let reports = ReportFacts { diagnostics, fixes, absent, ..ReportFacts::default() };
    ModelContext { request, reports, ..ModelContext::default() }
}

/// The fixes that are applied one after the other until the model ends, and its answer.
fn applied(query: &str) -> (Vec<usize>, String) {
    let mut input = ModelInput { context: context(query), ask: StepAsk::default() };
    let mut applied = Vec::new();
    loop {
        let reply = step(&input);
        let Some(action) = reply.action else { return (applied, reply.answer) };
        let id = action.parameters["fix"].as_str().map(str::to_owned).unwrap_or_default();
        applied.push(id.parse().expect("a number"));
        applied.sort_unstable();
        input.ask.applied += 1;
        let reports = &mut input.context.reports;
        let at = reports.fixes.iter().position(|fix| fix.id == id).expect("offered");
        let gone = reports.fixes.remove(at).diagnostic.expect("of a diagnostic");
        reports.diagnostics.remove(gone);
        for fix in &mut reports.fixes {
            fix.diagnostic = fix.diagnostic.map(|index| if index > gone { index - 1 } else { index });
        }
    }
}

/// The fixes that a plan has steps for.
fn planned(query: &str) -> (Vec<usize>, String) {
    let reply = plan(&ModelInput { context: context(query), ask: PlanAsk::default() });
    let titles: Vec<String> = reply.steps.iter().map(|step| step.title.clone()).collect();
    let mut fixes: Vec<usize> = titles.join(" ").split('#').skip(1).filter_map(|rest| rest[..1].parse().ok()).collect();
    fixes.sort_unstable();
    (fixes, reply.reason)
}

#[test]
fn a_request_has_applied_and_planned_what_it_names_and_nothing_else() {
    assert!(TABLE.len() >= 50);
    let mut wrong = Vec::new();
    for (query, wanted, part) in TABLE {
        for (how, (fixes, answer)) in [("ask", applied(query)), ("plan", planned(query))] {
            if fixes != *wanted {
                wrong.push(format!("{how} {query:?}: {fixes:?} instead of {wanted:?}"));
            }
            if !answer.contains(part) {
                wrong.push(format!("{how} {query:?}: {part:?} is not in {answer:?}"));
            }
            if !part.contains("Not done") && answer.contains("Not done") {
                wrong.push(format!("{how} {query:?}: {answer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TABLE.len(), wrong.join("\n"));
}

#[test]
fn a_step_of_a_plan_repairs_what_its_plan_was_made_for() {
    let mut context = context("fix F401");
    let own = "Apply “repair #2” to inv/report.py. Expected after it: nothing".to_owned();
    let user = std::mem::replace(&mut context.request.query, own);
    context.request.user = user;
    let input = ModelInput { context, ask: StepAsk::default() };
    let chosen = |input: &ModelInput<StepAsk>| -> Option<Value> {
        step(input).action.map(|action| action.parameters["fix"].clone())
    };
    // Without a contract of a plan its words are read like those of a user.
    assert_eq!(chosen(&input), None);
    let mut input = input;
    input.context.request.query = "fix the errors in inv/tools.py".to_owned();
    input.context.request.places =
        vec![RepairPlace { name: "inv/tools.py".into(), paths: vec!["inv/tools.py".into()] }];
    assert_eq!(chosen(&input), Some(Value::from("5")), "its own words go before");
}

#[test]
fn what_was_not_answered_is_not_said_to_be_without_a_fix() {
    let mut context = context("fix the errors");
    context.reports.fixes.clear();
    context.reports.diagnostics[0].unanswered = vec!["basedpyright".to_owned()];
    let answer = step(&ModelInput { context: context.clone(), ask: StepAsk::default() }).answer;
    let planned = plan(&ModelInput { context, ask: PlanAsk::default() }).reason;
    for text in [answer, planned] {
        assert!(
            text.contains("Not answered: basedpyright has not reported in time the fixes for 1 diagnostic: error reportUndefinedVariable in inv/report.py::count."),
            "{text}"
        );
        assert!(text.contains("No fix that may be applied here is offered for 2 diagnostics"), "{text}");
    }
}
