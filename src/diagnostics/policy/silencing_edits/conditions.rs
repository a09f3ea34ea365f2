//! Decides Python conditions without running them: constants, versions that are gone or never were, platforms.

use std::sync::LazyLock;

use regex::Regex;

/// The value of a condition, as known before any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConstantValue {
    Never,
    Always,
    /// A checker looks at one side alone: the one of the configured version and platform.
    OneSide,
}

const NEVER: &[&str] = &["False", "0", "None", "notTrue", "not1", "\"\"", "''", "[]", "{}", "()", "0.0"];

/// `sys.version_info >= (3, 9)`, `version_info[0] == 2`, `version_info.major < 3`.
static VERSION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"version_info(\[0\]|\.major)?(?:\[:\d\])?(<=|>=|==|<|>)\(?(\d+)(?:,(\d+))?").ok());

/// The first version that somebody may still run, and the first that nobody will.
const OLDEST: (u32, u32) = (3, 8);
const NEWEST: (u32, u32) = (4, 0);
/// The major version of all between them.
const MAJOR: u32 = 3;

/// Decides a condition without blanks.
pub(super) fn known(test: &str) -> Option<ConstantValue> {
    let bare = test.trim_matches(['(', ')']);
    if NEVER.contains(&bare) || NEVER.contains(&test) {
        return Some(ConstantValue::Never);
    }
    let denied = test.starts_with("not");
    match version(test) {
        Some(ConstantValue::Never) if denied => Some(ConstantValue::Always),
        Some(ConstantValue::Always) if denied => Some(ConstantValue::Never),
        Some(known) => Some(known),
        None => {
            let platform =
                ["sys.platform", "platform==", "platform!=", "platform.startswith", "os.name", "platform.system()"]
                    .iter()
                    .any(|word| test.contains(word));
            platform.then_some(ConstantValue::OneSide)
        }
    }
}

fn version(test: &str) -> Option<ConstantValue> {
    if !test.contains("version_info") {
        return None;
    }
    let Some(found) = VERSION.as_ref().and_then(|version| version.captures(test)) else {
        return Some(ConstantValue::OneSide);
    };
    let number = |at: usize| found.get(at).and_then(|part| part.as_str().parse::<u32>().ok());
    let (major, minor) = (number(3).unwrap_or_default(), number(4));
    if found.get(1).is_some() {
        let holds = match &found[2] {
            "<" => MAJOR < major,
            "<=" => MAJOR <= major,
            ">" => MAJOR > major,
            ">=" => MAJOR >= major,
            _ => MAJOR == major,
        };
        return Some(if holds { ConstantValue::Always } else { ConstantValue::Never });
    }
    let named = (major, minor.unwrap_or_default());
    let (gone, never) = (named <= OLDEST, named >= NEWEST);
    Some(match &found[2] {
        "<" | "<=" if gone => ConstantValue::Never,
        ">" | ">=" if never => ConstantValue::Never,
        "==" if gone || never => ConstantValue::Never,
        ">" | ">=" if gone => ConstantValue::Always,
        "<" | "<=" if never => ConstantValue::Always,
        _ => ConstantValue::OneSide,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_nobody_runs_are_distinguished_from_those_that_somebody_does() {
        assert!(VERSION.is_some());
        for (test, is) in [
            ("sys.version_info<(3,0)", ConstantValue::Never),
            ("sys.version_info<(3,)", ConstantValue::Never),
            ("sys.version_info[0]==2", ConstantValue::Never),
            ("sys.version_info.major<3", ConstantValue::Never),
            ("sys.version_info>=(4,0)", ConstantValue::Never),
            ("sys.version_info>(99,)", ConstantValue::Never),
            ("notsys.version_info>=(3,0)", ConstantValue::Never),
            ("sys.version_info>=(3,0)", ConstantValue::Always),
            ("sys.version_info[0]==3", ConstantValue::Always),
            ("sys.version_info[0]>3", ConstantValue::Never),
            ("sys.version_info.major>=3", ConstantValue::Always),
            ("sys.version_info.major<=3", ConstantValue::Always),
            ("notsys.version_info[0]<=3", ConstantValue::Never),
            ("sys.version_info[:2]==(3,6)", ConstantValue::Never),
            ("sys.version_info[:2]==(3,12)", ConstantValue::OneSide),
            ("sys.version_info>=(3,11)", ConstantValue::OneSide),
            ("sys.version_info<(3,12)", ConstantValue::OneSide),
            ("sys.platform=='win32'", ConstantValue::OneSide),
            ("(False)", ConstantValue::Never),
        ] {
            assert_eq!(known(test), Some(is), "{test}");
        }
        assert_eq!(known("x<3"), None);
    }
}
