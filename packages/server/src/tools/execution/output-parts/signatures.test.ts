import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { mediaTypeOfAnswer, readLongText, readMedia } from './detect-media.ts';
import { mediaTypeOf, signatureBytes } from './signatures.ts';

/** The first bytes of files that ffmpeg 5.1, libheif 1.15 and LAME 3.100 wrote; `file` of Debian 12 names the same types. */
const heads: ReadonlyArray<readonly [mediaType: string, head: string]> = [
  ['image/heic', '0000001c6674797068656963000000006d696631686569636d69616600000142'],
  ['image/avif', '00000020667479706176696600000000617669666d6966316d6961664d413141'],
  ['image/bmp', '424d363000000000000036000000280000004000000040000000010018000000'],
  ['image/tiff', '49492a00bc3000007efd0000fd0000fd0000fd0000fd0000fd0000fd0000fd00'],
  ['audio/mp4', '0000001c667479704d344120000002004d34412069736f6d69736f3200000008'],
  ['audio/flac', '664c614300000022120012000002f10004f30ac440f00000ac449ba95e857124'],
  ['video/quicktime', '0000001466747970717420200000020071742020000000087769646500000316'],
  ['video/mp4', '000000206674797069736f6d0000020069736f6d69736f32617663316d703431'],
];

test('formats are recognised by the first bytes that other programs write', () => {
  for (const [mediaType, head] of heads) {
    const bytes = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(64)]);
    assert.equal(mediaTypeOf(bytes), mediaType);
    assert.equal(readMedia(bytes.toString('base64'))?.mediaType, mediaType);
  }
});

test('MPEG audio without a tag is recognised by two frames, not by one header', () => {
  const frames = (headers: ReadonlyArray<readonly [offset: number, header: string]>) => {
    const bytes = Buffer.alloc(signatureBytes);
    for (const [offset, header] of headers) bytes.write(header, offset, 'hex');
    return bytes;
  };
  assert.equal(
    mediaTypeOf(
      frames([
        [0, 'fffb50c4'],
        [208, 'fffb52c4'],
      ]),
    ),
    'audio/mpeg',
  );
  assert.equal(
    mediaTypeOf(
      frames([
        [0, 'fff340c4'],
        [104, 'fff342c4'],
      ]),
    ),
    'audio/mpeg',
  );
  assert.equal(mediaTypeOf(frames([[0, 'fffb90c4']])), undefined);
  assert.equal(mediaTypeOf(Buffer.from('fffb90c4', 'hex')), undefined);
});

test('office documents are distinguished from other archives', () => {
  const archive = (names: readonly string[]) =>
    Buffer.from(zipSync(Object.fromEntries(names.map((name) => [name, strToU8(name)]))));
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  assert.equal(mediaTypeOf(archive(['[Content_Types].xml', 'word/document.xml'])), word);
  assert.equal(mediaTypeOf(archive(['[Content_Types].xml', 'xl/workbook.xml'])), sheet);
  assert.equal(mediaTypeOf(archive(['word/document.xml'])), 'application/zip');
  assert.equal(mediaTypeOf(archive(['[Content_Types].xml', 'x.xml'])), 'application/zip');
  const book = zipSync({ mimetype: [strToU8('application/epub+zip'), { level: 0 }], 'a.xml': strToU8('a') });
  assert.equal(mediaTypeOf(Buffer.from(book)), 'application/epub+zip');
  // The end of an answer is not known when its type is decided.
  const start = archive(['[Content_Types].xml', 'word/document.xml']).subarray(0, 30);
  assert.equal(mediaTypeOfAnswer(start, word), word);
  assert.equal(mediaTypeOfAnswer(start, 'image/png'), 'application/zip');
});

test('base64 is read in both alphabets, with and without padding, and in lines', () => {
  const bytes = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(300, 0xfb)]);
  const padded = bytes.toString('base64');
  const lines = padded.match(/.{1,76}/gs) ?? [];
  const texts = [
    padded,
    padded.replace(/=+$/, ''),
    bytes.toString('base64url'),
    lines.join('\n'),
    `${lines.join('\r\n')}\r\n`,
  ];
  for (const text of texts) {
    const media = readMedia(text);
    assert.deepEqual(
      [media?.mediaType, Buffer.compare(media?.bytes ?? Buffer.alloc(0), bytes)],
      ['image/png', 0],
      text,
    );
  }
  assert.equal(readMedia(bytes.toString('base64url'))?.form, 'base64url');
  for (const text of [`${lines[0]}\n${padded}`, padded.replace('+', '-'), `${padded}A`, lines.join(' ')]) {
    assert.equal(readMedia(text), undefined, text);
  }
});

test('a long text that is base64 of an unknown format is stored as its bytes', () => {
  const bytes = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * index * 31 + index * 7) % 256));
  const media = readLongText(bytes.toString('base64'));
  assert.deepEqual(
    [media.mediaType, media.form, Buffer.compare(media.bytes, bytes)],
    ['application/octet-stream', 'base64', 0],
  );
  for (const text of ['acgt'.repeat(1000), '0123456789abcdef'.repeat(300), 'Words, and 12 + 3. '.repeat(400)]) {
    assert.deepEqual([readLongText(text).mediaType, readLongText(text).form], ['text/plain', 'text']);
  }
});
