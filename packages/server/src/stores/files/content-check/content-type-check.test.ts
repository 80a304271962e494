import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Extension, formatEntries } from '@quartermaster/contract';
import { formatOfExtension } from '@quartermaster/contract/formats';
import { unzipSync, zipSync } from 'fflate';
import {
  book,
  openDocument,
  presentation,
  wordDocument,
  workbook,
} from '../../../../../../test/support/sample-office.ts';
import { writePdf } from '../../../../../../test/support/sample-pdf.ts';
import { Problem } from '../../../platform/problem.ts';
import { checkContent } from './content-type-check.ts';

function contentOf(bytes: Buffer) {
  return { bytes: bytes.length, read: async (at: number, length: number) => bytes.subarray(at, at + length) };
}

async function refusal(extension: Extension, bytes: Buffer): Promise<string | undefined> {
  try {
    await checkContent(extension, contentOf(bytes));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Problem && error.status === 422, `${error}`);
    return error.message;
  }
}

/** Returns an Office package whose main part has another type. */
function withMainType(bytes: Buffer, type: string): Buffer {
  const parts = unzipSync(bytes);
  const list = Buffer.from(parts['[Content_Types].xml'] ?? []).toString();
  const changed = list.replace(/application\/vnd\.[a-z.-]+\.main\+xml/, `application/vnd.${type}.main+xml`);
  assert.notEqual(changed, list);
  return Buffer.from(zipSync({ ...parts, '[Content_Types].xml': Buffer.from(changed) }));
}

const extensions = formatEntries.map(([extension]) => extension);

/** Returns the formats of text that begin like this. */
function textsWith(starts: 'mail' | 'json' | undefined): string[] {
  return formatEntries.flatMap(([extension, { content }]) =>
    content.kind === 'text' && content.starts === starts ? [extension] : [],
  );
}

describe('content and extension', () => {
  test('a file with the extension of another type is refused, for every pair of types', async () => {
    const samples: Record<string, Buffer> = {
      pdf: writePdf(['<< /Type /Catalog >>']),
      docx: wordDocument(['Text']),
      xlsx: workbook([{ name: 'one', rows: [['question', 'answer']] }]),
      pptx: presentation(['Foxes']),
      rtf: Buffer.from('{\\rtf1 Foxes}'),
      odt: openDocument('odt', ''),
      ods: openDocument('ods', ''),
      odp: openDocument('odp', ''),
      epub: book('Foxes'),
      eml: Buffer.from('Received: from a\r\nSubject: Foxes\r\n\r\nText\r\n'),
      text: Buffer.from('question,answer\nq,a\n'),
      json: Buffer.from('\ufeff\n [{"question": "q"}]\n'),
    };
    const pictures = {
      png: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
      jpg: Buffer.from('ffd8ffe000104a46494600', 'hex'),
      tiff: Buffer.from('49492a0008000000', 'hex'),
      webp: Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'),
    };
    Object.assign(samples, pictures);
    const [texts, mails, json] = [textsWith(undefined), textsWith('mail'), textsWith('json')];
    const families: Record<string, readonly string[]> = {
      rtf: [...texts, ...json, 'rtf'],
      eml: [...texts, ...mails],
      text: texts,
      json: [...texts, ...json],
      ...Object.fromEntries(Object.keys(pictures).map((name) => [name, Object.keys(pictures)])),
    };
    for (const [family, bytes] of Object.entries(samples)) {
      for (const extension of extensions) {
        const good = (families[family] ?? [family]).includes(extension);
        const message = await refusal(extension, bytes);
        assert.equal(message === undefined, good, `${family} as .${extension}: ${message ?? 'taken'}`);
      }
    }
  });

  test('an empty file is accepted with every extension', async () => {
    for (const extension of extensions) assert.equal(await refusal(extension, Buffer.alloc(0)), undefined);
  });

  const notText: Record<string, Buffer> = {
    'a PNG': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    'a JPEG': Buffer.from('ffd8ffe000104a464946', 'hex'),
    'a GIF': Buffer.from('GIF89a,.'),
    'a gzip': Buffer.from('1f8b0808', 'hex'),
    'an ELF': Buffer.from('7f454c46020101', 'hex'),
    'a PDF': Buffer.from('%PDF-1.7\n'),
    'NUL bytes in ASCII': Buffer.from('abc\0def'),
    'one NUL': Buffer.from([0]),
    'a compiled Java class': Buffer.from('cafebabe0000003400100a00', 'hex'),
    'a tar': Buffer.concat([Buffer.from('name.txt'), Buffer.alloc(504), Buffer.from('content')]),
  };
  for (const [name, bytes] of Object.entries(notText)) {
    test(`${name} is not text`, async () => {
      for (const extension of ['txt', 'md', 'html', 'csv'] as const) assert.ok(await refusal(extension, bytes));
    });
  }

  test('JSON may have any value and encoding at its start', async () => {
    for (const text of ['{}', '[1]', '"a"', '-1', '5', 'true', 'false', 'null', ' \r\n\t{']) {
      for (const bytes of [Buffer.from(text), Buffer.from(`\ufeff${text}`, 'utf16le')])
        assert.equal(await refusal('json', bytes), undefined, text);
    }
    for (const text of ['Dear reader', '<html>', "'a'", 'Infinity', '(1)'])
      assert.match((await refusal('jsonl', Buffer.from(text))) ?? '', /must be a JSON document/);
  });

  const text: Record<string, Buffer> = {
    'UTF-16 with a mark': Buffer.from('\ufeffGrüße, 世界\n', 'utf16le'),
    'UTF-16 without a mark': Buffer.from('question,answer\n', 'utf16le'),
    'UTF-16 big-endian without a mark': Buffer.from('question,answer\n', 'utf16le').swap16(),
    'UTF-32': Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0, 0x0a, 0, 0, 0]),
    'UTF-32 big-endian': Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x41]),
    'Latin-1': Buffer.from('Grüße', 'latin1'),
    'one letter': Buffer.from('B'),
    'text that starts like a bitmap': Buffer.from('BM is short for benchmark'),
    'text that speaks of PDF': Buffer.from('A PDF starts with %PDF-1.7'),
    'text with a stray control character': Buffer.from('a page\u0001 of a book'),
    'a page with stray NUL bytes': Buffer.from(`<p>\0${'A letter to the library. '.repeat(60)}`),
    'terminal colours': Buffer.from('\u001b[31mred\u001b[0m '.repeat(100)),
  };
  for (const [name, bytes] of Object.entries(text)) {
    test(`${name} is text`, async () => {
      assert.equal(await refusal('txt', bytes), undefined);
    });
  }

  test('a PDF header is accepted within the first 1024 bytes and refused after them', async () => {
    assert.equal(await refusal('pdf', Buffer.from(`${' '.repeat(1019)}%PDF-1.4`)), undefined);
    assert.match(
      (await refusal('pdf', Buffer.from(`${' '.repeat(1020)}%PDF-1.4`))) ?? '',
      /must be a PDF document; .*text/,
    );
  });

  test('packages with macros and templates are accepted under the names of their kind, and binary workbooks are not', async () => {
    const plain = {
      docx: wordDocument(['Text']),
      xlsx: workbook([{ name: 'one', rows: [] }]),
      pptx: presentation(['Foxes']),
    };
    const types = {
      docx: ['ms-word.document.macroEnabled', 'ms-word.template.macroEnabledTemplate'],
      xlsx: ['ms-excel.sheet.macroEnabled', 'ms-excel.template.macroEnabled'],
      pptx: ['ms-powerpoint.presentation.macroEnabled', 'ms-powerpoint.slideshow.macroEnabled'],
    };
    for (const extension of ['docx', 'xlsx', 'pptx'] as const) {
      for (const type of types[extension]) {
        const bytes = withMainType(plain[extension], type);
        for (const name of ['docx', 'xlsx', 'pptx'] as const)
          assert.equal((await refusal(name, bytes)) === undefined, name === extension, `${type} as .${name}`);
      }
    }
    const binary = withMainType(plain.xlsx, 'ms-excel.sheet.binary.macroEnabled');
    assert.match((await refusal('xlsx', binary)) ?? '', /binary/);
    for (const name of ['docm', 'dotx', 'xlsm', 'xltx', 'pptm', 'ppsx', 'potx'])
      assert.notEqual(formatOfExtension(name), undefined, name);
  });
});
