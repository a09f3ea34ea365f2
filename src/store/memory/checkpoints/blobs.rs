//! File contents kept once, under their SHA-256, packed if that makes them smaller.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::memory::memory_error::{MemoryError, Result};

/// Below this, in bytes, packing saves nothing worth its time.
const SMALL: usize = 128;

/// Bytes of the largest content that is kept, and that is unpacked.
pub(in crate::memory) const LARGEST: usize = 64 << 20;

/// Keeps the contents unless they are there already; returns their number.
pub(in crate::memory) fn put(conn: &Connection, bytes: &[u8]) -> Result<i64> {
    if bytes.len() > LARGEST {
        let problem = format!("its {} MB are more than the {} MB that are kept", bytes.len() >> 20, LARGEST >> 20);
        return Err(MemoryError::invalid("file content", problem));
    }
    let hash = Sha256::digest(bytes);
    let mut find = conn.prepare_cached("SELECT id FROM blobs WHERE hash = ?1")?;
    if let Some(id) = find.query_row([hash.as_slice()], |row| row.get(0)).optional()? {
        return Ok(id);
    }
    let packed = if bytes.len() < SMALL { None } else { pack(bytes) };
    let kept = packed.as_deref().unwrap_or(bytes);
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    conn.prepare_cached("INSERT INTO blobs (hash, size, packed, bytes) VALUES (?1, ?2, ?3, ?4)")?.execute((
        hash.as_slice(),
        size,
        packed.is_some(),
        kept,
    ))?;
    Ok(conn.last_insert_rowid())
}

/// The contents, byte for byte; an error if they differ from the kept ones.
pub(in crate::memory) fn get(conn: &Connection, id: i64) -> Result<Vec<u8>> {
    let sql = "SELECT hash, size, packed, bytes FROM blobs WHERE id = ?1";
    let row = conn.prepare_cached(sql)?.query_row([id], |row| {
        Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?, row.get::<_, Vec<u8>>(3)?))
    });
    let (hash, size, packed, kept) = row.optional()?.ok_or(MemoryError::NotFound { what: "file content", id })?;
    let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST);
    let bytes = if packed { size.and_then(|size| unpack(&kept, size)) } else { Some(kept) };
    let whole = bytes.filter(|bytes| Sha256::digest(bytes).as_slice() == hash);
    // Not `Damaged`: one bad content is no reason to set the whole file aside.
    whole.ok_or_else(|| MemoryError::Storage(format!("the kept file content {id} has changed")))
}

fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < bytes.len())
}

/// Never more than `size` bytes, for any length that the packed bytes state.
fn unpack(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(packed).take(u64::try_from(size).ok()?).read_to_end(&mut out).ok()?;
    Some(out)
}

/// Removes the contents that no checkpoint names.
pub(in crate::memory) fn sweep(conn: &Connection) -> Result<usize> {
    let sql = "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM checkpoint_files WHERE before_blob = blobs.id) \
               AND NOT EXISTS (SELECT 1 FROM checkpoint_files WHERE after_blob = blobs.id)";
    Ok(conn.execute(sql, [])?)
}

/// Bytes that contents and session states take in the file.
pub(in crate::memory) fn kept(conn: &Connection) -> Result<u64> {
    let sql = "SELECT (SELECT coalesce(sum(length(bytes)), 0) FROM blobs) \
               + (SELECT coalesce(sum(octet_length(state)), 0) FROM checkpoints)";
    Ok(conn.query_row(sql, [], |row| row.get::<_, i64>(0))?.unsigned_abs())
}
