//! The host's log: a file in the state folder, never the terminal.
//!
//! It is opened with its first line, so that a quiet run opens no file. Known secrets are replaced before anything is
//! written, as a second line behind types that do not print them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, RwLock};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// Text shorter than this is not masked: it would blank out half of every line and is no secret worth the name.
const SHORTEST_SECRET: usize = 6;

/// Secrets that must not reach the log; grows as they are resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Arc<RwLock<Vec<String>>>);

impl Secrets {
    pub(crate) fn add(&self, secret: &str) {
        if secret.len() >= SHORTEST_SECRET
            && let Ok(mut known) = self.0.write()
        {
            known.push(secret.to_owned());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.read().is_ok_and(|known| known.is_empty())
    }

    /// Replaces every known secret in `text`.
    pub(crate) fn mask_in(&self, text: &mut String) {
        let Ok(known) = self.0.read() else { return };
        for secret in known.iter() {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), MASK);
            }
        }
    }
}

/// Starts logging to `path` at the levels of `directives` (`info`, `warn,plugin=debug`, ...). Directives that do not
/// parse are an error of the configuration.
pub(crate) fn start(path: PathBuf, directives: &str, secrets: Secrets) -> Result<(), String> {
    let targets: Targets = directives.parse().map_err(|error| {
        format!("log.level `{directives}` is not a level or a list like `warn,plugin=debug`: {error}")
    })?;
    let writer = LogFile { path, file: Arc::new(OnceLock::new()), secrets };
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
    // A second start in one process (tests, embedding) keeps the first log.
    let _ = tracing_subscriber::registry().with(targets).with(layer).try_init();
    Ok(())
}

#[derive(Clone)]
struct LogFile {
    path: PathBuf,
    file: Arc<OnceLock<Option<File>>>,
    secrets: Secrets,
}

impl LogFile {
    fn open(&self) -> Option<File> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path).ok()
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine(self.clone())
    }
}

struct LogLine(LogFile);

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A log that cannot be written must not stop the work; `doctor` tells of the folder.
        if let Some(mut file) = self.0.file.get_or_init(|| self.0.open()).as_ref() {
            let mut line = String::from_utf8_lossy(bytes).into_owned();
            self.0.secrets.mask_in(&mut line);
            file.write_all(line.as_bytes())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_secret_is_masked_wherever_it_stands() {
        let secrets = Secrets::default();
        secrets.add("sk-test-123");
        secrets.add("ab");
        let mut text = "key=sk-test-123, ab".to_owned();
        secrets.mask_in(&mut text);
        assert_eq!(text, "key=[secret], ab");
    }
}
