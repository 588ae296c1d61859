//! The kernel's first file system: an archive in cpio's "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst).

/// An archive of these files: name, permissions, content.
pub(crate) fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (number, (name, mode, content)) in files.iter().enumerate() {
        add(&mut archive, number + 1, name, 0o100_000 | mode, content);
    }
    add(&mut archive, 0, "TRAILER!!!", 0, &[]);
    archive
}

fn add(archive: &mut Vec<u8>, inode: usize, name: &str, mode: u32, content: &[u8]) {
    let fields = [inode, mode as usize, 0, 0, 1, 0, content.len(), 0, 0, 0, 0, name.len() + 1, 0];
    archive.extend(b"070701");
    archive.extend(fields.iter().flat_map(|field| format!("{field:08x}").into_bytes()));
    archive.extend(name.as_bytes());
    archive.push(0);
    archive.resize(archive.len().next_multiple_of(4), 0);
    archive.extend(content);
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::archive;

    #[test]
    fn files_lie_at_multiples_of_four_bytes() {
        let bytes = archive(&[("init", 0o755, b"abcde")]);
        assert_eq!(&bytes[..14], b"07070100000001");
        assert_eq!(&bytes[14..22], b"000081ed");
        assert_eq!(&bytes[110..115], b"init\0");
        assert_eq!(&bytes[116..121], b"abcde");
        assert_eq!((&bytes[124..130], bytes.len() % 4), (&b"070701"[..], 0));
    }
}
