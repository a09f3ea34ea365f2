//! Memory across processes.
