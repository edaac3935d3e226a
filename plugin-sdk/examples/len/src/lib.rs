//! Counts the bytes of a text.

use foehn_plugin_sdk::prelude::*;

struct Len;

#[args]
struct LenArgs {
    /// Text to measure.
    #[schemars(length(max = 1_000_000))]
    text: String,
}

impl Tool for Len {
    const NAME: &'static str = "len";
    const DESCRIPTION: &'static str = "Count the bytes of a text.";
    const RISK: Risk = Risk::ReadOnly;
    type Args = LenArgs;
    type Out = String;
    type Config = ();

    fn run(&self, args: LenArgs, cx: &Cx<'_>) -> Result<String> {
        cx.check()?;
        if args.text.is_empty() {
            bail!("there is nothing to measure");
        }
        Ok(format!("{} bytes", args.text.len()))
    }
}

export_plugin!(Len);
