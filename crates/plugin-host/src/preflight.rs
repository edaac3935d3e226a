//! Looks at the bytes of a library before the dynamic loader does, which trusts them: a truncated one kills the process
//! that maps it, a damaged one ends it, one for another machine fails with a misleading text. Executes nothing.

use foehn_plugin_sdk::abi::HEADER_SYMBOL;
use goblin::elf::header::{
    EI_CLASS, EI_DATA, ELFCLASS64, ELFDATA2LSB, ELFDATA2MSB, ELFMAG, ET_DYN, Header, machine_to_str,
};
use goblin::elf::program_header::{PT_LOAD, PT_NULL};
use goblin::elf::section_header::{SHN_UNDEF, SHT_NOBITS};
use goblin::elf::{Elf, header};

/// Why a file cannot be a plugin of this host. Each text completes "FILE ...".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("is {0}, not a file")]
    NotAFile(&'static str),
    #[error("cannot be read: {0}")]
    Unreadable(String),
    #[error("is {0} MiB large; a plugin has at most {max} MiB", max = MAX_MEBIBYTES)]
    TooLarge(u64),
    #[error("was changed while it was read; it is tried again when it is complete")]
    Changing,
    #[error("is empty")]
    Empty,
    #[error("is not a library: it does not begin like an ELF file")]
    NotElf,
    #[error("is a 32-bit library; this host is 64-bit")]
    NotSixtyFourBit,
    #[error("is for a machine of the other byte order")]
    ByteOrder,
    #[error("is built for {found}; this host is {host}", host = std::env::consts::ARCH)]
    Machine { found: String },
    #[error("is not a shared library (ELF type {0}); build it with crate-type `cdylib`")]
    NotShared(u16),
    #[error("is incomplete: {part} ends at byte {end}, the file at {length}; copy it again")]
    CutShort { part: &'static str, end: u64, length: u64 },
    #[error("is damaged: {0}; build or copy it again")]
    Damaged(String),
    #[error("has no Foehn root module: it is not a plugin, or lacks `export_plugin!`")]
    NoRootModule,
}

const MAX_MEBIBYTES: u64 = 512;

/// The largest file that is read at all.
pub(crate) const MAX_BYTES: u64 = MAX_MEBIBYTES << 20;

#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = header::EM_X86_64;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = header::EM_AARCH64;
#[cfg(target_arch = "riscv64")]
const MACHINE: u16 = header::EM_RISCV;

#[cfg(target_endian = "little")]
const BYTE_ORDER: u8 = ELFDATA2LSB;
#[cfg(target_endian = "big")]
const BYTE_ORDER: u8 = ELFDATA2MSB;

/// Checks everything that can be told from the bytes alone. On systems without ELF only emptiness is.
pub(crate) fn preflight(bytes: &[u8]) -> Result<(), Unfit> {
    if bytes.is_empty() {
        return Err(Unfit::Empty);
    }
    if cfg!(any(target_os = "macos", target_os = "ios")) {
        return Ok(());
    }
    elf(bytes)
}

fn elf(bytes: &[u8]) -> Result<(), Unfit> {
    if !bytes.starts_with(ELFMAG) {
        return Err(Unfit::NotElf);
    }
    let class = bytes.get(EI_CLASS).copied();
    if class.is_some_and(|class| class != ELFCLASS64) {
        return Err(Unfit::NotSixtyFourBit);
    }
    let order = bytes.get(EI_DATA).copied();
    if order.is_some_and(|order| order != BYTE_ORDER && matches!(order, ELFDATA2LSB | ELFDATA2MSB)) {
        return Err(Unfit::ByteOrder);
    }
    let length = bytes.len() as u64;
    let header_size = header::header64::SIZEOF_EHDR as u64;
    if length < header_size {
        return Err(Unfit::CutShort { part: "the header", end: header_size, length });
    }
    let header = Elf::parse_header(bytes).map_err(damaged)?;
    check_header(&header, length)?;

    let elf = Elf::parse(bytes).map_err(damaged)?;
    check_extent(&elf, length)?;
    let defines_root = elf.dynsyms.iter().any(|symbol| {
        symbol.st_shndx != SHN_UNDEF as usize && elf.dynstrtab.get_at(symbol.st_name) == Some(HEADER_SYMBOL)
    });
    if defines_root { Ok(()) } else { Err(Unfit::NoRootModule) }
}

/// Before the whole is parsed, so that the reason is the simplest true one.
fn check_header(header: &Header, length: u64) -> Result<(), Unfit> {
    if header.e_machine != MACHINE {
        let found = machine_to_str(header.e_machine);
        return Err(Unfit::Machine { found: found.strip_prefix("EM_").unwrap_or(found).to_owned() });
    }
    if header.e_type != ET_DYN {
        return Err(Unfit::NotShared(header.e_type));
    }
    let table =
        |offset: u64, count: u16, size: u16| offset.saturating_add(u64::from(count) * u64::from(size));
    inside("the program header table", table(header.e_phoff, header.e_phnum, header.e_phentsize), length)?;
    inside("the section table", table(header.e_shoff, header.e_shnum, header.e_shentsize), length)
}

fn check_extent(elf: &Elf<'_>, length: u64) -> Result<(), Unfit> {
    for segment in elf.program_headers.iter().filter(|segment| segment.p_type != PT_NULL) {
        inside("a segment", segment.p_offset.saturating_add(segment.p_filesz), length)?;
        if segment.p_type == PT_LOAD && segment.p_memsz < segment.p_filesz {
            return Err(Unfit::Damaged("a segment is smaller in memory than in the file".to_owned()));
        }
    }
    for section in elf.section_headers.iter().filter(|section| section.sh_type != SHT_NOBITS) {
        inside("a section", section.sh_offset.saturating_add(section.sh_size), length)?;
    }
    Ok(())
}

fn inside(part: &'static str, end: u64, length: u64) -> Result<(), Unfit> {
    if end <= length { Ok(()) } else { Err(Unfit::CutShort { part, end, length }) }
}

fn damaged(error: goblin::error::Error) -> Unfit {
    Unfit::Damaged(error.to_string())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    /// The head of an ELF file that ends right after it.
    fn header(class: u8, machine: u16, kind: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..4].copy_from_slice(ELFMAG);
        bytes[EI_CLASS] = class;
        bytes[EI_DATA] = BYTE_ORDER;
        bytes[6] = 1;
        bytes[16..18].copy_from_slice(&kind.to_ne_bytes());
        bytes[18..20].copy_from_slice(&machine.to_ne_bytes());
        bytes[20..24].copy_from_slice(&1_u32.to_ne_bytes());
        bytes[52..54].copy_from_slice(&64_u16.to_ne_bytes());
        bytes
    }

    fn check(bytes: &[u8], expected: &str) {
        let found = preflight(bytes).map_err(|unfit| unfit.to_string());
        assert_eq!(found, Err(expected.to_owned()));
    }

    #[test]
    fn not_libraries() {
        let host = std::env::consts::ARCH;
        check(b"", "is empty");
        check(b"hello", "is not a library: it does not begin like an ELF file");
        check(b"\x7fELF", "is incomplete: the header ends at byte 64, the file at 4; copy it again");
        check(&header(1, MACHINE, ET_DYN), "is a 32-bit library; this host is 64-bit");
        check(
            &header(ELFCLASS64, header::EM_S390, ET_DYN),
            &format!("is built for S390; this host is {host}"),
        );
        check(
            &header(ELFCLASS64, MACHINE, header::ET_EXEC),
            "is not a shared library (ELF type 2); build it with crate-type `cdylib`",
        );
        check(
            &header(ELFCLASS64, MACHINE, ET_DYN),
            "has no Foehn root module: it is not a plugin, or lacks `export_plugin!`",
        );
    }

    #[test]
    fn this_program_is_no_plugin_whole_or_cut() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        check(&program, "has no Foehn root module: it is not a plugin, or lacks `export_plugin!`");
        for length in [program.len() - 1, program.len() / 2, 1000] {
            let cut = preflight(&program[..length]);
            assert!(matches!(cut, Err(Unfit::CutShort { .. })), "{length}: {cut:?}");
        }
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        for position in 0..program.len().min(4096) {
            let mut damaged = program[..program.len().min(1 << 16)].to_vec();
            damaged[position] ^= 0xff;
            assert!(preflight(&damaged).is_err());
        }
    }
}
