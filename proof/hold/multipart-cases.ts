import type { Random } from '../support/random.ts';
import { type Amplifier, asciiRuns, coreAmplifiers, patternAttacks, specialRuns, syntaxRuns } from './amplifiers.ts';
import { createChooser } from './choose.ts';
import { type HoldCase, payloadBytes } from './hold-case.ts';

const target = 'multipart';
/** Bytes below the limits of one header of a part and of all headers of a request. */
const headerBytes = 7_900;
const boundary = 'b';
const ending = `--${boundary}--\r\n`;
const honestFile = 'Content-Disposition: form-data; name="file"; filename="a.txt"';

/** Multipart messages as bytes: headers of parts, names, boundaries, many parts, and the text between them. */
export function multipartCases({ slice, random }: { slice: boolean; random: Random }): HoldCase[] {
  const some = createChooser({ slice, random });
  const all = [...coreAmplifiers, ...asciiRuns];
  // The short run tries every syntax run in a quoted name, because each character may be special there.
  const quoted = slice ? [...specialRuns, ...syntaxRuns, ...patternAttacks] : all;
  return [
    ...[64, headerBytes].flatMap((size) =>
      quoted.map((each) =>
        upload(`open filename of ${size}: ${each.name}`, () => named(`filename="${openText(each, size)}`)),
      ),
    ),
    ...some(all, 12).map((each) =>
      upload(`filename: ${each.name}`, () => named(`filename="${lineOf(each, headerBytes).replaceAll('"', '')}"`)),
    ),
    ...some(all, 12).map((each) =>
      upload(`filename*: ${each.name}`, () => named(`filename*=UTF-8''${lineOf(each, headerBytes)}`)),
    ),
    ...some(all, 12).map((each) =>
      upload(`name: ${each.name}`, () => part(`Content-Disposition: form-data; name="${lineOf(each, headerBytes)}"`)),
    ),
    ...some(all, 12).map((each) =>
      upload(`parameters: ${each.name}`, () => part(`Content-Disposition: form-data; ${lineOf(each, headerBytes)}`)),
    ),
    // Uses eight parts, so that their headers together stay within the limit of a message.
    ...quoted.map((each) => upload(`eight headers: ${each.name}`, () => eightHeaders(lineOf(each, 7_600)))),
    ...some(all, 12).map((each) =>
      upload(
        `Content-Type of a part: ${each.name}`,
        () => `--b\r\n${honestFile}\r\nContent-Type: ${lineOf(each, headerBytes)}\r\n\r\nx\r\n`,
      ),
    ),
    ...some(all, 8).map((each) =>
      upload(`content: ${each.name}`, () => `--b\r\n${honestFile}\r\n\r\n${each.text(payloadBytes - 400)}\r\n`),
    ),
    ...some(all, 8).map((each) =>
      upload(
        `field purpose: ${each.name}`,
        () => `--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${each.text(60_000)}\r\n`,
      ),
    ),
    ...some(all, 8).map((each) =>
      upload(
        `before the first boundary: ${each.name}`,
        () => `${each.text(payloadBytes - 400)}\r\n--b\r\n${honestFile}\r\n\r\nx\r\n`,
      ),
    ),
    ...some(all, 8).map((each) =>
      contentType(`Content-Type: ${each.name}`, `multipart/form-data; ${lineOf(each, 12_000)}`),
    ),
    ...some(all, 8).map((each) =>
      contentType(`boundary: ${each.name}`, `multipart/form-data; boundary="${lineOf(each, 12_000)}"`),
    ),
    ...structures,
  ];
}

/** Messages of many small parts. */
const structures: readonly HoldCase[] = [
  upload('many parts', () => repeat('--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n')),
  upload('many empty parts', () => repeat('--b\r\n\r\n\r\n')),
  upload('many headers in a part', () => `--b\r\n${repeat('A: 1\r\n', 60_000)}\r\n\r\nx\r\n`),
  upload('many boundaries', () => repeat('--b\r\n')),
  upload('boundaries that are cut', () => `--b\r\n${honestFile}\r\n\r\n${repeat('\r\n--')}`),
  upload('line ends in a file', () => `--b\r\n${honestFile}\r\n\r\n${repeat('\r\n')}`),
  upload('a long boundary, nearly', () => near(), { name: 'a'.repeat(70) }),
  upload('many final boundaries', () => repeat('--b--\r\n')),
  upload('after the end', () => `--b\r\n${honestFile}\r\n\r\nx\r\n--b--\r\n${repeat('x')}`),
];

function near(): string {
  const mark = `--${'a'.repeat(70)}`;
  return `${mark}\r\n${honestFile}\r\n\r\n${repeat(`\r\n--${'a'.repeat(69)}`)}\r\n`;
}

function repeat(unit: string, bytes = payloadBytes - 400): string {
  return unit.repeat(Math.floor(bytes / unit.length));
}

/** Replaces NUL and line ends, which a header cannot contain. Other bytes stay as they are. */
function lineOf(amplifier: Amplifier, bytes: number): string {
  return amplifier.text(bytes).replace(/[\0\r\n]/g, '?');
}

/** Removes a leading quotation mark, because it would close the quotation mark in front of it. */
function openText(amplifier: Amplifier, bytes: number): string {
  return lineOf(amplifier, bytes).replace(/^"/, '');
}

function named(parameter: string): string {
  return part(`Content-Disposition: form-data; name="file"; ${parameter}`);
}

function part(header: string): string {
  return `--b\r\n${header}\r\n\r\nx\r\n`;
}

function eightHeaders(value: string): string {
  const parts = Array.from(
    { length: 8 },
    (_, index) => `--b\r\nContent-Disposition: form-data; name="x${index}"\r\nX-Y: a${value}b\r\n\r\n1\r\n`,
  );
  return parts.join('');
}

function upload(payload: string, body: () => string, { name = boundary } = {}): HoldCase {
  return post(payload, `multipart/form-data; boundary=${name}`, body);
}

function contentType(payload: string, type: string): HoldCase {
  return post(payload, type.replace(/[^\t\x20-\x7e]/g, '?'), () => part(honestFile));
}

function post(payload: string, type: string, body: () => string): HoldCase {
  return {
    target,
    payload,
    send: ({ sender }) =>
      sender.send({
        ...{ address: 'files', method: 'POST', path: '/v1/files' },
        headers: { 'Content-Type': type },
        body: body() + ending,
      }),
  };
}
