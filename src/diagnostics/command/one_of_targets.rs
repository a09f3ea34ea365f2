//! Keeps one of the reports that a compiler repeats for each target, a library and its tests, with other names of types.
//!
//! rustc cuts a path to its last name where a crate has one thing of that name, and the two targets differ in what they
//! have: `&Cart<u64>` in one is `&cart::Cart<u64>` in the other. Of two things of one name it cuts neither.

use std::collections::HashMap;

use crate::model::{Diagnostic, Location, Severity};

/// The parts of a report that are equal for every target.
type SharedParts = (Location, Severity, Option<String>);

/// The same reports, each once, in their order. Of two that differ in the paths alone the shorter stays: which target
/// comes first differs from run to run.
pub(super) fn each_once(found: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut at: HashMap<SharedParts, Vec<usize>> = HashMap::new();
    for one in found {
        let places = at.entry((one.location.clone(), one.severity, one.code.clone())).or_default();
        let same = places.iter().find(|place| is_same(&kept[**place], &one)).copied();
        match same {
            Some(place) if is_shorter(&one, &kept[place]) => kept[place] = one,
            Some(_) => {}
            None => {
                places.push(kept.len());
                kept.push(one);
            }
        }
    }
    kept
}

fn is_shorter(one: &Diagnostic, other: &Diagnostic) -> bool {
    (one.message.len(), &one.message) < (other.message.len(), &other.message)
}

fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    a == b || a.message != b.message && says_the_same(&a.message, &b.message)
}

/// True if two messages differ in paths alone, one of which ends with the other.
fn says_the_same(a: &str, b: &str) -> bool {
    let mut parts = (paths(a), paths(b));
    loop {
        match (parts.0.next(), parts.1.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b || ends_with(a, b) || ends_with(b, a) => {}
            _ => return false,
        }
    }
}

fn ends_with(path: &str, end: &str) -> bool {
    end.starts_with(is_name) && path.strip_suffix(end).is_some_and(|before| before.ends_with("::"))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The message cut into paths and the parts between them.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| is_name(c) || c == ':';
    let mut rest = text;
    std::iter::from_fn(move || {
        let inside = is_part(rest.chars().next()?);
        let (part, behind) = rest.split_at(rest.find(|c| is_part(c) != inside).unwrap_or(rest.len()));
        rest = behind;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Confidence;
    use sextant_base::positions::{Position, Range};

    fn error(line: u32, code: &str, message: &str) -> Diagnostic {
        let at = Position { line, character: 4 };
        Diagnostic {
            source: "tool:cargo".into(),
            severity: Severity::Error,
            code: Some(code.into()),
            message: message.into(),
            location: Location::Range { file: "src/cart.rs".into(), range: Range { start: at, end: at } },
            confidence: Confidence::High,
            suggested_action: None,
            evidence: None,
        }
    }

    fn kept(found: &[(u32, &str, &str)]) -> Vec<String> {
        each_once(found.iter().map(|(line, code, message)| error(*line, code, message)))
            .into_iter()
            .map(|one| one.message)
            .collect()
    }

    #[test]
    fn one_error_of_two_targets_stays_once_whichever_comes_first() {
        let cut = (47, "E0609", "no field `itemz` on type `&Cart<u64>`");
        let whole = (47, "E0609", "no field `itemz` on type `&cart::Cart<u64>`");
        for found in [[cut, whole], [whole, cut], [cut, cut]] {
            assert_eq!(kept(&found), [cut.2], "{found:?}");
        }
    }

    #[test]
    fn two_errors_of_one_place_stay_two() {
        let one = (47, "E0277", "`a::Cart` is not an iterator");
        for other in [
            (47, "E0277", "`b::Cart` is not an iterator"),
            (47, "E0277", "`MyCart` is not an iterator"),
            (47, "E0277", "`a::Cart` is not an iterator at all"),
            (47, "E0599", "`Cart` is not an iterator"),
            (48, "E0277", "`Cart` is not an iterator"),
        ] {
            assert_eq!(kept(&[one, other]).len(), 2, "{other:?}");
        }
        assert_eq!(kept(&[(1, "E0412", "cannot find type `x:`"), (1, "E0412", "cannot find type `:`")]).len(), 2);
    }
}
