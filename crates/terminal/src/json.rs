//! One event, one line of JSON, nothing else: what `--json` promises to programs.

use std::io::{self, Write};

use foehn_protocol::Event;

pub(crate) fn write_event(writer: &mut impl Write, event: &Event) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, event)?;
    writer.write_all(b"\n")?;
    writer.flush()
}
