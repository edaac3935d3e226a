//! The tool `stat_file`.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::walk::escaped;
use foehn_plugin_sdk::workspace::cap_std::fs::{FileTypeExt, Metadata, MetadataExt as _};
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, UpToNow};

use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::page::{Page, PageError, Wanted};
use crate::text::counted;
use crate::time::shown;

/// Tells what a file or folder is.
#[derive(Debug)]
pub struct StatFile;

/// Arguments of `stat_file`.
#[args]
pub struct StatArgs {
    /// File or folder.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
}

impl Tool for StatFile {
    const NAME: &'static str = "stat_file";
    const DESCRIPTION: &'static str = "Tell kind, size, lines, encoding, line ends and time of change.";
    const RISK: Risk = Risk::ReadOnly;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = StatArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: StatArgs, cx: &Call<'_>) -> Result<String> {
        stat(&args.path, cx).map_err(nothing_done)
    }

    fn classify(&self, args: &StatArgs, cx: &Call<'_>) -> Result<Classification> {
        let path = args.path.as_str();
        let files = match Files::open(cx, true) {
            Ok(files) => files,
            Err(error) => return Ok(reading(Self::NAME, &[(path, Err(error))])),
        };
        let entry = files.entry(path, Use::Read);
        // Of a link both are told: itself, and what it leads to.
        let target = files.target(path, Use::Read).ok().filter(|_| entry.is_ok());
        let places: Vec<_> = [entry].into_iter().chain(target.map(Ok)).map(|place| (path, place)).collect();
        Ok(reading(Self::NAME, &places))
    }
}

fn stat(given: &str, cx: &Call<'_>) -> Result<String> {
    let files = Files::open(cx, true)?;
    let entry = files.entry(given, Use::Read)?;
    let explained = |error| explained(&entry.root, error);
    let metadata = entry.symlink_metadata().map_err(explained)?;
    let mut text = format!("`{entry}`: {}", kind(&metadata));
    if metadata.is_symlink() {
        let target = entry.files().read_link(&entry.real);
        let target = target.map(|target| escaped(target.as_os_str())).unwrap_or_else(|_| "?".to_owned());
        let _ = write!(text, " to `{target}`");
        match files.target(given, Use::Read).and_then(|place| {
            place.metadata().map_err(|error| place.root.told(error)).map(|found| (place, found))
        }) {
            Ok((place, found)) => {
                let real = place.root.shown(&place.real).display().to_string();
                let _ = write!(text, "; it leads to {} `{real}`", kind(&found));
                facts(&mut text, &place, &found, cx)?;
            }
            Err(error) => {
                let _ = write!(text, "; {}", error.message());
            }
        }
    } else {
        if metadata.is_file() {
            files.allowed_extension(&entry)?;
        }
        facts(&mut text, &entry, &metadata, cx)?;
    }
    Ok(text)
}

fn facts(text: &mut String, place: &Place, metadata: &Metadata, cx: &Call<'_>) -> Result<()> {
    if metadata.is_file() {
        let _ = write!(text, "\nsize: {}", counted(metadata.len(), "byte"));
        if metadata.nlink() > 1 {
            let _ = write!(
                text,
                "\nnames: {} (hard links; a change gives this one a file of its own)",
                metadata.nlink()
            );
        }
        match place.open_file() {
            Ok(file) => content(text, &file, cx)?,
            Err(error) => {
                let _ = write!(text, "\ncontent: {}", place.root.told(error).message());
            }
        }
    }
    let _ = write!(text, "\nmode: {:04o}", metadata.mode() & 0o7777);
    if let Some(time) = shown(metadata.mtime()) {
        let _ = write!(text, "\nmodified: {time}");
    }
    Ok(())
}

fn content(text: &mut String, file: &std::fs::File, cx: &Call<'_>) -> Result<()> {
    // No line is wanted: they are only counted.
    let wanted = Wanted { first: 1, last: Some(0), page_characters: 0, line_characters: 1 };
    let page = Page::read(&mut UpToNow::new(file), wanted, || cx.check().map_err(Stopped::Call));
    match page {
        Ok(page) => {
            let _ = write!(text, "\nlines: {}\nencoding: ", page.total_lines);
            if page.wrong_bytes > 0 && page.encoding.bom_bytes() != 2 {
                let _ = write!(text, "unknown, {} not UTF-8", counted(page.wrong_bytes, "byte"));
            } else {
                let _ = write!(text, "{}", page.encoding);
            }
            let ends = match (page.ends.crlf, page.ends.lf) {
                (0, 0) => "none".to_owned(),
                (0, _) => "\\n".to_owned(),
                (_, 0) => "\\r\\n".to_owned(),
                (crlf, lf) => format!("{crlf} of \\r\\n and {lf} of \\n"),
            };
            let last =
                if page.ends_with_newline || page.total_lines == 0 { "" } else { ", the last line has none" };
            let _ = write!(text, "\nline ends: {ends}{last}");
        }
        Err(Stopped::Page(PageError::Binary)) => text.push_str("\nencoding: binary"),
        Err(Stopped::Page(problem)) => {
            let _ = write!(text, "\ncontent: {problem}");
        }
        Err(Stopped::Call(error)) => return Err(error),
    }
    Ok(())
}

enum Stopped {
    Page(PageError),
    Call(Error),
}

impl From<PageError> for Stopped {
    fn from(problem: PageError) -> Self {
        Self::Page(problem)
    }
}

fn kind(metadata: &Metadata) -> &'static str {
    let file_type = metadata.file_type();
    if metadata.is_dir() {
        "a folder"
    } else if metadata.is_file() {
        "a file"
    } else if metadata.is_symlink() {
        "a link"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
