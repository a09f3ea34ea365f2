//! The files outside of the workspace that a run over a project reports on: a crate beside it in Cargo's workspace. Nothing
//! there is read or changed, but an edit that breaks one is not complete without them.

use std::sync::Arc;

use sextant_base::one_line::headline;
use sextant_base::plural::counted;

use crate::model::{Freshness, Report, Unasked};

/// Recognizes the name of such a file, which is an absolute path.
pub fn is_outside(file: &str) -> bool {
    file.starts_with('/')
}

/// The report on such a file, of which a run says something else: how many diagnostics are new there, with the message of
/// the first one. A fresh report says that none is left; there is no report if some went away.
pub fn report<T: PartialEq>(
    provider: &str,
    file: &str,
    earlier: &[T],
    now: &[T],
    message: impl Fn(&T) -> String,
) -> Option<Report> {
    let mut new = now.iter().filter(|one| !earlier.contains(one));
    let first = new.next();
    let note = first.map(|first| {
        let new = counted(1 + new.count(), "new diagnostic");
        format!("it is outside of this workspace and has {new}, such as: {}", headline(&message(first)))
    });
    if note.is_none() && !now.is_empty() {
        return None;
    }
    Some(Report {
        provider: provider.to_owned(),
        file: file.to_owned(),
        diagnostics: Vec::new(),
        freshness: if note.is_some() { Freshness::Unavailable } else { Freshness::Exact },
        version: None,
        wanted_version: None,
        elapsed_ms: 0,
        unasked: note.is_none().then(|| Unasked { text: Arc::default(), earlier: None }),
        note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_in_a_file_outside_is_named_and_a_file_without_diagnostics_is_known() {
        let note = |earlier: &[&str], now: &[&str]| {
            let report = report("tool:c", "/b.rs", earlier, now, |one| (*one).to_owned());
            report.map(|report| report.note.ok_or(report.freshness))
        };
        let says = |words: &str| Some(Ok(format!("it is outside of this workspace and has {words}")));
        assert_eq!(note(&["a"], &["a", "b"]), says("1 new diagnostic, such as: b"));
        assert_eq!(note(&[], &["a", "b"]), says("2 new diagnostics, such as: a"));
        assert_eq!(note(&["a", "b"], &["b"]), None);
        assert_eq!(note(&["a"], &[]), Some(Err(Freshness::Exact)));
        assert!(is_outside("/b.rs") && !is_outside("b.rs"));
    }
}
