//! What the process says to its caller in one number. The README and `foehn run --help` list the same table.

use foehn_protocol::TurnStatus;

/// Exit code of the process, 0 to 255.
pub type ExitCode = u8;

/// 0 answered, 1 failed, 3 stopped by a limit, 4 declined with nobody to ask, 130 cancelled. (2 is wrong usage, which
/// never reaches a turn.)
pub fn exit_code(status: TurnStatus) -> ExitCode {
    match status {
        TurnStatus::Answered => 0,
        TurnStatus::Failed => 1,
        TurnStatus::Limit => 3,
        TurnStatus::Declined => 4,
        TurnStatus::Cancelled => 130,
    }
}
