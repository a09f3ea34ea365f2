//! Which names are told from which.

use super::*;

#[test]
fn files_that_run_are_told_from_sources() {
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
        "x.pth",
        "setup.py",
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
    ] {
        assert_eq!(runs_code(path), None, "{path}");
    }
}
