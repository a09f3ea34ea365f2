//! Lists the language servers that Helix can run: the languages of each, and its command.

/// A server by Helix's name for it, with its program and arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct HelixServer {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) arguments: &'static [&'static str],
}

const fn server(name: &'static str, program: &'static str, arguments: &'static [&'static str]) -> HelixServer {
    HelixServer { name, program, arguments }
}

/// As in Helix's own `languages.toml`.
pub(super) const SERVERS: &[HelixServer] = &[
    server("basedpyright", "basedpyright-langserver", &["--stdio"]),
    server("pyright", "pyright-langserver", &["--stdio"]),
    server("ty", "ty", &["server"]),
    server("pylsp", "pylsp", &[]),
    server("jedi", "jedi-language-server", &[]),
    server("ruff", "ruff", &["server"]),
    server("rust-analyzer", "rust-analyzer", &[]),
    server("gopls", "gopls", &[]),
    server("clangd", "clangd", &[]),
    server("vtsls", "vtsls", &["--stdio"]),
    server("typescript-language-server", "typescript-language-server", &["--stdio"]),
    server("lua-language-server", "lua-language-server", &[]),
    server("bash-language-server", "bash-language-server", &["start"]),
    server("vscode-json-language-server", "vscode-json-language-server", &["--stdio"]),
    server("yaml-language-server", "yaml-language-server", &["--stdio"]),
    server("taplo", "taplo", &["lsp", "stdio"]),
    server("zls", "zls", &[]),
];

/// The servers of a language: of each group the first that is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLanguage {
    pub(super) name: &'static str,
    pub(super) groups: &'static [&'static [&'static str]],
}

const TYPESCRIPT: &[&[&str]] = &[&["vtsls", "typescript-language-server"]];

pub(super) const LANGUAGES: &[KnownLanguage] = &[
    KnownLanguage { name: "python", groups: &[&["basedpyright", "pyright", "ty", "pylsp", "jedi"], &["ruff"]] },
    KnownLanguage { name: "rust", groups: &[&["rust-analyzer"]] },
    KnownLanguage { name: "go", groups: &[&["gopls"]] },
    KnownLanguage { name: "c", groups: &[&["clangd"]] },
    KnownLanguage { name: "cpp", groups: &[&["clangd"]] },
    KnownLanguage { name: "typescript", groups: TYPESCRIPT },
    KnownLanguage { name: "tsx", groups: TYPESCRIPT },
    KnownLanguage { name: "javascript", groups: TYPESCRIPT },
    KnownLanguage { name: "jsx", groups: TYPESCRIPT },
    KnownLanguage { name: "lua", groups: &[&["lua-language-server"]] },
    KnownLanguage { name: "bash", groups: &[&["bash-language-server"]] },
    KnownLanguage { name: "json", groups: &[&["vscode-json-language-server"]] },
    KnownLanguage { name: "yaml", groups: &[&["yaml-language-server"]] },
    KnownLanguage { name: "toml", groups: &[&["taplo"]] },
    KnownLanguage { name: "zig", groups: &[&["zls"]] },
];

/// Languages whose server is seldom installed for all projects, with the ends of their files' names.
pub(super) const OFFERED: &[(&str, &[&str])] =
    &[("typescript", &[".ts", ".mts", ".cts", "tsconfig.json"]), ("tsx", &[".tsx"])];

pub(super) fn named(name: &str) -> Option<&'static HelixServer> {
    SERVERS.iter().find(|server| server.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_of_a_language_is_known() {
        for language in LANGUAGES {
            for name in language.groups.iter().flat_map(|group| group.iter()) {
                assert!(named(name).is_some(), "{name}");
            }
        }
    }
}
