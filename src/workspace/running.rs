//! Which files run code by being there: when a folder is entered, opened, built, tested, committed or pushed.

/// What runs a file, the names of such files, and the folders whose every file is one.
struct Row {
    runs: &'static str,
    names: &'static [&'static str],
    folders: &'static [&'static str],
}

/// From the manuals of the tools that read them.
const ROWS: &[Row] = &[
    Row {
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
    Row {
        runs: "git runs what it names",
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
    Row {
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
    Row {
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
    Row {
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

/// More of them, each with a word for what runs it.
const MORE: &[(&str, &str)] = &[
    (
        "an agent does what it says",
        "AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md copilot-instructions.md .cursorrules \
         .windsurfrules .clinerules .goosehints .aider.conf.yml .mcp.json mcp.json opencode.json",
    ),
    (
        "a shell or an editor runs it",
        ".neoconf.json .vimspector.json .ycm_extra_conf.py .ghci .ocamlinit .pdbrc.py .lazy.lua .direnvrc .asdfrc \
         .curlrc .wgetrc .Renviron .gdbearlyinit",
    ),
    (
        "a build runs it",
        "requirements.txt requirements-dev.txt dev-requirements.txt constraints.txt pip.conf uv.toml pixi.toml \
         ansible.cfg go.work deps.edn .bazeliskrc .jvmopts .sbtopts .rspec .mocharc.json .mocharc.yml .babelrc Brewfile \
         turbo.json nx.json lerna.json pnpm-workspace.yaml",
    ),
];
const MORE_FOLDERS: &[(&str, &str)] = &[
    ("an agent does what it says", ".claude .cursor .gemini .codex .windsurf .continue .kiro .roo .opencode .aider"),
    ("a build runs it", "requirements"),
];

/// Endings of such files.
const ENDINGS: &[(&str, &str)] = &[
    (".pth", "Python runs it by itself"),
    (".gradle", "a build runs it"),
    (".mk", "a build runs it"),
    (".cmake", "a build runs it"),
    (".bazel", "a build runs it"),
    (".bzl", "a build runs it"),
    (".gemspec", "a build runs it"),
    (".podspec", "a build runs it"),
    (".gyp", "a build runs it"),
    (".csproj", "a build runs it"),
    (".fsproj", "a build runs it"),
    (".vbproj", "a build runs it"),
    (".vcxproj", "a build runs it"),
    (".props", "a build runs it"),
    (".targets", "a build runs it"),
    (".dockerfile", "a build runs it"),
    (".service", "the system runs it"),
    (".desktop", "the system runs it"),
    (".code-workspace", "a shell or an editor runs it"),
];

/// Beginnings of names with more behind them: `vite.config.ts`, `Dockerfile.prod`.
const BEGINNINGS: &[(&str, &str)] = &[
    ("Dockerfile.", "a build runs it"),
    ("Containerfile.", "a build runs it"),
    ("Makefile.", "a build runs it"),
    ("docker-compose.", "a build runs it"),
    (".lintstagedrc.", "git runs what it names"),
    ("renovate.", "a service runs it for everybody"),
];

/// Tools of JavaScript whose configuration is a program: `vite.config.ts`.
const CONFIG_ENDINGS: &[&str] = &[
    ".config.js",
    ".config.cjs",
    ".config.mjs",
    ".config.ts",
    ".config.mts",
    ".config.cts",
    "rc.js",
    "rc.cjs",
    "rc.mjs",
];

/// What is read by people, or is a source, whatever it is named after.
const PROSE: &[&str] = &[".md", ".rst", ".adoc", ".txt", ".html", ".py", ".rs", ".go", ".java"];

/// What runs a file of this path, in words; `None` where nothing is known to.
pub fn runs_code(path: &str) -> Option<&'static str> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (lower, folders) = (name.to_ascii_lowercase(), format!("/{}/", folders.to_ascii_lowercase()));
    let row = ROWS.iter().find(|row| {
        row.names.iter().any(|known| known.eq_ignore_ascii_case(name))
            || row.folders.iter().any(|folder| inside(&folders, folder))
    });
    let by = |list: &[(&str, &'static str)], fits: fn(&str, &str) -> bool| {
        list.iter().find(|(part, _)| fits(&lower, &part.to_ascii_lowercase())).map(|(_, runs)| *runs)
    };
    let more = MORE
        .iter()
        .find(|(_, names)| names.split(' ').any(|known| known.eq_ignore_ascii_case(name)))
        .or_else(|| MORE_FOLDERS.iter().find(|(_, known)| known.split(' ').any(|folder| inside(&folders, folder))));
    let known = row.map(|row| row.runs).or(more.map(|more| more.0));
    let is_read = PROSE.iter().any(|ending| lower.ends_with(ending));
    if is_read && known.is_none() {
        return None;
    }
    known
        .or_else(|| by(ENDINGS, |name, ending| name.ends_with(ending)))
        .or_else(|| by(BEGINNINGS, |name, beginning| name.starts_with(beginning)))
        .or_else(|| CONFIG_ENDINGS.iter().any(|ending| lower.ends_with(ending)).then_some("a build runs it"))
}

/// Whether a folder is on the way; `hooks` alone is many things, and only a hook's folder at the top counts.
fn inside(folders: &str, folder: &str) -> bool {
    let found = format!("/{folder}/");
    if folder == "hooks" { folders == found } else { folders.contains(&found) }
}

#[cfg(test)]
mod tests;
