//! Lists the files whose texts a reading command of git would show. It judges them by all the paths of their objects.
//!
//! A blob has no name of its own: `git show 3f2a9c` prints a secret as well as `git show HEAD:.env`. So git itself
//! resolves each word. A blob is shown only where every path that it ever had is open to a tool.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::tools::reading_commands::Reading;
use sextant_base::failure::Failure;
use sextant_base::one_line::clean;
use sextant_diagnostics::confined_git::{self, Confined};
use sextant_store::workspace::secret_files::is_secret;

/// The longest search of the history for the paths of one object.
const SEARCH: Duration = Duration::from_secs(10);
/// The empty tree, in both formats of objects: a difference to it involves no file.
const EMPTY: [&str; 2] =
    ["4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"];
/// Most words of a command that are looked up.
const MOST: usize = 40;

/// A repository in which a command may look, and the top of its working tree.
pub(crate) struct Repository {
    pub(crate) git: Confined,
    pub(crate) top: PathBuf,
}

impl Repository {
    /// # Errors
    /// There is no git, or no valid repository.
    pub(crate) async fn of(root: &Path) -> Result<Self, Failure> {
        let (git, top) = Confined::open(root).await?;
        Ok(Self { git, top })
    }

    /// True if it is all of the workspace and no more.
    fn is_just(&self, root: &Path) -> bool {
        self.top == root && std::env::var_os("GIT_DIR").is_none()
    }

    async fn lines(&self, arguments: &[&str]) -> Result<Option<String>, Failure> {
        let mut command = self.git.command(&self.top);
        command.args(arguments);
        let output = confined_git::said(command).await?;
        Ok(output.ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    /// The objects that a word names, as far as git takes it for revisions.
    async fn objects(&self, word: &str) -> Result<Vec<String>, Failure> {
        let output = self.lines(&["rev-parse", "--quiet", "--revs-only", "--end-of-options", word]).await?;
        let output = output.unwrap_or_default();
        let objects = output.lines().map(|line| line.trim_start_matches('^').to_owned());
        Ok(objects.filter(|object| object.bytes().all(|byte| byte.is_ascii_hexdigit())).collect())
    }

    /// The closed part of what a word would show, in words.
    async fn shows(&self, word: &str) -> Result<Option<String>, Failure> {
        for object in self.objects(word).await? {
            let peeled = self.lines(&["rev-parse", "--verify", "--quiet", &format!("{object}^{{}}")]).await?;
            let peeled = peeled.unwrap_or(object);
            let kind = self.lines(&["cat-file", "-t", &peeled]).await?;
            match kind.as_deref() {
                Some("commit") => {}
                Some("tree") if EMPTY.contains(&peeled.as_str()) || self.is_in_commit(word).await? => {}
                Some("tree") => return Ok(Some("names a folder without its path".to_owned())),
                Some("blob") => {
                    let search = tokio::time::timeout(SEARCH, self.paths(&peeled)).await;
                    let Ok(paths) = search else {
                        return Ok(Some("has too long a history to be looked at".to_owned()));
                    };
                    let paths = paths?;
                    if paths.is_empty() {
                        return Ok(Some("is a text of which no path is known".to_owned()));
                    }
                    if let Some(secret) = paths.iter().find(|path| is_secret(path)) {
                        return Ok(Some(format!("is the text of {}, which may hold secrets", clean(secret))));
                    }
                }
                _ => return Ok(Some("is nothing that git has".to_owned())),
            }
        }
        Ok(None)
    }

    /// True if a word is a path within a commit: `HEAD:src`.
    async fn is_in_commit(&self, word: &str) -> Result<bool, Failure> {
        let Some((commit, _)) = word.split_once(':').filter(|(commit, _)| !commit.is_empty()) else { return Ok(false) };
        let commit = format!("{commit}^{{commit}}");
        Ok(self.lines(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).await?.is_some())
    }

    /// Every path that a blob has or had: in the index, and in what any name or reflog leads to.
    async fn paths(&self, blob: &str) -> Result<BTreeSet<String>, Failure> {
        let mut paths = BTreeSet::new();
        let staged = self.lines(&["ls-files", "--stage", "-z", "--full-name", ":/"]).await?.unwrap_or_default();
        let staged = staged.split('\0').filter_map(|entry| entry.split_once('\t'));
        paths.extend(staged.filter(|(about, _)| about.contains(blob)).map(|(_, path)| path.to_owned()));
        let find = format!("--find-object={blob}");
        let known =
            ["log", "--all", "--reflog", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "-z", &find];
        let output = self.lines(&known).await?.unwrap_or_default();
        // `:100644 100644 OLD NEW M`, NUL, path, NUL.
        let mut parts = output.split('\0');
        while let Some(about) = parts.next() {
            if about.trim_start().starts_with(':')
                && let Some(path) = parts.next()
                && about.contains(blob)
            {
                paths.insert(path.to_owned());
            }
        }
        Ok(paths)
    }

    /// The first secret file that a search would look through. Its exit status alone answers a question about a text.
    async fn searched(&self, root: &Path, reading: &Reading<'_>) -> Result<Option<String>, Failure> {
        let (words, paths) = reading.operands.split_at(reading.paths.unwrap_or(reading.operands.len()));
        let mut files = self.git.command(&self.top);
        files.current_dir(root).args(["ls-files", "-z", "--"]).args(paths);
        let mut lists = vec![confined_git::said(files).await?.ok()];
        for word in words {
            for object in self.objects(word).await? {
                let mut tree = self.git.command(&self.top);
                tree.args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", &object]);
                lists.push(confined_git::said(tree).await?.ok());
            }
        }
        // What git cannot list is not searched: a text is judged by its own name.
        let names = lists.iter().flatten().flat_map(|list| list.split(|byte| *byte == 0));
        let mut names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(names.find(|name| is_secret(name)).map(|name| format!("it searches {}", clean(&name))))
    }
}

/// Why a command that is known to read would show a closed file; `None` where nothing speaks against it.
pub(crate) async fn objection(root: &Path, reading: &Reading<'_>, listed: bool) -> Option<String> {
    let repository = match Repository::of(root).await {
        Ok(repository) => repository,
        Err(failure) => return Some(failure.message),
    };
    if !listed && !repository.is_just(root) {
        return Some("the repository is larger than the workspace".to_owned());
    }
    if reading.operands.len() > MOST {
        return Some("it names more than is looked at".to_owned());
    }
    for word in &reading.operands {
        match repository.shows(word).await {
            Ok(None) => {}
            Ok(Some(why)) => return Some(format!("{} {why}", clean(word))),
            Err(failure) => return Some(failure.message),
        }
    }
    if reading.subcommand != "grep" {
        return None;
    }
    repository.searched(root, reading).await.unwrap_or_else(|failure| Some(failure.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::reading_commands;
    use std::process::Command;

    #[tokio::test]
    async fn a_search_takes_paths_that_are_all_open() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (name, text) in [("a.py", "x = 1\n"), (".env", "PLAIN = x\n")] {
            std::fs::write(root.join(name), text).unwrap();
        }
        for arguments in ["init -q", "add -A -f", "commit -qm first"] {
            let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
            let done = Command::new("git").current_dir(&root).args(fixed).args(arguments.split(' ')).status();
            assert!(done.unwrap().success(), "{arguments}");
        }
        for (line, open) in [
            ("git grep -n x -- a.py", true),
            ("git grep -n x", false),
            ("git grep -q PLAIN -- .", false),
            ("git grep -c PLAIN -- .env", false),
            ("git grep -l PLAIN HEAD -- a.py", false),
            ("git grep -q PLAIN HEAD", false),
            ("git log --oneline", true),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let reading = reading_commands::read("git", &words, 1).unwrap();
            let why = objection(&root, &reading, true).await;
            assert_eq!(why.is_none(), open, "{line}: {why:?}");
        }
    }
}
