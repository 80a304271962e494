import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { encryptedOfficeFile, wordDocument } from '../../../../../../test/support/sample-office.ts';
import { openArchive, openPackage, packageLimits } from './open-package.ts';
import { readXlsx } from './xlsx/read-xlsx.ts';

const entryMark = 'PK\x01\x02';
const types = { '[Content_Types].xml': Buffer.from('<Types/>') };

async function refuses(bytes: Uint8Array, code: string): Promise<void> {
  await assert.rejects(openPackage(bytes, 'docx'), { code });
}

test('the parts of a package are unpacked except pictures', async () => {
  const text = Buffer.from('<a>text</a>');
  const { parts } = await openPackage(
    zipSync({ ...types, 'word/document.xml': text, 'word/media/a.png': text }),
    'docx',
  );
  assert.deepEqual([...parts.keys()], ['[Content_Types].xml', 'word/document.xml']);
  assert.equal(Buffer.from(parts.get('word/document.xml') ?? []).toString(), '<a>text</a>');
});

test('a part that unpacks to a thousand times its size is refused, whatever size the directory states', async () => {
  const bomb = Buffer.alloc(33 * 2 ** 20, ' ');
  const zip = Buffer.from(zipSync({ ...types, 'word/document.xml': bomb }, { level: 9 }));
  await refuses(zip, 'unpacked_limit');
  for (let at = zip.indexOf(entryMark); at !== -1; at = zip.indexOf(entryMark, at + 4)) zip.writeUInt32LE(10, at + 24);
  await refuses(zip, 'unpacked_limit');
});

test('the limit archive_unpacked_bytes accepts parts of exactly its size together and refuses one byte more', async () => {
  const part = Buffer.from('<a/>'.repeat(300));
  const zip = zipSync({ ...types, 'a.xml': part, 'b.xml': part });
  const bytes = 2 * part.length + types['[Content_Types].xml'].length;
  const open = (unpackedBytes: number) => openPackage(zip, 'docx', { ...packageLimits, unpackedBytes });
  assert.equal((await open(bytes)).parts.size, 3);
  await assert.rejects(open(bytes - 1), { code: 'unpacked_limit' });
  assert.equal((await openPackage(zip, 'docx')).parts.size, 3);
});

test('the limit archive_entries accepts exactly as many entries and refuses one more', async () => {
  const many = (count: number) => {
    const names = Array.from({ length: count - 1 }, (_, index) => [`${index}.bin`, Buffer.alloc(0)]);
    return zipSync({ ...types, ...Object.fromEntries(names) }, { level: 0 });
  };
  assert.equal((await openPackage(many(packageLimits.entries), 'docx')).parts.size, 1);
  await refuses(many(packageLimits.entries + 1), 'unpacked_limit');
});

test('entries that share bytes are refused', async () => {
  const zip = Buffer.from(zipSync({ ...types, 'a.xml': Buffer.from('<a/>'), 'b.xml': Buffer.from('<a/>') }));
  const first = zip.indexOf(entryMark);
  const second = zip.indexOf(entryMark, first + 4);
  const third = zip.indexOf(entryMark, second + 4);
  zip.writeUInt32LE(zip.readUInt32LE(second + 42), third + 42);
  await refuses(zip, 'file_damaged');
});

test('entity bombs and document types are refused, in any encoding of XML', async () => {
  const bomb = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>';
  await refuses(zipSync({ ...types, 'word/document.xml': Buffer.from(bomb) }), 'file_damaged');
  await refuses(zipSync({ ...types, 'word/document.xml': Buffer.from(`\ufeff${bomb}`, 'utf16le') }), 'file_damaged');
});

test('an encrypted entry is reported as encrypted', async () => {
  const zip = Buffer.from(zipSync(types));
  const entry = zip.indexOf(entryMark);
  zip.writeUInt16LE(1, entry + 8);
  await refuses(zip, 'file_encrypted');
});

test('a package that is truncated anywhere is reported as damaged', async () => {
  const whole = wordDocument(['One', 'Two']);
  for (let length = 1; length < whole.length; length += Math.ceil(whole.length / 100)) {
    await refuses(whole.subarray(0, length), 'file_damaged');
  }
});

test('a flipped byte in a part is noticed', async () => {
  const zip = Buffer.from(zipSync({ ...types, 'word/document.xml': Buffer.from('<a>text</a>') }, { level: 0 }));
  const at = zip.indexOf('text');
  zip[at] = 0x54;
  await refuses(zip, 'file_damaged');
});

test('other containers are distinguished from encrypted ones', async () => {
  await refuses(zipSync({ 'readme.txt': Buffer.from('x') }), 'file_type_mismatch');
  const old = Buffer.alloc(512);
  old.write('d0cf11e0a1b11ae1', 'hex');
  await refuses(old, 'file_type_mismatch');
  await refuses(encryptedOfficeFile(), 'file_encrypted');
});

test('a workbook with an entity bomb is refused before it is read', async () => {
  const bomb = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><workbook>&b;</workbook>';
  await assert.rejects(readXlsx(zipSync({ ...types, 'xl/workbook.xml': Buffer.from(bomb) })), { code: 'file_damaged' });
});

test('an entry that is taken is not kept, and counts against the limit each time', async () => {
  const bytes = zipSync({ a: Buffer.alloc(600, 'a'), b: Buffer.from('b') });
  const archive = await openArchive(bytes, 'EPUB', { ...packageLimits, unpackedBytes: 1_000 });
  assert.equal(archive.read('b'), archive.take('b'));
  assert.equal(archive.take('a')?.length, 600);
  assert.throws(() => archive.take('a'), { code: 'unpacked_limit' });
});
