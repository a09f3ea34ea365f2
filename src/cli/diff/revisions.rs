//! Reads the words of the command line as two states and paths.

use std::path::Path;

use crate::cli::diff::git::Git;
use sextant_base::failure::Failure;

/// A commit, and the user's name for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Revision {
    pub name: String,
    pub commit: String,
}

/// The two sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sides {
    pub before: Revision,
    /// `None` for the working tree.
    pub after: Option<Revision>,
    /// The words that are not revisions.
    pub paths: Vec<String>,
}

/// Reads `[REV [REV2] | A..B | A...B] [PATHS]`. Without a revision it is `HEAD`. A word that is both a revision and a
/// file is a revision; paths may be given after `--` instead.
///
/// # Errors
/// A word is neither a revision nor an existing file.
pub(super) async fn read(git: &Git, here: &Path, words: &[String]) -> Result<Sides, Failure> {
    let mut rest = words;
    let (mut before, mut after) = (None, None);
    if let Some(first) = rest.first() {
        if let Some(commit) = git.commit(first).await? {
            before = Some(Revision { name: first.clone(), commit });
            rest = &rest[1..];
            if let Some(second) = rest.first()
                && let Some(commit) = git.commit(second).await?
            {
                after = Some(Revision { name: second.clone(), commit });
                rest = &rest[1..];
            }
        } else if let Some((one, other)) = range(git, first).await? {
            (before, after) = (Some(one), Some(other));
            rest = &rest[1..];
        }
    }
    if let Some(stray) = rest.iter().find(|word| here.join(word).symlink_metadata().is_err()) {
        return Err(unknown(stray));
    }
    let before = match before {
        Some(before) => before,
        None => Revision { name: "HEAD".to_owned(), commit: must(git, "HEAD").await? },
    };
    Ok(Sides { before, after, paths: rest.to_vec() })
}

/// `A..B`, and `A...B` for the work of B since it left A. A missing side is `HEAD`.
async fn range(git: &Git, word: &str) -> Result<Option<(Revision, Revision)>, Failure> {
    let Some((one, other, dots)) = split(word) else { return Ok(None) };
    // The name of a file is not a range, even with dots in it; a name without a file is meant as one.
    if git.top.join(word).exists() {
        return Ok(None);
    }
    let start = must(git, one).await?;
    let end = must(git, other).await?;
    let after = Revision { name: other.to_owned(), commit: end };
    if dots == 2 {
        return Ok(Some((Revision { name: one.to_owned(), commit: start }, after)));
    }
    let base = git.merge_base(&start, &after.commit).await?;
    let base = base.ok_or_else(|| {
        let hint = "fetch more of the history (git fetch --unshallow), or compare them with two dots";
        Failure::user(format!("{one} and {other} have no common ancestor here"), hint)
    })?;
    Ok(Some((Revision { name: format!("merge base of {one} and {other}"), commit: base }, after)))
}

fn split(word: &str) -> Option<(&str, &str, usize)> {
    let (one, other, dots) = match word.split_once("...") {
        Some((one, other)) => (one, other, 3),
        None => word.split_once("..").map(|(one, other)| (one, other, 2))?,
    };
    if other.starts_with(['/', '.']) || one.ends_with('/') {
        return None;
    }
    Some((named(one), named(other), dots))
}

fn named(side: &str) -> &str {
    if side.is_empty() { "HEAD" } else { side }
}

async fn must(git: &Git, revision: &str) -> Result<String, Failure> {
    git.commit(revision).await?.ok_or_else(|| unknown(revision))
}

fn unknown(word: &str) -> Failure {
    Failure::user(
        format!("{word:?} is neither a revision nor a file here"),
        "give a commit, a branch or a tag that git log shows; a file that is gone stands after --",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_a_range_unless_they_are_a_path() {
        for (word, expected) in [
            ("main..topic", Some(("main", "topic", 2))),
            ("main...topic", Some(("main", "topic", 3))),
            ("origin/main...", Some(("origin/main", "HEAD", 3))),
            ("..v1.2", Some(("HEAD", "v1.2", 2))),
            ("v1.2", None),
            ("../src", None),
            ("src/../lib", None),
            ("main....x", None),
        ] {
            assert_eq!(split(word), expected, "{word}");
        }
    }
}
