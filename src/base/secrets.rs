//! The shapes of secrets in a text of any file: a secret is never sent to a model, nor kept.
//!
//! The shapes are those that the issuers give their tokens, as the rules of secret scanners collect them (gitleaks,
//! `config/gitleaks.toml`; GitHub, "Supported secret scanning patterns"). A secret without a shape of its own, such as
//! a password in a configuration, is not known here.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Stands in the place of a secret.
pub const MASK: &str = "[secret removed]";

/// A key in armour: the mark of its beginning, headers, and a body, in a source's string as well. The mark of its end
/// may be cut off.
const ARMOUR: &str = concat!(
    r"-----BEGIN[^-\n]{0,30}PRIVATE KEY[^-\n]{0,10}-----(?:\s*[A-Z][A-Za-z-]+: [^\n]*\n)*",
    r#"(?:(?:[\s"',+]|\\[nr])*[A-Za-z0-9+/=]{16,})+(?:(?:[\s"',+]|\\[nr])*[A-Za-z0-9+/=]{1,15})??"#,
    r#"(?:(?:[\s"',+]|\\[nr])*[A-Za-z0-9+/=]{0,15}(?:[\s"',+]|\\[nr])*-----END[^-\n]{0,40}-----)?"#,
    r"|Private-Lines: \d+(?:\s+[A-Za-z0-9+/=]{16,})+",
);

/// Tokens with a known beginning, each as the issuer writes it.
const TOKENS: &[&str] = &[
    // AWS, Alibaba, Google, Azure
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    r"LTAI[A-Za-z0-9]{20}",
    r"AIza[\w-]{35}",
    r"GOCSPX-[\w-]{28}",
    r"ya29\.[\w-]{20,}",
    r"AccountKey=[A-Za-z0-9+/]{60,}={0,2}",
    // GitHub, GitLab, Bitbucket, Atlassian
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_\w{60,}",
    r"gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|oas)-[\w-]{20,}",
    r"ATATT3[\w=-]{60,}",
    r"ATBB[A-Za-z0-9]{32}",
    // Models
    r"sk-ant-[\w-]{24,}",
    r"sk-(?:proj|svcacct|admin|or-v1)-[\w-]{24,}",
    r"sk-[A-Za-z0-9]{32,}",
    r"hf_[A-Za-z]{34}",
    r"gsk_[A-Za-z0-9]{40,}",
    r"xai-[A-Za-z0-9]{60,}",
    r"r8_[A-Za-z0-9]{37}",
    r"pplx-[A-Za-z0-9]{40,}",
    r"nvapi-[\w-]{40,}",
    // Registries
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgE[\w-]{50,}",
    r"rubygems_[a-f0-9]{48}",
    r"cio[A-Za-z0-9]{32}",
    r"dckr_(?:pat|oat)_[\w-]{20,}",
    // Chat, mail, payment
    r"xox[abeoprs]-[\w-]{10,}",
    r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{20,}",
    r"https://hooks\.slack\.com/services/[\w/]{20,}",
    r"https://discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}",
    r"\d{8,10}:AA[\w-]{32,33}",
    r"SG\.[\w-]{16,32}\.[\w-]{16,64}",
    r"key-[a-f0-9]{32}",
    r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    r"sq0(?:atp|csp)-[\w-]{22,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    // Services and tools
    r"do[por]_v1_[a-f0-9]{64}",
    r"hv[sbr]\.[\w-]{24,}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}",
    r"lin_api_[A-Za-z0-9]{32,}",
    r"ntn_[A-Za-z0-9]{40,}",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    r"pul-[a-f0-9]{40}",
    r"figd_[\w-]{36,}",
    r"fo1_[\w-]{43}",
    r"tskey-[a-z]+-[\w-]{20,}",
    r"dapi[a-f0-9]{32}",
    r"glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}",
    r"sntry[su]_[\w=/+.-]{40,}",
    r"NRAK-[A-Z0-9]{27}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    r"A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}-[A-Z0-9-]{17,24}",
    r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}",
    // A token that carries its claims
    r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
];

/// The password in an address.
const ADDRESS: &str =
    r"(?P<before>[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\x22]{0,64}:)(?P<word>[^\s/@'\x22]{3,200})(?P<after>@[\w.\[-])";

static SECRET: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let tokens = TOKENS.join("|");
    Regex::new(&format!(r"(?P<armour>{ARMOUR})|(?-u:\b(?P<token>{tokens}))|{ADDRESS}")).ok()
});

/// Words that stand in the place of a password in examples.
const PLACES: &[&str] = &[
    "password",
    "passwort",
    "contraseña",
    "pass",
    "passwd",
    "pwd",
    "pw",
    "secret",
    "user",
    "token",
    "key",
    "example",
    "changeme",
    "xxx",
    "test",
    "postgres",
    "root",
    "admin",
    "guest",
    "mysecretpassword",
];

/// Puts [`MASK`] in the place of every secret. Lines stay where they are.
pub fn mask(text: &str) -> Cow<'_, str> {
    let Some(secret) = SECRET.as_ref() else { return Cow::Borrowed(text) };
    secret.replace_all(text, |found: &Captures| {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        match (found.name("before"), found.name("word"), found.name("after")) {
            (Some(before), Some(word), Some(after)) if !is_place(word.as_str()) => {
                format!("{}{MASK}{}", before.as_str(), after.as_str())
            }
            (Some(_), ..) => whole.to_owned(),
            _ if is_example(whole) => whole.to_owned(),
            _ => format!("{MASK}{}", "\n".repeat(whole.matches('\n').count())),
        }
    })
}

/// True if a text holds a secret.
pub fn holds(text: &str) -> bool {
    matches!(mask(text), Cow::Owned(masked) if masked != text)
}

fn is_place(word: &str) -> bool {
    let lower = word.to_lowercase();
    PLACES.contains(&lower.as_str()) || word.starts_with(['$', '{', '<', '%', '*', '[']) || word.contains("${")
}

/// The key of AWS's own documentation ends so; a run of one character is not a secret.
fn is_example(token: &str) -> bool {
    let body: Vec<char> = token.chars().skip(8).collect();
    token.ends_with("EXAMPLE") || body.windows(2).all(|two| two[0] == two[1])
}

/// Keys, tokens and passwords as people write them, cut ones and those without a shape of their own: text that a memory
/// keeps for months has none of them, where a model may still read a line of code about a token.
static LIKELY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(sk-[\w-]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}[\w.-]*)|-----BEGIN[^-]*-----|\b(password|passwd|contraseña|secret|token|api[_-]?key)\s*(=|:|\bis\b|\bes\b)\s*\S+",
    )
    .ok()
});

/// True if a text holds a secret, or what is likely one: `password = hunter2`.
pub fn holds_likely(text: &str) -> bool {
    holds(text) || LIKELY.as_ref().is_some_and(|likely| likely.is_match(text))
}

/// A text without its likely secrets.
pub fn hide_likely(text: &str) -> Cow<'_, str> {
    LIKELY.as_ref().map_or(Cow::Borrowed(text), |likely| likely.replace_all(text, "(hidden)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made up here, so that no scanner of this repository finds one.
    fn samples() -> Vec<String> {
        let letters = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6kL8nP0rS2uV4x".repeat(4);
        let hex = "0123456789abcdef".repeat(8);
        let body = |count: usize| letters[..count].to_owned();
        vec![
            format!("AKIA{}", &body(16).to_uppercase()),
            format!("ghp_{}", body(36)),
            format!("github_pat_{}", body(82)),
            format!("glpat-{}", body(20)),
            format!("sk-ant-api03-{}", body(93)),
            format!("sk-proj-{}", body(60)),
            format!("xoxb-{}", body(30)),
            format!("AIza{}", body(35)),
            format!("npm_{}", body(36)),
            format!("sk_live_{}", body(24)),
            format!("dop_v1_{}", &hex[..64]),
            format!("eyJ{}.eyJ{}.{}", body(20), body(40), body(43)),
            format!("SG.{}.{}", body(22), body(43)),
        ]
    }

    #[test]
    fn the_pattern_is_valid() {
        assert!(SECRET.is_some());
    }

    #[test]
    fn tokens_are_taken_out_and_what_is_beside_them_stays() {
        for token in samples() {
            let text = format!("KEY = \"{token}\"\nother = 1\n");
            assert_eq!(mask(&text), format!("KEY = \"{MASK}\"\nother = 1\n"), "{token}");
            assert!(holds(&text));
        }
        assert_eq!(mask("postgres://me:hunter2@db/x"), format!("postgres://me:{MASK}@db/x"));
    }

    #[test]
    fn a_key_in_armour_goes_with_its_body_and_the_lines_stay() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ7lQ2bX3s4t5u6v";
        for (head, tail) in [("", "-----END RSA PRIVATE KEY-----\n"), ("Proc-Type: 4,ENCRYPTED\n\n", "")] {
            let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{head}{line}\n{line}\nabc=\n{tail}");
            let masked = mask(&format!("a\n{key}b = 1\n")).into_owned();
            assert!(!masked.contains("MIIE") && masked.contains("b = 1"), "{masked}");
            assert_eq!(masked.lines().count(), format!("a\n{key}b = 1\n").lines().count(), "{masked}");
        }
        let quoted = format!("KEY = \"-----BEGIN PRIVATE KEY-----\\n{line}\\n-----END PRIVATE KEY-----\"");
        assert!(!mask(&quoted).contains("MIIE"), "{}", mask(&quoted));
    }

    #[test]
    fn what_only_speaks_of_secrets_is_left_alone() {
        for text in [
            "if \"-----BEGIN PRIVATE KEY-----\" in text: raise ValueError(text)",
            "sk-loading-indicator",
            "postgres://user:password@localhost/db",
            "postgres://${USER}:${PASSWORD}@localhost/db",
            "https://example.org/a:b@c",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "password = os.environ['PASSWORD']",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ] {
            assert_eq!(mask(text), text);
            assert!(!holds(text));
        }
    }

    proptest! {
        #[test]
        fn masking_twice_is_masking_once(before in "[ -~\n]{0,40}", at in 0_usize..13, after in "[ -~\n]{0,40}") {
            let text = format!("{before} {} {after}", samples()[at]);
            let once = mask(&text).into_owned();
            prop_assert_eq!(mask(&once).into_owned(), once.clone());
            prop_assert!(!once.contains(&samples()[at]));
            prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
        }
    }
}
