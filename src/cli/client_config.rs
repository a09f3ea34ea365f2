//! Makes the configuration with which a client starts this server, in that client's format.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

/// Clients with a known format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum KnownClient {
    Claude,
    Codex,
    Opencode,
    Gemini,
    Qwen,
    Cursor,
    Zed,
}

/// The text for a client's configuration, and the file for it.
pub(super) fn snippet(client: KnownClient, program: &Path, arguments: &[String]) -> (String, &'static str) {
    let program = program.to_string_lossy();
    let mut whole = vec![json!(program)];
    whole.extend(arguments.iter().map(|argument| json!(argument)));
    let started = json!({"command": program, "args": arguments});
    let servers = |name: &str| pretty(&json!({name: {"sextant": started}}));
    match client {
        KnownClient::Claude => (servers("mcpServers"), ".mcp.json in the project, or mcpServers of ~/.claude.json"),
        KnownClient::Codex => {
            let args = Value::Array(whole[1..].to_vec());
            (format!("[mcp_servers.sextant]\ncommand = {}\nargs = {args}", whole[0]), "~/.codex/config.toml")
        }
        KnownClient::Opencode => {
            let server = json!({"type": "local", "command": whole, "enabled": true});
            let config = json!({"$schema": "https://opencode.ai/config.json", "mcp": {"sextant": server}});
            (pretty(&config), "opencode.json in the project, or ~/.config/opencode/opencode.json")
        }
        KnownClient::Gemini => (servers("mcpServers"), "~/.gemini/settings.json"),
        KnownClient::Qwen => (servers("mcpServers"), "~/.qwen/settings.json"),
        KnownClient::Cursor => (servers("mcpServers"), "~/.cursor/mcp.json"),
        KnownClient::Zed => {
            let server = json!({"source": "custom", "command": program, "args": arguments, "env": {}});
            (pretty(&json!({"context_servers": {"sextant": server}})), "~/.config/zed/settings.json")
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_snippet_starts_the_program_with_its_arguments() {
        let arguments = ["mcp".to_owned(), "--root".to_owned(), "/a \"b\"".to_owned()];
        for client in [
            KnownClient::Claude,
            KnownClient::Opencode,
            KnownClient::Gemini,
            KnownClient::Qwen,
            KnownClient::Cursor,
            KnownClient::Zed,
        ] {
            let (text, _) = snippet(client, Path::new("/opt/sextant"), &arguments);
            let read: Value = serde_json::from_str(&text).unwrap();
            let text = read.to_string();
            assert!(text.contains("/opt/sextant") && text.contains("/a \\\"b\\\""), "{text}");
        }
        let (text, _) = snippet(KnownClient::Codex, Path::new("/opt/sextant"), &arguments);
        let read: toml::Value = toml::from_str(&text).unwrap();
        let server = &read["mcp_servers"]["sextant"];
        assert_eq!(server["command"].as_str(), Some("/opt/sextant"));
        assert_eq!(server["args"][2].as_str(), Some("/a \"b\""));
    }
}
