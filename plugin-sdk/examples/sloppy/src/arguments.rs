//! Arguments that models get wrong, group by group as the lint's rules are.
#![allow(dead_code, reason = "only what the arguments say of themselves matters here")]

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::serde_json::{Map, Value};
use foehn_plugin_sdk::{schemars, serde};

/// Texts that say nothing, or the opposite of the schema.
#[args]
pub(crate) struct TextArgs {
    #[schemars(length(max = 80))]
    author: String,
    /// The title.
    #[schemars(length(max = 80))]
    title: String,
    /// Optional: where the note lies.
    #[schemars(length(max = 80))]
    place: String,
    /// Where to write the answer to.
    #[schemars(length(max = 80))]
    target: Option<String>,
}

/// Names that are mixed up.
#[args]
pub(crate) struct NameArgs {
    /// As it stands above the note.
    #[serde(rename = "note title")]
    #[schemars(length(max = 80))]
    spaced: String,
    /// Whatever is known of the note.
    #[schemars(length(max = 80))]
    data: String,
    /// As the list shows it.
    #[schemars(length(max = 80))]
    note_name: String,
    /// As the note itself says it.
    #[serde(rename = "noteName")]
    #[schemars(length(max = 80), extend("x-foehn-aliases" = ["data"]))]
    camel: String,
    /// Word that the note must have.
    #[schemars(length(max = 80))]
    tag1: String,
    /// Word that the note must have as well.
    #[serde(default)]
    #[schemars(length(max = 80))]
    tag2: String,
}

/// Questions that are the host's to answer.
#[args]
pub(crate) struct TrustArgs {
    /// For whom to delete it.
    #[schemars(length(max = 80))]
    tenant: String,
    /// What opens the store of notes.
    #[schemars(length(max = 80))]
    password: String,
}

/// Types that are none.
#[args]
pub(crate) struct ShapeArgs {
    /// What to look for.
    wanted: Value,
    /// How to look for it.
    filter: Map<String, Value>,
    /// Where to look for it.
    region: Region,
    /// When it was written.
    year: Year,
    /// Also those of past years.
    #[serde(default)]
    include_old: bool,
    /// Only those of this year.
    #[serde(default)]
    exclude_old: bool,
    /// Leave out the first line.
    #[serde(default)]
    no_header: bool,
}

/// Without `#[args]`, and so without the refusal of unknown keys.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "foehn_plugin_sdk::serde")]
#[schemars(crate = "foehn_plugin_sdk::schemars", inline)]
pub(crate) struct Region {
    /// Which shelf to look at.
    #[schemars(length(max = 80))]
    shelf: String,
}

#[args]
#[serde(untagged)]
pub(crate) enum Year {
    Number(#[schemars(range(min = 1, max = 9999))] u16),
    Text(#[schemars(length(max = 4))] String),
}

/// Choices that are no choice.
#[args]
pub(crate) struct ChoiceArgs {
    /// Sort by one of newest, oldest, title.
    #[schemars(length(max = 20))]
    order: String,
    /// How much to sort.
    scope: Scope,
    /// How to sort.
    method: Method,
    /// Which notes to sort.
    selection: Selection,
}

#[args]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    Note,
    Notes,
    Shelf,
}

#[args]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    Quick,
}

#[args]
#[serde(untagged)]
pub(crate) enum Selection {
    ByTitle {
        /// As it stands above the note.
        #[schemars(length(max = 80))]
        title: String,
    },
    ByShelf {
        /// Which shelf to take.
        #[schemars(length(max = 80))]
        shelf: String,
    },
}

/// Amounts without end, or without a beginning.
#[args]
pub(crate) struct BoundArgs {
    /// What to write at the end of each.
    ending: String,
    /// Which notes to shorten.
    #[schemars(inner(length(max = 80)))]
    titles: Vec<String>,
    /// How much to keep.
    keep: i64,
    /// How often to try.
    #[schemars(range(min = 5, max = 1))]
    tries: u32,
    /// How long it may take.
    #[schemars(range(min = 1, max = 600))]
    timeout: u32,
}

/// Values that do not fit.
#[args]
pub(crate) struct ValueArgs {
    /// Which export is meant.
    #[schemars(length(max = 36))]
    export_id: String,
    /// How much to tell.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9))]
    verbosity: u32,
    /// Where the list ends.
    #[schemars(range(min = 1, max = 500), example = &"all")]
    most_notes: u32,
    /// Month of the export.
    #[schemars(regex(pattern = "^[0-9]{4}/[0-9]{2}$"))]
    month: String,
}

/// A pattern that is none.
#[args]
pub(crate) struct PatternArgs {
    /// Word in parentheses, such as `(urgent)`.
    #[schemars(length(max = 80), regex(pattern = "^(.*)("))]
    tag: String,
}

/// More than anybody fills in.
#[args]
pub(crate) struct ManyArgs {
    /// As it stands above the note.
    #[schemars(length(max = 80))]
    title: String,
    /// Who wrote the note.
    #[schemars(length(max = 80))]
    author: String,
    /// Where it was written.
    #[schemars(length(max = 80))]
    place: String,
    /// With what it was written.
    #[schemars(length(max = 80))]
    ink: String,
    /// On what to print it.
    #[schemars(length(max = 80))]
    paper: String,
    /// Who is to have it.
    #[schemars(length(max = 80))]
    reader: String,
    /// Print the page count too.
    #[serde(default)]
    with_count: bool,
    /// Print the day too.
    #[serde(default)]
    with_day: bool,
    /// Print a frame around it.
    #[serde(default)]
    with_frame: bool,
    /// Print where it was found.
    #[serde(default)]
    with_origin: bool,
    /// Print what refers to it.
    #[serde(default)]
    with_links: bool,
}

/// Boxes in boxes.
#[args]
pub(crate) struct DeepArgs {
    /// Where to put it.
    shelf: Shelf,
}

#[args]
pub(crate) struct Shelf {
    /// Where on the shelf.
    carton: Carton,
}

#[args]
pub(crate) struct Carton {
    /// Where in the carton.
    folder: Folder,
}

#[args]
pub(crate) struct Folder {
    /// Where in the folder.
    sheet: Sheet,
}

#[args]
pub(crate) struct Sheet {
    /// As it stands above the note.
    #[schemars(length(max = 80))]
    title: String,
}
