//! Splits the bytes of a body into server-sent events, each of bounded length.

/// Cuts bytes into events, wherever they are broken: lines end in LF, CR LF or CR, an event at an empty line (WHATWG
/// HTML, 9.2.6). Only `data` is kept; it repeats the content of the other fields.
#[derive(Debug)]
pub struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_return: bool,
    longest: usize,
}

/// An event is longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Events {
    /// `longest` is in bytes, of one event.
    pub fn new(longest: usize) -> Self {
        Self { line: Vec::new(), data: Vec::new(), has_data: false, after_return: false, longest }
    }

    /// Takes bytes as they come, and gives the data of each event that they end to `each`, which may break off.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8]) -> bool) -> Result<(), TooLong> {
        for byte in bytes {
            match byte {
                b'\n' if std::mem::take(&mut self.after_return) => {}
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    if !self.end_line(&mut each) {
                        return Ok(());
                    }
                }
                _ => {
                    self.after_return = false;
                    self.line.push(*byte);
                    if self.line.len() + self.data.len() > self.longest {
                        return Err(TooLong);
                    }
                }
            }
        }
        Ok(())
    }

    /// The last event, if the body ended without an empty line.
    pub fn finish(mut self, mut each: impl FnMut(&[u8]) -> bool) {
        if self.end_line(&mut each) {
            self.end_line(&mut each);
        }
    }

    /// True to go on.
    fn end_line(&mut self, each: &mut impl FnMut(&[u8]) -> bool) -> bool {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return !std::mem::take(&mut self.has_data) || each(data.trim_ascii());
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::new(1000);
        let mut out = Vec::new();
        for piece in pieces {
            events
                .push(piece, |data| {
                    out.push(String::from_utf8_lossy(data).into_owned());
                    true
                })
                .unwrap();
        }
        events.finish(|data| {
            out.push(String::from_utf8_lossy(data).into_owned());
            true
        });
        out
    }

    #[test]
    fn events_end_at_an_empty_line_of_any_kind() {
        let text = b": hello\n\nevent: a\ndata: 1\ndata:2\n\ndata: 3\r\n\r\nid: 7\r\rdata:4\r\rdata: 5";
        assert_eq!(read(&[text]), ["1\n2", "3", "4", "5"]);
        assert_eq!(read(&[b""]), Vec::<String>::new());
    }

    #[test]
    fn an_event_without_an_end_is_broken_off() {
        for piece in [&b"data: xxxxxxxx"[..], b"data: xxxx\n", b"xxxxxxxxx"] {
            let mut events = Events::new(100);
            let long = (0..100).find_map(|_| events.push(piece, |_| true).err());
            assert_eq!(long, Some(TooLong));
        }
        let mut events = Events::new(10);
        assert_eq!(events.push(&b": x\n\n".repeat(100), |_| true), Ok(()), "many short ones are no long one");
    }

    proptest! {
        #[test]
        fn it_is_the_same_however_it_is_broken(text in "(data: [a-c]{0,3}|:|\n|\r|\r\n|x){0,30}", cut in 0_usize..60) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            prop_assert_eq!(read(&[bytes]), read(&[&bytes[..cut], &bytes[cut..]]));
        }
    }
}
