import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { wordDocument } from '../../../../../../test/support/sample-office.ts';
import { encode, letters } from '../../../../../../test/support/sample-texts.ts';
import { ExtractionError } from '../extraction-error.ts';
import { decodeText } from './decode-text.ts';
import { createDecoder, decodePieces } from './decoders.ts';
import { findEncoding } from './find-encoding.ts';

function decodes(bytes: Uint8Array, text: string, encoding: string, declared: string[] = []): void {
  const read = decodeText(bytes, declared);
  assert.deepEqual([read.text, read.facts.encoding], [text, encoding]);
}

test('UTF-8 is read with and without a byte order mark', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (original) => {
      const text = `${original.replace(/[\r\0-\x1f\ufeff]/g, '')}.`;
      decodes(Buffer.from(text), text, 'utf-8');
      decodes(Buffer.from(`\ufeff${text}`), text, 'utf-8');
    }),
  );
});

test('UTF-16 is recognised by its mark or by the parity of its zero bytes', () => {
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

test('a declared encoding is used when the text is not UTF-8', () => {
  decodes(Buffer.from([0xe4, 0xee]), 'до', 'windows-1251', ['windows-1251']);
  decodes(Buffer.from('größer'), 'größer', 'utf-8', ['windows-1251']);
  assert.equal(decodeText(Buffer.from('gr\u00f6\u00dfer', 'latin1'), ['no-such-charset']).text, 'größer');
});

test('line ends become \\n', () => decodes(Buffer.from('a\r\nb\rc\n'), 'a\nb\nc\n', 'utf-8'));

for (const { text, encodings } of letters) {
  for (const encoding of encodings) {
    test(`a text in ${encoding} is read to the last character`, () => decodes(encode(text, encoding), text, encoding));
  }
}

const vietnamese =
  'Sách được mượn trong bốn tuần. Nếu cần lâu hơn, hãy hỏi thủ thư trực. Chủ nhật thư viện đóng cửa, và sách trả có thể để trong hộp cạnh cửa.\n';
const kazakh =
  'Кітаптар төрт аптаға беріледі. Көбірек уақыт қажет болса, кезекші кітапханашыдан сұраңыз. Жексенбі күні кітапхана жабық, ал қайтарылған кітаптарды кіреберістегі жәшікте қалдыруға болады.\n';
const tajik =
  'Китобҳо ба чор ҳафта дода мешаванд. Агар вақти бештар лозим бошад, аз китобдори навбатдор пурсед. Рӯзи якшанбе китобхона баста аст, ва китобҳоро дар қуттии назди дар гузоштан мумкин аст.\n';

test('encodings of one country are recognised, and no guess is certain', () => {
  const cases = [
    [vietnamese, 'tcvn', 'tcvn'],
    [vietnamese, 'viscii', 'viscii'],
    [kazakh, 'rk1048', 'kz-1048'],
    [kazakh, 'pt154', 'ptcp154'],
    [tajik, 'koi8t', 'koi8-t'],
  ] as const;
  for (const [text, name, encoding] of cases) {
    const bytes = iconv.encode(text, name);
    decodes(bytes, text, encoding);
    const { encoding_confidence: confidence = 1 } = decodeText(bytes).facts;
    assert.ok(confidence > 0.8 && confidence < 1, `${name} ${confidence}`);
  }
});

test('HZ text, which is all ASCII, is read with its tildes and across pieces', () => {
  // 图书馆 and 开门 in GB 2312 without the highest bits, as RFC 1843 writes them.
  const bytes = Buffer.from('Notice: ~{M<Ji9]~} ~~ ~{?*CE~} at 9.\n');
  decodes(bytes, 'Notice: 图书馆 ~ 开门 at 9.\n', 'hz-gb-2312');
  const decoder = createDecoder('hz-gb-2312');
  let text = '';
  for (const [at, byte] of bytes.entries())
    text += decoder?.decode(Buffer.from([byte]), { stream: at < bytes.length - 1 });
  assert.equal(text, 'Notice: 图书馆 ~ 开门 at 9.\n');
  for (const code of ['(format t "~{~a~^, ~}" list)', 'printf ~{ab} ~}', 'a ~{x~} b'])
    assert.equal(decodeText(Buffer.from(code)).facts.encoding, 'utf-8', code);
});

test('the encoding of a long text is determined from its lines beyond ASCII, wherever they are', () => {
  const plain = 'Nothing here tells the encoding.\n'.repeat(20_000);
  const sentence = 'Größere Städte haben natürlich mehrere Straßen, für Fußgänger auch schöne Plätze.\n';
  const bytes = Buffer.from(`${plain}${sentence}${plain}`, 'latin1');
  assert.deepEqual(
    [decodeText(bytes).facts.encoding, decodeText(bytes).text.includes(sentence)],
    ['windows-1252', true],
  );
});

test('the pieces of a text form the text, however long it is', () => {
  const text = 'Ein längerer Text mit 漢字.\n'.repeat(100_000);
  const bytes = Buffer.from(text);
  assert.equal([...decodePieces(bytes, findEncoding(bytes))].join(''), text);
});

test('the confidence of a guess is reported', () => {
  const sure = decodeText(encode(letters[0]?.text ?? '', 'koi8-r')).facts.encoding_confidence ?? 0;
  const unsure = decodeText(Buffer.from('na\u00efve', 'latin1')).facts.encoding_confidence ?? 0;
  assert.ok(sure > 0.9 && sure <= 1, String(sure));
  assert.ok(unsure >= 0 && unsure < 0.9, String(unsure));
  assert.equal(decodeText(Buffer.from('größer')).facts.encoding_confidence, 1);
});

test('bytes that are not text are undecodable', () => {
  const undecodable = (error: unknown) => error instanceof ExtractionError && error.code === 'undecodable';
  assert.throws(() => decodeText(Buffer.from(Array.from({ length: 512 }, (_, index) => index % 32))), undecodable);
  assert.throws(() => decodeText(wordDocument(['Zipped'])), undecodable);
});

test('an empty file is refused with the code file_empty', () => {
  assert.throws(() => decodeText(Buffer.alloc(0)), { code: 'file_empty' });
});
