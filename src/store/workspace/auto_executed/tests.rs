//! The names of files that run, and similar names that do not.

use super::*;

#[test]
fn files_that_run_are_distinguished_from_sources() {
    for path in [
        ".envrc",
        ".nvim.lua",
        ".exrc",
        "sub/.vimrc",
        ".husky/pre-commit",
        ".pre-commit-config.yaml",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".idea/workspace.xml",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".circleci/config.yml",
        "Jenkinsfile",
        "tests/conftest.py",
        "sitecustomize.py",
        "sitecustomize/__init__.py",
        "lib/usercustomize/__init__.py",
        "buildSrc/src/main/kotlin/x.kt",
        "site_scons/site_init.py",
        "conanfile.py",
        "config/config.exs",
        "project/Build.scala",
        "rebar.config.script",
        "win32/rules.mak",
        "x.pth",
        "setup.py",
        "githooks/pre-commit",
        "tools/githooks/pre-push",
        "docs/conf.py",
        "docs/source/conf.py",
        "pkg/doc/conf.py",
        "build.mill",
        "build.sc",
        "waf",
        "wscript",
        "ember-cli-build.js",
        "dangerfile.js",
        "dangerfile.ts",
        "Dangerfile",
        "Thorfile",
        "tasks.py",
        "tasks/__init__.py",
        "Makefile",
        "makefile",
        "justfile",
        "Taskfile.yml",
        "Rakefile",
        "package.json",
        "build.rs",
        ".cargo/config.toml",
        "Dockerfile",
        "Dockerfile.prod",
        "docker-compose.override.yml",
        ".devcontainer/devcontainer.json",
        ".bashrc",
        ".gitattributes",
        ".gitmodules",
        "noxfile.py",
        "tox.ini",
        "lib/dune",
        "build.gradle.kts",
        "vite.config.ts",
        "CONFTEST.PY",
        "hooks/pre-commit",
        "a/x.mk",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".github/copilot-instructions.md",
        ".claude/settings.json",
        ".cursor/rules/x.mdc",
        ".mcp.json",
        ".neoconf.json",
        ".rspec",
        "requirements.txt",
        "requirements/dev.txt",
        "go.work",
        ".devcontainer.json",
        "devcontainer.json",
        "Cargo.toml",
        "rust-project.json",
        ".github/prompts/x.prompt.md",
        ".github/instructions/a.instructions.md",
        "project/plugins.sbt",
        "Dockerfile-prod",
        "gulpfile.babel.js",
        "webpack.config.babel.js",
        "foo.sublime-project",
        "requirements-test.txt",
        "tasks/a.rake",
        "lefthook-local.yml",
        "mise.local.toml",
        "pytest.toml",
        ".pytest.ini",
        "tools/x/action.yml",
        "Taskfile.dist.yml",
        "docker-bake.override.hcl",
        "opencode.jsonc",
        "crush.json",
        "WARP.md",
        ".exrc.lua",
        ".local.vimrc",
        ".envrc.local",
        ".bash_aliases",
        ".config/nvim/init.lua",
        ".config/git/config",
        ".config/fish/config.fish",
        "ftplugin/python.lua",
        "after/plugin/x.lua",
        "plugin/x.vim",
        ".emacs.d/init.el",
        "venv/bin/python",
        ".venv/bin/activate",
        "node_modules/.bin/eslint",
        ".unknown-agent/rules/x.md",
        ".g\u{200c}itattributes",
        ".envrc.",
        "MA\u{212a}EFILE",
    ] {
        assert!(runs_code(path).is_some(), "{path}");
    }
    for path in [
        "a.py",
        "src/hooks/useCart.ts",
        "README.md",
        "docs/agents.rst",
        "docs/requirements.md",
        "src/config.py",
        "docs/makefile.md",
        "dockerfile.py",
        "src/package.rs",
        "tests/test_setup.py",
        ".gitignore",
        "src/shop/build.py",
        "Cargo.lock",
        "sub/.gitignore",
        ".dockerignore",
        ".editorconfig",
        ".github/ISSUE_TEMPLATE/bug.md",
        "src/plugin/index.ts",
        "src/compose.ts",
        "data/mise.csv",
        "src/env/settings.py",
        "docs/plugin.lua.md",
        "src/shop/action.py",
    ] {
        assert_eq!(runs_code(path), None, "{path}");
    }
}

#[test]
fn what_the_disk_calls_a_program_is_one() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path()).unwrap();
    for (name, text, mode, runs) in [
        ("tool", "x\n", 0o755, true),
        ("tool.pl", "#!/usr/bin/env perl\n", 0o755, true),
        ("module.py", "#!/usr/bin/env python3\n", 0o755, false),
        ("data.py", "X = 1\n", 0o755, false),
        ("plain", "#!/bin/sh\n", 0o644, false),
        ("run.sh", "echo\n", 0o744, true),
        ("run.command", "echo\n", 0o755, true),
        ("marked.pl", "\u{feff}#!/usr/bin/env perl\n", 0o755, true),
        ("table.csv", "a,b\n", 0o755, false),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::set_permissions(dir.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(is_program(&root, name, text).is_some(), runs, "{name}");
    }
    assert_eq!(is_program(&root, "new", "#!/bin/sh\n"), None);
}

#[test]
fn another_name_of_a_file_that_runs_is_one_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let root = Root::new(dir.path()).unwrap();
    for name in ["conftest.py", "plain.txt"] {
        std::fs::write(dir.path().join(name), "x\n").unwrap();
    }
    std::fs::hard_link(dir.path().join("conftest.py"), dir.path().join("notes.txt")).unwrap();
    std::fs::hard_link(dir.path().join("plain.txt"), dir.path().join("other.txt")).unwrap();
    assert!(runs_under_another_name(&root, "notes.txt").is_some());
    assert_eq!(runs_under_another_name(&root, "other.txt"), None);
    assert_eq!(runs_under_another_name(&root, "missing.txt"), None);
}

#[test]
fn a_module_runs_by_its_text_or_by_the_files_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [("manual/index.rst", "Manual\n"), ("emb/objects/x", ""), ("emb/refs/x", "")] {
        std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        std::fs::write(dir.path().join(path), text).unwrap();
    }
    let root = Root::new(dir.path()).unwrap();
    let runs = |path: &str, text: &str| runs(&root, path, ["", text]);
    assert!(runs("manual/conf.py", "").is_some() && runs("emb/config", "").is_some());
    assert_eq!(runs("package/conf.py", ""), None);
    assert!(runs("ops/tasks.py", "from invoke import task\n").is_some());
    assert!(runs("ops/tasks.py", "import os, invoke\n").is_some());
    assert_eq!(runs("shop/tasks.py", "from celery import shared_task\n# invoke\n"), None);
}
