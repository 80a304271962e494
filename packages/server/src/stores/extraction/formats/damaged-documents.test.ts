import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { book, openDocument, presentation, workbook } from '../../../../../../test/support/sample-office.ts';
import { ExtractionError } from '../extraction-error.ts';
import { readDocument } from './read-document.ts';

const sample = (name: string) => readFileSync(new URL(`image/testing/${name}`, import.meta.url));
const mail = `From: a@b\r\nSubject: =?utf-8?B?w7w=?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nText\r\n--x\r\nContent-Type: application/json; name="a.json"\r\nContent-Transfer-Encoding: base64\r\n\r\neyJhIjoxfQ==\r\n--x--\r\n`;
const documents: Readonly<Record<string, Buffer>> = {
  xlsx: workbook([{ name: 'S', rows: [['name'], ['fox']] }]),
  pptx: presentation(['Foxes', 'Hens']),
  odt: openDocument(
    'odt',
    '<text:h>Foxes</text:h><text:list><text:list-item><text:p>red</text:p></text:list-item></text:list>',
  ),
  ods: openDocument(
    'ods',
    '<table:table table:name="S"><table:table-row><table:table-cell><text:p>fox</text:p></table:table-cell></table:table-row></table:table>',
  ),
  odp: openDocument(
    'odp',
    '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Foxes</text:p></draw:text-box></draw:frame></draw:page>',
  ),
  rtf: Buffer.from(
    "{\\rtf1\\ansicpg932{\\fonttbl{\\f0\\fcharset128 a;}}\\f0 \\'93\\'8c\\u26481\\'3f{\\footnote note}\\par\\intbl a\\cell\\row}",
  ),
  epub: book('Foxes'),
  eml: Buffer.from(mail),
  json: Buffer.from('{"a":[1,"x\\u00e9",{"b":null}],"c":-1.5e3}'),
  jsonl: Buffer.from('{"a":1}\n{"a":[2]}\n{"a":"three"}\n'),
  png: sample('palette.png'),
  jpg: sample('turned.jpg'),
  tiff: sample('strips.tiff'),
  webp: sample('lossy.webp'),
};
const rounds = 25;

/** A generator of numbers that gives the same numbers in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Changes up to eight bytes, or cuts out or repeats a part. */
function damage(bytes: Buffer, random: (below: number) => number): Buffer {
  const kind = random(4);
  const [one, other] = [random(bytes.length), random(bytes.length)];
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  if (kind === 0) return bytes.subarray(0, from);
  if (kind === 1) return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  if (kind === 2) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  const copy = Buffer.from(bytes);
  for (let count = random(8); count >= 0; count -= 1) copy[random(copy.length)] = random(256);
  return copy;
}

for (const [format, bytes] of Object.entries(documents)) {
  test(`${rounds} damaged .${format} files are read or refused by name`, async () => {
    await readDocument({ format, bytes });
    const random = createRandom(format.length + bytes.length);
    for (let round = 0; round < rounds; round += 1) {
      const damaged = damage(bytes, random);
      try {
        await readDocument({ format, bytes: damaged });
      } catch (cause) {
        const message = cause instanceof Error ? cause.stack : String(cause);
        assert.ok(cause instanceof ExtractionError, `round ${round}: ${message}`);
      }
    }
  });
}
