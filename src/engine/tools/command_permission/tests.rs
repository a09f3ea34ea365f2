//! Tests which arguments pass behind which rules, and which need a question.

use super::*;

fn root() -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("work");
    std::fs::create_dir_all(inside.join("tests")).unwrap();
    for file in ["a.py", ".env", "tests/a.py"] {
        std::fs::write(inside.join(file), "").unwrap();
    }
    std::fs::write(inside.join(".gitignore"), "*.log\n").unwrap();
    std::fs::write(inside.join("run.log"), "").unwrap();
    std::os::unix::fs::symlink("/etc", inside.join("away")).unwrap();
    let root = Root::new(&inside).unwrap();
    (dir, root)
}

fn asked(root: &Root, rule: &str, rest: &str) -> Option<String> {
    let command: Vec<String> =
        rule.split(' ').chain(rest.split(' ')).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    objection(root, &command, rule.split(' ').count())
}

#[test]
fn what_stays_inside_and_only_looks_is_let_through() {
    let (_dir, root) = root();
    let inside = root.path().join("tests").display().to_string();
    for (rule, rest) in [
        ("pytest", "-q -x tests/a.py::test_b[1] -k add --co"),
        ("pytest", inside.as_str()),
        ("git diff", "--stat HEAD~1..HEAD -U3 -w -- tests/a.py"),
        ("git log", "--oneline -n 5 main@{1}"),
        ("cargo test", "--lib name -- --nocapture"),
        ("ruff check", "--select E,F a.py --output-format json"),
        ("ls", "-la tests"),
        ("grep", "-rn total tests"),
        ("cat", "a.py"),
        ("sed", "-n 1,20p a.py"),
        ("python -m pytest", "tests -q"),
        ("npm test", "--silent"),
        ("make", "test"),
        ("find", ". -name *.py -type f"),
        ("echo", "$HOME; ls"),
        ("git", "--no-pager log -3"),
        ("git diff", "-c"),
        ("git", "status"),
        ("cargo", "test --lib"),
        ("cc", "-Itests/x -Itests"),
        ("tar", "-tf a.tar"),
        ("rg", "-n total tests"),
    ] {
        assert_eq!(asked(&root, rule, rest), None, "{rule} {rest}");
    }
}

#[test]
fn what_reaches_out_runs_or_writes_is_asked_about() {
    let (_dir, root) = root();
    for (rule, rest) in [
        ("git diff", "--no-index /etc/passwd a.py"),
        ("git diff", "--no-ind a.py a.py"),
        ("git diff", "--output=/x/y"),
        ("git diff", "--output=x"),
        ("git diff", "-Oorder"),
        ("git diff", "--ext-diff"),
        ("git grep", "-Osh x"),
        ("git log", "--output x"),
        ("git", "-C / log"),
        ("git", "config core.pager sh"),
        ("cat", "/etc/passwd"),
        ("cat", "../x"),
        ("cat", "tests/../../x"),
        ("cat", "away/passwd"),
        ("cat", ".env"),
        ("cat", ".git/config"),
        ("cat", "~/.ssh/id_rsa"),
        ("cat", "run.log"),
        ("git", "-c alias.x=!sh x"),
        ("git", "-calias.x=!sh x"),
        ("git --no-pager", "-c alias.x=!sh x"),
        ("grep", "-nf/etc/passwd a.py"),
        ("grep", "-nf.env a.py"),
        ("grep", "-nfaway/passwd a.py"),
        ("grep", "-rn total"),
        ("grep -rn", "total ."),
        ("grep", "-R total"),
        ("tar", "-cf/x/y.tar a.py"),
        ("tar", "-cvf/x/y.tar a.py"),
        ("tar", "-cO -T names"),
        ("sort", "--files0-from=names"),
        ("split", "--filter=sh a.py"),
        ("find", "-L ."),
        ("rg", "-uu total"),
        ("rg", "--no-ignore-vcs total"),
        ("busybox", "sh"),
        ("sqlite3", "a.db .shell"),
        ("cat", ".sextant/memory.db"),
        ("grep", "-f/etc/passwd a.py"),
        ("grep", "--file=/etc/passwd a.py"),
        ("pytest", "-c x.ini"),
        ("pytest", "-p evil"),
        ("pytest", "-qpevil"),
        ("pytest", "--rootdir=/"),
        ("pytest", "-o addopts=x"),
        ("pytest", "@args"),
        ("python -m pytest", "-c x.ini"),
        ("uv run pytest", "-p evil"),
        ("python3.12", "-c print()"),
        ("python", "-Bc print()"),
        ("ruff check", "--fix"),
        ("ruff check", "--config a=b"),
        ("ruff check", "--add-noqa"),
        ("cargo test", "--manifest-path x/Cargo.toml"),
        ("cargo test", "--config target.runner=x"),
        ("find", ". -exec rm {} ;"),
        ("find", ". -delete"),
        ("sed", "-i s/a/b/ a.py"),
        ("sed", "w/x/y a.py"),
        ("sed", "1e a.py"),
        ("tar", "xf a.tar --to-command=sh"),
        ("tar", "xf a.tar -C/"),
        ("curl", "http://localhost"),
        ("node", "-e 1"),
        ("make", "-f other"),
        ("make", "SHELL=x"),
        ("xargs", "rm"),
        ("env", "x"),
        ("sh", "a.sh"),
        ("/bin/bash", "a.sh"),
        ("npm", "exec x"),
        ("go test", "-exec sh"),
        ("eslint", "--fix a.js"),
        ("pylint", "--init-hook=x"),
        ("unknown", "--output=a"),
        ("git", "rebase -x sh HEAD~1"),
        ("git", "checkout -- a.py"),
        ("git", "show HEAD:.env"),
        ("git", "grep --untracked --no-exclude-standard x"),
        ("npm", "c set script-shell x"),
        ("npm", "pkg set x=y"),
        ("uv run", "git checkout -- a.py"),
        ("cargo", "install x"),
        ("cargo", "+x build"),
        ("go", "env -w GOFLAGS=x"),
        ("pip", "install x"),
        ("make", "--ev=$(x)"),
        ("make", "--eval x"),
        ("sort", "-S 1k --co=sh a.py"),
        ("sort", "--o=conftest.py a.py"),
        ("split", "--fi=sh a.py"),
        ("flake8", "--ou=sitecustomize.py a.py"),
        ("unknown", "--ou=a"),
        ("unknown", "--o a"),
        ("mypy", "--junit-xml conftest.py a.py"),
        ("mypy", "--linecount-report reports a.py"),
        ("mypy", "--any-exprs-report=reports a.py"),
        ("mypy", "--cache-dir=x a.py"),
        ("mypy", "--install-types"),
        ("python -m mypy", "--junit-xml=x a.py"),
        ("uniq", "a.py Makefile2"),
        ("ruff", "format a.py"),
        ("rg", "-I total tests"),
        ("rg", "-g .e* total tests"),
        ("rg", "--type-add e:.e* -te total tests"),
        ("rg", "--heading total tests"),
        ("rg", "--hidden total tests"),
        ("rg", "--no-filename total tests"),
        ("grep", "-h total a.py"),
        ("grep", "-r --include=.e* total tests"),
        ("ag", "-G .e total tests"),
        ("ack", "-h total tests"),
        ("fd", "-x rm"),
        ("go test", "-coverprofile=x"),
        ("tsc", "--outDir x"),
        ("tar", "xf a.tar"),
        ("tar", "-tf host:a.tar"),
        ("cargo test", "-- --logfile=x"),
        ("cargo doc", "--open"),
    ] {
        assert!(asked(&root, rule, rest).is_some(), "{rule} {rest}");
    }
}

#[test]
fn what_the_user_wrote_down_is_the_user_s_word() {
    let (_dir, root) = root();
    for rule in ["git diff --no-index /etc/passwd a.py", "sh -c", "pytest -c /etc/x.ini"] {
        assert_eq!(asked(&root, rule, ""), None, "{rule}");
    }
}
