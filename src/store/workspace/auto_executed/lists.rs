//! The names of files that run: those with a list of their own, endings, beginnings and folders.

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
         book.toml cdk.json wrangler.toml firebase.json phpunit.xml PKGBUILD",
    ),
    ("an editor or a service runs it", "devcontainer.json action.yml action.yaml"),
];
pub(super) const MORE_FOLDERS: &[(&str, &str)] = &[
    ("an agent follows it", ".claude .cursor .gemini .codex .windsurf .continue .kiro .roo .opencode .aider"),
    ("an agent follows it", ".github/instructions .github/prompts .github/agents .github/chatmodes .github/skills"),
    ("a build runs it", "requirements mise-tasks"),
    ("its programs run by name", "venv env/bin virtualenv/bin env/scripts node_modules site-packages vendor/bin"),
    ("an editor runs it", "ftplugin ftdetect after/plugin after/ftplugin after/syntax"),
];

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
