//! A very small HTTP server: GET and HEAD of the files in a folder, one request a connection (RFC 9112).

use super::payload::{Payload, Source};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest accepted request header, in bytes.
const LONGEST: usize = 16 << 10;

/// One connection of a browser or curl.
pub struct Http {
    folder: PathBuf,
    request: Vec<u8>,
    answered: bool,
    body: Option<Payload>,
}

impl Http {
    /// A connection that asks for files of a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, request: Vec::new(), answered: false, body: None }
    }

    /// Takes in a part of the request. Once it is complete, the head of the answer follows.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn take(&mut self, data: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        if self.answered {
            return Ok(());
        }
        self.request.extend_from_slice(data);
        let complete = self.request.windows(4).any(|end| end == b"\r\n\r\n");
        if !complete && self.request.len() <= LONGEST {
            return Ok(());
        }
        self.answered = true;
        if !complete {
            fail(out, "431 Request Header Fields Too Large");
            return Ok(());
        }
        let request = String::from_utf8_lossy(&self.request).into_owned();
        let mut words = request.lines().next().unwrap_or_default().split(' ');
        let (method, target, version) = (words.next(), words.next(), words.next());
        let (Some(method), Some(target), Some("HTTP/1.0" | "HTTP/1.1")) = (method, target, version) else {
            fail(out, "400 Bad Request");
            return Ok(());
        };
        if !matches!(method, "GET" | "HEAD") {
            fail(out, "405 Method Not Allowed");
            return Ok(());
        }
        match self.find(target).and_then(|path| Source::File(path).open().ok()) {
            None => fail(out, "404 Not Found"),
            Some(body) => {
                out.extend_from_slice(
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {}\r\n\
                         Connection: close\r\n\r\n",
                        body.len()
                    )
                    .as_bytes(),
                );
                self.body = (method == "GET").then_some(body);
            }
        }
        Ok(())
    }

    /// The requested file, if it lies inside the folder.
    fn find(&self, target: &str) -> Option<PathBuf> {
        let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
        let path = Path::new(if path.is_empty() { "index.html" } else { path });
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let found = self.folder.join(path).canonicalize().ok().filter(|_| inside)?;
        // A symbolic link may lead out of the folder.
        found.starts_with(self.folder.canonicalize().ok()?).then_some(found)
    }

    /// Appends the next part of the body.
    ///
    /// # Errors
    /// If the file cannot be read, or has become shorter.
    pub fn next(&mut self, most: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.body.as_mut().map_or(Ok(()), |body| body.next(most, out))
    }

    /// Whether the whole answer was sent.
    pub fn is_answered(&self) -> bool {
        self.answered && self.body.as_ref().is_none_or(Payload::is_empty)
    }
}

fn fail(out: &mut Vec<u8>, status: &str) {
    let body = format!("{status}\n");
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    out.extend_from_slice(head.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(request: &[u8]) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut http = Http::new(folder);
        let mut out = Vec::new();
        for byte in request {
            http.take(&[*byte], &mut out).unwrap();
        }
        while !http.is_answered() {
            let before = out.len();
            http.next(1_000, &mut out).unwrap();
            if out.len() == before {
                break;
            }
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_file_is_given_whole() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
        let found = answer(b"GET /lib.rs HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with(&text));
        assert!(found.contains(&format!("Content-Length: {}\r\n", text.len())));
        assert!(answer(b"HEAD /lib.rs HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    }

    #[test]
    fn nothing_outside_the_folder_is_given() {
        for target in ["/../Cargo.toml", "//etc/passwd", "/nothing", "lib.rs", "/serve/../../Cargo.toml"] {
            let found = answer(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes());
            assert!(found.starts_with("HTTP/1.1 404 "), "{target}: {found}");
        }
    }

    #[test]
    fn strange_requests_are_refused() {
        assert!(answer(b"hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
        assert!(answer(b"POST /lib.rs HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(answer(&[b'x'; LONGEST + 1]).starts_with("HTTP/1.1 431 "));
        assert_eq!(answer(b"GET / HTTP/1.1\r\n"), "", "it is not complete");
    }
}
