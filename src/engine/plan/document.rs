//! Writes and reads the plan as text: Markdown that a user reads and edits.
//!
//! ```markdown
//! # Make cart.py type-clean
//!
//! Three errors in two symbols.
//!
//! - [x] Find what uses `total`
//!   - kind: search
//!   - because: its type changes
//!   - outcome: 2 symbols
//!     - [x] look for total
//! - [ ] Return a number from total
//!   - symbols: `src/shop/cart.py::Cart::total`
//!   - because: error reportReturnType
//!   - with: uses = step1.symbols, style = session.preferences.style
//!   - after: 1
//!   - creates: `src/shop/money.py`
//!   - expect: no error is left in it
//!   - check: reportReturnType gone
//!   - fallback: convert it where it is returned
//! ```

use crate::plan::pair_leftovers::without_leftovers;
use crate::plan::plan_limits::STEPS;
use crate::plan::{Plan, Step, StepKind, StepPart, StepResult, StepState, check_criteria, inputs};
use sextant_base::document_fault::DocumentFault;
use sextant_base::plural::counted;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The labels of the details, and their Spanish names in a plan that was requested in Spanish. Both are read: a user
/// may write either.
const LABELS: [(&str, &str); 11] = [
    ("kind", "tipo"),
    ("symbols", "símbolos"),
    ("because", "porque"),
    ("with", "con"),
    ("after", "después de"),
    ("creates", "crea"),
    ("outside", "fuera"),
    ("expect", "se espera"),
    ("check", "comprobar"),
    ("fallback", "alternativa"),
    ("outcome", "resultado"),
];

/// The details of a step, in the order in which they are written.
const DETAILS: &str = "kind, symbols, because, with, after, creates, outside, expect, check, fallback or outcome";

/// The mark behind a file that a step may change everywhere.
const WHOLE: &str = " (whole file)";

/// Indentation of a part of a step.
const PART: &str = "    ";

const MARKS: [(char, StepState); 5] = [
    (' ', StepState::Open),
    ('>', StepState::Running),
    ('x', StepState::Done),
    ('!', StepState::Failed),
    ('-', StepState::Skipped),
];

/// The mark of a step that is done, with errors that were reported late.
const LATE_ERRORS: char = '~';

/// `x` of `[x]`.
pub fn mark(state: StepState) -> char {
    MARKS.iter().find(|(_, known)| *known == state).map_or(' ', |(mark, _)| *mark)
}

fn mark_of(step: &Step) -> char {
    if step.has_late_errors() { LATE_ERRORS } else { mark(step.state) }
}

/// The state of a mark, and how many late errors it stands for at least.
fn state_of(mark: char) -> Option<(StepState, usize)> {
    if mark == LATE_ERRORS {
        return Some((StepState::Done, 1));
    }
    MARKS.iter().find(|(known, _)| *known == mark.to_ascii_lowercase()).map(|(_, state)| (*state, 0))
}

/// One line: a plan's texts may come from a model, and a line break would end the item.
pub(crate) fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes the document.
pub fn write(plan: &Plan) -> String {
    let mut out = format!("# {}\n", line(&plan.title));
    if !plan.reason.trim().is_empty() {
        let reason = line(&plan.reason);
        // A reason that looks like an item or a title is marked by a backslash, as in Markdown.
        let escape = if reason.starts_with(['-', '*', '#', '\\']) { "\\" } else { "" };
        out.push_str(&format!("\n{escape}{reason}\n"));
    }
    if !plan.steps.is_empty() {
        out.push('\n');
    }
    for step in &plan.steps {
        write_step(step, &mut out);
    }
    out
}

fn write_step(step: &Step, out: &mut String) {
    out.push_str(&format!("- [{}] {}\n", mark_of(step), line(&step.title)));
    let mut detail = |name: &str, text: &str| {
        let text = line(text);
        if !text.is_empty() {
            out.push_str(&format!("  - {name}: {text}\n"));
        }
    };
    let list = |texts: Vec<String>| texts.join(", ");
    if step.kind != StepKind::Edit {
        detail("kind", step.kind.name());
    }
    detail("symbols", &marked(&step.symbols, step.extent.whole));
    detail("because", &step.because);
    detail("with", &list(step.inputs.iter().map(ToString::to_string).collect()));
    detail("after", &list(step.after.iter().map(ToString::to_string).collect()));
    detail("creates", &marked(&step.extent.creates, false));
    detail("outside", &marked(&step.extent.outside, false));
    detail("expect", &step.expect);
    for check in &step.checks {
        detail("check", &check.to_string());
    }
    detail("fallback", &step.fallback);
    detail("outcome", &step.result.outcome);
    for part in &step.result.parts {
        out.push_str(&format!("{PART}- [{}] {}\n", mark(part.state), line(&part.title)));
    }
}

/// The paths as code. Files that are meant as a whole are marked.
fn marked(symbols: &[SymbolPath], whole: bool) -> String {
    let one = |symbol: &SymbolPath| {
        let mark = if whole && symbol.names.is_empty() { WHOLE } else { "" };
        format!("{}{mark}", code_span(&symbol.to_string()))
    };
    symbols.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Reads a document. Each faulty line is named with its number; the rest is read, up to 200 steps.
pub fn read(text: &str) -> (Plan, Vec<DocumentFault>) {
    let mut plan = Plan::default();
    let mut problems = Vec::new();
    let (mut titled, mut unreadable, mut given) = (false, false, Vec::new());
    for (index, raw) in text.lines().enumerate() {
        let mut problem = |message: String| problems.push(DocumentFault { line: index + 1, message });
        let content = without_leftovers(raw.trim());
        // A line of leftovers alone, with the mark of an item that an editor goes on with.
        if matches!(content, "" | "-" | "*") {
            continue;
        }
        if let Some(title) = raw.strip_prefix("# ").filter(|_| !titled) {
            plan.title = line(without_leftovers(title));
            titled = true;
        } else if let Some((step, item)) = plan.steps.last_mut().zip(named_detail(content)) {
            detail(step, &mut given, item).unwrap_or_else(problem);
        } else if let Some(item) = step_item(raw) {
            match boxed(item) {
                Ok(_) if plan.steps.len() == STEPS => {
                    problem(format!("a plan has at most {}: make the rest a plan of its own", counted(STEPS, "step")));
                    break;
                }
                Ok(ItemBox { title, state, late_errors }) => {
                    given.clear();
                    let result = StepResult { late_errors, ..StepResult::default() };
                    plan.steps.push(Step { title, state, result, ..Step::default() });
                }
                Err(message) => {
                    // The details below it are those of a step that cannot be read, and no second ones of the step before.
                    given.clear();
                    unreadable = true;
                    problem(message);
                }
            }
        } else if let Some(item) = item_of(content) {
            match plan.steps.last_mut() {
                Some(step) => detail(step, &mut given, item).unwrap_or_else(problem),
                // A detail of the first step, whose own line has its fault.
                None if unreadable => {}
                None => problem("this stands before the first step".to_owned()),
            }
        } else if plan.steps.is_empty() {
            if !plan.reason.is_empty() {
                plan.reason.push(' ');
            }
            plan.reason.push_str(&line(content.strip_prefix('\\').unwrap_or(content)));
        } else {
            given.clear();
            problem("a step is written `- [ ] what to do`, its details below it as `  - symbols: …`".to_owned());
        }
    }
    if !titled {
        problems.insert(0, DocumentFault { line: 1, message: "a plan begins with its title, `# …`".to_owned() });
    }
    (plan, problems)
}

/// The item of a line that may be a step: at the start of the line, or with a box. A box must be less indented than a
/// part. An editor indents a line that is opened below a detail.
fn step_item(raw: &str) -> Option<&str> {
    item_of(raw).or_else(|| item_of(raw.trim_start()).filter(|item| !raw.starts_with(PART) && item.starts_with('[')))
}

/// The detail of a line that begins with the name of one. An editor opens a line below a step without mark and
/// indentation.
fn named_detail(text: &str) -> Option<&str> {
    let item = item_of(text).unwrap_or(text);
    let name = item.split_once(':')?.0.trim();
    let is_known = name == "symbol" || LABELS.iter().any(|(english, label)| [*english, *label].contains(&name));
    is_known.then_some(item)
}

fn item_of(text: &str) -> Option<&str> {
    text.strip_prefix("- ").or_else(|| text.strip_prefix("* "))
}

/// The lines, counted from 1, on which the parts of steps stand, with their titles.
pub fn part_lines(text: &str) -> Vec<(usize, String)> {
    let part = |raw: &str| match boxed(item_of(raw.trim_start())?) {
        Ok(part) if raw.starts_with(PART) => Some(part.title),
        _ => None,
    };
    (1..).zip(text.lines()).filter_map(|(number, raw)| Some((number, part(raw)?))).collect()
}

/// The lines, counted from 1, on which a step begins: one for each step that is read.
pub fn step_lines(text: &str) -> Vec<usize> {
    let is_step = |raw: &str| step_item(raw).is_some_and(|item| boxed(item).is_ok());
    (1..).zip(text.lines()).filter(|(_, raw)| is_step(raw)).map(|(number, _)| number).collect()
}

/// The line, counted from 1, of a detail of the step that begins on a line; else that line.
pub fn detail_line(text: &str, step: usize, detail: &str) -> usize {
    let is_step = |raw: &str| step_item(raw).is_some_and(|item| boxed(item).is_ok());
    let mut below = (1..).zip(text.lines()).skip(step).take_while(|(_, raw)| !is_step(raw));
    let is_it = |raw: &str| {
        let name = item_of(raw.trim()).unwrap_or(raw.trim()).split(':').next().unwrap_or_default().trim();
        let known = LABELS.iter().find(|(english, label)| [*english, *label].contains(&name));
        known.map_or(name == "symbol" && detail == "symbols", |(english, _)| *english == detail)
    };
    below.find(|(_, raw)| is_it(raw)).map_or(step, |(number, _)| number)
}

/// The content of `[x] title`.
struct ItemBox {
    title: String,
    state: StepState,
    late_errors: usize,
}

fn boxed(item: &str) -> Result<ItemBox, String> {
    let mut chars = item.chars();
    let boxed = (chars.next(), chars.next(), chars.next());
    let (Some('['), Some(mark), Some(']')) = boxed else {
        return Err("a step begins with its state: `- [ ] what to do`".to_owned());
    };
    let Some((state, late_errors)) = state_of(mark) else {
        return Err(format!("[{mark}] is not a state; use [ ], [>], [x], [~], [!] or [-]"));
    };
    // The box is behind: its brackets close none of the title.
    let title = line(without_leftovers(chars.as_str()));
    if title.is_empty() {
        return Err("a step says what to do".to_owned());
    }
    Ok(ItemBox { title, state, late_errors })
}

/// `given` are the labels that this step has so far.
fn detail(step: &mut Step, given: &mut Vec<String>, item: &str) -> Result<(), String> {
    if item.starts_with('[') {
        let ItemBox { title, state, .. } = boxed(item)?;
        step.result.parts.push(StepPart { title, state });
        return Ok(());
    }
    let Some((name, text)) = item.split_once(':') else {
        return Err(format!("a detail is written `name: text`, with {DETAILS}"));
    };
    let name = name.trim();
    let known = LABELS.iter().find(|(_, label)| *label == name);
    let name = match known.map_or(name, |(english, _)| *english) {
        "symbol" => "symbols",
        name => name,
    };
    // The second of two would silently replace the first.
    if !["with", "check"].contains(&name) && given.iter().any(|known| known == name) {
        return Err(format!("{name:?} is given twice in this step: write one line"));
    }
    given.push(name.to_owned());
    match name {
        "symbols" => {
            let whole = |name: &&str| name.trim_end().ends_with(WHOLE);
            step.extent.whole = names(text).iter().any(whole);
            step.symbols = paths(text);
        }
        "creates" => step.extent.creates = paths(text),
        "outside" => step.extent.outside = paths(text),
        "because" => step.because = line(text),
        "expect" => step.expect = line(text),
        "fallback" => step.fallback = line(text),
        "outcome" => step.result.outcome = line(text),
        "kind" => {
            step.kind = StepKind::parse(text)
                .ok_or_else(|| format!("{:?} is not a kind; use edit, examine or search", text.trim()))?;
        }
        "with" => {
            let inputs = inputs::parse(text)?;
            if let Some(twice) = inputs.iter().find(|new| step.inputs.iter().any(|known| known.name == new.name)) {
                return Err(format!("the input {} is given twice", twice.name));
            }
            step.inputs.extend(inputs);
        }
        "after" => {
            let number = |word: &str| word.trim().parse().ok().filter(|number| *number > 0);
            let numbers: Option<Vec<usize>> =
                text.split(',').filter(|word| !word.trim().is_empty()).map(number).collect();
            step.after = numbers.ok_or_else(|| format!("{:?} are not numbers of steps, like 1, 2", text.trim()))?;
        }
        "check" => step.checks.push(check_criteria::parse(text)?),
        other => return Err(format!("{other:?} is not known; use {DETAILS}")),
    }
    Ok(())
}

/// The names of a list. A name that is no identifier stands in backticks itself, and may hold a comma.
fn names(text: &str) -> Vec<&str> {
    let mut quoted = false;
    let split = |c: char| {
        quoted ^= c == '`';
        c == ',' && !quoted
    };
    text.split(split).collect()
}

fn paths(text: &str) -> Vec<SymbolPath> {
    let bare = |name: &str| -> String {
        let name = name.trim();
        let name = name.strip_suffix(WHOLE).unwrap_or(name).trim_end();
        let span = name.strip_prefix("`` ").and_then(|rest| rest.strip_suffix(" ``"));
        let span = span.or_else(|| name.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')));
        span.filter(|span| span.matches('`').count() % 2 == 0).unwrap_or(name).trim().to_owned()
    };
    names(text).into_iter().map(bare).filter(|name| !name.is_empty()).map(|name| SymbolPath::parse(&name)).collect()
}

/// A text as Markdown shows code, with its own backticks.
fn code_span(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// One numbered line a step, for a model: `2. [x] Return a number (src/cart.py::total)`.
pub fn numbered(plan: &Plan) -> Vec<String> {
    let symbols = |step: &Step| {
        let found = step.result.output.as_ref().map_or(&step.symbols, |output| &output.symbols);
        let names: Vec<String> = found.iter().take(4).map(ToString::to_string).collect();
        if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
    };
    let outcome = |step: &Step| {
        let text = line(&step.result.outcome);
        if text.is_empty() { text } else { format!(": {}", text.chars().take(120).collect::<String>()) }
    };
    let one = |(number, step): (usize, &Step)| {
        format!("{number}. [{}] {}{}{}", mark_of(step), line(&step.title), symbols(step), outcome(step))
    };
    (1..).zip(&plan.steps).map(one).collect()
}

#[cfg(test)]
mod tests;
