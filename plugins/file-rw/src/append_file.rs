//! The tool `append_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::MAX_PATH_BYTES;

use crate::LARGEST_CHANGED_BYTES;
use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification, diff, extent};
use crate::seen::{Knowledge, Seen};
use crate::text::{BOM_CHARACTER, Encoding, LineEnds, wrong_bytes};

const OPERATION: &str = "append";

/// Adds text to the end of a file.
#[derive(Debug)]
pub struct AppendFile;

/// Arguments of `append_file`.
#[args]
pub struct AppendArgs {
    /// File to add to.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Text for its end; begin it with a line end where one is missing.
    #[schemars(length(max = LARGEST_CHANGED_BYTES))]
    content: String,
}

impl Tool for AppendFile {
    const NAME: &'static str = "append_file";
    const DESCRIPTION: &'static str = "Add text to the end of an existing file.";
    const RISK: Risk = Risk::Write;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = AppendArgs;
    type Out = Output;
    type Config = FileConfig;

    fn run(&self, args: AppendArgs, cx: &Call<'_>) -> Result<Output> {
        let Addition { place, before, after } = Addition::plan(&args, cx)?;
        cx.check().map_err(nothing_done)?;
        let change = Change::Replace { place: &place, before: &before, after: &after };
        let mut changes = Changes::of(cx);
        changes.make(&change).map_err(|error| place.root.told(error))?;
        let seen = Seen::new(cx, &place);
        // Somebody else's change in the same file is still unseen, and must stay so.
        if seen.compare(&blake3::hash(&before)) == Knowledge::Current {
            seen.knows(&blake3::hash(&after));
        }
        let output = Output::text(changes.told(format!("added to `{place}`: now {}", extent(&after))));
        let goes_on =
            before.last().is_some_and(|&last| last != b'\n') && !args.content.starts_with(['\n', '\r']);
        Ok(if goes_on {
            output.note("the last line had no line end; the text goes on in it")
        } else {
            output
        })
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Add text to the end of a file.")]
    }

    fn classify(&self, args: &AppendArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Addition::plan(args, cx)))
    }
}

struct Addition {
    place: Place,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Addition {
    fn plan(args: &AppendArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, true)?.target(&args.path, Use::Write)?;
        let before = place.read(LARGEST_CHANGED_BYTES).map_err(|error| explained(&place.root, error))?;
        if args.content.is_empty() {
            return Err(Error::invalid_arguments("content is empty; there is nothing to add"));
        }
        let encoding = Encoding::sniff(&before);
        if !matches!(encoding, Encoding::Utf8 { .. }) {
            return Err(Error::refused(format!("`{place}` is {encoding}; text is not added to it")));
        }
        if !args.content.is_ascii() && wrong_bytes(&before) > 0 {
            return Err(Error::refused(format!(
                "`{place}` is not UTF-8, and content has characters beyond ASCII that would be stored in another encoding \
                 than the rest"
            )));
        }
        let text = if before.is_empty() {
            args.content.as_str()
        } else {
            args.content.strip_prefix(BOM_CHARACTER).unwrap_or(&args.content)
        };
        let mut after = before.clone();
        if LineEnds::of(&before).all_crlf() {
            after.extend_from_slice(text.replace("\r\n", "\n").replace('\n', "\r\n").as_bytes());
        } else {
            after.extend_from_slice(text.as_bytes());
        }
        Ok(Self { place, before, after })
    }
}

impl Planned for Addition {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        diff(&self.place, &self.before, &self.after)
    }
}
