//! The tool `write_file`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification, diff, extent};
use crate::seen::{Knowledge, Seen};
use crate::text::{BOM, BOM_CHARACTER, Encoding, LineEnds};
use crate::{A_FILE_HAS_ANY_LENGTH, LARGEST_CHANGED_BYTES};

const OPERATION: &str = "overwrite";

/// Replaces the whole content of a file.
#[derive(Debug)]
pub struct WriteFile;

/// Arguments of `write_file`.
#[args]
pub struct WriteArgs {
    /// File to replace.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Its whole new content.
    content: String,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Replace the whole content of an existing file. Refused if the file changed since it \
                                       was read. Prefer edit_file for small changes.";
    const LINT_EXCEPTIONS: &'static [LintException] = &[A_FILE_HAS_ANY_LENGTH.at("/content")];
    const RISK: Risk = Risk::Destructive;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = WriteArgs;
    type Out = Output;
    type Config = FileConfig;

    fn run(&self, args: WriteArgs, cx: &Call<'_>) -> Result<Output> {
        let Overwriting { place, before, after, kept } = Overwriting::plan(&args, cx)?;
        cx.check().map_err(nothing_done)?;
        let change = Change::Replace { place: &place, before: &before, after: &after };
        let mut changes = Changes::of(cx);
        changes.make(&change).map_err(|error| place.root.told(error))?;
        Seen::new(cx, &place).knows(&blake3::hash(&after));
        let text = format!("wrote `{place}`: {} (before: {})", extent(&after), extent(&before));
        Ok(kept.into_iter().fold(Output::text(changes.told(text)), Output::note))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Replace the whole content of a file.")]
    }

    fn classify(&self, args: &WriteArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Overwriting::plan(args, cx)))
    }
}

struct Overwriting {
    place: Place,
    before: Vec<u8>,
    after: Vec<u8>,
    /// What of the old file the new one keeps.
    kept: Vec<&'static str>,
}

impl Overwriting {
    fn plan(args: &WriteArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, true)?.target(&args.path, Use::Write)?;
        let before = match place.read(LARGEST_CHANGED_BYTES) {
            Ok(before) => before,
            Err(error) => {
                let is_missing = matches!(error, WorkspaceError::NotFound { .. });
                let error = explained(&place.root, error);
                let advice = if is_missing { "; a new file is made with create_file" } else { "" };
                return Err(nothing_done(Error::new(error.kind(), format!("{}{advice}", error.message()))));
            }
        };
        if Seen::new(cx, &place).compare(&blake3::hash(&before)) == Knowledge::Stale {
            return Err(Error::refused(format!("`{place}` changed since it was read; read it again")));
        }
        let encoding = Encoding::sniff(&before);
        if matches!(encoding, Encoding::Utf16LittleEndian | Encoding::Utf16BigEndian) {
            return Err(Error::refused(format!("`{place}` is {encoding}; it is not rewritten as UTF-8")));
        }
        let (after, kept) = new_bytes(&before, encoding, &args.content);
        Ok(Self { place, before, after, kept })
    }
}

impl Planned for Overwriting {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        diff(&self.place, &self.before, &self.after)
    }
}

/// The content with the byte order mark and the line ends that the file has, and which of them it did not bring itself.
fn new_bytes(before: &[u8], encoding: Encoding, content: &str) -> (Vec<u8>, Vec<&'static str>) {
    let mut kept = Vec::new();
    let mut after = Vec::with_capacity(content.len() + BOM.len());
    let mut text = content;
    if encoding == (Encoding::Utf8 { bom: true }) {
        after.extend_from_slice(BOM);
        match content.strip_prefix(BOM_CHARACTER) {
            Some(rest) => text = rest,
            None => kept.push("the file keeps its byte order mark"),
        }
    }
    let ends = LineEnds::of(text.as_bytes());
    if LineEnds::of(before).all_crlf() && ends.crlf == 0 && ends.lf > 0 {
        after.extend_from_slice(text.replace('\n', "\r\n").as_bytes());
        kept.push("the file keeps its line ends, \\r\\n");
    } else {
        after.extend_from_slice(text.as_bytes());
    }
    (after, kept)
}
