//! The possible cost and damage of a task, for the user to know. Information only: no decision depends on it.

use std::fmt;

use crate::state::task_scope::Scope;
use serde::Serialize;
use sextant_base::plural::counted;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Low,
    Medium,
    High,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Risk {
    pub estimated_steps: usize,
    /// 0 to 1.
    pub complexity: f64,
    pub level: Level,
    /// 0 to 1: the reliability of this estimate.
    pub confidence: f64,
    pub reasons: Vec<String>,
}

/// Words of a request that ask for changes which are hard to take in at a glance.
const WIDE: &[&str] =
    &["all", "every", "everything", "everywhere", "whole", "project", "rename", "refactor", "todo", "todos", "todas"];
const DESTRUCTIVE: &[&str] = &["delete", "remove", "drop", "rewrite", "replace"];
/// The same in Spanish, whose verbs end in many ways.
const WIDE_STEMS: &[&str] = &["renombr", "refactor"];
const DESTRUCTIVE_STEMS: &[&str] = &["borra", "elimina", "reescrib"];
/// Words in which `all` says nothing about width.
const NO_WIDTH: &[&str] = &["at all", "after all", "above all", "all right"];

/// The words of a request that are language: a name of code (`remove_item`, `rename()`) says nothing about the work.
fn spoken(request: &str) -> Vec<String> {
    let mut text = request.to_lowercase();
    NO_WIDTH.iter().for_each(|words| text = text.replace(words, ""));
    let is_code =
        |word: &&str| word.trim_start_matches('(').contains(['`', '_', '(', '/', '\\']) || word.contains("::");
    let is_name = |word: &&str| is_code(word) || word.trim_end_matches('.').contains('.');
    let words = text.split_whitespace().filter(|word| !is_name(word));
    words.flat_map(|word| word.split(|c: char| !c.is_alphanumeric())).map(str::to_owned).collect()
}

/// Recognizes a known word, or a form of that verb: `renames`, `removed`, `dropping`.
fn is_form(word: &str, known: &str) -> bool {
    let rest = word.strip_prefix(known.strip_suffix('e').unwrap_or(known));
    word == known || rest.is_some_and(|end| ["s", "es", "ed", "ing", "ped", "ping"].contains(&end))
}

/// The first word of the lists that a request has.
fn sign(spoken: &[String], list: &[&'static str], stems: &[&'static str]) -> Option<&'static str> {
    let word = list.iter().find(|known| spoken.iter().any(|word| is_form(word, known)));
    let stem = || stems.iter().find(|stem| spoken.iter().any(|word| word.starts_with(*stem)));
    word.or_else(stem).copied()
}

/// Assesses a request before any work on it.
pub(crate) fn assess(request: &str, scope: &Scope, diagnostics: usize, plan_steps: Option<usize>) -> Risk {
    let spoken = spoken(request);
    let mut reasons = Vec::new();
    let mut score: f64 = 0.1;
    match scope {
        Scope::Workspace => {
            score += 0.4;
            reasons.push("the whole workspace may be changed".to_owned());
        }
        Scope::Files(files) => {
            score += 0.1 + 0.1 * files.len().min(3) as f64;
            let count = counted(files.len(), "whole file");
            reasons.push(format!("{count} may be changed"));
        }
        Scope::Symbols(symbols) => {
            score += 0.05 * symbols.len().min(6) as f64;
            let count = counted(symbols.len(), "symbol");
            reasons.push(format!("confined to {count}"));
        }
        Scope::Parts { files, symbols } => {
            score += 0.1 + 0.1 * files.len().min(3) as f64 + 0.05 * symbols.len().min(6) as f64;
            let whole = counted(files.len(), "whole file");
            let count = counted(symbols.len(), "symbol");
            reasons.push(format!("confined to {count} and {whole}"));
        }
    }
    if let Some(word) = sign(&spoken, WIDE, WIDE_STEMS) {
        score += 0.2;
        reasons.push(format!("the request is wide (“{word}”)"));
    }
    let destructive = sign(&spoken, DESTRUCTIVE, DESTRUCTIVE_STEMS);
    if let Some(word) = destructive {
        score += 0.15;
        let removes = format!("the request may remove things (“{word}”)");
        reasons.push(removes);
    }
    if diagnostics > 10 {
        score += 0.1;
        let count = counted(diagnostics, "diagnostic");
        reasons.push(format!("{count} to begin with"));
    }
    let complexity = score.min(1.0);
    let level = match (complexity, destructive.is_some(), scope) {
        (_, true, Scope::Workspace) => Level::High,
        (c, _, _) if c >= 0.6 => Level::High,
        (c, _, _) if c >= 0.3 => Level::Medium,
        _ => Level::Low,
    };
    let estimated_steps = plan_steps.unwrap_or(1 + (complexity * 8.0).round() as usize);
    Risk { estimated_steps, complexity, level, confidence: if plan_steps.is_some() { 0.8 } else { 0.5 }, reasons }
}

/// An estimate for a reader.
pub(crate) fn line(risk: &Risk) -> String {
    let Risk { estimated_steps: steps, complexity, confidence, reasons, .. } = risk;
    let level = match risk.level {
        Level::Low => "low".to_owned(),
        Level::Medium => "medium".to_owned(),
        Level::High => "high".to_owned(),
    };
    let reasons = reasons.join("; ");
    format!("risk {level} (steps: about {steps}, complexity {complexity:.2}, confidence {confidence:.2}): {reasons}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_text::symbols::symbol_path::SymbolPath;

    #[test]
    fn narrow_work_is_low_and_wide_destruction_is_high() {
        let one = Scope::Symbols(vec![SymbolPath::new("a.py", "f")]);
        let low = assess("fix this", &one, 1, None);
        assert_eq!(low.level, Level::Low, "{low:?}");
        let high = assess("delete all unused functions", &Scope::Workspace, 40, None);
        assert_eq!(high.level, Level::High, "{high:?}");
        assert!(high.reasons.len() >= 4 && high.complexity <= 1.0, "{high:?}");
        assert_eq!(assess("borra todo", &Scope::Workspace, 0, None).level, Level::High, "in Spanish too");
        assert_eq!(assess("fix", &one, 0, Some(3)).estimated_steps, 3);
    }

    #[test]
    fn a_word_without_that_meaning_is_no_sign() {
        let one = Scope::Symbols(vec![SymbolPath::new("a.py", "f")]);
        let reasons = |request: &str| assess(request, &one, 0, None).reasons;
        for plain in [
            "make it not sort at all",
            "allow a key",
            "allocate less",
            "fix `rename`",
            "document remove_item",
            "type delete() in cart.py",
            "speed the projection up",
        ] {
            assert_eq!(reasons(plain).len(), 1, "{plain}: {:?}", reasons(plain));
        }
        for wide in ["sort them all", "renaming f to g", "refactor this", "document all, after all", "renombra f"] {
            assert_eq!(reasons(wide).len(), 2, "{wide}: {:?}", reasons(wide));
        }
        for removes in ["it removes f", "remove f.", "borrar f"] {
            assert_eq!(reasons(removes).len(), 2, "{removes}: {:?}", reasons(removes));
        }
    }
}
