//! The names of files that run: those with a list of their own, endings, beginnings and folders.

/// The program that runs a file, the names of such files, and the folders whose every file is one.
pub(super) struct ExecutedFiles {
    pub(super) runs: &'static str,
    pub(super) names: &'static [&'static str],
    pub(super) folders: &'static [&'static str],
}

/// From the manuals of the tools that read them.
pub(super) const ROWS: &[ExecutedFiles] = &[
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
        folders: &[".husky", ".githooks", "githooks", "hooks", ".git-hooks", "git-hooks"],
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
            "waf",
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

/// More of them, each with a word for the program that runs it.
pub(super) const MORE: &[(&str, &str)] = &[
    (
        "an agent follows it",
        "AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md copilot-instructions.md .cursorrules \
         .windsurfrules .clinerules .goosehints .aider.conf.yml .mcp.json mcp.json opencode.json opencode.jsonc \
         crush.json CRUSH.md AGENT.md WARP.md JULES.md AMP.md GROK.md KIRO.md CODEX.md CODEBUDDY.md OPENCODE.md \
         CONVENTIONS.md replit.md",
    ),
    (
        "a shell or an editor runs it",
        ".neoconf.json .vimspector.json .ycm_extra_conf.py .ghci .ocamlinit .pdbrc.py .lazy.lua .direnvrc .asdfrc \
         .curlrc .wgetrc .Renviron .gdbearlyinit rust-project.json rust-analyzer.toml hie.yaml config.nims lakefile.lean \
         rescript.json dub.json",
    ),
    (
        "a build runs it",
        "requirements.txt requirements-dev.txt requirements-test.txt requirements-docs.txt requirements_dev.txt \
         dev-requirements.txt test-requirements.txt constraints.txt pip.conf uv.toml pixi.toml \
         ansible.cfg go.work deps.edn .bazeliskrc .jvmopts .sbtopts .rspec .mocharc.json .mocharc.yml .babelrc Brewfile \
         turbo.json nx.json lerna.json pnpm-workspace.yaml pytest.toml Cargo.toml tox.toml pylintrc.toml hatch.toml \
         gulpfile.js Gruntfile.js karma.conf.js wdio.conf.ts wdio.conf.js babel.config.json jest.config.json gems.rb \
         rakefile.rb build.ninja package.yaml package.json5 simple-git-hooks.json MSBuild.rsp latexmkrc mkdocs.yml \
         book.toml cdk.json wrangler.toml firebase.json phpunit.xml PKGBUILD conanfile.py Kconfig Capfile Dangerfile \
         rebar.config rebar.config.script config.exs Build.scala build.mill build.sc ember-cli-build.js dangerfile.js \
         dangerfile.ts Thorfile",
    ),
    ("an editor or a service runs it", "devcontainer.json action.yml action.yaml"),
];
pub(super) const MORE_FOLDERS: &[(&str, &str)] = &[
    ("an agent follows it", ".claude .cursor .gemini .codex .windsurf .continue .kiro .roo .opencode .aider"),
    ("an agent follows it", ".github/instructions .github/prompts .github/agents .github/chatmodes .github/skills"),
    ("a build runs it", "requirements mise-tasks buildsrc site_scons"),
    ("Python runs it by itself", "sitecustomize usercustomize"),
    ("its programs run by name", "venv env/bin virtualenv/bin env/scripts node_modules site-packages vendor/bin"),
    ("an editor runs it", "ftplugin ftdetect after/plugin after/ftplugin after/syntax"),
];

/// Files that a program looks for in the folder that it is started in, and that are usual modules elsewhere.
pub(super) const AT_THE_TOP: &[(&str, &str)] =
    &[("tasks.py", "invoke runs it"), ("tasks/__init__.py", "invoke runs it")];

/// Folders of the documentation that Sphinx builds, and its first page in any other folder: `conf.py` is a usual module
/// of a package.
pub(super) const SPHINX_FOLDERS: &[&str] = &["docs", "doc", "documentation", "sphinx"];
pub(super) const SPHINX_PAGES: &[&str] = &["index.rst", "index.md", "index.txt"];

/// Beginnings of names of data: `mise.local.toml`, `docker-bake.override.hcl`, `Taskfile.dist.yml`.
pub(super) const CONFIGURED: &[&str] =
    &["mise.", "lefthook", "taskfile.", "docker-bake.", "compose.", "devcontainer", "opencode."];
pub(super) const DATA: &[&str] = &[".yml", ".yaml", ".toml", ".json", ".jsonc", ".hcl", ".json5"];

/// Folders of an editor's configuration; a script in one is read at its start, or with a file of its kind.
pub(super) const EDITOR: &[&str] = &["plugin", "autoload", "compiler", "colors", "indent", "syntax", "after", "lsp"];

/// Names behind a dot that only exclude files, or set the layout of a text.
pub(super) const HARMLESS: &[&str] = &[
    ".gitkeep",
    ".keep",
    ".mailmap",
    ".editorconfig",
    ".nojekyll",
    ".git-blame-ignore-revs",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
];
/// Folders behind a dot whose prose is for people.
pub(super) const FOR_PEOPLE: &[&str] = &[".github", ".changeset", ".gitlab"];

/// Endings of such files.
pub(super) const ENDINGS: &[(&str, &str)] = &[
    (".pth", "Python runs it by itself"),
    (".gradle", "a build runs it"),
    (".mk", "a build runs it"),
    (".mak", "a build runs it"),
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
    (".sublime-project", "a shell or an editor runs it"),
    (".sbt", "a build runs it"),
    (".rake", "a build runs it"),
    (".gradle.kts", "a build runs it"),
    (".nix", "a build runs it"),
    (".pbxproj", "a build runs it"),
    (".pro", "a build runs it"),
    (".proj", "a build runs it"),
];

/// Beginnings of names with more behind them: `vite.config.ts`, `Dockerfile.prod`.
pub(super) const BEGINNINGS: &[(&str, &str)] = &[
    ("Dockerfile.", "a build runs it"),
    ("Containerfile.", "a build runs it"),
    ("Makefile.", "a build runs it"),
    ("Dockerfile-", "a build runs it"),
    ("docker-compose.", "a build runs it"),
    ("docker-compose-", "a build runs it"),
    ("gulpfile.", "a build runs it"),
    (".lintstagedrc.", "git runs its commands"),
    ("renovate.", "a service runs it for everybody"),
];

/// Tools of JavaScript whose configuration is a program: `vite.config.ts`.
pub(super) const CONFIG_ENDINGS: &[&str] = &[
    ".config.js",
    ".config.cjs",
    ".config.mjs",
    ".config.ts",
    ".config.mts",
    ".config.cts",
    "rc.js",
    "rc.cjs",
    "rc.mjs",
    ".config.babel.js",
];

/// Prose for people and sources, under any name.
pub(super) const PROSE: &[&str] = &[".md", ".rst", ".adoc", ".txt", ".html", ".py", ".rs", ".go", ".java"];

/// Endings of programs that a shell runs without a first line that says so.
pub(super) const PROGRAMS: &[&str] = &["sh", ".command", ".cmd", ".bat", ".ps1", ".run", ".tool"];
