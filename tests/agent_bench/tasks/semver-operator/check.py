"""`!=` is parsed, shown and evaluated; the operators beside it are as they were."""

import pathlib

import checks

checks.rust(
    """
use semver::{Comparator, Op, Version, VersionReq};

fn matches(req: &str, version: &str) -> bool {
    VersionReq::parse(req).unwrap().matches(&Version::parse(version).unwrap())
}

#[test]
fn outside() {
    let comparator = Comparator::parse("!=1.2.3").unwrap();
    assert_eq!(comparator.op, Op::NotEqual);
    assert_eq!((comparator.major, comparator.minor, comparator.patch), (1, Some(2), Some(3)));
    for text in ["!=1.2.3", "!=1.2", "!=1", ">=1.0.0, !=1.3.0", "!=1.2.3-rc.1"] {
        assert_eq!(VersionReq::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(VersionReq::parse("!= 1.2").unwrap().to_string(), "!=1.2");
    assert!(!matches("!=1.2.3", "1.2.3") && matches("!=1.2.3", "1.2.4") && matches("!=1.2.3", "0.2.3"));
    assert!(!matches("!=1.2", "1.2.9") && matches("!=1.2", "1.3.0"));
    assert!(!matches("!=1", "1.9.9") && matches("!=1", "2.0.0"));
    assert!(matches(">=1.0.0, !=1.3.0", "1.4.0") && !matches(">=1.0.0, !=1.3.0", "1.3.0"));
    assert!(!matches("!=1.2.3", "1.2.4-rc.1"), "a pre-release that no comparator names");
    assert!(matches("!=1.2.3-rc.1", "1.2.3-rc.2") && !matches("!=1.2.3-rc.1", "1.2.3-rc.1"));
    assert!(matches("=1.2.3", "1.2.3") && matches("1.2", "1.9.0"));
    for text in ["!1.2.3", "!", "=!1", "!==1"] {
        assert!(VersionReq::parse(text).is_err(), "{text} is no requirement");
    }
}
"""
)
tests = pathlib.Path("tests/test_version_req.rs").read_text(encoding="utf-8")
assert '"!=' in tests, "no test has the operator"
lib = pathlib.Path("src/lib.rs").read_text(encoding="utf-8")
assert "Op::NotEqual" in lib, "the documentation of Op does not name it"
