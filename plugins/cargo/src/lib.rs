//! The plugin `cargo`: runs allowed subcommands of cargo.
//!
//! The frame is the SDK's wrapper of a program; here stand cargo's tables. Only listed options go through. Among those that do
//! not: `--config` and `-Z`, which can name programs to run, and what would open a browser or write elsewhere. A toolchain
//! (`+nightly`) cannot be given, because cargo reads one only in front of the subcommand; the project's own
//! `rust-toolchain.toml` counts. There is no `add`: a new dependency is somebody else's code in the next build, and belongs
//! into an edit of `Cargo.toml` that a person sees.
//!
//! Every subcommand but `--version` lets files of the project decide what is run (build scripts, `rustc-wrapper`), so that
//! each is [`Execute`](Risk::Execute), also those that only tell something.

mod news;

use std::borrow::Cow;

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::process::Command;
use foehn_plugin_sdk::process::wrapper::{NoSettings, OptionRule, Subcommand, Wrapper, WrapperConfig};

/// Which packages, which of their targets, how they are compiled.
const PACKAGES: OptionRule = OptionRule::values("-p --package --exclude");
const COMPILE: OptionRule = OptionRule::values(
    "--bin --example --test --bench --profile --target -F --features -j --jobs --message-format",
);
const COMPILE_FLAGS: OptionRule = OptionRule::flags(
    "--workspace --all -r --release --lib --bins --examples --tests --benches --all-targets --all-features \
     --no-default-features --keep-going --timings --ignore-rust-version",
);
/// What `rustc` may be told after `clippy --`: nothing that names a linker or a file.
const LINT_LEVELS: &[OptionRule] =
    &[OptionRule::values("-A --allow -W --warn -D --deny -F --forbid --cap-lints")];
const FORMATTER: &[OptionRule] = &[
    OptionRule::flags("--check -l --files-with-diff"),
    OptionRule::values("--edition --style-edition --color"),
];

export_plugin!(Cargo);

/// The tool `cargo`.
#[derive(Debug)]
pub struct Cargo;

impl Wrapper for Cargo {
    const NAME: &'static str = "cargo";
    const PROGRAM: &'static str = "cargo";
    const DESCRIPTION: &'static str = "Run a cargo subcommand. Safer than run_shell: prefer it for Rust. Answers with \
                                       errors, warnings and totals.";
    const ON_DEMAND: bool = true;
    const INSTALL: &'static str = "install Rust (https://rustup.rs, or the package `cargo` of the system)";
    const SUBCOMMANDS: &'static [Subcommand] = &[
        Subcommand::new("check", "Check that packages compile.").options(&[PACKAGES, COMPILE, COMPILE_FLAGS]),
        Subcommand::new("build", "Compile packages.").options(&[PACKAGES, COMPILE, COMPILE_FLAGS]),
        Subcommand::new("test", "Compile and run tests.")
            .options(&[PACKAGES, COMPILE, COMPILE_FLAGS, OptionRule::flags("--no-run --no-fail-fast --doc")])
            .rest_to_program(),
        Subcommand::new("run", "Compile and run a program.")
            .options(&[PACKAGES, COMPILE, COMPILE_FLAGS])
            .rest_to_program(),
        Subcommand::new("clippy", "Check packages for mistakes.")
            .options(&[
                PACKAGES,
                COMPILE,
                COMPILE_FLAGS,
                OptionRule::flags("--no-deps --fix --allow-dirty --allow-staged"),
            ])
            .rest_options(LINT_LEVELS),
        Subcommand::new("fmt", "Format sources.")
            .options(&[PACKAGES, OptionRule::flags("--all --check"), OptionRule::values("--message-format")])
            .rest_options(FORMATTER),
        Subcommand::new("doc", "Build documentation.").options(&[
            PACKAGES,
            COMPILE,
            COMPILE_FLAGS,
            OptionRule::flags("--no-deps --document-private-items"),
            OptionRule::refused("--open", "nobody is there to look at a browser"),
        ]),
        Subcommand::new("metadata", "Tell about packages and dependencies as JSON.").options(&[
            OptionRule::flags("--no-deps --all-features --no-default-features"),
            OptionRule::values("-F --features --format-version --filter-platform"),
        ]),
        Subcommand::new("tree", "Tell the tree of dependencies.").options(&[
            PACKAGES,
            OptionRule::flags("--workspace --no-dedupe -d --duplicates --all-features --no-default-features"),
            OptionRule::values("-F --features --target -i --invert --prune --depth -e --edges -f --format --charset --prefix"),
        ]),
        Subcommand::telling("--version", "info", "Tell the version."),
    ];
    const OPTIONS: &'static [OptionRule] = &[
        OptionRule::flags("-v --verbose -vv -q --quiet --locked --offline --frozen"),
        OptionRule::values("--manifest-path --target-dir --color"),
        OptionRule::refused(
            "--config",
            "a setting can name programs to run; write it into `.cargo/config.toml`",
        ),
        OptionRule::refused("-Z", "unstable options can name programs to run"),
        OptionRule::refused("-C", "give the folder as working_directory"),
    ];

    const MISSES_NETWORK: &'static [&'static str] = &[
        "but --offline was specified",
        "you're using offline mode (--offline)",
        "without the offline flag",
        "failed to download from",
    ];

    type Settings = NoSettings;

    fn prepare(&self, command: Command, _: &Workspace, cx: &Cx<'_, WrapperConfig>) -> Result<Command> {
        let command = command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_PROGRESS_WHEN", "never");
        // Without a network it says at once what is missing, instead of trying for a minute.
        let is_offline = !cx.config().programs.has_network(false);
        Ok(if is_offline { command.env("CARGO_NET_OFFLINE", "true") } else { command })
    }

    fn reduce<'a>(&self, subcommand: &Subcommand, output: &'a str) -> Cow<'a, str> {
        news::reduce(subcommand, output)
    }
}
