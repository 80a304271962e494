import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openArchive, writeArchive } from './archive.ts';
import { bundleLimits, listFile, writeContents } from './contents.ts';

const refused = (reason: RegExp) => ({ name: 'PackagingError', message: reason });

function contentsOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const listed = [...files].map(([path, content]) => listFile(path, content));
  return writeContents({ bundleId: 'weather', version: '1.0.0', files: listed });
}

function pack(files: ReadonlyMap<string, Buffer>): Buffer {
  return writeArchive({ contentsBytes: contentsOf(files), signature: null, files });
}

const open = (entries: Iterable<readonly [path: string, content: Buffer]>) => openArchive(pack(new Map(entries)));
const empty = Buffer.alloc(0);

test('the limit bundle_files accepts exactly as many files and refuses one more', async () => {
  const files = (count: number) => Array.from({ length: count }, (_, n) => [`f${n}`, empty] as const);
  assert.equal((await open(files(bundleLimits.files))).files.size, bundleLimits.files);
  await assert.rejects(open(files(bundleLimits.files + 1)), refused(/at most 2000 files/));
});

test('the limit bundle_file_bytes accepts a file of exactly its size and refuses one byte more', async () => {
  await open([['f', Buffer.alloc(bundleLimits.fileBytes)]]);
  await assert.rejects(
    open([['f', Buffer.alloc(bundleLimits.fileBytes + 1)]]),
    refused(/unpacked files must have at most/),
  );
});

test('the limit bundle_bytes accepts files of exactly its size together and refuses one byte more', async () => {
  const count = bundleLimits.bytes / bundleLimits.fileBytes;
  const files = (last: number) =>
    new Map(
      Array.from({ length: count }, (_, n) => {
        return [`f${n}`, Buffer.alloc(n === count - 1 ? last : bundleLimits.fileBytes)] as const;
      }),
    );
  // The list of the files also counts. Its length does not depend on the last digits of a size.
  const last = bundleLimits.fileBytes - contentsOf(files(bundleLimits.fileBytes - 1)).length;
  assert.equal((await open(files(last))).files.size, count);
  await assert.rejects(open(files(last + 1)), refused(/unpacked files must have at most/));
});

test('the limit bundle_archive_bytes accepts an archive of exactly its size and refuses one byte more', async () => {
  const archive = (bytes: number) => addGap(pack(new Map([['f', empty]])), bytes);
  assert.equal((await openArchive(archive(bundleLimits.archiveBytes))).files.size, 1);
  await assert.rejects(openArchive(archive(bundleLimits.archiveBytes + 1)), refused(/it must be at most/));
});

test('the limit bundle_path_characters accepts a path of exactly its length and refuses one character more', async () => {
  const path = (length: number) => [['a'.repeat(length), empty]] as const;
  assert.equal((await open(path(bundleLimits.pathLength))).files.size, 1);
  await assert.rejects(open(path(bundleLimits.pathLength + 1)), refused(/longer than 200 characters/));
});

test('the limit bundle_path_parts accepts a path of exactly as many parts and refuses one more', async () => {
  const path = (parts: number) => [[Array.from({ length: parts }, () => 'a').join('/'), empty]] as const;
  assert.equal((await open(path(bundleLimits.depth))).files.size, 1);
  await assert.rejects(open(path(bundleLimits.depth + 1)), refused(/deeper than 8 folders/));
});

/** Returns the archive enlarged to `bytes` bytes by unused bytes before its directory. */
function addGap(archive: Buffer, bytes: number): Buffer {
  const end = archive.length - 22;
  const directory = archive.readUInt32LE(end + 16);
  const gap = bytes - archive.length;
  const longer = Buffer.concat([archive.subarray(0, directory), Buffer.alloc(gap), archive.subarray(directory)]);
  longer.writeUInt32LE(directory + gap, end + gap + 16);
  return longer;
}
