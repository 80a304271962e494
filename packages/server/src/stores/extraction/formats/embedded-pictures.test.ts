import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import {
  book,
  openDocument,
  presentation,
  wordDocument,
  workbook,
} from '../../../../../../test/support/sample-office.ts';
import { layOut } from '../document.ts';
import type { Ocr, Recognition } from '../ocr/recognition.ts';
import { readDocument } from './read-document.ts';

/** Builds a PNG of grey noise, which cannot be packed. */
function noise(side: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.from([0, 0, 0, side, 0, 0, 0, side, 8, 0, 0, 0, 0]);
  const rows = Array.from({ length: side }, () => Buffer.concat([Buffer.from([0]), randomBytes(side)]));
  const data = chunk('IDAT', deflateSync(Buffer.concat(rows)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    data,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const picture = noise(64);
const samples = {
  docx: [wordDocument(['Text']), 'word/media/image1.png'],
  xlsx: [workbook([{ name: 'Sheet', rows: [['Text']] }]), 'xl/media/image1.png'],
  pptx: [presentation(['Text']), 'ppt/media/image1.png'],
  odt: [openDocument('odt', '<text:p>Text</text:p>'), 'Pictures/1.png'],
  epub: [book('Text'), 'OEBPS/images/cover.png'],
} as const;

function withPart(bytes: Uint8Array, parts: Readonly<Record<string, Uint8Array>>): Buffer {
  return Buffer.from(zipSync({ ...unzipSync(bytes), ...parts }));
}

const word = (text: string, confidence: number) => ['5', 1, 1, 1, 1, 1, 0, 0, 9, 9, confidence, text].join('\t');

function ocrOf(answer: Recognition): Ocr & { readonly pictures: number[] } {
  const pictures: number[] = [];
  return {
    pictures,
    job: { kind: 'on', engine: 'test', languages: ['eng'], maxPixels: 25_000_000, maxPages: 50 },
    recognize: async ({ width }) => {
      pictures.push(width);
      return answer;
    },
  };
}

const spelled: Recognition = { kind: 'read', tsv: word('Caption', 95), seconds: 0 };

test('the words of pictures in documents follow the text, and without OCR a warning counts the pictures', async () => {
  for (const [format, [bytes, name]] of Object.entries(samples)) {
    const document = withPart(bytes, { [name]: picture });
    const read = await readDocument({ format, bytes: document, ocr: ocrOf(spelled) });
    assert.match(layOut(read).text, /Text[\s\S]*\n\nCaption$/, format);
    assert.deepEqual(read.warnings, [], format);
    const off = await readDocument({ format, bytes: document });
    assert.match(off.warnings.join(), /^pictures_not_read: One picture of the document was not read\. .*OCR/, format);
    const plain = await readDocument({ format, bytes });
    assert.deepEqual(plain.warnings, [], format);
  }
});

test('pictures without words and ornaments are no loss; unreadable ones, other kinds and those beyond the limit are', async () => {
  const [bytes, name] = samples.docx;
  const photo = ocrOf({ kind: 'read', tsv: word('~ii', 20), seconds: 0 });
  const shown = await readDocument({ format: 'docx', bytes: withPart(bytes, { [name]: picture }), ocr: photo });
  assert.deepEqual([layOut(shown).text, shown.warnings], ['Text', []]);
  const ocr = ocrOf(spelled);
  const ornament = { 'word/media/line.png': noise(8) };
  assert.deepEqual((await readDocument({ format: 'docx', bytes: withPart(bytes, ornament), ocr })).warnings, []);
  assert.deepEqual(ocr.pictures, []);
  const failed = ocrOf({ kind: 'unread', reason: 'time_limit', seconds: 0 });
  const late = await readDocument({ format: 'docx', bytes: withPart(bytes, { [name]: picture }), ocr: failed });
  assert.match(late.warnings.join(), /^pictures_not_read: One /);
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`word/media/${at}.png`, picture]));
  const mixed = withPart(bytes, { 'word/media/a.emf': randomBytes(2000), ...many });
  const cut = await readDocument({ format: 'docx', bytes: mixed, ocr });
  assert.match(cut.warnings.join(), /^pictures_not_read: \d+ pictures of the document were not read/);
  assert.ok(ocr.pictures.length <= 30 && ocr.pictures.length > 0);
});
