//! What travels between host and worker over one socket.
//!
//! `length u32 | kind u8 | id u32 | head length u16 | head (JSON) | body (raw)`, numbers in little endian, the length
//! counting everything after itself. Bodies travel as they are: the arguments of a model are not escaped into a JSON
//! string and not parsed on the way. Both ends are one binary, so a change here needs no compatibility.

use std::ops::Range;

use foehn_plugin_sdk::wire::CallHead;
use foehn_sandbox::{Confinement, Profile};
use serde::{Deserialize, Serialize};

/// Changed with every change of this module, so that a host and a worker of two builds notice.
pub(crate) const PROTOCOL: u32 = 1;

/// The largest frame: arguments and results beyond it belong into files.
pub(crate) const MAX_FRAME: usize = 64 << 20;

const LENGTH: usize = 4;
const AFTER_LENGTH: usize = 7;
pub(crate) const HEADER: usize = LENGTH + AFTER_LENGTH;

macro_rules! kinds {
    ($($(#[$meta:meta])* $name:ident = $number:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($(#[$meta])* $name = $number,)* }

        impl Kind {
            fn from_number(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    /// To the worker, first: [`LoadHead`]; the library comes along as a descriptor.
    Load = 1,
    /// From the worker: [`HelloHead`], body = manifest.
    Hello = 2,
    /// From the worker, in place of `Hello` or `Ready`: [`FailHead`], body = text.
    Fail = 3,
    /// To the worker, once: body = the plugin's configuration.
    Open = 4,
    /// From the worker: the plugin is open.
    Ready = 5,
    /// To the worker: [`CallFrameHead`], body = arguments; the id is the call's.
    Call = 6,
    /// To the worker: the call of this id shall end.
    Cancel = 7,
    /// From the worker: body as in the upcall of that name, no answer.
    Progress = 8,
    Log = 9,
    /// From the worker: [`UpcallHead`]; the id is the upcall's.
    Upcall = 10,
    /// To the worker: [`UpcallResultHead`], body = answer or error text.
    UpcallResult = 11,
    /// From the worker: [`ResultHead`], body = reply, or text when not `ok`; the id is the call's.
    Result = 12,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LoadHead {
    pub protocol: u32,
    /// How the library is called in messages.
    pub file: String,
    pub profile: Profile,
    pub require_sandbox: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HelloHead {
    pub confinement: Confinement,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FailHead {
    pub stage: Stage,
}

/// Where the start of a worker failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    Protocol,
    Sandbox,
    Load,
    Open,
}

/// The head that the plugin gets, with the op beside its fields: the plugin ignores it, and no second encoding is needed.
#[derive(Debug, Serialize)]
pub(crate) struct CallFrameHead<'a> {
    pub op: &'a str,
    #[serde(flatten)]
    pub head: &'a CallHead,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CallOp {
    pub op: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UpcallHead {
    pub op: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UpcallResultHead {
    pub ok: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ResultHead {
    /// Whether the body is the plugin's reply; else a text why there is none.
    pub ok: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a message of {0} bytes is larger than the {MAX_FRAME} that are allowed")]
    TooLarge(usize),
    #[error("a message has the unknown kind {0}")]
    UnknownKind(u8),
    #[error("a message is shorter than its own head")]
    TooShort,
    #[error("the head of a {0:?} message cannot be read: {1}")]
    Head(Kind, String),
}

/// One whole frame at the start of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub kind: Kind,
    pub id: u32,
    head: Range<usize>,
    body: Range<usize>,
}

impl Frame {
    pub(crate) fn head<'a, T: Deserialize<'a>>(&self, buffer: &'a [u8]) -> Result<T, FrameError> {
        serde_json::from_slice(self.head_bytes(buffer))
            .map_err(|error| FrameError::Head(self.kind, error.to_string()))
    }

    pub(crate) fn head_bytes<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        buffer.get(self.head.clone()).unwrap_or_default()
    }

    pub(crate) fn body<'a>(&self, buffer: &'a [u8]) -> &'a [u8] {
        buffer.get(self.body.clone()).unwrap_or_default()
    }

    /// Where in the buffer the head is.
    pub(crate) fn head_range(&self) -> Range<usize> {
        self.head.clone()
    }

    /// Where in the buffer the body is.
    pub(crate) fn body_range(&self) -> Range<usize> {
        self.body.clone()
    }

    /// How much of the buffer it takes.
    pub(crate) fn size(&self) -> usize {
        self.body.end
    }
}

/// How many bytes the buffer has to hold before [`decode`] finds a frame at its start.
pub(crate) fn needed(buffer: &[u8]) -> Result<usize, FrameError> {
    let Some(length) = buffer.first_chunk::<LENGTH>() else { return Ok(HEADER) };
    let length = u32::from_le_bytes(*length) as usize;
    match length {
        _ if length < AFTER_LENGTH => Err(FrameError::TooShort),
        _ if length > MAX_FRAME => Err(FrameError::TooLarge(length)),
        _ => Ok(LENGTH + length),
    }
}

/// The frame at the start of the buffer; `None` while it is incomplete.
pub(crate) fn decode(buffer: &[u8]) -> Result<Option<Frame>, FrameError> {
    let size = needed(buffer)?;
    let Some(frame) = buffer.get(..size) else { return Ok(None) };
    let [_, _, _, _, kind, id @ .., low, high] = frame.first_chunk::<HEADER>().ok_or(FrameError::TooShort)?;
    let kind = Kind::from_number(*kind).ok_or(FrameError::UnknownKind(*kind))?;
    let head_end = HEADER + usize::from(u16::from_le_bytes([*low, *high]));
    if head_end > size {
        return Err(FrameError::TooShort);
    }
    Ok(Some(Frame { kind, id: u32::from_le_bytes(*id), head: HEADER..head_end, body: head_end..size }))
}

/// Appends a frame. On an error the buffer is as before.
pub(crate) fn encode(
    buffer: &mut Vec<u8>,
    kind: Kind,
    id: u32,
    head: &impl Serialize,
    body: &[u8],
) -> Result<(), FrameError> {
    buffer.reserve(HEADER + 256 + body.len());
    encode_front(buffer, kind, id, head, body.len())?;
    buffer.extend_from_slice(body);
    Ok(())
}

/// Appends a frame up to its body, which the caller sends from where it lies.
pub(crate) fn encode_front(
    buffer: &mut Vec<u8>,
    kind: Kind,
    id: u32,
    head: &impl Serialize,
    body_length: usize,
) -> Result<(), FrameError> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; LENGTH]);
    buffer.push(kind as u8);
    buffer.extend_from_slice(&id.to_le_bytes());
    buffer.extend_from_slice(&[0; 2]);
    let written = serde_json::to_writer(&mut *buffer, head);
    let head_length = buffer.len() - start - HEADER;
    let length = AFTER_LENGTH + head_length + body_length;
    let lengths = match (written, u16::try_from(head_length)) {
        (Err(error), _) => Err(FrameError::Head(kind, error.to_string())),
        (Ok(()), Ok(head_length)) if length <= MAX_FRAME => Ok((length as u32, head_length)),
        (Ok(()), _) => Err(FrameError::TooLarge(length)),
    };
    match lengths {
        Ok((length, head_length)) => {
            patch(buffer, start, &length.to_le_bytes());
            patch(buffer, start + HEADER - 2, &head_length.to_le_bytes());
            Ok(())
        }
        Err(error) => {
            buffer.truncate(start);
            Err(error)
        }
    }
}

fn patch(buffer: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = buffer.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// For frames without a head.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NoHead {}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(kind: Kind, id: u32, body: &[u8]) -> Vec<u8> {
        let mut buffer = Vec::new();
        encode(&mut buffer, kind, id, &ResultHead { ok: true }, body).unwrap();
        buffer
    }

    #[test]
    fn there_and_back() {
        let mut buffer = encoded(Kind::Result, 0x0102_0304, b"body");
        let first = buffer.len();
        buffer.extend(encoded(Kind::Progress, 7, b""));
        let frame = decode(&buffer).unwrap().unwrap();
        assert_eq!((frame.kind, frame.id, frame.size()), (Kind::Result, 0x0102_0304, first));
        assert_eq!((frame.head_bytes(&buffer), frame.body(&buffer)), (&br#"{"ok":true}"#[..], &b"body"[..]));
        let second = decode(&buffer[first..]).unwrap().unwrap();
        assert_eq!((second.kind, second.id, second.body(&buffer[first..])), (Kind::Progress, 7, &b""[..]));
    }

    #[test]
    fn every_beginning_is_incomplete() {
        let buffer = encoded(Kind::Call, 1, b"some arguments");
        for length in 0..buffer.len() {
            assert_eq!(decode(&buffer[..length]), Ok(None), "{length}");
            let needed = needed(&buffer[..length]).unwrap();
            assert_eq!(needed, if length < LENGTH { HEADER } else { buffer.len() });
        }
    }

    #[test]
    fn nonsense_is_an_error() {
        let with = |position: usize, bytes: &[u8]| {
            let mut buffer = encoded(Kind::Call, 1, b"body");
            patch(&mut buffer, position, bytes);
            decode(&buffer)
        };
        assert_eq!(with(0, &u32::MAX.to_le_bytes()), Err(FrameError::TooLarge(u32::MAX as usize)));
        assert_eq!(with(0, &[3, 0, 0, 0]), Err(FrameError::TooShort));
        assert_eq!(with(4, &[99]), Err(FrameError::UnknownKind(99)));
        assert_eq!(with(9, &u16::MAX.to_le_bytes()), Err(FrameError::TooShort));
    }

    #[test]
    fn too_large_leaves_the_buffer_alone() {
        let mut buffer = b"before".to_vec();
        let body = vec![0; MAX_FRAME];
        assert!(encode(&mut buffer, Kind::Call, 1, &NoHead {}, &body).is_err());
        let long = "x".repeat(70_000);
        assert!(encode(&mut buffer, Kind::Upcall, 1, &UpcallHead { op: long }, b"").is_err());
        assert_eq!(buffer, b"before");
    }
}
