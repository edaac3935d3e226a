//! A script played over HTTP by a process of its own, so that the product's wire code is tested too.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::run::Started;

/// A scripted model on loopback; it ends when it is dropped.
#[derive(Debug)]
pub struct Served {
    _server: Started,
    url: String,
    record: PathBuf,
}

impl Served {
    pub(crate) fn new(mut server: Started, record: PathBuf) -> Self {
        let url = server.wait_for("http://").trim().to_owned();
        Self { _server: server, url, record }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far, as they were sent.
    pub fn requests(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.record).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a recorded request is JSON")).collect()
    }

    /// The bodies of the requests so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|mut request| request["body"].take()).collect()
    }
}
