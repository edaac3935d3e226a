//! The tool `read_file`.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::page::{Page, Wanted};
use crate::place::{Place, explained, nothing_done};
use crate::seen::Seen;
use crate::text::{Encoding, counted};

/// More lines than any file has that somebody reads.
const LAST_LINE: u64 = 1_000_000_000;

/// Reads some lines of a text file.
#[derive(Debug)]
pub struct ReadFile;

/// Arguments of `read_file`.
#[args]
pub struct ReadArgs {
    /// File to read.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// First line, from 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1, max = LAST_LINE))]
    start_line: u64,
    /// Last line; the end of the file if left out.
    #[schemars(range(min = 1, max = LAST_LINE))]
    end_line: Option<u64>,
}

/// Configuration of `read_file`.
#[config]
pub struct ReadConfig {
    /// Most characters of one result.
    max_read_characters: usize,
    /// Most characters of one line; the rest of a longer one is not shown.
    max_line_characters: usize,
}

impl Default for ReadConfig {
    fn default() -> Self {
        Self { max_read_characters: 51_200, max_line_characters: 2_000 }
    }
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Read a text file. After a header each line comes as `NUMBER|TEXT`; TEXT is exact, \
                                       tabs and all. The header says how to go on with a long file.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();

    type Args = ReadArgs;
    type Out = String;
    type Config = ReadConfig;

    fn run(&self, args: ReadArgs, cx: &Cx<'_, ReadConfig>) -> Result<String> {
        let wanted = wanted(&args, cx.config())?;
        let workspace = cx.workspace()?;
        let place = Place::of_target(&workspace, &args.path)?;
        let mut file = workspace.open_file(&place.path).map_err(|error| explained(&workspace, error))?;
        let page = Page::read(&mut file, wanted, || cx.check())
            .map_err(|error| nothing_done(error).context(format_args!("`{}`", place.path)))?;
        Seen::new(cx, &place.real).knows(&page.hash);
        Ok(render(&place.path, &page))
    }
}

fn wanted(args: &ReadArgs, config: &ReadConfig) -> Result<Wanted> {
    let ReadArgs { start_line: first, end_line: last, .. } = *args;
    if first == 0 {
        return Err(Error::invalid_arguments("start_line is 0; lines are counted from 1"));
    }
    if let Some(last) = last.filter(|&last| last < first) {
        return Err(Error::invalid_arguments(format!("end_line {last} comes before start_line {first}")));
    }
    Ok(Wanted {
        first,
        last,
        page_characters: config.max_read_characters,
        line_characters: config.max_line_characters.max(1),
    })
}

fn render(path: &RelPath, page: &Page) -> String {
    let mut text = format!("`{path}`: ");
    let last = page.first + (page.lines.len() as u64).saturating_sub(1);
    let total = page.total_lines;
    let _ = match (total, page.next()) {
        (0, _) => write!(text, "empty"),
        (_, None) if page.first == 1 => write!(text, "{}", counted(total, "line")),
        (_, None) => write!(text, "lines {} to {last} of {total}, the last ones", page.first),
        (_, Some(next)) => {
            write!(text, "lines {} to {last} of {total}, go on with start_line {next}", page.first)
        }
    };
    for fact in facts(page) {
        text.push_str("; ");
        text.push_str(&fact);
    }
    for (number, line) in (page.first..).zip(&page.lines) {
        let _ = write!(text, "\n{number}|{line}");
    }
    text
}

/// What the lines do not show.
fn facts(page: &Page) -> Vec<String> {
    let mut facts = Vec::new();
    match page.encoding {
        Encoding::Utf8 { bom: false } | Encoding::Binary => {}
        Encoding::Utf8 { bom: true } => facts.push(format!("{}, which is not shown", page.encoding)),
        Encoding::Utf16LittleEndian | Encoding::Utf16BigEndian => {
            facts.push(format!("{}, shown as UTF-8; it cannot be edited", page.encoding));
        }
    }
    if page.wrong_bytes > 0 {
        let bytes = counted(page.wrong_bytes, "byte");
        facts.push(format!("not UTF-8, {bytes} shown as \u{FFFD}; edit_file keeps them"));
    }
    match (page.ends.crlf, page.ends.lf) {
        (0, _) => {}
        (_, 0) => facts.push("lines end in \\r\\n".to_owned()),
        (crlf, lf) => facts.push(format!("{crlf} lines end in \\r\\n and {lf} in \\n")),
    }
    if !page.ends_with_newline {
        facts.push("the last line has no line end".to_owned());
    }
    facts
}

fn first_line() -> u64 {
    1
}
