//! What the options of well-known programs change about what they do: tables.

use super::effects::Effect;
use super::words::Word;

/// Options that change what a program does: the program, its subcommand or nothing, the options, the effect. One letter
/// counts in any bundle of letters, a long option also when it is cut short, any other as a whole.
const OPTIONS: &[(&str, &str, &[&str], Effect)] = &[
    ("find", "", &["-exec", "-execdir", "-ok", "-okdir"], Effect::Unknown),
    ("find", "", &["-delete"], Effect::Destructive),
    ("find", "", &["-fprint", "-fprint0", "-fprintf", "-fls"], Effect::Unknown),
    ("fd", "", &["-x", "-X", "--exec", "--exec-batch"], Effect::Unknown),
    (
        "git",
        "",
        &["--ext-diff", "--textconv", "--upload-pack", "--receive-pack", "--output", "--exec", "--filters"],
        Effect::Unknown,
    ),
    ("git", "grep", &["-O", "--open-files-in-pager"], Effect::Unknown),
    ("git", "rebase", &["-x"], Effect::Unknown),
    ("git", "init", &["--template"], Effect::Unknown),
    (
        "git",
        "filter-branch",
        &[
            "--tree-filter",
            "--index-filter",
            "--env-filter",
            "--msg-filter",
            "--commit-filter",
            "--parent-filter",
            "--tag-name-filter",
            "--setup",
        ],
        Effect::Unknown,
    ),
    ("cargo", "", &["--config", "-Z"], Effect::Unknown),
    ("npm", "", &["--script-shell", "--node-options"], Effect::Unknown),
    ("pnpm", "", &["--script-shell", "--shell-emulator"], Effect::Unknown),
    ("git", "bisect", &["run"], Effect::Unknown),
    ("git", "submodule", &["foreach"], Effect::Unknown),
    ("git", "config", &["--edit", "-e"], Effect::Unknown),
    ("git", "clone", &["-c", "--config", "-u", "--template"], Effect::Unknown),
    ("git", "difftool", &["-x", "--extcmd"], Effect::Unknown),
    (
        "tar",
        "",
        &["-I", "-F", "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command"],
        Effect::Unknown,
    ),
    ("tar", "", &["--info-script", "--new-volume-script", "--rmt-command"], Effect::Unknown),
    ("rg", "", &["--pre", "--hostname-bin"], Effect::Unknown),
    ("sort", "", &["--compress-program"], Effect::Unknown),
    ("sort", "", &["-o", "--output"], Effect::Write),
    ("split", "", &["--filter"], Effect::Unknown),
    ("tree", "", &["-o", "-R"], Effect::Write),
    ("date", "", &["-s", "--set"], Effect::Destructive),
    ("sed", "", &["-f", "--file"], Effect::Unknown),
    ("sed", "", &["-i", "--in-place"], Effect::Write),
    (
        "awk",
        "",
        &["-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec", "-e", "--source"],
        Effect::Unknown,
    ),
    ("rsync", "", &["-e", "--rsh", "--rsync-path"], Effect::Unknown),
    ("ssh", "", &["-o", "-F", "-J"], Effect::Unknown),
    ("scp", "", &["-o", "-F", "-S", "-J"], Effect::Unknown),
    ("sftp", "", &["-o", "-F", "-S", "-J", "-b"], Effect::Unknown),
    ("nc", "", &["-e", "-c", "--exec", "--sh-exec"], Effect::Unknown),
    ("ncat", "", &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"], Effect::Unknown),
    ("curl", "", &["-K", "--config"], Effect::Unknown),
    ("wget", "", &["-e", "--execute", "--use-askpass", "--config"], Effect::Unknown),
    ("zip", "", &["-TT", "--unzip-command"], Effect::Unknown),
    ("make", "", &["-f", "--file", "--makefile", "--eval"], Effect::Unknown),
    ("man", "", &["-P", "--pager", "-H", "--html"], Effect::Unknown),
    ("go", "", &["-toolexec", "-exec", "-vettool"], Effect::Unknown),
    ("docker", "", &["--entrypoint"], Effect::Unknown),
    ("file", "", &["-C", "--compile", "-z", "-Z"], Effect::Other),
    ("hexdump", "", &["-f"], Effect::Other),
];

/// What options add to the effect of a program; `None` when nothing.
pub(super) fn effect(program: &str, subcommand: &str, arguments: &[Word]) -> Option<Effect> {
    let program = if matches!(program, "gawk" | "mawk") { "awk" } else { program };
    // What stands behind `--` is no option any more.
    let options: Vec<&str> =
        arguments.iter().map(|word| word.text.as_str()).take_while(|text| *text != "--").collect();
    OPTIONS
        .iter()
        .filter(|(name, of, _, _)| *name == program && (of.is_empty() || *of == subcommand))
        .filter(|(_, _, listed, _)| {
            listed.iter().any(|listed| options.iter().any(|given| is_given(listed, given)))
        })
        .map(|(_, _, _, effect)| *effect)
        .chain(bundle(program, &options))
        .max()
}

/// Subcommands of git that have no option which runs programs.
const GIT_PLAIN: &[&str] = &[
    "add",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "init",
    "merge",
    "mv",
    "reset",
    "restore",
    "rm",
    "stash",
    "status",
    "switch",
    "tag",
];

/// Whether a word that is worked out at run time could be an option which runs programs.
pub(super) fn may_be_hidden(program: &str, subcommand: &str, arguments: &[Word]) -> bool {
    let has_such = OPTIONS.iter().any(|(name, _, _, effect)| *name == program && *effect == Effect::Unknown);
    has_such
        && !(program == "git" && GIT_PLAIN.contains(&subcommand))
        && arguments.iter().take_while(|word| word.text != "--").any(Word::may_be_option)
}

/// `tar` takes its letters without a dash as well.
fn bundle(program: &str, options: &[&str]) -> Option<Effect> {
    let first = options.first().filter(|_| program == "tar")?;
    (!first.starts_with('-') && first.contains(['I', 'F'])).then_some(Effect::Unknown)
}

fn is_given(listed: &str, given: &str) -> bool {
    if let Some(long) = listed.strip_prefix("--") {
        let name = given.split_once('=').map_or(given, |(name, _)| name);
        return name.strip_prefix("--").is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    match listed.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => {
            given.starts_with('-') && !given.starts_with("--") && given.contains(letter)
        }
        // The words of a subcommand, also with a name behind a full stop.
        None => given == listed || given.strip_prefix(listed).is_some_and(|rest| rest.starts_with('.')),
        Some(_) => given.split('=').next() == Some(listed),
    }
}
