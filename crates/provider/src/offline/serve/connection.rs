//! One HTTP/1.1 connection of the script server, kept alive: requests with a length, answers whole or in chunks. Only as
//! much of HTTP as model clients use.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Recorded;

const LARGEST_HEAD: usize = 64 * 1024;
const LARGEST_BODY: usize = 64 * 1024 * 1024;

pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// Status and headers of an answer, without its length.
pub(super) struct Head {
    status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(super) fn json(status: u16) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), "application/json".to_owned())] }
    }

    pub(super) fn stream() -> Self {
        Self { status: 200, headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())] }
    }

    pub(super) fn with(status: u16, headers: &BTreeMap<String, String>) -> Self {
        Self { status, headers: headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect() }
    }

    fn text(&self, length: &str) -> String {
        let mut text = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("{length}\r\n\r\n"));
        text
    }
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        // Small pieces must leave at once; where that cannot be set they leave later.
        let _ = stream.set_nodelay(true);
        Self { stream, buffer: Vec::new() }
    }

    /// The next request, `None` when the client has closed the connection between two.
    pub(super) async fn request(&mut self) -> io::Result<Option<Recorded>> {
        let head_end = loop {
            if let Some(position) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break position;
            }
            if self.buffer.len() > LARGEST_HEAD {
                return Err(io::Error::other("the head of the request is too large"));
            }
            if self.fill().await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_end]).into_owned();
        self.buffer.drain(..head_end + 4);
        let mut lines = head.split("\r\n");
        let mut start = lines.next().unwrap_or_default().split(' ');
        let (method, path) = (start.next().unwrap_or_default(), start.next().unwrap_or_default());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length =
            headers.iter().find(|(name, _)| name == "content-length").map(|(_, value)| value.parse());
        let length: usize = length.unwrap_or(Ok(0)).map_err(io::Error::other)?;
        if length > LARGEST_BODY {
            return Err(io::Error::other("the body of the request is too large"));
        }
        while self.buffer.len() < length {
            if self.fill().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let body = String::from_utf8_lossy(&self.buffer[..length]).into_owned();
        self.buffer.drain(..length);
        Ok(Some(Recorded { method: method.to_owned(), path: path.to_owned(), headers, body }))
    }

    pub(super) async fn whole(&mut self, head: &Head, body: &str) -> io::Result<()> {
        self.part_of_whole(head, body.len(), body).await
    }

    /// Says `length` and sends `body`, which may be less.
    pub(super) async fn part_of_whole(&mut self, head: &Head, length: usize, body: &str) -> io::Result<()> {
        let text = head.text(&format!("content-length: {length}")) + body;
        self.stream.write_all(text.as_bytes()).await
    }

    pub(super) async fn start(&mut self, head: &Head) -> io::Result<()> {
        self.stream.write_all(head.text("transfer-encoding: chunked").as_bytes()).await
    }

    pub(super) async fn chunk(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        let mut framed = format!("{:x}\r\n", piece.len()).into_bytes();
        framed.extend_from_slice(piece);
        framed.extend_from_slice(b"\r\n");
        self.stream.write_all(&framed).await
    }

    pub(super) async fn end(&mut self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n").await
    }

    /// Waits, unless the client leaves.
    pub(super) async fn rest(&mut self, wait: Duration) -> io::Result<()> {
        if wait.is_zero() {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(()),
            left = self.wait_for_hang_up() => left,
        }
    }

    /// Never succeeds: it ends with an error when the client leaves.
    pub(super) async fn wait_for_hang_up(&mut self) -> io::Result<()> {
        loop {
            if self.fill().await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.stream.read_buf(&mut self.buffer).await
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500..=599 => "Server Error",
        _ => "Status",
    }
}
