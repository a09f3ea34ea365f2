//! Lists the files that run code by being there: when a folder is entered, opened, built, tested, committed or pushed.

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt;

use crate::workspace::auto_executed::lists::{
    BEGINNINGS, CONFIG_ENDINGS, CONFIGURED, DATA, EDITOR, ENDINGS, FOR_PEOPLE, HARMLESS, MORE, MORE_FOLDERS, PROSE,
};
use crate::workspace::root::Root;
use crate::workspace::{bare_names, hard_links};
use sextant_text::symbols::language;

mod lists;

/// The program that runs a file, the names of such files, and the folders whose every file is one.
struct ExecutedFiles {
    runs: &'static str,
    names: &'static [&'static str],
    folders: &'static [&'static str],
}

/// From the manuals of the tools that read them.
const ROWS: &[ExecutedFiles] = &[
    ExecutedFiles {
        runs: "a shell or an editor runs it",
        names: &[
            ".envrc",
            ".nvim.lua",
            ".nvimrc",
            ".exrc",
            ".vimrc",
            ".gvimrc",
            "_vimrc",
            ".lvimrc",
            ".dir-locals.el",
            ".emacs",
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".inputrc",
            ".screenrc",
            ".tmux.conf",
            ".gdbinit",
            ".lldbinit",
            ".irbrc",
            ".pryrc",
            ".pdbrc",
            ".Rprofile",
            ".sublime-project",
            ".netrwhist",
            ".tool-versions",
            ".mise.toml",
            "mise.toml",
            ".autoenv.zsh",
            ".project.vim",
            ".lazy.lua",
        ],
        folders: &[".vscode", ".idea", ".zed", ".fleet", ".nvim", ".vim", ".helix", ".devcontainer", ".theia"],
    },
    ExecutedFiles {
        runs: "git runs its commands",
        names: &[
            ".gitattributes",
            ".gitmodules",
            ".gitconfig",
            ".pre-commit-config.yaml",
            ".pre-commit-hooks.yaml",
            "lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yml",
            ".lintstagedrc",
            ".huskyrc",
            ".overcommit.yml",
        ],
        folders: &[".husky", ".githooks", "hooks", ".git-hooks"],
    },
    ExecutedFiles {
        runs: "a service runs it for everybody",
        names: &[
            ".gitlab-ci.yml",
            ".travis.yml",
            "azure-pipelines.yml",
            "azure-pipelines.yaml",
            "Jenkinsfile",
            "bitbucket-pipelines.yml",
            "appveyor.yml",
            ".appveyor.yml",
            ".drone.yml",
            ".cirrus.yml",
            ".woodpecker.yml",
            "cloudbuild.yaml",
            "buildspec.yml",
            "codemagic.yaml",
            "wercker.yml",
            ".semaphore.yml",
            "netlify.toml",
            "vercel.json",
            "Procfile",
            "render.yaml",
            "fly.toml",
            "app.yaml",
            "serverless.yml",
            "renovate.json",
            ".renovaterc",
            ".builds.yml",
            ".goreleaser.yml",
            ".goreleaser.yaml",
            ".readthedocs.yaml",
            ".readthedocs.yml",
            ".gitpod.yml",
            "dependabot.yml",
        ],
        folders: &[
            ".circleci",
            ".buildkite",
            ".github/workflows",
            ".github/actions",
            ".gitea",
            ".forgejo",
            ".woodpecker",
            ".teamcity",
            ".azure-pipelines",
            ".semaphore",
            ".gitlab",
            ".builds",
            ".harness",
        ],
    },
    ExecutedFiles {
        runs: "Python runs it by itself",
        names: &[
            "conftest.py",
            "sitecustomize.py",
            "usercustomize.py",
            "setup.py",
            "noxfile.py",
            "tox.ini",
            "setup.cfg",
            "pytest.ini",
            "fabfile.py",
            "dodo.py",
            "hatch_build.py",
            "SConstruct",
            "SConscript",
            "wscript",
            "Pipfile",
        ],
        folders: &[],
    },
    ExecutedFiles {
        runs: "a build runs it",
        names: &[
            "Makefile",
            "makefile",
            "GNUmakefile",
            "BSDmakefile",
            "justfile",
            "Justfile",
            ".justfile",
            "Taskfile.yml",
            "Taskfile.yaml",
            "Taskfile",
            "Rakefile",
            "rakefile",
            "Gemfile",
            "Guardfile",
            "Vagrantfile",
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "pnpmfile.js",
            "bunfig.toml",
            "deno.json",
            "deno.jsonc",
            "build.rs",
            "Dockerfile",
            "Containerfile",
            "docker-compose.yml",
            "docker-compose.yaml",
            "compose.yml",
            "compose.yaml",
            "docker-bake.hcl",
            "dune",
            "dune-project",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradlew",
            "gradlew.bat",
            "mvnw",
            "mvnw.cmd",
            "pom.xml",
            "build.sbt",
            "build.xml",
            "CMakeLists.txt",
            "CMakePresets.json",
            "meson.build",
            "BUILD",
            "BUILD.bazel",
            "WORKSPACE",
            "WORKSPACE.bazel",
            "MODULE.bazel",
            ".bazelrc",
            "BUCK",
            "configure",
            "configure.ac",
            "Makefile.am",
            "autogen.sh",
            "binding.gyp",
            "mix.exs",
            "rebar.config",
            "build.zig",
            "Package.swift",
            "Podfile",
            "Fastfile",
            "build.clj",
            "project.clj",
            "Setup.hs",
            "flake.nix",
            "default.nix",
            "shell.nix",
            "devbox.json",
            "Earthfile",
            "Tiltfile",
            "Snakefile",
            "Directory.Build.props",
            "Directory.Build.targets",
            "global.json",
            "nuget.config",
            "composer.json",
            "magefile.go",
            "Makefile.PL",
            "Build.PL",
            "extconf.rb",
            "xmake.lua",
            "premake5.lua",
            "rust-toolchain.toml",
            "rust-toolchain",
        ],
        folders: &[".cargo", ".mvn", "gradle/wrapper", ".yarn"],
    },
];

/// Names the program that runs a file of this path; `None` if no known program runs it. Some program reads every file
/// with a leading dot by itself.
pub fn runs_code(path: &str) -> Option<&'static str> {
    let path = bare_names::folded(path);
    listed(&path).or_else(|| hidden(&path))
}

/// As [`runs_code`], for the other names of a file that has several.
pub fn runs_under_another_name(root: &Root, path: &str) -> Option<&'static str> {
    let file = root.join(path).symlink_metadata().ok()?;
    hard_links::find_name(root.path(), &file, runs_code)
}

/// Names what runs a file that the disk marks as a program. A module of a language that is read as symbols is source of
/// the project, even if it is executable: published packages have many. A script of a shell is a program.
pub fn is_program(root: &Root, path: &str, text: &str) -> Option<&'static str> {
    let mode = root.join(path).symlink_metadata().ok().filter(Metadata::is_file)?.permissions().mode();
    if language::of_path(path).is_some_and(|language| !language.is_shell) {
        return None;
    }
    // Some disks mark every file as a program.
    let name = path.rsplit('/').next().unwrap_or(path);
    let script = text.starts_with("#!") || !name.contains('.') || name.ends_with("sh");
    (mode & 0o111 != 0 && script).then_some("it can be run as a program")
}

/// Files with a dot in front of their name, or of a folder on their way.
fn hidden(path: &str) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut dotted = folders.split('/').filter(|folder| folder.starts_with('.') && !["", ".", ".."].contains(folder));
    let within = dotted.clone().next().is_some();
    let prose = PROSE.iter().any(|ending| name.ends_with(ending)) && dotted.all(|folder| FOR_PEOPLE.contains(&folder));
    let own = name.starts_with('.') && !(HARMLESS.contains(&name) || name.ends_with("ignore"));
    (within && !prose || own).then_some("a program may read it by itself")
}

/// Files that a list knows.
fn listed(path: &str) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders = format!("/{folders}/");
    let row = ROWS.iter().find(|row| {
        row.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || row.folders.iter().any(|folder| inside(&folders, folder))
    });
    let by = |list: &[(&str, &'static str)], fits: fn(&str, &str) -> bool| {
        list.iter().find(|(part, _)| fits(name, &part.to_ascii_lowercase())).map(|(_, runs)| *runs)
    };
    let more = MORE
        .iter()
        .find(|(_, names)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name)))
        .or_else(|| MORE_FOLDERS.iter().find(|(_, known)| known.split(' ').any(|folder| inside(&folders, folder))));
    let known = row.map(|row| row.runs).or(more.map(|more| more.0));
    let is_read = PROSE.iter().any(|ending| name.ends_with(ending));
    if is_read && known.is_none() {
        return None;
    }
    let data = DATA.iter().any(|ending| name.ends_with(ending));
    let configures = data && CONFIGURED.iter().any(|beginning| name.starts_with(beginning));
    let script = name.ends_with(".vim") || name.ends_with(".lua") || name.ends_with(".el");
    let edits = script && EDITOR.iter().any(|folder| inside(&folders, folder));
    known
        .or_else(|| by(ENDINGS, |name, ending| name.ends_with(ending)))
        .or_else(|| by(BEGINNINGS, |name, beginning| name.starts_with(beginning)))
        .or_else(|| CONFIG_ENDINGS.iter().any(|ending| name.ends_with(ending)).then_some("a build runs it"))
        .or_else(|| configures.then_some("a build runs it"))
        .or_else(|| edits.then_some("an editor runs it"))
}

/// Whether a folder is on the way. `hooks` alone is many things, so only a hook's folder at the top counts.
fn inside(folders: &str, folder: &str) -> bool {
    let found = format!("/{folder}/");
    if folder == "hooks" { folders == found } else { folders.contains(&found) }
}

#[cfg(test)]
mod tests;
