//! The files in reach of edits that nobody has looked at.

use std::collections::{BTreeMap, BTreeSet};

use crate::state::pending_report::PendingReport;
use sextant_base::one_line::clean;
use sextant_base::plural::counted;
use sextant_store::workspace::workspace_files::MOST_FILES;
use sextant_text::symbols::unchecked_code::Unchecked;

/// Files that an edit may have broken and that were not looked at, with the names that they use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unlooked {
    groups: Vec<UnlookedGroup>,
    /// True if there may be others, in a workspace that is too large for a full search.
    more: bool,
}

/// A reason for which a file in reach is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unread {
    Ignored,
    /// It is a link to another file.
    Link,
    /// Its name has characters that are not seen.
    BadName,
    /// It imports the edited file by a path with a link in it. Servers are notified of the file alone, and may keep the
    /// text that they have read by the other path.
    ThroughLink,
    /// In code that a checker may leave out.
    Unchecked(Unchecked),
    /// Nothing asks for a check of its types.
    Untyped,
    /// A script that uses a removed function, which no checker looks up.
    GoneCommand,
}

impl Unread {
    fn words(self) -> &'static str {
        match self {
            Self::Ignored => "not looked at: git ignores it",
            Self::Link => "not looked at: it is a link",
            Self::BadName => "not looked at: its name has characters that are not seen",
            Self::Unchecked(Unchecked::Conditional) => "in code on a condition, which may not be checked",
            Self::Unchecked(Unchecked::Expanded) => "in the body of a macro, which is checked where it is expanded",
            Self::Unchecked(Unchecked::Instantiated) => "in a template, which is checked where it is instantiated",
            Self::Unchecked(Unchecked::Excluded) => "in code that its own text excludes from a check",
            Self::Unchecked(Unchecked::Example) => "in an example of a comment, which is not checked",
            Self::Untyped => "in a file whose types are not checked",
            Self::GoneCommand => "in a script, where no checker looks up a gone function or a variable in capitals",
            Self::ThroughLink => "by a link, whose text a server may keep",
        }
    }
}

/// The files of one edit, the likeliest first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UnlookedGroup {
    names: String,
    files: Vec<String>,
    /// The reason in words.
    why: &'static str,
}

/// The most scripts with a gone function that are named one by one.
const MOST_ALONE: usize = 6;

const NOT_LOOKED_AT: &str = "not looked at";

impl Unlooked {
    /// The files of one edit. The names come in words.
    pub(crate) fn of(files: Vec<String>, names: &str, more: bool) -> Self {
        Self { groups: group(files, names, NOT_LOOKED_AT).into_iter().collect(), more }
    }

    /// Adds the files of one edit that are not opened, by reason.
    pub(crate) fn with_unread(mut self, unread: &BTreeMap<Unread, BTreeSet<String>>, names: &str) -> Self {
        for (why, files) in unread {
            let files: Vec<String> = files.iter().cloned().collect();
            // No later report names the broken scripts.
            let size = if *why == Unread::GoneCommand && files.len() <= MOST_ALONE { 1 } else { files.len().max(1) };
            self.groups.extend(files.chunks(size).filter_map(|some| group(some.to_vec(), names, why.words())));
        }
        self
    }

    /// Any file: the looked-at files are not known.
    pub(crate) fn anything() -> Self {
        Self { groups: Vec::new(), more: true }
    }

    /// True if a file may have been broken without a look at it.
    pub(crate) fn may_be(&self, file: &str) -> bool {
        self.more || self.groups.iter().any(|group| group.files.iter().any(|known| known == file))
    }

    pub(crate) fn extend(&mut self, other: &Self) {
        let new = other.groups.iter().filter(|group| !self.groups.contains(group)).cloned().collect::<Vec<_>>();
        self.groups.extend(new);
        self.more |= other.more;
    }

    /// The entries of a verdict for the unknown part.
    pub(crate) fn pending(&self) -> Vec<PendingReport> {
        let group = |group: &UnlookedGroup| {
            let first = group.files.first().map(|file| clean(file)).unwrap_or_default();
            let words = match group.files.len() {
                1 => format!("{first} (may use {}, {})", group.names, group.why),
                many => {
                    format!("{} that may use {}, {}, first {first}", counted(many, "file"), group.names, group.why)
                }
            };
            PendingReport::new(words)
        };
        let mut entries: Vec<PendingReport> = self.groups.iter().map(group).collect();
        if self.more {
            entries.push(PendingReport::new(format!("files beyond the first {MOST_FILES} of the workspace")));
        }
        entries
    }
}

fn group(files: Vec<String>, names: &str, why: &'static str) -> Option<UnlookedGroup> {
    (!files.is_empty()).then(|| UnlookedGroup { names: names.to_owned(), files, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::pending_report::words;

    #[test]
    fn what_was_not_looked_at_is_counted_with_its_names() {
        let mut unlooked = Unlooked::of(vec!["b.py".into(), "a.py".into()], "`make_item`", false);
        unlooked.extend(&Unlooked::of(vec!["c.py".into()], "`total`", false));
        unlooked.extend(&Unlooked::of(vec!["c.py".into()], "`total`", false));
        assert_eq!(
            words(&unlooked.pending()),
            ["2 files that may use `make_item`, not looked at, first b.py", "c.py (may use `total`, not looked at)"]
        );
        let unread = BTreeMap::from([(Unread::BadName, BTreeSet::from(["b\nc.py".to_owned()]))]);
        let shown = words(&Unlooked::default().with_unread(&unread, "`f`").pending());
        assert_eq!(shown, ["b c.py (may use `f`, not looked at: its name has characters that are not seen)"]);
        assert!(unlooked.may_be("a.py") && !unlooked.may_be("d.py"));
        assert!(Unlooked::anything().may_be("d.py") && !Unlooked::default().may_be("a.py"));
    }
}
