//! How commands print: JSON lines for programs, aligned columns for people. Answers to `foehn run` and `foehn chat` are
//! the terminal crate's; this is for everything else.

use std::io::{self, Write as _};

use foehn_terminal::visible;
use serde_json::Value;

/// One JSON value, one line.
pub(crate) fn line(value: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, value)?;
    stdout.write_all(b"\n")
}

/// Text as it is, safe for a terminal.
pub(crate) fn text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(visible(text).as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(())
}

/// A line for the person, beside the data.
pub(crate) fn remark(text: &str) {
    // A closed stderr must not fail a command whose work is done.
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// An error with its causes, each said once: many errors already tell their cause.
pub(crate) fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// Rows under a heading, columns aligned; `empty` when there is no row.
pub(crate) fn table(heading: &[&str], rows: Vec<Vec<String>>, empty: &str) -> io::Result<()> {
    text(&columns(heading, rows, empty))
}

/// The same as text.
pub(crate) fn columns(heading: &[&str], rows: Vec<Vec<String>>, empty: &str) -> String {
    if rows.is_empty() {
        return empty.to_owned();
    }
    let mut lines = vec![heading.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows);
    let mut widths = vec![0; heading.len()];
    for row in &lines {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in lines {
        let padded: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        out.push_str(padded.join("  ").trim_end());
        out.push('\n');
    }
    out
}
