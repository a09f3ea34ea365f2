//! Tests that the document survives being written and read, and that any text can be read.

use proptest::prelude::*;

use crate::plan::document::{MARKS, detail_line, numbered, part_lines, read, step_lines, write};
use crate::plan::inputs::{Input, TextPart as OutputPart, Value};
use crate::plan::pair_leftovers::without_leftovers;
use crate::plan::{Plan, Step, StepExtent, StepKind, StepPart, StepResult, StepState, check_criteria};
use sextant_text::symbols::symbol_path::SymbolPath;

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let text = "# Fix\nwhy\n\n- [ ] one\n  - symbols: `a.py::f`, a.py\n  - color: red\n- [?] two\n- three\n- [X] four\nnonsense\n";
    let (plan, problems) = read(text);
    assert_eq!((plan.title.as_str(), plan.reason.as_str()), ("Fix", "why"));
    assert_eq!(plan.steps.len(), 2);
    assert_eq!(plan.steps[0].symbols, [SymbolPath::new("a.py", "f"), SymbolPath::new("a.py", "")]);
    assert_eq!(plan.steps[1].state, StepState::Done);
    assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [6, 7, 8, 10]);
    assert_eq!(read("").1.len(), 1, "an empty document has no title");
}

#[test]
fn a_step_that_an_editor_has_drawn_in_is_a_step_and_nothing_is_dropped() {
    for indent in ["  ", " ", "   ", "\t"] {
        let text =
            format!("# T\n- [x] one\n  - because: why\n    - [x] part\n{indent}- [ ] two\n{indent}- because: so\n");
        let (plan, problems) = read(&text);
        assert_eq!((plan.steps.len(), problems), (2, Vec::new()), "{indent:?}");
        assert_eq!((plan.steps[1].title.as_str(), plan.steps[1].because.as_str()), ("two", "so"));
        assert_eq!(plan.steps[0].result.parts.len(), 1, "what a run has written stays below its step");
        assert_eq!(step_lines(&text), [2, 5]);
        assert_eq!(part_lines(&text), [(4, "part".to_owned())]);
    }
    for name in ["because", "expect", "fallback", "symbols", "creates"] {
        let (_, problems) = read(&format!("# T\n- [ ] one\n  - {name}: a.py\n  - {name}: b.py\n"));
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [4], "{name}");
    }
    assert_eq!(read("# T\n- [ ] one\n  - after: 1\n  - after: 2\n").1[0].line, 4);
    assert_eq!(read("# T\n- [ ] one\n  - kind: search\n  - kind: edit\n").1[0].line, 4);
}

#[test]
fn what_an_editor_leaves_of_a_box_is_no_part_of_the_title_and_a_detail_needs_no_mark() {
    let text = "# T\n- [ ] Add a test (for mean) ]\nsymbols: `a.py::f`\n- because: so\n\n- [ ] Sort a[0] ]\n";
    let (plan, problems) = read(text);
    assert_eq!(problems, []);
    let titles: Vec<&str> = plan.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Add a test (for mean)", "Sort a[0]"]);
    assert_eq!((plan.steps[0].symbols.len(), plan.steps[0].because.as_str()), (1, "so"));
    assert_eq!(read("# T\n- [ ] one\nnote: this\n").1[0].line, 3, "no detail");
}

#[test]
fn one_fault_in_a_line_of_a_step_is_one_fault() {
    for broken in ["- [?] two", "rubbish [ ] two"] {
        let text = format!(
            "# T\n- [ ] one\n  - symbols: `a.py`\n  - because: so\n{broken}\n  - symbols: `b.py`\n  - because: so\n"
        );
        let (_, problems) = read(&text);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [5], "{broken}: {problems:?}");
    }
}

#[test]
fn a_step_that_is_done_and_has_late_errors_has_a_mark_of_its_own() {
    let text = "# T\n\n- [~] one\n- [x] two\n- [ ] three\n";
    let (mut plan, problems) = read(text);
    assert_eq!((problems, plan.steps[0].state, plan.steps[0].has_late_errors()), (Vec::new(), StepState::Done, true));
    assert!(!plan.steps[1].has_late_errors());
    assert_eq!(write(&plan), text);
    assert_eq!(numbered(&plan)[0], "1. [~] one");
    plan.steps[0].state = StepState::Open;
    assert!(write(&plan).contains("- [ ] one\n"), "an undo opens it");
}

#[test]
fn a_file_as_a_whole_is_marked_and_read_again() {
    let text = "# T\n\n- [ ] one\n  - symbols: `a.py` (whole file), `b.py::f`\n";
    let (plan, problems) = read(text);
    assert_eq!((problems, plan.steps[0].extent.whole), (Vec::new(), true));
    assert_eq!(plan.steps[0].symbols, [SymbolPath::new("a.py", ""), SymbolPath::new("b.py", "f")]);
    assert_eq!(write(&plan), text);
    assert!(!read(&text.replace(" (whole file)", "")).0.steps[0].extent.whole);
}

#[test]
fn paths_with_names_that_are_no_identifiers_are_read_as_they_are_written() {
    for path in
        ["a.py::f", "cart.test.ts::`adds 1, 2 to a/b`::inner", "a.hpp::`Suite.Name`#2", "src/a.rs::impl Total for Cart"]
    {
        let all = [SymbolPath::parse(path), SymbolPath::parse("b.go::Cart::Total")];
        let written = all.iter().map(|path| super::code_span(&path.to_string())).collect::<Vec<_>>().join(", ");
        assert_eq!(super::paths(&written), all, "{written}");
    }
}

#[test]
fn a_plan_that_nobody_reads_is_refused_at_its_first_step_too_many() {
    let text = |steps| format!("# Fix\n{}", "- [ ] one\n".repeat(steps));
    assert_eq!((read(&text(200)).0.steps.len(), read(&text(200)).1), (200, Vec::new()));
    let (plan, problems) = read(&text(20_000));
    assert_eq!((plan.steps.len(), problems.len(), problems[0].line), (200, 1, 202));
    assert!(problems[0].message.contains("at most 200 steps"), "{problems:?}");
}

#[test]
fn what_an_editor_leaves_of_its_pairs_belongs_to_no_line() {
    let text = "# Tidy ]\n\n- [ ] Print \"main\" ] ]\n  - symbols: `src/shop/cart.py` ]\n  - with: a = f(x) ) ]\n  - after: 1 ]\n  - because: [1] )\n    ]\n  - ]\n";
    let wanted = "# Tidy\n\n- [ ] Print \"main\"\n  - symbols: `src/shop/cart.py`\n  - because: [1]\n  - with: a = \"f(x)\"\n  - after: 1\n";
    let (plan, problems) = read(text);
    assert_eq!((write(&plan).as_str(), problems), (wanted, Vec::new()));
}

#[test]
fn a_first_step_that_cannot_be_read_is_one_fault() {
    let lines = |text: &str| read(text).1.into_iter().map(|fault| fault.line).collect::<Vec<_>>();
    let details = "  - symbols: `a.py::f`\n  - because: asked\n";
    assert_eq!(lines(&format!("# T\n\n- [q] change f\n{details}")), [3]);
    assert_eq!(lines(&format!("# T\n\n{details}- [ ] change f\n")), [3, 4]);
}

#[test]
fn each_detail_has_its_problem() {
    for (detail, wanted) in [
        ("kind: dance", "not a kind"),
        ("with: target", "name = value"),
        ("with: a = 1\n  - with: a = 2", "twice"),
        ("with: a = step0.output", "counted from 1"),
        ("after: one", "not numbers"),
        ("after: 0", "not numbers"),
        ("check: it works", "`no errors`"),
        ("[?] part", "not a state"),
        ("a detail", "fallback or outcome"),
    ] {
        let (plan, problems) = read(&format!("# T\n- [ ] one\n  - {detail}\n  - because: why\n"));
        assert_eq!(problems.len(), 1, "{detail}: {problems:?}");
        assert!(problems[0].message.contains(wanted), "{detail}: {problems:?}");
        assert_eq!(plan.steps[0].because, "why", "the rest is read");
    }
}

#[test]
fn the_document_of_the_head_comment_is_read_as_it_is_written() {
    let source = include_str!("../document.rs");
    let text: String = source
        .lines()
        .skip_while(|line| !line.contains("```markdown"))
        .skip(1)
        .take_while(|line| !line.contains("```"))
        .map(|line| format!("{}\n", line.strip_prefix("//! ").unwrap_or("")))
        .collect();
    let (plan, problems) = read(&text);
    assert_eq!(problems, []);
    assert_eq!(write(&plan), text);
    assert_eq!((plan.steps[0].kind, plan.steps[0].result.parts.len()), (StepKind::Search, 1));
    let lines = numbered(&plan);
    assert_eq!(lines[0], "1. [x] Find what uses `total`: 2 symbols");
    assert_eq!(lines[1], "2. [ ] Return a number from total (src/shop/cart.py::Cart::total)");
}

fn words() -> impl Strategy<Value = String> {
    let texts = "[a-zäß`:\\[\\]#-]{1,8}( [a-z`:-]{1,6}){0,3}";
    texts.prop_filter("a leftover is not kept", |text| without_leftovers(text) == text)
}

fn maybe_words() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), words()]
}

fn paths() -> impl Strategy<Value = Vec<SymbolPath>> {
    proptest::collection::vec("[a-z]{1,5}\\.py(::[A-Z][a-z]{0,4}){0,2}", 0..3)
        .prop_map(|texts| texts.iter().map(|text| SymbolPath::parse(text)).collect())
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        "([a-z\"\\\\,=.]{1,4}( [a-z\"\\\\,=.]{1,4}){0,2})?".prop_map(Value::Text),
        (1..9usize, 0..4usize).prop_map(|(step, part)| {
            let parts = [OutputPart::Output, OutputPart::Symbol, OutputPart::Symbols, OutputPart::Files];
            Value::Step(step, parts[part])
        }),
        "[a-z]{1,4}(\\.[a-z]{1,4})?".prop_map(Value::Preference),
        "[a-z_]{1,6}".prop_map(Value::Variable),
    ]
}

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    proptest::collection::vec(value(), 0..3).prop_map(|values| {
        (0..).zip(values).map(|(number, value)| Input { name: format!("n{number}"), value }).collect()
    })
}

fn checks() -> impl Strategy<Value = Vec<check_criteria::Criterion>> {
    let one = prop_oneof![
        Just("no errors".to_owned()),
        Just("no new diagnostics".to_owned()),
        "[a-zA-Z0-9]{1,6} gone",
        "symbol [a-z]{1,3}\\.py::[a-z]{1,4} (exists|gone)",
        "command [a-z]{1,6} passes",
    ];
    proptest::collection::vec(one.prop_map(|text| check_criteria::parse(&text).unwrap()), 0..3)
}

fn parts() -> impl Strategy<Value = Vec<StepPart>> {
    proptest::collection::vec(
        (words(), 0..5usize).prop_map(|(title, state)| StepPart { title, state: MARKS[state].1 }),
        0..3,
    )
}

fn steps() -> impl Strategy<Value = Step> {
    let texts = (words(), maybe_words(), maybe_words(), maybe_words(), maybe_words());
    let numbers = proptest::collection::vec(1..9usize, 0..3);
    let rest = (paths(), paths(), inputs(), checks(), parts(), numbers, 0..3usize, 0..5usize);
    (texts, rest).prop_map(|((title, because, expect, fallback, outcome), rest)| {
        let (symbols, creates, inputs, checks, parts, after, kind, state) = rest;
        let (kind, state) = (StepKind::ALL[kind].1, MARKS[state].1);
        let extent = StepExtent {
            whole: symbols.iter().any(|symbol| symbol.names.is_empty()),
            outside: creates.clone(),
            creates,
        };
        Step {
            title,
            kind,
            symbols,
            because,
            expect,
            inputs,
            after,
            extent,
            checks,
            fallback,
            state,
            result: StepResult { outcome, parts, ..StepResult::default() },
        }
    })
}

proptest! {
    #[test]
    fn a_plan_survives_being_written_and_read(title in words(), steps in proptest::collection::vec(steps(), 0..5)) {
        let plan = Plan { title, steps, ..Plan::default() };
        prop_assert_eq!(read(&write(&plan)), (plan.clone(), Vec::new()));
        let json = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }

    #[test]
    fn no_text_is_too_strange_to_read(
        text in "[-#\\[\\] x>:`a\n*😀]{0,80}",
        details in proptest::collection::vec("  - (with|after|check|creates|kind|fallback|\\[x\\]):? [a-z0-9=\",.\\\\ ]{0,20}", 0..6),
    ) {
        let (plan, _) = read(&text);
        let again = write(&plan);
        prop_assert_eq!(write(&read(&again).0), again);
        let (plan, _) = read(&format!("# T\n- [ ] one\n{}\n", details.join("\n")));
        let again = write(&plan);
        prop_assert_eq!(write(&read(&again).0), again);
    }
}

#[test]
fn labels_that_a_user_writes_in_spanish_are_read_and_written_in_english() {
    let text = "# T\n\n- [ ] one\n  - tipo: search\n  - símbolos: `a.py::f`\n  - porque: x\n  - se espera: y\n  - comprobar: F401 gone\n";
    let (plan, problems) = read(text);
    assert_eq!(problems, []);
    let shown = write(&plan);
    for label in ["kind", "symbols", "because", "expect", "check"] {
        assert!(shown.contains(&format!("  - {label}: ")), "{shown}");
    }
    assert_eq!(read(&shown), (plan, Vec::new()));
}

#[test]
fn a_detail_of_a_step_has_its_line() {
    let text =
        "# T\n\n- [ ] one\n  - symbols: `a.py`\nafter: 2\n- [ ] two\n  - símbolos: `b.py`\n  - check: no errors\n";
    let line = |step: usize, detail: &str| detail_line(text, step, detail);
    assert_eq!([line(3, "symbols"), line(3, "after"), line(6, "symbols"), line(6, "check")], [4, 5, 7, 8]);
    assert_eq!([line(3, "check"), line(6, "after"), line(6, "")], [3, 6, 6], "else that of the step");
}
