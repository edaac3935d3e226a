//! Runs allowed subcommands of the dotnet command line.
