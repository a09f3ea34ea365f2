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
const WIDE: &[&str] = &[
    "all",
    "every",
    "everywhere",
    "whole",
    "project",
    "rename",
    "refactor",
    "todo",
    "todos",
    "todas",
    "renombr",
    "refactor",
];
const DESTRUCTIVE: &[&str] = &["delete", "remove", "drop", "rewrite", "replace", "borra", "elimina", "reescrib"];

/// Assesses a request before any work on it.
pub(crate) fn assess(request: &str, scope: &Scope, diagnostics: usize, plan_steps: Option<usize>) -> Risk {
    let words = request.to_lowercase();
    let found = |list: &'static [&'static str]| -> Option<&'static str> {
        let begins = |word: &str| words.split(|c: char| !c.is_alphanumeric()).any(|known| known.starts_with(word));
        list.iter().copied().find(|word| begins(word))
    };
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
    if let Some(word) = found(WIDE) {
        score += 0.2;
        reasons.push(format!("the request is wide (“{word}”)"));
    }
    let destructive = found(DESTRUCTIVE);
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
}
