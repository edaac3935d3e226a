//! The tool `read_file`.

use std::fmt::Write;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::roots::reading;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, UpToNow};

use crate::config::FileConfig;
use crate::files::{Call, Files, Place, explained, nothing_done};
use crate::page::{Page, Wanted};
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

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Read a text file. After a header each line comes as `NUMBER|TEXT`; TEXT is exact, \
                                       tabs and all. The header says how to go on with a long file.";
    const RISK: Risk = Risk::ReadOnly;
    const CAPABILITIES: Capabilities = Capabilities::NONE.read_files();
    const CLASSIFIES: bool = true;

    type Args = ReadArgs;
    type Out = Output;
    type Config = FileConfig;

    fn run(&self, args: ReadArgs, cx: &Call<'_>) -> Result<Output> {
        let wanted = wanted(&args, cx.config())?;
        let (place, note) = Files::open(cx, true)?.readable(&args.path)?;
        let page = read(&place, wanted, cx)?;
        Ok(note.into_iter().fold(Output::text(render(&place, &page)), Output::note))
    }

    fn classify(&self, args: &ReadArgs, cx: &Call<'_>) -> Result<Classification> {
        let place = Files::open(cx, true).and_then(|files| files.readable(&args.path));
        Ok(reading(Self::NAME, &[(&args.path, place.map(|(place, _)| place))]))
    }
}

/// Reads some lines of a file, and keeps in mind that the session has seen it.
pub(crate) fn read(place: &Place, wanted: Wanted, cx: &Call<'_>) -> Result<Page> {
    let file = place.open_file().map_err(|error| explained(&place.root, error))?;
    let page = Page::read(&mut UpToNow::new(file), wanted, || cx.check())
        .map_err(|error| nothing_done(error).context(format_args!("`{place}`")))?;
    Seen::new(cx, place).knows(&page.hash);
    Ok(page)
}

fn wanted(args: &ReadArgs, config: &FileConfig) -> Result<Wanted> {
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

pub(crate) fn render(place: &Place, page: &Page) -> String {
    let mut text = format!("`{place}`: ");
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
pub(crate) fn facts(page: &Page) -> Vec<String> {
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
