//! Lists the useful part of the workspace's tree: the files that a model sees first, and sums of the rest.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::state::task::TaskIntent;
use crate::state::task_scope::Scope;
use sextant_base::plural::counted;
use sextant_base::token_estimate;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, Listing, MOST_RANKED};
use sextant_text::symbols::language;

/// Share of the budget, in percent, for names of files where not all fit; the rest sums up folders.
const NAMES: usize = 70;

/// Endings of files that people write by hand, beside the languages that are read as symbols.
const SOURCES: &str = "rs go c h cc cpp hpp java kt scala swift rb php pl lua js jsx ts tsx mjs vue svelte cs fs ex exs \
    erl hs ml clj dart sh bash zsh fish sql proto graphql zig nim jl r m scm el vim nix tf";
/// Names of files that describe a project.
const PAPERS: &str = "readme.md readme.rst pyproject.toml setup.py setup.cfg cargo.toml package.json go.mod makefile \
    justfile cmakelists.txt build.gradle pom.xml gemfile composer.json mix.exs deno.json tsconfig.json";
/// Endings and names of generated, fetched and drawn files.
const MADE: &str = "lock sum map svg png jpg jpeg gif ico webp bmp pdf woff woff2 ttf eot mp3 mp4 wav zip gz tar whl \
    jar so dll bin dat snap csv tsv parquet pyc class o a min";
const MADE_NAMES: &str = "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock cargo.lock uv.lock go.sum";
const MADE_FOLDERS: &str = "vendor third_party node_modules dist build target generated gen assets fixtures snapshots \
    __snapshots__ static public locale locales";

/// The surroundings of a task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    pub(crate) active: Option<String>,
    /// Files in scope and files that the request names.
    pub(crate) named: Vec<String>,
}

impl Near {
    fn of(intent: &TaskIntent, scope: &Scope) -> Self {
        let analysis = &intent.analysis;
        let symbols = analysis.symbols.iter().map(|symbol| symbol.file.clone());
        let named = scope.files().into_iter().chain(analysis.files.iter().cloned()).chain(symbols).collect();
        Self { active: intent.current_file.clone(), named }
    }
}

/// The useful part of the tree within a budget of tokens, a line each; empty without files.
pub(crate) async fn file_list(root: &Root, intent: &TaskIntent, scope: &Scope, tokens: usize) -> Vec<String> {
    let (root, near) = (root.clone(), Near::of(intent, scope));
    let listed =
        tokio::task::spawn_blocking(move || within(&workspace_files::list(&root, "", MOST_RANKED), &near, tokens));
    listed.await.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The files of the workspace, the most useful ones first.
pub(crate) async fn useful_files(root: &Root, intent: &TaskIntent, scope: &Scope, most: usize) -> Vec<String> {
    let (root, near) = (root.clone(), Near::of(intent, scope));
    let listed = tokio::task::spawn_blocking(move || {
        let mut files = ranked(workspace_files::list(&root, "", MOST_RANKED).files, &near);
        files.truncate(most);
        files
    });
    listed.await.unwrap_or_default()
}

/// A listing within a budget of tokens.
fn within(listing: &Listing, near: &Near, budget: usize) -> String {
    let files = ranked(listing.files.clone(), near);
    let more = if listing.more {
        format!("(there are more than {MOST_RANKED}; only these were looked at)")
    } else {
        String::new()
    };
    let cost = |line: &str| token_estimate::estimate(line) + 1;
    let whole = [by_folder(&files).join("\n"), more.clone()].join("\n").trim().to_owned();
    if token_estimate::estimate(&whole) <= budget {
        return whole;
    }
    let mut named_folders: BTreeSet<&str> = BTreeSet::new();
    let mut left = (budget * NAMES / 100).saturating_sub(cost(&more));
    let mut shown: Vec<String> = Vec::new();
    let mut rest: Vec<String> = Vec::new();
    for file in &files {
        // A folder is named once.
        let takes = cost(if named_folders.contains(folder_of(file)) { name_of(file) } else { file });
        // A generated file gets no name where there is not room for all.
        if takes <= left && !is_made(file) {
            left -= takes;
            named_folders.insert(folder_of(file));
            shown.push(file.clone());
        } else {
            left = if is_made(file) { left } else { 0 };
            rest.push(file.clone());
        }
    }
    let mut lines = by_folder(&shown);
    let spent: usize = lines.iter().map(|line| cost(line)).sum::<usize>() + cost(&more);
    lines.extend(folders(&rest, &shown, budget.saturating_sub(spent)));
    lines.push(more);
    lines.join("\n").trim().to_owned()
}

/// A line a folder, `src/shop/: cart.py tax.py`, in the order of their first files. A path with a space in it has a
/// line of its own.
fn by_folder(files: &[String]) -> Vec<String> {
    let mut folders: Vec<Vec<&str>> = Vec::new();
    for file in files {
        let same = |known: &Vec<&str>| folder_of(known[0]) == folder_of(file) && !known[0].contains(' ');
        match folders.iter_mut().find(|known| same(known) && !file.contains(' ')) {
            Some(known) => known.push(file),
            None => folders.push(vec![file]),
        }
    }
    let line = |files: Vec<&str>| match (files.as_slice(), folder_of(files[0])) {
        ([file], _) => (*file).to_owned(),
        (_, "") => files.join(" "),
        (_, folder) => format!("{folder}/: {}", files.iter().map(|file| name_of(file)).collect::<Vec<_>>().join(" ")),
    };
    folders.into_iter().map(line).collect()
}

/// Files summed up by folder, as deep as there is room for.
fn folders(rest: &[String], shown: &[String], budget: usize) -> Vec<String> {
    let sums = |depth: usize| -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for file in rest {
            let parts: Vec<&str> = file.split('/').collect();
            let folder = parts[..parts.len() - 1].iter().take(depth).map(|part| format!("{part}/")).collect::<String>();
            *counts.entry(folder).or_default() += 1;
        }
        let line = |(folder, count): (String, usize)| {
            let more = if shown.iter().any(|file| file.starts_with(&folder)) { "more " } else { "" };
            let place = if folder.is_empty() { "./".to_owned() } else { folder };
            let word = if count == 1 { "file" } else { "files" };
            format!("{place} {count} {more}{word}")
        };
        counts.into_iter().map(line).collect()
    };
    let fits = |lines: &[String]| lines.iter().map(|line| token_estimate::estimate(line) + 1).sum::<usize>() <= budget;
    let all = |depth: &usize| sums(*depth);
    if let Some(lines) = [4, 3, 2, 1].iter().map(all).find(|lines| fits(lines)) {
        return lines;
    }
    vec![format!("… {}", counted(rest.len(), "more file"))]
}

/// The most useful first.
fn ranked(mut files: Vec<String>, near: &Near) -> Vec<String> {
    files.sort_by_cached_key(|file| {
        let distance = near.active.as_deref().map_or(0, |active| distance(active, file));
        (rank(file, near), distance, file.matches('/').count(), Reverse(file.ends_with(".py")), file.clone())
    });
    files
}

fn rank(file: &str, near: &Near) -> u8 {
    let active = near.active.as_deref();
    if active == Some(file) {
        return 0;
    }
    if near.named.iter().any(|named| named == file) {
        return 1;
    }
    if is_made(file) {
        return 8;
    }
    if near.named.iter().map(String::as_str).chain(active).any(|own| belong(own, file)) {
        return 2;
    }
    let name = name_of(file).to_lowercase();
    if is_source(file) && active.is_some_and(|active| folder_of(active) == folder_of(file)) {
        return 3;
    }
    match (PAPERS.split_whitespace().any(|paper| paper == name) && !file.contains('/'), is_source(file)) {
        (true, _) => 4,
        (_, true) => 5,
        _ => 6,
    }
}

fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn ending(file: &str) -> String {
    name_of(file).rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default()
}

fn is_source(file: &str) -> bool {
    language::of_path(file).is_some() || SOURCES.split_whitespace().any(|known| known == ending(file))
}

/// True if a file is generated, as far as its name shows.
fn is_made(file: &str) -> bool {
    let (name, ending) = (name_of(file).to_lowercase(), ending(file));
    let one_of = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    one_of(MADE, &ending)
        || one_of(MADE_NAMES, &name)
        || name.contains(".min.")
        || name.contains("_pb2")
        || folder_of(file).split('/').any(|folder| one_of(MADE_FOLDERS, folder))
}

/// True if one of two files is the test of the other, by their names.
fn belong(one: &str, other: &str) -> bool {
    let (one, other) = (subject(one), subject(other));
    one.0 == other.0 && one.1 != other.1 && ending_of_subject(&one.0)
}

fn ending_of_subject(stem: &str) -> bool {
    !matches!(stem, "" | "__init__" | "mod" | "index" | "main" | "conftest")
}

/// The subject of a file by its name, and whether the file is a test of it.
fn subject(file: &str) -> (String, bool) {
    let stem = name_of(file).split('.').next().unwrap_or_default();
    let marked = name_of(file).contains(".test.") || name_of(file).contains(".spec.");
    let bare = stem.strip_prefix("test_").or_else(|| stem.strip_suffix("_test")).or_else(|| stem.strip_suffix("_spec"));
    let bare = bare.or_else(|| stem.strip_suffix("Test"));
    (bare.unwrap_or(stem).to_owned(), marked || bare.is_some())
}

/// Steps from one file's folder to the other's.
fn distance(one: &str, other: &str) -> usize {
    let parts = |file: &str| folder_of(file).split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let (one, other): (Vec<String>, Vec<String>) = (parts(one), parts(other));
    let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    one.len() + other.len() - 2 * common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(files: &[String]) -> Listing {
        let mut files = files.to_vec();
        files.sort();
        Listing { files, more: false }
    }

    fn near(active: &str, named: &[&str]) -> Near {
        Near { active: Some(active.to_owned()), named: named.iter().map(|file| (*file).to_owned()).collect() }
    }

    fn strings(files: &[&str]) -> Vec<String> {
        files.iter().map(|file| (*file).to_owned()).collect()
    }

    #[test]
    fn of_five_files_all_are_reported_the_nearest_first() {
        let files = strings(&["a.lock", "README.md", "src/cart.py", "src/tax.py", "tests/test_cart.py"]);
        let tree = within(&listing(&files), &near("src/cart.py", &[]), 60);
        assert_eq!(tree, "src/: cart.py tax.py\ntests/test_cart.py\nREADME.md a.lock");
        let spaced = strings(&["src/a b.py", "src/cart.py", "src/tax.py"]);
        assert_eq!(by_folder(&spaced), ["src/a b.py", "src/: cart.py tax.py"]);
        assert_eq!(within(&listing(&[]), &Near::default(), 60), "");
    }

    #[test]
    fn of_a_hundred_files_those_near_are_named_and_the_rest_is_summed_up() {
        let mut files = strings(&["pyproject.toml", "uv.lock", "tests/test_cart.py", "doc/far.md"]);
        files.extend((0..10).map(|n| format!("src/shop/part{n}.py")));
        files.extend((0..56).map(|n| format!("src/utils/u{n}.py")));
        files.extend((0..30).map(|n| format!("assets/icon{n}.svg")));
        let near = near("src/shop/part3.py", &["doc/far.md", "src/shop/cart.py"]);
        let tree = within(&listing(&files), &near, 200);
        let lines: Vec<&str> = tree.lines().collect();
        assert!(lines[0].starts_with("src/shop/: part3.py part0.py"), "{tree}");
        assert_eq!(lines[1..3], ["doc/far.md", "tests/test_cart.py"], "of what the request names: {tree}");
        assert!(lines.contains(&"assets/ 30 files") && lines.contains(&"pyproject.toml"), "{tree}");
        assert!(!tree.contains("icon3") && tree.contains("src/utils/ ") && tree.contains(" more files"), "{tree}");
        assert!(token_estimate::estimate(&tree) <= 200, "{}", token_estimate::estimate(&tree));
        assert_eq!(count(&tree), 100, "{tree}");
    }

    /// Files that a list accounts for.
    fn count(tree: &str) -> usize {
        let sum = |line: &str| match line.split(' ').nth(1).and_then(|count| count.parse().ok()) {
            Some(count) if line.contains(" file") || line.contains(" more ") => count,
            _ if line.starts_with('(') => 0,
            _ => line.split(' ').count() - usize::from(line.contains("/: ")),
        };
        tree.lines().map(sum).sum()
    }

    #[test]
    fn of_five_thousand_files_the_budget_holds_and_none_is_lost() {
        let mut files: Vec<String> = (0..4_900).map(|n| format!("pkg{}/sub{}/m{n}.py", n % 70, n % 7)).collect();
        files.extend((0..100).map(|n| format!("vendor/x{n}.js")));
        for budget in [60, 300, 2_000] {
            let tree = within(&listing(&files), &near("pkg1/sub1/m1.py", &[]), budget);
            assert!(token_estimate::estimate(&tree) <= budget + 5, "{} of {budget}", token_estimate::estimate(&tree));
            assert!(tree.starts_with("pkg1/sub1/: m1.py m"), "{tree}");
            assert_eq!(count(&tree), 5_000, "{tree}");
        }
        let more = Listing { more: true, ..listing(&files) };
        assert!(
            within(&more, &Near::default(), 300).ends_with("(there are more than 5000; only these were looked at)")
        );
    }

    #[test]
    fn a_test_belongs_to_its_file_by_name_whichever_is_at_hand() {
        for (one, other) in [
            ("src/cart.py", "tests/test_cart.py"),
            ("tests/test_cart.py", "src/cart.py"),
            ("a/cart.ts", "a/cart.test.ts"),
            ("cart.go", "cart_test.go"),
        ] {
            assert!(belong(one, other), "{one} {other}");
        }
        for (one, other) in
            [("src/cart.py", "src/cart.md"), ("src/__init__.py", "tests/test___init__.py"), ("a.py", "b.py")]
        {
            assert!(!belong(one, other), "{one} {other}");
        }
    }
}
