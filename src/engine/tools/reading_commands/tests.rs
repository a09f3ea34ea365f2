//! Tests which lines of git and npm are known to read, and which word of the others is named.

use super::*;

fn line(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn judged(text: &str, given: usize) -> Result<(), String> {
    let words = line(text);
    read(&words[0], &words, given).map(|_| ())
}

#[test]
fn what_only_reads_is_let_through() {
    for text in [
        "git status",
        "git status -sb --porcelain=v2 -uno",
        "git log --oneline -n 5 main@{1}",
        "git --no-pager log -3 --stat=80 --format=%H%n%an",
        "git log -L1,5:a.py --since=2.weeks -p",
        "git diff --cached -U3 -w HEAD~1..HEAD -- a.py",
        "git show HEAD:a.py",
        "git blame -w -L 1,5 a.py",
        "git grep -n -C1 juice HEAD -- src",
        "git cat-file -p HEAD",
        "git ls-files -o --exclude-standard",
        "git branch -a",
        "git --version",
        "npm ls --depth=0",
        "npm why left-pad",
        "pnpm ls --depth=0",
        "yarn why left-pad",
    ] {
        assert_eq!(judged(text, 1), Ok(()), "{text}");
    }
    for (text, given) in
        [("npm test --silent", 2), ("git commit -m x", 2), ("git push", 2), ("git -C sub diff --stat", 4)]
    {
        assert_eq!(judged(text, given), Ok(()), "{text}");
    }
}

#[test]
fn every_other_word_is_asked_about() {
    for text in [
        "git rebase -x touch HEAD~1",
        "git checkout -- f",
        "git restore f",
        "git stash",
        "git commit -m x",
        "git show --show-signature",
        "git log --format=%G?",
        "git log --pretty=format:%h%+GK",
        "git log --format=%(trailers)",
        "git log --stdin",
        "git log --remerge-diff",
        "git log --output=x",
        "git log --line-prefix=x",
        "git diff --no-index a b",
        "git diff --no-ind a b",
        "git diff --ext-diff",
        "git diff --textconv",
        "git diff --submodule=diff",
        "git diff --relative=.ssh",
        "git diff -Oorder",
        "git diff -z",
        "git diff --src-prefix=x",
        "git diff --ignore-submodules=none",
        "git diff -S --output=x",
        "git diff -",
        "git blame --contents x a.py",
        "git blame -S revs a.py",
        "git grep --untracked --no-exclude-standard x",
        "git grep -h x",
        "git grep -Osh x",
        "git grep -f .env",
        "git cat-file --batch",
        "git cat-file --textconv HEAD:a",
        "git branch new",
        "git branch -D old",
        "git tag v1",
        "git reflog expire --all",
        "git log --help",
        "git help log",
        "git -p log",
        "git -c alias.x=!sh x",
        "git --exec-path=x log",
        "git alias",
        "npm c set script-shell=x",
        "npm config set script-shell x",
        "npm pkg set scripts.test=x",
        "npm test",
        "npm run x",
        "npm install",
        "npm --userconfig=x ls",
        "npm ls --prefix x",
        "npm ls --script-shell=sh",
        "git log -G x",
        "git log -Sx --oneline",
        "git log --pickaxe-all",
        "git diff -G x",
        "git diff --check",
        "yarn dlx x",
        "yarn ls",
        "yarn list",
        "yarn ll",
        "yarn la",
        "yarn explain x",
        "yarn root",
        "pnpm explain x",
        "pnpm exec x",
    ] {
        assert!(judged(text, 1).is_err(), "{text}");
    }
    for (text, given) in
        [("git push origin", 2), ("git commit -F x", 2), ("npm test --script-shell=x", 2), ("npm test -- --x", 2)]
    {
        assert!(judged(text, given).is_err(), "{text}");
    }
}

#[test]
fn git_is_kept_from_submodules_and_other_programs_whatever_the_words_say() {
    let words = line("git --no-pager diff --stat HEAD -- a.py");
    let reading = read("git", &words, 1).unwrap();
    let hardened = reading.hardened(&words).join(" ");
    let wanted = "--no-pager diff --no-ext-diff --no-textconv --ignore-submodules=all --stat HEAD -- a.py";
    assert_eq!((hardened.as_str(), reading.free), (wanted, true));
}
