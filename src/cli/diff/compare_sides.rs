//! Runs a comparison: both sides on disk, the files to check, the providers' answers, the match.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::diff::beyond_git::{BeyondGit, SideRoots};
use crate::cli::diff::checkout::Checkout;
use crate::cli::diff::collect_side::{DiffSide, comparable, read, speaks};
use crate::cli::diff::compare::{Comparison, entries};
use crate::cli::diff::confirm::confirm;
use crate::cli::diff::diff_arguments::DiffArguments;
use crate::cli::diff::diff_progress::DiffProgress;
use crate::cli::diff::git::{ChangedFile, Git};
use crate::cli::diff::revisions::{self, Revision, Sides};
use crate::cli::diff::selection::{DiffSelection, Selection, below, changes_below, select, stray};
use crate::cli::settings::Providers;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_store::workspace::root::Root;

/// Answers the question of the command line.
///
/// # Errors
/// The question cannot be answered at all.
pub(super) async fn answer(arguments: &DiffArguments) -> Result<Comparison, Failure> {
    let progress = DiffProgress::new(arguments.progress);
    let (here, root, git, prefix) = place(arguments).await?;
    let sides = revisions::read(&git, &here, &arguments.words).await?;
    let providers = providers(arguments, root.path())?;
    let wish = wish(arguments, &sides, &here, root.path())?;

    let unkept = git.unkept().await?;
    progress.say(&format!("writing out {}", sides.before.name));
    let old = Checkout::new(&git, &sides.before.commit, &unkept).await?;
    let new = new_side(&git, &sides, &unkept, &providers, progress).await?;
    let after = new.as_ref().map_or(root.path().to_owned(), |new| new.tree.join(&prefix));
    let roots = SideRoots { before: old.tree.join(&prefix), after };
    let place = DiffPlace { root: &root, git: &git, prefix: &prefix, roots: &roots };
    let (selection, beyond) = choose(place, &sides, &wish, &providers).await?;
    let (before, after, mut gaps) = read_sides(&selection, &sides, roots, &wish);
    gaps.extend(beyond.gaps());
    gaps.extend(unfiltered(&git, &selection, &prefix).await?);

    let deadline = Deadline::after(Duration::from_secs(arguments.bounds.timeout));
    let (old_reports, new_reports) = futures::future::try_join(
        before.ask(&providers, deadline, progress),
        after.ask(&providers, deadline, progress),
    )
    .await?;
    let asked = old_reports.len() + new_reports.len();
    let both = comparable(&selection.files, (&before.name, old_reports), (&after.name, new_reports));
    if asked > 0 && both.answered.is_empty() {
        let why = both.silent.iter().map(|silent| format!("{} in {}: {}", silent.provider, silent.side, silent.why));
        let message = format!("no provider could answer: {}", why.collect::<Vec<_>>().join("; "));
        let hint = "start it by hand to see what it lacks, or give it more time with --timeout";
        return Err(Failure::new(FailureKind::Tool, message, hint));
    }
    let entries = entries(&selection.files, &before, &after, &both);
    let confirmed = confirm(entries, &selection.files, &before, &after, &providers, deadline, progress).await?;
    gaps.extend(confirmed.gap);
    let mut entries = confirmed.entries;
    entries.retain(|entry| entry.file().is_empty() || wish.names(entry.file()));
    Ok(Comparison {
        before: sides.before,
        after: sides.after,
        entries,
        providers: both.answered.iter().cloned().collect(),
        silent: both.silent,
        gaps,
        unconfirmed: confirmed.unconfirmed,
        checked: selection.files.len(),
        changed: selection.files.iter().filter(|file| is_changed(file, &before, &after)).count(),
    })
}

/// The current folder, the root, its repository, and the place of the root in it.
async fn place(arguments: &DiffArguments) -> Result<(PathBuf, Root, Git, String), Failure> {
    let here = std::env::current_dir().map_err(|error| {
        Failure::user(format!("the current folder cannot be read: {error}"), "go to a folder that exists")
    })?;
    let start = arguments.root.as_ref().map_or(here.clone(), |root| here.join(root));
    let git = Git::open(&start).await?;
    let root = match &arguments.root {
        Some(root) => Root::new(&here.join(root))?,
        None => Root::find(&here)?,
    };
    let prefix = path::relative(&git.top, root.path()).ok_or_else(|| {
        let message = format!("{} is not in the repository {}", root.path().display(), git.top.display());
        Failure::user(message, "name a folder of the repository with --root")
    })?;
    Ok((here, root, git, prefix))
}

/// The newer side, if it is not the working tree itself.
async fn new_side(
    git: &Git,
    sides: &Sides,
    unkept: &[String],
    providers: &Providers,
    progress: DiffProgress,
) -> Result<Option<Checkout>, Failure> {
    match &sides.after {
        Some(after) => {
            progress.say(&format!("writing out {}", after.name));
            Ok(Some(Checkout::new(git, &after.commit, unkept).await?))
        }
        // Commands leave caches in the folder they run in; for them the user's working tree is copied.
        None if !providers.commands.is_empty() => {
            progress.say("copying the working tree");
            Ok(Some(Checkout::copy(git, unkept).await?))
        }
        None => Ok(None),
    }
}

fn providers(arguments: &DiffArguments, root: &Path) -> Result<Providers, Failure> {
    let providers = arguments.servers.providers(&arguments.files, root)?;
    if providers.servers.is_empty() && providers.commands.is_empty() {
        let hint = "put basedpyright or another server on PATH, name its folder with --servers, or configure one";
        return Err(Failure::new(FailureKind::Config, "no provider of diagnostics was found", hint));
    }
    Ok(providers)
}

fn wish(arguments: &DiffArguments, sides: &Sides, here: &Path, root: &Path) -> Result<DiffSelection, Failure> {
    let given = sides.paths.iter().chain(&arguments.paths);
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let inside = |given: &String| {
        path::relative(root, &here.join(given)).ok_or_else(|| {
            Failure::user(format!("{given} is outside of {}", root.display()), "name another folder with --root")
        })
    };
    let paths = given.map(inside).collect::<Result<Vec<String>, Failure>>()?;
    Ok(DiffSelection { paths, changed_only: arguments.bounds.changed_only, most: arguments.bounds.max_files })
}

/// The project in its repository, and in both states.
#[derive(Clone, Copy)]
struct DiffPlace<'p> {
    root: &'p Root,
    git: &'p Git,
    /// The place of the root in the repository.
    prefix: &'p str,
    roots: &'p SideRoots,
}

async fn choose(
    place: DiffPlace<'_>,
    sides: &Sides,
    wish: &DiffSelection,
    providers: &Providers,
) -> Result<(Selection, BeyondGit), Failure> {
    let DiffPlace { git, prefix, roots, .. } = place;
    let after = sides.after.as_ref().map(|after| after.commit.as_str());
    let changes = changes_below(git.changes(&sides.before.commit, after).await?, prefix);
    let mut old_files = below(git.files(&sides.before.commit).await?, prefix);
    let mut new_files = match after {
        Some(commit) => below(git.files(commit).await?, prefix),
        None => {
            let mut files = below(git.working_files().await?, prefix);
            files.retain(|file| roots.after.join(file).symlink_metadata().is_ok_and(|what| what.is_file()));
            files
        }
    };
    if let Some(stray) = stray(wish, [&old_files, &new_files]) {
        let hint = "paths are relative to the current folder; git log -- PATH shows when a file was there";
        return Err(Failure::user(format!("{stray} is in neither of the two states"), hint));
    }
    let servers = providers.servers.iter().map(|config| config.languages.as_slice());
    let languages: Vec<&[String]> =
        servers.chain(providers.commands.iter().map(|config| config.languages.as_slice())).collect();
    // A provider for every language is asked about the changed files, and not about every file that there is.
    let any = languages.iter().any(|languages| languages.is_empty());
    let changed: BTreeSet<&str> =
        changes.iter().flat_map(|change| [change.old.as_deref(), change.new.as_deref()]).flatten().collect();
    let covered = |path: &str| {
        let named = languages.iter().any(|languages| !languages.is_empty() && speaks(languages, path));
        named || (any && changed.contains(path))
    };
    let is_kept = |file: &str| old_files.contains(file) || new_files.contains(file);
    let is_wanted = |file: &str| !is_kept(file) && covered(file) && wish.names(file);
    let beyond = match wish.changed_only {
        true => BeyondGit::default(),
        false => BeyondGit::of(place.root, roots, &changes, is_wanted).await,
    };
    for side in [&mut old_files, &mut new_files] {
        side.extend(beyond.files.iter().cloned());
    }
    Ok((select(&changes, &old_files, &new_files, covered, wish), beyond))
}

/// Reads both sides; the third part lists the files that were left out.
fn read_sides(
    selection: &Selection,
    sides: &Sides,
    roots: SideRoots,
    wish: &DiffSelection,
) -> (DiffSide, DiffSide, Vec<String>) {
    let mut gaps = Vec::new();
    if selection.left_out > 0 {
        gaps.push(format!("{}, for --max-files is {}", counted(selection.left_out, "more file"), wish.most));
    }
    let mut side = |name: &str, root: PathBuf, paths: Vec<&String>| {
        let (texts, unread) = read(&root, paths.into_iter());
        if let Some(first) = unread.first() {
            gaps.push(format!("{} in {name}, no UTF-8 text ({first} among them)", counted(unread.len(), "file")));
        }
        DiffSide { name: name.to_owned(), root, texts }
    };
    let old = selection.files.iter().filter_map(|file: &ChangedFile| file.old.as_ref()).collect();
    let before = side(&sides.before.name, roots.before, old);
    let after_name = sides.after.as_ref().map_or("working tree", |after: &Revision| &after.name);
    let new = selection.files.iter().filter_map(|file| file.new.as_ref()).collect();
    let after = side(after_name, roots.after, new);
    (before, after, gaps)
}

/// Reports the files that hold git's stored content and not the output of its filter.
async fn unfiltered(git: &Git, selection: &Selection, prefix: &str) -> Result<Option<String>, Failure> {
    let named = selection.files.iter().flat_map(|file| [&file.old, &file.new]).flatten();
    let below = |path: &String| if prefix.is_empty() { path.clone() } else { format!("{prefix}/{path}") };
    let paths: BTreeSet<String> = named.map(below).collect();
    let filtered = git.filtered(&paths.iter().map(String::as_str).collect::<Vec<_>>()).await?;
    Ok(filtered.first().map(|(path, filter)| {
        format!(
            "{} as the filters of git would make it ({path}, {filter}): none is run",
            counted(filtered.len(), "file")
        )
    }))
}

fn is_changed(file: &ChangedFile, before: &DiffSide, after: &DiffSide) -> bool {
    let text = |side: &DiffSide, path: &Option<String>| path.as_ref().and_then(|path| side.texts.get(path)).cloned();
    file.old != file.new || text(before, &file.old) != text(after, &file.new)
}
