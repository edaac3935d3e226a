//! Programs that are given as an argument: which of them are plain enough to know what they do.

use super::effects;
use super::words::Word;

/// What about the arguments of a program that runs programs is not understood.
pub(super) fn problem(program: &str, arguments: &[Word]) -> Option<&'static str> {
    if effects::is_interpreter(program) {
        return interpreter(arguments);
    }
    match program {
        "awk" | "gawk" | "mawk" => {
            let plain = operand(arguments, &["-F", "-v"]).and_then(Word::exact).is_some_and(awk_is_plain);
            (!plain).then_some("a script that may run other programs")
        }
        "sed" => (!sed_is_plain(arguments)).then_some("a script that may run other programs"),
        _ => None,
    }
}

fn interpreter(arguments: &[Word]) -> Option<&'static str> {
    const FROM_INPUT: Option<&str> = Some("it reads its program from its input");
    let Some(first) = arguments.iter().find(|word| !word.text.starts_with('-') || word.text == "-") else {
        let says_itself =
            |word: &Word| matches!(word.text.as_str(), "--version" | "-V" | "-v" | "--help" | "-h");
        return if arguments.iter().any(says_itself) { None } else { FROM_INPUT };
    };
    if first.text == "-" || first.text == "/dev/stdin" || first.text == "/dev/fd/0" {
        return FROM_INPUT;
    }
    (!first.is_literal).then_some("it reads a program that is worked out at run time")
}

/// The first word that is no option, where these options take a value.
fn operand<'w>(arguments: &'w [Word], values: &[&str]) -> Option<&'w Word> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if values.contains(&word.text.as_str()) {
            rest.next();
        } else if !word.text.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Without what runs programs, and without output to files. Outside of braces `>` compares.
fn awk_is_plain(script: &str) -> bool {
    let alone = script.replace("||", "").replace(">=", "");
    let mut depth = 0_u32;
    for letter in alone.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            // A brace in a text or pattern could hide where an action begins.
            '>' if depth > 0 || alone.contains(['"', '/']) => return false,
            _ => {}
        }
    }
    !alone.contains('|') && !["system", "getline", "@"].iter().any(|word| alone.contains(word))
}

fn sed_is_plain(arguments: &[Word]) -> bool {
    let given: Vec<&Word> =
        arguments.windows(2).filter(|pair| pair[0].text == "-e").map(|pair| &pair[1]).collect();
    let scripts = if given.is_empty() { operand(arguments, &["-l"]).into_iter().collect() } else { given };
    // Scripts that are given in another way than as `-e SCRIPT`.
    let elsewhere = arguments.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with("--e")
            || (text.starts_with('-') && !text.starts_with("--") && text.len() > 2 && text.contains('e'))
    });
    !scripts.is_empty()
        && !elsewhere
        && scripts.iter().all(|word| word.exact().is_some_and(sed_commands_are_plain))
}

/// Addresses of lines, and commands that print, delete, join or replace.
fn sed_commands_are_plain(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_ascii_digit()
                || letter.is_whitespace()
                || matches!(letter, ',' | '$' | '~' | '!' | '+' | ';' | '{' | '}')
        });
        let mut letters = rest.chars();
        match letters.next() {
            None => return true,
            Some('/') => match delimited(letters.as_str(), '/') {
                Some(after) => rest = after.trim_start_matches('I'),
                None => return false,
            },
            Some('p' | 'd' | 'q' | '=' | 'D' | 'P' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'l') => {
                rest = letters.as_str();
            }
            Some(command @ ('s' | 'y')) => {
                let Some(delimiter) =
                    letters.next().filter(|delimiter| !delimiter.is_whitespace() && *delimiter != '\\')
                else {
                    return false;
                };
                let replaced =
                    delimited(letters.as_str(), delimiter).and_then(|after| delimited(after, delimiter));
                let Some(after) = replaced else { return false };
                let flags = |letter: char| matches!(letter, 'g' | 'p' | 'i' | 'I') || letter.is_ascii_digit();
                rest = if command == 's' { after.trim_start_matches(flags) } else { after };
                if !rest.is_empty() && !rest.starts_with([';', '\n', '}', ' ']) {
                    return false;
                }
            }
            Some(_) => return false,
        }
    }
}

/// What follows the next delimiter.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == delimiter {
            return Some(letters.as_str());
        }
    }
    None
}
