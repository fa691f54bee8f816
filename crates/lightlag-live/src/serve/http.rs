//! A very small HTTP server: GET and HEAD of the files in a directory, one request per connection (RFC 9112).

use super::payload::{Payload, PayloadSource};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Maximum accepted length of a request header, in bytes.
const LONGEST: usize = 16 << 10;

/// One connection from an HTTP client.
pub struct Http {
    folder: PathBuf,
    request: Vec<u8>,
    answered: bool,
    body: Option<Payload>,
}

impl Http {
    /// Creates the server side of a connection, which serves the files in a directory.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, request: Vec::new(), answered: false, body: None }
    }

    /// Processes received bytes. Once the request is complete, appends the head of the reply to `out`.
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
        match self.find(target).and_then(|path| PayloadSource::File(path).open().ok()) {
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

    /// Returns the requested file, if it lies inside the directory.
    fn find(&self, target: &str) -> Option<PathBuf> {
        let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
        let path = Path::new(if path.is_empty() { "index.html" } else { path });
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let resolved = self.folder.join(path).canonicalize().ok().filter(|_| inside)?;
        // A symbolic link may lead out of the directory.
        resolved.starts_with(self.folder.canonicalize().ok()?).then_some(resolved)
    }

    /// Appends up to `most` more bytes of the body to `out`.
    ///
    /// # Errors
    /// If the file cannot be read, or has become shorter.
    pub fn next(&mut self, max: usize, out: &mut Vec<u8>) -> io::Result<()> {
        self.body.as_mut().map_or(Ok(()), |body| body.next(max, out))
    }

    /// Returns true if the complete reply was sent.
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
    fn a_file_is_sent_completely() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
        let response = answer(b"GET /lib.rs HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with(&text));
        assert!(response.contains(&format!("Content-Length: {}\r\n", text.len())));
        assert!(answer(b"HEAD /lib.rs HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
    }

    #[test]
    fn no_file_outside_the_directory_is_sent() {
        for target in ["/../Cargo.toml", "//etc/passwd", "/nothing", "lib.rs", "/serve/../../Cargo.toml"] {
            let found = answer(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes());
            assert!(found.starts_with("HTTP/1.1 404 "), "{target}: {found}");
        }
    }

    #[test]
    fn malformed_requests_are_rejected() {
        assert!(answer(b"hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
        assert!(answer(b"POST /lib.rs HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        assert!(answer(&[b'x'; LONGEST + 1]).starts_with("HTTP/1.1 431 "));
        assert_eq!(answer(b"GET / HTTP/1.1\r\n"), "", "it is not complete");
    }
}
