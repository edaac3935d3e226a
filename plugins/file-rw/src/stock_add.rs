//! The tool `stock_add`.

use foehn_plugin_sdk::prelude::*;
use foehn_plugin_sdk::workspace::{MAX_PATH_BYTES, WorkspaceError};

use crate::LARGEST_CHANGED_BYTES;
use crate::change::Change;
use crate::config::FileConfig;
use crate::files::{Call, Files, Place, Use, explained, nothing_done};
use crate::kept::{Changes, taken_back_as_kept};
use crate::preview::{Planned, classification, diff};
use crate::stock::{Added, add};

const OPERATION: &str = "stock_add";
/// How often the sum is worked out anew because somebody else was faster.
const MOST_TRIES: usize = 100;
const MOST_QUANTITY: i64 = 1_000_000_000;

/// Adds to an item of an inventory.
#[derive(Debug)]
pub struct StockAdd;

/// Arguments of `stock_add`.
#[args]
pub struct StockArgs {
    /// JSON file of items and whole numbers.
    #[schemars(length(max = MAX_PATH_BYTES))]
    path: String,
    /// Item; a new one begins at 0.
    #[schemars(length(min = 1, max = 200))]
    item: String,
    /// Number of pieces to add; below 0 takes away.
    #[schemars(range(min = -MOST_QUANTITY, max = MOST_QUANTITY))]
    quantity: i64,
}

impl Tool for StockAdd {
    const NAME: &'static str = "stock_add";
    const DESCRIPTION: &'static str = "Add to a quantity in an inventory file; it never falls below 0.";
    const RISK: Risk = Risk::Write;
    const ON_DEMAND: bool = true;
    const CAPABILITIES: Capabilities = Capabilities::NONE.write_files();
    const CLASSIFIES: bool = true;

    type Args = StockArgs;
    type Out = String;
    type Config = FileConfig;

    fn run(&self, args: StockArgs, cx: &Call<'_>) -> Result<String> {
        for _ in 0..MOST_TRIES {
            let Booking { place, before, added } = Booking::plan(&args, cx)?;
            cx.check().map_err(nothing_done)?;
            let mut changes = Changes::of(cx);
            match changes.make(&Change::Replace { place: &place, before: &before, after: &added.bytes }) {
                Ok(()) => {
                    return Ok(changes.told(format!(
                        "`{}` in `{place}`: {} (before: {})",
                        args.item, added.now, added.was
                    )));
                }
                Err(WorkspaceError::Changed { .. }) => {}
                Err(error) => return Err(place.root.told(error)),
            }
        }
        Err(nothing_done(Error::failed(format!(
            "`{}` is changed all the time by others; try again",
            args.path
        ))))
    }

    taken_back_as_kept!();

    fn operations() -> Vec<OperationSpec> {
        vec![OperationSpec::new(OPERATION, "Add to the quantity of an item.")]
    }

    fn classify(&self, args: &StockArgs, cx: &Call<'_>) -> Result<Classification> {
        Ok(classification(OPERATION, &args.path, &Booking::plan(args, cx)))
    }
}

struct Booking {
    place: Place,
    before: Vec<u8>,
    added: Added,
}

impl Booking {
    fn plan(args: &StockArgs, cx: &Call<'_>) -> Result<Self> {
        let place = Files::open(cx, false)?.target(&args.path, Use::Write)?;
        let before = place.read(LARGEST_CHANGED_BYTES).map_err(|error| explained(&place.root, error))?;
        let added = add(&before, &args.item, args.quantity)
            .map_err(|problem| nothing_done(Error::from(problem)).context(format_args!("`{place}`")))?;
        Ok(Self { place, before, added })
    }
}

impl Planned for Booking {
    fn places(&self) -> Vec<&Place> {
        vec![&self.place]
    }

    fn preview(&self) -> Preview {
        diff(&self.place, &self.before, &self.added.bytes)
    }
}
