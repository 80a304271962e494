import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { corpusEntries, corpusFile, wordRecall } from './corpus.fixture.ts';
import { decodeText } from './decode-text.ts';
import { Unreadable } from './unreadable.ts';

function decodes(bytes: Uint8Array, text: string, encoding: string, declared: string[] = []): void {
  assert.deepEqual(decodeText(bytes, declared), { text, encoding });
}

test('UTF-8 is read with and without a byte order mark', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (given) => {
      const text = `${given.replace(/[\r\0-\x1f\ufeff]/g, '')}.`;
      decodes(Buffer.from(text), text, 'utf-8');
      decodes(Buffer.from(`\ufeff${text}`), text, 'utf-8');
    }),
  );
});

test('UTF-16 is told by its mark or by the parity of its zero bytes', () => {
  const text = 'Plain text, größer.\n';
  const little = Buffer.from(text, 'utf16le');
  const big = Buffer.from(text, 'utf16le').swap16();
  decodes(Buffer.concat([Buffer.from([0xff, 0xfe]), little]), text, 'utf-16le');
  decodes(Buffer.concat([Buffer.from([0xfe, 0xff]), big]), text, 'utf-16be');
  decodes(little, text, 'utf-16le');
  decodes(big, text, 'utf-16be');
});

test('UTF-32 is read', () => {
  const points = [...'größer 天 𝒳'].map((character) => character.codePointAt(0) ?? 0);
  const big = Buffer.alloc(points.length * 4);
  for (const [index, point] of points.entries()) big.writeUInt32BE(point, index * 4);
  decodes(Buffer.concat([Buffer.from([0, 0, 0xfe, 0xff]), big]), 'größer 天 𝒳', 'utf-32be');
  decodes(Buffer.from(big).swap32(), 'größer 天 𝒳', 'utf-32le');
});

test('a declared encoding is taken when the text is not UTF-8', () => {
  decodes(Buffer.from([0xe4, 0xee]), 'до', 'windows-1251', ['windows-1251']);
  decodes(Buffer.from('größer'), 'größer', 'utf-8', ['windows-1251']);
  assert.equal(decodeText(Buffer.from('gr\u00f6\u00dfer', 'latin1'), ['no-such-charset']).text, 'größer');
});

test('line ends become \\n', () => decodes(Buffer.from('a\r\nb\rc\n'), 'a\nb\nc\n', 'utf-8'));

for (const path of [
  'uchardet__ja_shift_jis',
  'uchardet__zh_gb18030',
  'uchardet__ja_euc-jp',
  'uchardet__ru_windows-1251',
]) {
  test(`${path} is guessed right`, () => {
    const expected = corpusFile(`gt/txt/${path}.txt.utf8.txt`).toString();
    assert.equal(wordRecall(expected, decodeText(corpusFile(`txt/${path}.txt`)).text), 1);
  });
}

test('the texts of the corpus in common encodings are read with next to all of their words', () => {
  const misread = corpusEntries('txt', 'ok')
    .filter(({ path }) => path.includes('uchardet__'))
    .filter(({ path }) => {
      const expected = corpusFile(`gt/${path}.utf8.txt`).toString();
      return wordRecall(expected, decodeText(corpusFile(path)).text) < 0.9;
    });
  assert.deepEqual(misread, []);
});

test('bytes that are no text are undecodable', () => {
  const undecodable = (error: unknown) => error instanceof Unreadable && error.code === 'undecodable';
  assert.throws(() => decodeText(Buffer.from(Array.from({ length: 512 }, (_, index) => index % 32))), undecodable);
  assert.throws(() => decodeText(corpusFile('docx/pandoc__lists.docx')), undecodable);
});

test('no bytes are an empty file', () => {
  assert.throws(() => decodeText(Buffer.alloc(0)), { code: 'file_empty' });
});
