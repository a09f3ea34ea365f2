//! The plan as text, both ways: Markdown that a user reads and edits.
//!
//! ```markdown
//! # Make cart.py type-clean
//!
//! Three errors in two symbols.
//!
//! - [ ] Return a number from total
//!   - symbols: `src/shop/cart.py::Cart::total`
//!   - because: error reportReturnType
//!   - expect: no error is left in it
//!   - outcome: done, 1 fixed
//! ```

use crate::agent::plan::{Plan, State, Step};
use crate::symbols::path::SymbolPath;

/// What a line of a plan document has wrong; the rest of the document is read all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// One-based.
    pub line: usize,
    pub message: String,
}

const MARKS: [(char, State); 5] =
    [(' ', State::Open), ('>', State::Running), ('x', State::Done), ('!', State::Failed), ('-', State::Skipped)];

fn mark(state: State) -> char {
    MARKS.iter().find(|(_, known)| *known == state).map_or(' ', |(mark, _)| *mark)
}

/// One line: a plan's texts may come from a model, and a line break would end the item.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes the document.
pub fn write(plan: &Plan) -> String {
    let mut out = format!("# {}\n", line(&plan.title));
    if !plan.reason.trim().is_empty() {
        let reason = line(&plan.reason);
        // A reason that looks like an item or a title is told apart by a backslash, as in Markdown.
        let escape = if reason.starts_with(['-', '*', '#', '\\']) { "\\" } else { "" };
        out.push_str(&format!("\n{escape}{reason}\n"));
    }
    if !plan.steps.is_empty() {
        out.push('\n');
    }
    for step in &plan.steps {
        out.push_str(&format!("- [{}] {}\n", mark(step.state), line(&step.title)));
        if !step.symbols.is_empty() {
            let names: Vec<String> = step.symbols.iter().map(|symbol| format!("`{symbol}`")).collect();
            out.push_str(&format!("  - symbols: {}\n", names.join(", ")));
        }
        for (name, text) in [("because", &step.because), ("expect", &step.expect), ("outcome", &step.outcome)] {
            if !text.trim().is_empty() {
                out.push_str(&format!("  - {name}: {}\n", line(text)));
            }
        }
    }
    out
}

/// Reads a document. What cannot be understood is named with its line; the rest is read.
pub fn read(text: &str) -> (Plan, Vec<Problem>) {
    let mut plan = Plan::default();
    let mut problems = Vec::new();
    let mut titled = false;
    for (index, raw) in text.lines().enumerate() {
        let mut problem = |message: String| problems.push(Problem { line: index + 1, message });
        let content = raw.trim();
        if content.is_empty() {
            continue;
        }
        if let Some(title) = raw.strip_prefix("# ").filter(|_| !titled) {
            plan.title = line(title);
            titled = true;
        } else if let Some(item) = raw.strip_prefix("- ").or_else(|| raw.strip_prefix("* ")) {
            match step(item) {
                Ok(step) => plan.steps.push(step),
                Err(message) => problem(message),
            }
        } else if let Some(item) = content.strip_prefix("- ").or_else(|| content.strip_prefix("* ")) {
            match plan.steps.last_mut() {
                Some(step) => field(step, item).unwrap_or_else(problem),
                None => problem("this stands before the first step".to_owned()),
            }
        } else if plan.steps.is_empty() {
            if !plan.reason.is_empty() {
                plan.reason.push(' ');
            }
            plan.reason.push_str(&line(content.strip_prefix('\\').unwrap_or(content)));
        } else {
            problem("a step is written `- [ ] what to do`, its details below it as `  - symbols: …`".to_owned());
        }
    }
    if !titled {
        problems.insert(0, Problem { line: 1, message: "a plan begins with its title, `# …`".to_owned() });
    }
    (plan, problems)
}

fn step(item: &str) -> Result<Step, String> {
    let mut chars = item.chars();
    let boxed = (chars.next(), chars.next(), chars.next());
    let (Some('['), Some(mark), Some(']')) = boxed else {
        return Err("a step begins with its state: `- [ ] what to do`".to_owned());
    };
    let lower = mark.to_ascii_lowercase();
    let Some((_, state)) = MARKS.iter().find(|(known, _)| *known == lower) else {
        return Err(format!("[{mark}] is no state; use [ ], [>], [x], [!] or [-]"));
    };
    let title = line(chars.as_str());
    if title.is_empty() {
        return Err("a step says what to do".to_owned());
    }
    Ok(Step { title, state: *state, ..Step::default() })
}

fn field(step: &mut Step, item: &str) -> Result<(), String> {
    let Some((name, text)) = item.split_once(':') else {
        return Err("a detail is written `name: text`, with symbols, because, expect or outcome".to_owned());
    };
    match name.trim() {
        "symbols" | "symbol" => {
            step.symbols = text
                .split(',')
                .map(|name| name.trim().trim_matches('`'))
                .filter(|name| !name.is_empty())
                .map(SymbolPath::parse)
                .collect();
        }
        "because" => step.because = line(text),
        "expect" => step.expect = line(text),
        "outcome" => step.outcome = line(text),
        other => return Err(format!("{other:?} is not known; use symbols, because, expect or outcome")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_read() {
        let text = "# Fix\nwhy\n\n- [ ] one\n  - symbols: `a.py::f`, a.py\n  - color: red\n- [?] two\n- three\n- [X] four\nnonsense\n";
        let (plan, problems) = read(text);
        assert_eq!((plan.title.as_str(), plan.reason.as_str()), ("Fix", "why"));
        assert_eq!(plan.steps.len(), 2);
        assert_eq!(plan.steps[0].symbols, [SymbolPath::new("a.py", "f"), SymbolPath::new("a.py", "")]);
        assert_eq!(plan.steps[1].state, State::Done);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [6, 7, 8, 10]);
        assert_eq!(read("").1.len(), 1, "an empty document has no title");
    }

    fn words() -> impl Strategy<Value = String> {
        "[a-zäß`:\\[\\]#-]{1,8}( [a-z`:-]{1,6}){0,3}"
    }

    fn steps() -> impl Strategy<Value = Step> {
        let symbols = proptest::collection::vec("[a-z]{1,5}\\.py(::[A-Z][a-z]{0,4}){0,2}", 0..3);
        (words(), symbols, words(), words(), 0..5usize).prop_map(|(title, symbols, because, expect, state)| Step {
            title,
            symbols: symbols.iter().map(|text| SymbolPath::parse(text)).collect(),
            because,
            expect,
            state: MARKS[state].1,
            outcome: String::new(),
        })
    }

    proptest! {
        #[test]
        fn a_plan_survives_being_written_and_read(title in words(), steps in proptest::collection::vec(steps(), 0..5)) {
            let plan = Plan { title, reason: String::new(), steps };
            prop_assert_eq!(read(&write(&plan)), (plan, Vec::new()));
        }

        #[test]
        fn no_text_is_too_strange_to_read(text in "[-#\\[\\] x>:`a\n*😀]{0,80}") {
            let (plan, _) = read(&text);
            let again = write(&plan);
            prop_assert_eq!(write(&read(&again).0), again);
        }
    }
}
