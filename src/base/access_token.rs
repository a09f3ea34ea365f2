//! A random token that a program has to know to come in, and the comparison of two tokens.

use std::fs::File;
use std::io::{self, Read};

/// Random bytes of a token, two characters each.
const BYTES: usize = 32;

/// Makes a new token.
///
/// # Errors
/// If the system has no random bytes to give.
pub fn fresh() -> io::Result<String> {
    let mut bytes = [0_u8; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in constant time, which does not reveal how much of the token is right.
pub fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len() && one.iter().zip(other).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_to_be_whole() {
        assert!(same("abc", "abc") && !same("abc", "abd") && !same("", "abc") && !same("abcd", "abc"));
    }

    #[test]
    fn no_two_are_the_same() {
        let (one, other) = (fresh().unwrap(), fresh().unwrap());
        assert!(one.len() == 2 * BYTES && one.bytes().all(|byte| byte.is_ascii_hexdigit()) && one != other);
    }
}
