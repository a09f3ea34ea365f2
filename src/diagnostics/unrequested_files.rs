//! The files that nobody asked about and of which a run over a whole project says something else than the run before: an
//! edit that removes the last use of a function makes rustc warn where the function is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use sextant_base::plural::counted;

/// The most of these files that are reported after one run. The rest is named as unknown.
pub(crate) const MOST: usize = 100;

/// The reason why a run's diagnostics of so many files are not known.
pub fn not_reported(files: usize) -> String {
    format!("it says something else of {} that nobody asked about", counted(files, "more file"))
}

/// A file with what the run before and this one say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFindings<T> {
    /// Path relative to the root.
    pub(crate) path: String,
    /// `None` if the file was written since the run before, which has read another text.
    pub(crate) earlier: Option<T>,
    pub(crate) now: T,
}

/// The findings of the last run, by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastRun<T> {
    began: Option<SystemTime>,
    found: BTreeMap<String, T>,
}

impl<T: Clone + Default + PartialEq> LastRun<T> {
    /// Takes a run in, and returns the files of which it says something else. Files that it has not read keep what was
    /// known of them. The first run says nothing new, and returns as they are those files that may have stopped it.
    pub(crate) fn take(
        &mut self,
        root: &Path,
        began: SystemTime,
        mut found: BTreeMap<String, T>,
        has_read: impl Fn(&str) -> bool,
        may_stop: impl Fn(&T) -> bool,
    ) -> Vec<ChangedFindings<T>> {
        let nothing = T::default();
        let of = |map: &BTreeMap<String, T>, path: &String| map.get(path).unwrap_or(&nothing).clone();
        let paths: BTreeSet<String> = self.found.keys().chain(found.keys()).cloned().collect();
        let mut changed = Vec::new();
        for path in paths {
            let (earlier, now) = (of(&self.found, &path), of(&found, &path));
            if earlier == now {
                continue;
            } else if !has_read(&path) {
                found.insert(path, earlier);
            } else if let Some(before) = self.began {
                let earlier = is_older(&root.join(&path), before).then_some(earlier);
                changed.push(ChangedFindings { path, earlier, now });
            } else if may_stop(&now) && is_older(&root.join(&path), began) {
                changed.push(ChangedFindings { path, earlier: Some(now.clone()), now });
            }
        }
        (self.began, self.found) = (Some(began), found);
        changed
    }
}

/// A file that was written before this time.
fn is_older(file: &Path, time: SystemTime) -> bool {
    std::fs::metadata(file).and_then(|file| file.modified()).is_ok_and(|written| written < time)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The number of findings that stands for a text that stops the compiler.
    const STOP: u32 = 9;

    fn run(
        last: &mut LastRun<u32>,
        root: &Path,
        began: SystemTime,
        found: &[(&str, u32)],
    ) -> Vec<(String, Option<u32>, u32)> {
        let found = found.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect();
        let changed = last.take(root, began, found, |path| path != "unread.rs", |count| *count == STOP);
        changed.into_iter().map(|file| (file.path, file.earlier, file.now)).collect()
    }

    #[test]
    fn a_file_that_may_have_stopped_the_first_run_is_known_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        ["a.rs", "b.rs"].iter().for_each(|file| std::fs::write(dir.path().join(file), "").unwrap());
        let start = SystemTime::now() + Duration::from_secs(10);
        let found = run(&mut LastRun::default(), dir.path(), start, &[("a.rs", 1), ("b.rs", STOP)]);
        assert_eq!(found, [("b.rs".to_owned(), Some(STOP), STOP)]);
    }

    #[test]
    fn a_file_is_new_where_two_runs_differ_and_compared_if_nobody_wrote_it_between_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for file in ["a.rs", "b.rs", "unread.rs"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let start = SystemTime::now() + Duration::from_secs(10);
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut last = LastRun::default();
        assert_eq!(run(&mut last, root, at(0), &[("a.rs", 1), ("unread.rs", 1)]), [], "nothing to compare with");
        let changed = run(&mut last, root, at(1), &[("b.rs", 2)]);
        assert_eq!(changed, [("a.rs".to_owned(), Some(1), 0), ("b.rs".to_owned(), Some(0), 2)]);
        assert_eq!(
            run(&mut last, root, at(2), &[("b.rs", 2), ("unread.rs", 1)]),
            [],
            "it is as it was when it was read"
        );
        let written = std::fs::File::options().write(true).open(root.join("b.rs")).unwrap();
        written.set_modified(at(3)).unwrap();
        let changed = run(&mut last, root, at(4), &[("unread.rs", 1)]);
        assert_eq!(changed, [("b.rs".to_owned(), None, 0)], "its text has changed");
    }
}
