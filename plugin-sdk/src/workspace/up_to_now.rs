//! Reading a file that somebody else may go on writing.

use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, Read};

/// Files up to this many bytes are read to their end without a look at their size, which would cost more than it is worth for
/// the many small ones.
pub(super) const SMALL: u64 = 1024 * 1024;

/// Reads a file to where it ends now: one that grows as fast as it is read has no other end.
#[derive(Debug)]
pub struct UpToNow<F> {
    file: F,
    read: u64,
    end: Option<u64>,
}

impl<F: Borrow<File>> UpToNow<F> {
    /// From the file's own position, which is taken for its beginning.
    pub fn new(file: F) -> Self {
        Self { file, read: 0, end: None }
    }
}

impl<F: Borrow<File>> Read for UpToNow<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file: &File = self.file.borrow();
        if self.end.is_none() && self.read >= SMALL {
            self.end = Some(file.metadata()?.len());
        }
        let left = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.read));
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let length = file.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.read += length as u64;
        Ok(length)
    }
}
