//! Asks git about a repository, through its own program and only in ways that change nothing there.

use std::path::{Path, PathBuf};

use sextant_base::failure::{Failure, FailureKind};
use sextant_diagnostics::confined_git::{Confined, GitOutput, said};

/// One file between two states; `old` or `new` is `None` if the state does not have it. Paths are relative to the top
/// of the repository. A renamed file has both, and they differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChangedFile {
    pub old: Option<String>,
    pub new: Option<String>,
}

/// A repository with a working tree.
#[derive(Clone, Debug)]
pub(super) struct Git {
    /// The top folder of the working tree, without symbolic links.
    pub top: PathBuf,
    confined: Confined,
}

impl Git {
    /// The repository that a folder is in.
    ///
    /// # Errors
    /// There is no git, no repository, or a repository without a working tree.
    pub(super) async fn open(folder: &Path) -> Result<Self, Failure> {
        let (confined, top) = Confined::open(folder).await?;
        Ok(Self { top, confined })
    }

    async fn ask(&self, arguments: &[&str]) -> Result<GitOutput, Failure> {
        let mut command = self.confined.command(&self.top);
        command.args(arguments);
        said(command).await
    }

    async fn must(&self, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        self.ask(arguments).await?.map_err(|why| failed(arguments, &why))
    }

    /// The commit that a revision means; `None` if it means no commit.
    pub(super) async fn commit(&self, revision: &str) -> Result<Option<String>, Failure> {
        let wanted = format!("{revision}^{{commit}}");
        let answer = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]).await?;
        Ok(answer.ok().and_then(|line| String::from_utf8(line).ok()).map(|line| line.trim().to_owned()))
    }

    /// The best common ancestor of two commits; `None` if there is no common one.
    pub(super) async fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, Failure> {
        let answer = self.ask(&["merge-base", one, other]).await?;
        Ok(answer.ok().and_then(|line| String::from_utf8(line).ok()).map(|line| line.trim().to_owned()))
    }

    /// The files that differ, sorted. Without a second commit, the comparison is from the first to the working tree,
    /// with new files that git does not know yet. A named file may turn out to be the same.
    pub(super) async fn changes(&self, before: &str, after: Option<&str>) -> Result<Vec<ChangedFile>, Failure> {
        let mut arguments = vec![if after.is_some() { "diff-tree" } else { "diff-index" }];
        arguments.extend(["--name-status", "-M", "-z", "-r", "--no-ext-diff", "--no-textconv"]);
        // A submodule would be asked by a git of its own, with the submodule's configuration.
        arguments.push("--ignore-submodules=all");
        arguments.push(before);
        arguments.extend(after);
        arguments.push("--");
        let mut changes = name_status(&self.must(&arguments).await?);
        if after.is_none() {
            let new = self.must(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
            changes.extend(names(&new).map(|path| ChangedFile { old: None, new: Some(path.to_owned()) }));
        }
        changes.sort();
        changes.dedup();
        Ok(changes)
    }

    /// The regular files of a commit.
    pub(super) async fn files(&self, commit: &str) -> Result<Vec<String>, Failure> {
        let listing = self.must(&["ls-tree", "-r", "-z", "--full-tree", commit]).await?;
        Ok(names(&listing).filter_map(|entry| entry.strip_prefix("100")?.split_once('\t')).map(second).collect())
    }

    /// The files of the working tree that git knows or would take; some may be gone, or be links.
    pub(super) async fn working_files(&self) -> Result<Vec<String>, Failure> {
        let listing = self.must(&["ls-files", "--cached", "--others", "--exclude-standard", "-z"]).await?;
        let mut files: Vec<String> = names(&listing).map(str::to_owned).collect();
        // A file with a conflict is named once for each side.
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The paths in the working tree that git does not keep. They are ignored files, whole folders with a `/` at the
    /// end, and the folders of submodules and of other repositories.
    pub(super) async fn unkept(&self) -> Result<Vec<String>, Failure> {
        let ignored = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let mut out: Vec<String> = names(&self.must(&ignored).await?).map(str::to_owned).collect();
        let staged = self.must(&["ls-files", "--stage", "-z"]).await?;
        let modules = names(&staged).filter_map(|entry| entry.strip_prefix("160000 ")?.split_once('\t'));
        out.extend(modules.map(|(_, path)| format!("{path}/")));
        let others = self.must(&["ls-files", "--others", "--exclude-standard", "-z"]).await?;
        out.extend(names(&others).filter(|path| path.ends_with('/')).map(str::to_owned));
        Ok(out)
    }

    /// The files of these that git would pass through a filter, with the filter's name. No filter is run here: the
    /// repository names it, and its configuration may define it.
    pub(super) async fn filtered(&self, paths: &[&str]) -> Result<Vec<(String, String)>, Failure> {
        let mut out = Vec::new();
        for paths in paths.chunks(500) {
            let arguments = ["check-attr", "-z", "filter", "--"].iter().chain(paths).copied().collect::<Vec<_>>();
            let answer = self.must(&arguments).await?;
            let parts: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
            let named = parts.chunks_exact(3).filter_map(|one| {
                let [path, _, filter] = one else { return None };
                Some((std::str::from_utf8(path).ok()?.to_owned(), std::str::from_utf8(filter).ok()?.to_owned()))
            });
            out.extend(named.filter(|(_, filter)| !matches!(filter.as_str(), "unspecified" | "unset" | "set")));
        }
        Ok(out)
    }

    /// Writes all files of a commit below an empty folder `tree`; the repository's own index is not touched. `index` is
    /// the path for the index of this checkout, and must be outside of `tree`.
    pub(super) async fn checkout(&self, commit: &str, tree: &Path, index: &Path) -> Result<(), Failure> {
        for arguments in [["read-tree", commit].as_slice(), &["checkout-index", "--all", "--force", "--quiet"]] {
            // Git runs inside of the new tree, so that line ends follow the attributes of the commit itself.
            let mut command = self.confined.command(tree);
            command.env("GIT_INDEX_FILE", index).args(arguments);
            said(command).await?.map_err(|why| failed(arguments, &why))?;
        }
        Ok(())
    }
}

fn failed(arguments: &[&str], why: &str) -> Failure {
    let what = arguments.first().copied().unwrap_or_default();
    let hint = if why.contains("unable to read") || why.contains("missing") {
        "objects are not here, and none are fetched: git fetch --unshallow, or git diff REV in a partial clone, does"
    } else {
        "run git status there; it names the fault"
    };
    Failure::new(FailureKind::Tool, format!("git {what} failed: {why}"), hint)
}

fn second(pair: (&str, &str)) -> String {
    pair.1.to_owned()
}

/// The parts of a list that end in NUL. A name that is not UTF-8 is skipped: no text here could show it.
fn names(list: &[u8]) -> impl Iterator<Item = &str> {
    list.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok()).filter(|name| !name.is_empty())
}

/// Reads `--name-status -z`: a letter, its score, and one path or, for renames and copies, two.
fn name_status(list: &[u8]) -> Vec<ChangedFile> {
    let mut out = Vec::new();
    let mut parts = list.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    let read = |part: Option<&[u8]>| part.and_then(|name| std::str::from_utf8(name).ok()).map(str::to_owned);
    while let Some(status) = parts.next() {
        let letter = status.first().copied().unwrap_or_default();
        let first = read(parts.next());
        let (old, new) = match letter {
            b'R' => (first, read(parts.next())),
            b'C' => (None, read(parts.next())),
            b'A' => (None, first),
            b'D' => (first, None),
            _ => (first.clone(), first),
        };
        if old.is_some() || new.is_some() {
            out.push(ChangedFile { old, new });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_names_the_sides_on_which_the_file_exists() {
        let list =
            "M\0a b.py\0R087\0old.py\0ü/new.py\0D\0gone.py\0A\0line\nbreak.py\0T\0kind.py\0C100\0from.py\0to.py\0";
        let read: Vec<(Option<String>, Option<String>)> =
            name_status(list.as_bytes()).into_iter().map(|changed| (changed.old, changed.new)).collect();
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(
            read,
            [
                (some("a b.py"), some("a b.py")),
                (some("old.py"), some("ü/new.py")),
                (some("gone.py"), None),
                (None, some("line\nbreak.py")),
                (some("kind.py"), some("kind.py")),
                (None, some("to.py")),
            ]
        );
        assert!(name_status(b"").is_empty());
    }

    #[test]
    fn a_name_that_is_not_utf_8_shifts_nothing() {
        let read = name_status(b"M\0\xff.py\0D\0b.py\0R100\0\xff\0c.py\0");
        let expected = [(Some("b.py"), None), (None, Some("c.py"))];
        let expected =
            expected.map(|(old, new)| ChangedFile { old: old.map(str::to_owned), new: new.map(str::to_owned) });
        assert_eq!(read, expected);
        assert_eq!(names(b"a\0\xff\0b c\0").collect::<Vec<_>>(), ["a", "b c"]);
    }
}
