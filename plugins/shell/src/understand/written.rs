//! Which words of a command name what it writes, as far as tables know.
//!
//! Programs that are in no table may write as well; these are the ones that people and models write with all day.

use super::effects::{self, Effect};
use super::options;
use super::words::Word;

/// Options whose value is written, or is a folder that is written to.
const BY_OPTION: &[(&str, &[&str])] = &[
    ("cp", &["-t", "--target-directory"]),
    (
        "curl",
        &[
            "-o",
            "--output",
            "--output-dir",
            "-D",
            "--dump-header",
            "-c",
            "--cookie-jar",
            "--trace",
            "--stderr",
        ],
    ),
    ("install", &["-t", "--target-directory"]),
    ("ln", &["-t", "--target-directory"]),
    ("mv", &["-t", "--target-directory"]),
    ("patch", &["-o", "--output", "-d", "--directory"]),
    ("sort", &["-o", "--output"]),
    ("tar", &["-C", "--directory"]),
    ("tree", &["-o"]),
    ("unzip", &["-d"]),
    (
        "wget",
        &[
            "-O",
            "--output-document",
            "-P",
            "--directory-prefix",
            "-o",
            "--output-file",
            "-a",
            "--append-output",
        ],
    ),
];

/// Programs that take files away, and so cannot make anything run.
const REMOVING: &[&str] = &["rm", "rmdir", "shred", "truncate", "unlink"];

/// What a command writes: each path, and the word it stands in.
pub(super) fn paths<'w>(program: &str, subcommand: &str, arguments: &'w [Word]) -> Vec<(&'w str, &'w Word)> {
    let mut found = by_options(program, arguments);
    found
        .extend(operands(program, subcommand, arguments).into_iter().map(|word| (path_in(&word.text), word)));
    found.retain(|(path, word)| path.len() < word.text.len() || !word.text.starts_with('-'));
    found
}

/// Whether it could put something there that runs later.
pub(super) fn brings(program: &str) -> bool {
    !REMOVING.contains(&program)
}

fn operands<'w>(program: &str, subcommand: &str, arguments: &'w [Word]) -> Vec<&'w Word> {
    let plain = || arguments.iter().filter(|word| !word.text.starts_with('-'));
    match program {
        "dd" => arguments.iter().filter(|word| word.text.starts_with("of=")).collect(),
        "uniq" => plain().skip(1).collect(),
        // Its first operand is the script, unless an option gives one.
        "sed" if options::effect("sed", "", arguments) >= Some(Effect::Write) => {
            plain().skip(usize::from(!arguments.iter().any(|word| word.text.starts_with("-e")))).collect()
        }
        // The words before the subcommand are options and their values.
        "git" if matches!(subcommand, "clone" | "init" | "worktree") => {
            let own: Vec<&Word> = plain().skip_while(|word| word.text != subcommand).skip(1).collect();
            let written = if subcommand == "clone" { own.get(1..) } else { own.get(..) };
            written.unwrap_or_default().to_vec()
        }
        _ if effects::WRITES_OPERANDS.contains(&program) => arguments.iter().collect(),
        _ if effects::WRITES_LAST.contains(&program) => {
            let last = arguments.len().saturating_sub(1);
            let words = arguments.iter().enumerate();
            words
                .filter(|(index, word)| *index == last || word.text.starts_with('-'))
                .map(|(_, word)| word)
                .collect()
        }
        _ => Vec::new(),
    }
}

fn by_options<'w>(program: &str, arguments: &'w [Word]) -> Vec<(&'w str, &'w Word)> {
    let Some((_, listed)) = BY_OPTION.iter().find(|(name, _)| *name == program) else { return Vec::new() };
    let mut found = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let next = arguments.get(index + 1).map(|word| (word.text.as_str(), word));
        if let Some(long) = word.text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is_listed = listed.iter().filter_map(|option| option.strip_prefix("--"));
            if !name.is_empty() && is_listed.clone().any(|option| option.starts_with(name)) {
                found.extend(value.map(|value| (value, word)).or(next));
            }
        } else if let Some(letters) = word.text.strip_prefix('-') {
            let short =
                listed.iter().filter(|option| option.len() == 2).filter_map(|option| option.chars().nth(1));
            let Some(place) = letters.find(&*short.collect::<Vec<_>>()) else { continue };
            let value = letters.get(place + 1..).unwrap_or_default();
            found.extend(if value.is_empty() { next } else { Some((value, word)) });
        }
    }
    found
}

/// The part of a word that can be a path: what follows `--option=`, or `-o` when a path begins there.
pub(super) fn path_in(text: &str) -> &str {
    if let Some((name, value)) = text.split_once('=')
        && (name.starts_with('-') || !name.contains('/'))
    {
        return value;
    }
    match text.find(['/', '~']) {
        Some(start) if text.starts_with('-') && !text.starts_with("--") => {
            // `-I../x`: the dots belong to the path.
            let dots = text[..start].len() - text[..start].trim_end_matches('.').len();
            &text[start - dots..]
        }
        _ => text,
    }
}
