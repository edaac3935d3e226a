//! Answers from the results of tools.

use std::fmt::Write;

use foehn_ports::ToolDefinition;

use super::Given;
use super::fill::SOURCE_ENDINGS;
use super::prompt::{Order, Prompt};
use super::rows::{Result, Row};

const SHOWN_ROWS: usize = 5;
const SHOWN_LINES: usize = 60;
const SHOWN_LETTERS: usize = 4000;

pub(super) fn answer(prompt: &Prompt, given: &[Given<'_>]) -> String {
    let mut answer = String::new();
    for given in given {
        let result = Result::read(given.content, given.is_error);
        if !answer.is_empty() {
            answer.push_str("\n\n");
        }
        answer.push_str(&one(prompt, given, &result));
    }
    answer
}

/// What can be asked, when nothing fits.
pub(super) fn help(tools: &[ToolDefinition]) -> String {
    if tools.is_empty() {
        return "There is no tool here that I could use, so there is nothing I can do.".to_owned();
    }
    let mut help =
        "I found no tool that fits this and whose arguments are in the text. These are here:\n".to_owned();
    for tool in tools {
        let line = tool.description.lines().next().unwrap_or_default().trim();
        let first = line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.');
        let _ = write!(help, "\n- `{}`: {first}", tool.name);
    }
    help.push_str(
        "\n\nAsk plainly, for example: \"which source files here are the largest?\", \"read README.md\", \"create \
         notes.txt with hello\", \"run `ls`\".",
    );
    help
}

fn one(prompt: &Prompt, given: &Given<'_>, result: &Result<'_>) -> String {
    let tool = given.tool;
    if !result.ok {
        let message = if result.message.is_empty() { result.text() } else { result.message.clone() };
        return format!("`{tool}` did not do it: {}", shortened(&message));
    }
    let rows = rows(prompt, result);
    let mut told = match prompt.order {
        Some(order) if !rows.is_empty() => {
            let text = result.text();
            let in_bytes = given.description.contains("byte") || text.contains("byte");
            let mut told = ordered(prompt, order, rows, in_bytes);
            if let Some(first) =
                text.lines().next().filter(|first| !first.contains('\t') && is_partial(first))
            {
                let _ = write!(told, "\n\nThis is not all: {first}");
            }
            told
        }
        _ if prompt.counts && !rows.is_empty() => {
            format!("There are {} in what `{tool}` found.", rows.len())
        }
        _ => {
            let text = shortened(&result.text());
            if text.trim().is_empty() {
                format!("`{tool}` is done.")
            } else {
                format!("`{tool}` gave:\n\n{text}")
            }
        }
    };
    for note in &result.notes {
        let _ = write!(told, "\n\nNote: {note}");
    }
    told
}

/// Whether a header says that its list goes on elsewhere.
fn is_partial(header: &str) -> bool {
    ["more", "stopped", "truncated", "continue"].iter().any(|word| header.contains(word))
}

/// The rows that the request is about.
fn rows(prompt: &Prompt, result: &Result<'_>) -> Vec<Row> {
    let files: Vec<Row> = result.rows().into_iter().filter(|row| !row.label.ends_with('/')).collect();
    if !prompt.about_source {
        return files;
    }
    let is_source =
        |row: &&Row| row.label.rsplit_once('.').is_some_and(|(_, ending)| SOURCE_ENDINGS.contains(&ending));
    let source: Vec<Row> = files.iter().filter(is_source).cloned().collect();
    if source.is_empty() { files } else { source }
}

fn ordered(prompt: &Prompt, order: Order, mut rows: Vec<Row>, in_bytes: bool) -> String {
    rows.sort_by(|left, right| {
        let by_number = match order {
            Order::Largest => right.number.cmp(&left.number),
            Order::Smallest => left.number.cmp(&right.number),
        };
        by_number.then_with(|| left.label.cmp(&right.label))
    });
    let wanted =
        prompt.numbers.first().map_or(SHOWN_ROWS, |number| usize::try_from(*number).unwrap_or(usize::MAX));
    let shown = wanted.clamp(1, rows.len());
    let word = match order {
        Order::Largest => "largest",
        Order::Smallest => "smallest",
    };
    let kind = if prompt.about_source { "source files" } else { "files" };
    let unit = if in_bytes { " bytes" } else { "" };
    let mut told = format!("The {shown} {word} of {} {kind}:\n", rows.len());
    for (position, row) in rows.iter().take(shown).enumerate() {
        let _ = write!(told, "\n{}. {}, {}{unit}", position + 1, row.label, row.number);
    }
    told
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    let mut shown = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(SHOWN_LINES) {
        if shown.len() + line.len() > SHOWN_LETTERS {
            shown.extend(line.chars().take(SHOWN_LETTERS.saturating_sub(shown.len())));
            shown.push_str("…\n");
            break;
        }
        shown.push_str(line);
        shown.push('\n');
    }
    let left = lines.count();
    if left > 0 {
        let _ = write!(shown, "… and {left} more lines");
    }
    shown.trim_end().to_owned()
}
