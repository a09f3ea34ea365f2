//! Decides which files are off limits: by their names, or because they are the same file under another name.
//!
//! The names are those that the tools' own manuals give the files that they keep secrets in.

use std::fs::Metadata;
use std::path::Path;

use crate::workspace::hard_links::OtherName;
use crate::workspace::{bare_names, hard_links};

/// Folders whose every file is off limits: keys, and the records that version control keeps.
const FOLDERS: &[&str] = &[
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".kaggle",
    ".password-store",
    ".gcloud",
    ".config/gcloud",
    "legacy_credentials",
    ".config/gh",
    ".config/hub",
    ".config/op",
    ".config/doctl",
    ".config/rclone",
    ".config/composer",
    ".config/hcloud",
    ".config/github-copilot",
    ".cloudflared",
    ".envs",
    ".gemini",
    ".dbt",
    "playwright/.auth",
    ".local/share/keyrings",
    ".terraform.d",
];

const FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".dev.vars",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".git-credentials",
    ".htpasswd",
    ".htdigest",
    ".dockercfg",
    ".dockerconfigjson",
    ".vault-token",
    ".vault_pass",
    ".vault_password",
    ".s3cfg",
    ".boto",
    ".databrickscfg",
    ".terraformrc",
    "terraform.rc",
    ".secret",
    ".secrets",
    "secret",
    "secrets",
    "kubeconfig",
    "kaggle.json",
    "local.settings.json",
    "passwd",
    "shadow",
    "auth.json",
    "wp-config.php",
    "rclone.conf",
    ".rclone.conf",
    "settings-security.xml",
    "access_tokens.db",
    "application_default_credentials.json",
    ".fetchmailrc",
    ".msmtprc",
    ".ftpconfig",
    "sftp.json",
    ".sentryclirc",
    ".pgpass.conf",
    ".authinfo",
    ".cifs",
    "hub.yml",
    ".flaskenv",
    "env.production",
    "env.staging",
    ".ansible_vault_pass",
    "vault_pass",
    "vault_password",
    ".pg_service.conf",
    "pg_service.conf",
    "key.properties",
    "keystore.properties",
    ".smbcredentials",
    "accesskeys.csv",
    "rootkey.csv",
    "cookies.txt",
    "oauth_creds.json",
    ".github_token",
    "wp-config.local.php",
    "token.json",
];

/// Names that many files have, in the folders where they hold secrets.
const PLACED: &[&str] = &["gh/hosts.yml", ".m2/settings.xml", "m2/settings.xml", ".fly/config.yml", ".config/hub"];

const ENDINGS: &[&str] = &[
    ".env",
    ".pem",
    ".key",
    ".p8",
    ".p12",
    ".pfx",
    ".pkcs12",
    ".jks",
    ".jceks",
    ".bks",
    ".keystore",
    ".keytab",
    ".kdb",
    ".kdbx",
    ".ppk",
    ".ovpn",
    ".agekey",
    ".tfstate",
    ".tfstate.backup",
    ".tfvars",
    ".tfvars.json",
    ".kubeconfig",
];

/// Beginnings; another word follows (`id_rsa.bak`, `credentials-prod.yml`).
const BEGINNINGS: &[&str] = &[
    ".env",
    "wp-config.php",
    ".credentials",
    "credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "terraform.tfstate",
    "kubeconfig",
    "client_secret",
];

/// Words of a name that make a file of data a secret one (`secrets.yml`, `db-secrets.prod.yaml`, `passwords.txt`).
const WORDS: &[&str] = &[
    "secret",
    "secrets",
    "password",
    "passwords",
    "credentials",
    "service-account",
    "service account",
    "service_account",
    "serviceaccount",
    "serviceaccountkey",
    "adminsdk",
];
const DATA: &[&str] =
    &["yml", "yaml", "json", "json5", "toml", "ini", "cfg", "conf", "config", "properties", "xml", "txt", "csv", "bak"];

/// Words of a template that is meant to be read and holds no values.
const TEMPLATES: &[&str] = &["example", "sample", "template", "dist", "tmpl", "schema"];

/// Source code and prose that is merely named after the data it handles.
const SOURCES: &[&str] = &[
    "c", "cpp", "cs", "go", "h", "html", "java", "js", "jsx", "kt", "lua", "md", "php", "py", "pyi", "rb", "rs", "rst",
    "swift", "ts", "tsx",
];

/// True if a path relative to the root is, by its names, likely to hold secrets. A copy counts as its original.
pub fn is_secret(relative: &str) -> bool {
    let relative = bare_names::folded(relative);
    let originals = relative.split('/').map(bare_names::original).collect::<Vec<_>>().join("/");
    let (_, name) = relative.rsplit_once('/').unwrap_or(("", &relative));
    let (_, own) = originals.rsplit_once('/').unwrap_or(("", &originals));
    let path = format!("/{originals}/");
    if FOLDERS.iter().any(|folder| path.contains(&format!("/{folder}/")))
        || PLACED.iter().any(|file| path.ends_with(&format!("/{file}/")))
    {
        return true;
    }
    is_named_so(own) || own != name && !is_source(own) && is_named_so(name)
}

/// A source, or a template that is meant to be read.
fn is_source(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let env = name.starts_with(".env_");
    let mut words = name.split(|c| ['.', '-', ' '].contains(&c) || env && c == '_');
    SOURCES.contains(&ending) || ending == "pub" || words.any(|word| TEMPLATES.contains(&word))
}

fn is_named_so(name: &str) -> bool {
    if FILES.contains(&name) {
        return true;
    }
    if is_source(name) {
        return false;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let history = name.starts_with('.') && name.ends_with("_history");
    let begins = |beginning: &&str| {
        let next = name.strip_prefix(beginning).map(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_none_or(|c| !c.is_alphanumeric()))
    };
    let speaks = DATA.contains(&ending) && WORDS.iter().any(|word| has_word(name, word));
    name.strip_suffix(".txt").is_some_and(|name| FILES.contains(&name))
        || is_wireguard(name)
        || history
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || BEGINNINGS.iter().any(begins)
        || speaks
}

/// `wg0.conf`: the keys of a tunnel.
fn is_wireguard(name: &str) -> bool {
    let number = name.strip_prefix("wg").and_then(|rest| rest.strip_suffix(".conf"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// True if a name has these words as words of their own.
fn has_word(name: &str, word: &str) -> bool {
    name.match_indices(word).any(|(at, _)| {
        let (before, after) = (&name[..at], &name[at + word.len()..]);
        !before.ends_with(|c: char| c.is_ascii_alphanumeric())
            && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
    })
}

/// True if one of a file's several names in the workspace is a secret's, or may be.
pub fn is_linked_to_secret(root: &Path, file: &Metadata) -> bool {
    hard_links::find_name(root, file, |path| is_secret(path).then_some(())) != OtherName::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_distinguished_from_names_of_sources() {
        for name in [
            ".envrc",
            "prod.env",
            "a/.env.local",
            "secrets.yml",
            "config/secrets.prod.yaml",
            "db-secrets.toml",
            "kubeconfig",
            "prod.kubeconfig",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "prod.tfvars",
            "service-account.json",
            "my-service-account-prod.json",
            "x-firebase-adminsdk-1.json",
            "id_rsa.bak",
            "id_rsa",
            "id_ed25519_work",
            "x.ppk",
            ".vault-token",
            ".dockercfg",
            "home.ovpn",
            ".htpasswd",
            ".netrc",
            "passwords.txt",
            "client_secret_1.json",
            ".bash_history",
            "credentials",
            "credentials-prod.yml",
            ".kaggle/x",
            "master.key",
            "Prod.ENV",
            ".env~",
            ".env_prod",
            "#.env#",
            "tls/server.key~",
            "server.pem.bak",
            ".netrc~",
            ".git-credentials~",
            ".pgpass~",
            ".git-credentials.txt",
            ".config/gcloud/credentials.db",
            ".config/gh/hosts.yml",
            "auth.json",
            ".m2/settings.xml",
            "rclone.conf",
            "wp-config.php",
            "wp-config.php.bak",
            ".ssh.bak/id",
            ".aws~/config",
            ".\u{200c}env",
            "my-secrets.bak",
            ".envs/.production/.postgres",
            "env.production",
            ".flaskenv",
            "serviceAccountKey.json",
            "vault_pass.txt",
            ".dbt/profiles.yml",
            "new_user_credentials.csv",
            "playwright/.auth/user.json",
            "wg0.conf",
            ".netrc.new",
            "server.key,v",
            "server.pem.zst",
            "prod.tfvars.rej",
            ".env_BACKUP_123",
            "service account prod.json",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "secrets.py",
            "environment.py",
            "environment.yml",
            "environments/a.json",
            "credentials.py",
            "secret_santa.rs",
            "tests/test_secrets.py",
            "secrets.example.yml",
            ".env.example",
            "prod.env.sample",
            "id_rsa.pub",
            "identity.json",
            "passwordless.toml",
            "keys.py",
            "tokenizer.json",
            "terraform.tf",
            "kubeconfig.go",
            ".gitignore",
            ".envrc2",
            "service.json",
            "package.json",
            "pyproject.toml",
            "history.txt",
            ".env_example",
            "settings.xml",
            "src/gh/hosts.py",
            "credentials.py~",
            "auth.py",
            "hosts.yml",
            "environment-1.2.txt",
            "src/gcloud/client.py",
            "wgpu.conf",
            "token.py",
            "src/credentials_form.tsx",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
