//! Selects the environment variables of a started program: an allow list for a model's programs, and everything but
//! secrets for the user's.

use tokio::process::Command;

/// The variables by which programs find themselves, their libraries and their caches. None of them holds a secret by
/// its purpose.
const NEEDED: &str = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM TMPDIR TMP TEMP HOSTNAME \
    DISPLAY WAYLAND_DISPLAY CI NO_COLOR FORCE_COLOR COLUMNS LINES \
    LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH PKG_CONFIG_PATH CC CXX AR LD CFLAGS CXXFLAGS LDFLAGS \
    SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NIX_PATH NIX_PROFILES LOCALE_ARCHIVE SDKROOT DEVELOPER_DIR \
    VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYTHONPATH PYTHONHOME PYENV_ROOT PYENV_VERSION UV_CACHE_DIR \
    PIP_CACHE_DIR CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUST_BACKTRACE RUSTFLAGS CARGO_TARGET_DIR \
    GOPATH GOROOT GOBIN GOCACHE GOMODCACHE NODE_PATH NODE_ENV NVM_DIR NVM_BIN PNPM_HOME BUN_INSTALL DENO_DIR \
    COREPACK_HOME JAVA_HOME JDK_HOME ANDROID_HOME MAVEN_HOME M2_HOME GRADLE_USER_HOME GRADLE_HOME DOTNET_ROOT \
    GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MIX_HOME HEX_HOME OPAMROOT \
    OPAM_SWITCH_PREFIX GHCUP_INSTALL_BASE_PREFIX STACK_ROOT JULIA_DEPOT_PATH R_LIBS R_LIBS_USER PERL5LIB";

/// Beginnings of more of them.
const NEEDED_BEGINNINGS: &[&str] = &["LC_", "XDG_"];

/// Parts of the names of variables that hold secrets.
const SECRETS: &[&str] = &[
    "TOKEN",
    "KEY",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "_PAT",
    "_PWD",
    "_PASS",
    "DATABASE_URL",
    "CONNECTION_STRING",
    "_DSN",
    "COOKIE",
    "WEBHOOK",
];

/// True if a variable of this name may hold a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|part| if part.starts_with('_') { name.ends_with(part) } else { name.contains(part) })
}

/// True if a value is an address with a password in it.
fn is_secret_value(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Gives a model's program the variables that programs need, and those that the user has named. A variable that the
/// user names is passed on under any name.
pub fn needed_alone(command: &mut Command, named: &[String]) {
    command.env_clear();
    for (name, value) in std::env::vars_os() {
        let known = name.to_str().is_some_and(|name| {
            let needed = NEEDED.split_whitespace().any(|needed| needed == name)
                || NEEDED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
            let open = needed && !is_secret(name) && !is_secret_value(&value.to_string_lossy());
            open || named.iter().any(|named| named == name)
        });
        if known {
            command.env(name, value);
        }
    }
}

/// Removes the secrets from a user's program, which does not need them: it may run the project's code.
pub fn without_secrets(command: &mut Command) {
    for (name, value) in std::env::vars_os() {
        if is_secret(&name.to_string_lossy()) || is_secret_value(&value.to_string_lossy()) {
            command.env_remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_the_names_of_their_variables() {
        for name in [
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "db_password",
            "AWS_SECRET_ACCESS",
            "Some_Key",
            "GH_PAT",
            "DATABASE_URL",
            "SENTRY_DSN",
            "MYSQL_PWD",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "VIRTUAL_ENV", "PWD", "OLDPWD", "MANPATH", "INFOPATH", "COMPASS"] {
            assert!(!is_secret(name), "{name}");
        }
        assert!(NEEDED.split_whitespace().all(|name| !is_secret(name)));
    }

    #[test]
    fn an_address_with_a_password_is_a_secret() {
        assert!(is_secret_value("postgres://me:pw@host/db") && is_secret_value("https://x:y@h"));
        for plain in ["https://host/a@b:c", "me@host", "/usr/bin:/bin", "ssh://git@host", ""] {
            assert!(!is_secret_value(plain), "{plain}");
        }
    }
}
