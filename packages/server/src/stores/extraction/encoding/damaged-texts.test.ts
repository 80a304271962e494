import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode, letters } from '../../../../../../test/support/sample-texts.ts';
import { layOut } from '../document.ts';
import { readCsv } from '../formats/csv/read-csv.ts';
import { readHtml } from '../formats/html/read-html.ts';
import { decodeText } from './decode-text.ts';

/** "펲시콜라 재고가 있나요?" as the codec cp949 of Python writes it. The first syllable is missing in KS X 1001. */
const extended = {
  text: '펲시콜라 재고가 있나요?',
  bytes: Buffer.from('bc84bdc3c4ddb6f320c0e7b0edb0a120c0d6b3aabfe43f', 'hex'),
};

function sample(encoding: string): string {
  return letters.find(({ encodings }) => encodings.includes(encoding))?.text ?? '';
}

/** Returns the bytes of the sample text, repeated. */
function sampleBytes(encoding: string, times: number): Buffer {
  return encode(sample(encoding).repeat(times), encoding);
}

for (const times of [1, 20]) {
  test(`a Korean text with a syllable of windows-949 is read whole (${times} times its length)`, () => {
    const bytes = Buffer.concat([sampleBytes('euc-kr', times), extended.bytes]);
    const { text, facts, warnings } = decodeText(bytes);
    assert.equal(text, sample('euc-kr').repeat(times) + extended.text);
    assert.equal(facts.encoding, 'euc-kr');
    assert.deepEqual([facts.replaced, warnings], [undefined, []]);
  });
}

for (const label of ['euc-kr', 'EUC-KR', 'ks_c_5601-1987', 'cp949', 'windows-949', 'uhc']) {
  test(`a page that declares ${label} is read as windows-949`, () => {
    const head = Buffer.from(`<meta charset="${label}"><p>`);
    const document = readHtml(Buffer.concat([head, extended.bytes, Buffer.from('<p>'), sampleBytes('euc-kr', 1)]));
    assert.equal(layOut(document).text, `${extended.text}\n\n${sample('euc-kr').trim()}`);
    assert.deepEqual(document.facts.encoding_confidence, 0.95);
  });
}

test('a Korean sheet as Excel saves it has its header and all rows', () => {
  const [question, answer] = [encode('질문', 'euc-kr'), encode('답변', 'euc-kr')];
  const comma = Buffer.from(',');
  const end = Buffer.from('\r\n');
  const row = [extended.bytes, comma, encode('내일 오후 두 시에 있습니다.', 'euc-kr'), end];
  const bytes = Buffer.concat([question, comma, answer, end, ...Array.from({ length: 5 }, () => row).flat()]);
  const warnings: string[] = [];
  const { sheets, facts } = readCsv(bytes, { warn: (warning) => warnings.push(warning) });
  const rows = [...(sheets[0]?.rows ?? [])].map(({ cells }) => cells);
  assert.deepEqual(rows[0], ['질문', '답변']);
  assert.deepEqual(rows.slice(1, 6), Array(5).fill([extended.text, '내일 오후 두 시에 있습니다.']));
  assert.deepEqual([facts.encoding, warnings], ['euc-kr', []]);
});

const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'one byte 0xFF': (bytes) => Buffer.concat([bytes.subarray(0, -2), Buffer.from([0xff]), bytes.subarray(-2)]),
  'a cut within its last character': (bytes) => bytes.subarray(0, -2),
  'one byte lost': (bytes) => {
    const at = bytes.findIndex((byte, index) => index > bytes.length / 2 && byte > 0x7f);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
  },
  'one NUL': (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([0]), bytes.subarray(-1)]),
};

/** The length of the beginning and the end that both texts have. */
function commonLength(expected: string, text: string): number {
  let start = 0;
  while (start < expected.length && expected[start] === text[start]) start += 1;
  let end = 0;
  while (end < expected.length - start && expected.at(-1 - end) === text.at(-1 - end)) end += 1;
  return start + end;
}

const encodings = [...letters.flatMap((text) => text.encodings), 'utf-8'];
for (const encoding of encodings) {
  for (const [damage, apply] of Object.entries(damages)) {
    // ÿ is a letter, and not a damaged one.
    if (encoding === 'windows-1252' && damage === 'one byte 0xFF') continue;
    test(`a text in ${encoding} with ${damage} is read in its encoding`, () => {
      const expected = (encoding === 'utf-8' ? sample('euc-kr') : sample(encoding)).repeat(2);
      const whole = encoding === 'utf-8' ? Buffer.from(expected) : encode(expected, encoding);
      const { text, facts, warnings } = decodeText(apply(whole));
      assert.equal(facts.encoding, encoding);
      // In an encoding of two bytes, a lost or added byte can change the rest of its line.
      const lost = expected.length - commonLength(expected, text);
      assert.ok(lost <= (damage.startsWith('a cut') ? 6 : 80), `${lost} characters lost`);
      assert.equal(
        facts.replaced !== undefined,
        warnings.some((warning) => /^characters_replaced/.test(warning)),
      );
    });
  }
}

test('a page in Shift_JIS that declares it may have a damaged byte', () => {
  const head = Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>');
  const document = readHtml(Buffer.concat([head, sampleBytes('shift_jis', 3), Buffer.from([0xff])]));
  assert.deepEqual([document.facts.encoding, document.facts.replaced], ['shift_jis', 1]);
  assert.match(document.warnings.join(), /^characters_replaced: 1 /);
});

test('UTF-8 with a damaged byte is read, and the damage is reported', () => {
  const bytes = Buffer.concat([
    Buffer.from('Größere Städte haben Straßen.'),
    Buffer.from([0xff]),
    Buffer.from(' Ende.'),
  ]);
  const { text, facts, warnings } = decodeText(bytes);
  assert.equal(text, 'Größere Städte haben Straßen.\ufffd Ende.');
  assert.deepEqual(facts, { encoding: 'utf-8', encoding_confidence: 0.95, replaced: 1 });
  assert.equal(warnings.length, 1);
});

test('a declaration that contradicts valid UTF-8 loses with a warning', () => {
  const { facts, warnings } = decodeText(Buffer.from('Größere Städte'), ['windows-1251']);
  assert.equal(facts.encoding, 'utf-8');
  assert.match(warnings.join(), /^charset_mismatch: .*windows-1251.*utf-8/);
});

test('a declared encoding wins over a guess', () => {
  const bytes = Buffer.from([0xe4, 0xee]);
  assert.equal(decodeText(bytes, ['windows-1252']).text, 'äî');
  assert.equal(decodeText(bytes, ['windows-1251']).text, 'до');
});

test('a declared encoding in which the text is impossible loses with a warning', () => {
  const { text, facts, warnings } = decodeText(sampleBytes('koi8-r', 2), ['windows-1251']);
  assert.deepEqual([text, facts.encoding], [sample('koi8-r').repeat(2), 'koi8-r']);
  assert.match(warnings.join(), /^charset_mismatch: .*windows-1251.*koi8-r/);
});

test('a text in an unsupported encoding is read with little confidence and a warning', () => {
  // "책은 네 주 동안 빌릴 수 있습니다. …" as the codec johab of Python writes it.
  const johab = `c082b76520914120ba812095b7b46520a7a99fa920ae8120b7b6af7393a194612e2094e120b5a19c8120cfa9b661d061afa1a16520b4659
    081209541af61c761b54120a285b781d061afb3afa1b5a12e`;
  const { facts, warnings } = decodeText(Buffer.from(johab.replace(/\s/g, ''), 'hex'));
  assert.ok((facts.encoding_confidence ?? 1) <= 0.7, String(facts.encoding_confidence));
  assert.match(warnings.join(), /encoding_uncertain/);
});

test('mainframe text is read', () => {
  // "The desk closes at noon." in the codec cp500 of Python.
  const bytes = Buffer.from('e38885408485a29240839396a285a24081a340959696954b', 'hex');
  const { text, facts } = decodeText(bytes);
  assert.deepEqual([text, facts.encoding], ['The desk closes at noon.', 'ibm500']);
});

test('œ in a French text of ISO 8859-15 is not read as a fraction', () => {
  const text = 'Le chœur chante une œuvre du maître, et la sœur déjà âgée mange des œufs.';
  assert.equal(decodeText(encode(text, 'iso-8859-15')).text, text);
});

/** Returns the processor time of a detection, in microseconds. */
function costOf(bytes: Buffer): number {
  const before = process.cpuUsage();
  decodeText(bytes);
  return process.cpuUsage(before).user;
}

const sentence = 'Книги выдаются на четыре недели.';
for (const [name, hostile, size] of [
  // 128 KiB of marks took 4.8 s when the whole text was composed at once.
  ['combining marks', Buffer.from([0xcc, 0xf2]), 128 * 1024],
  ['a long line', encode(`${sentence} `, 'koi8-r'), 256 * 1024],
] as const) {
  test(`detection of ${name} costs about as much as that of an ordinary text of the same size`, () => {
    // The cost of an ordinary text grows linearly, so a short one is measured.
    const part = 64 * 1024;
    const ordinary = (costOf(Buffer.alloc(part, encode(`${sentence}\n`, 'koi8-r'))) * size) / part;
    const isCheap = () => costOf(Buffer.alloc(size, hostile)) < 4 * ordinary;
    assert.ok(isCheap() || isCheap(), `more than four times ${ordinary} µs`);
  });
}

for (const encoding of ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const) {
  test(`the characters that a text in ${encoding} keeps and the NUL characters of its report are those of TextDecoder`, () => {
    const words = 'Größere Städte haben breite Straßen und viele Brücken. '.repeat(200);
    const units = Buffer.from(`${words}Ein\0e Zeile.\0${words}Das Ende.\0\0 Punkt.`, 'utf16le');
    const bytes = {
      'utf-8': Buffer.from(units.toString('utf16le')),
      'windows-1252': Buffer.from(units.toString('utf16le'), 'latin1'),
      'utf-16le': units,
      'utf-16be': Buffer.from(units).swap16(),
    }[encoding];
    const reference = new TextDecoder(encoding).decode(bytes);
    const { text, facts, warnings } = decodeText(bytes, [encoding]);
    const kept = layOut({ blocks: [{ kind: 'paragraph', text }], facts: {}, warnings: [] }).text;
    assert.deepEqual([facts.encoding, facts.replaced], [encoding, undefined]);
    assert.equal(kept, reference.replaceAll('\0', ''));
    assert.deepEqual(warnings, [
      `nul_characters: NUL characters (U+0000) of the file were left out: ${reference.length - kept.length}.`,
    ]);
  });
}

test('a page reports the NUL characters that it loses', () => {
  // The HTML Standard ignores NUL characters in the text of a page.
  const page = readHtml(Buffer.from(`<p>${'The letters are delivered. '.repeat(100)}Ot\0ters.`));
  assert.match(page.warnings.join(), /^nul_characters: .*: 1\.$/);
  assert.match(layOut(page).text, /Otters\.$/);
});

test('a short text that could be UTF-16 because of its NUL characters is reported as uncertain', () => {
  const { facts, warnings } = decodeText(Buffer.from('# He\0ad\n\nOt\0ters'));
  assert.deepEqual([facts.encoding, facts.encoding_confidence], ['utf-16le', 0]);
  assert.match(warnings.join(), /^encoding_uncertain: /);
});
