import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Problem } from '../../../platform/problem.ts';
import { createMultipartParser, multipartLimits } from './multipart.ts';
import { readBoundary } from './part-headers.ts';

interface Part {
  name: string;
  filename: string | undefined;
  content: string;
}

/** Returns the parts, or the error message. */
function parse(body: Buffer, chunkSize = body.length, boundary = 'B'): Part[] | string {
  const parts: Part[] = [];
  let open = false;
  const parser = createMultipartParser(boundary, {
    onPart({ name, filename }) {
      assert.ok(!open);
      open = true;
      parts.push({ name, filename, content: '' });
    },
    onData(bytes) {
      assert.ok(open && bytes.length > 0);
      const part = parts.at(-1);
      if (part !== undefined) part.content += bytes.toString('latin1');
    },
    onPartEnd() {
      assert.ok(open);
      open = false;
    },
  });
  try {
    for (let at = 0; at < body.length; at += chunkSize) parser.write(body.subarray(at, at + chunkSize));
    parser.end();
    assert.ok(!open);
    return parts;
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'INVALID_REQUEST', `${error}`);
    return error.message.replace('The multipart/form-data body is malformed: ', '');
  }
}

const bytes = (text: string) => Buffer.from(text, 'latin1');
/** Builds a body with one part with this disposition. */
const named = (disposition: string) => `--B\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--B--\r\n`;
/** Builds a body with one part that has these header lines after its disposition. */
const withHeaders = (lines: string) =>
  `--B\r\nContent-Disposition: form-data; name="a"\r\n${lines}\r\n\r\nx\r\n--B--\r\n`;
/** Builds a body with a part `a` with this content. */
const holding = (content: string) => `--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n${content}\r\n--B--\r\n`;
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

const oneField = [{ name: 'a', filename: undefined, content: 'x' }];
const file = (filename: string) => [{ name: 'file', filename, content: 'x' }];
const fileNamed = (parameter: string) => named(`form-data; name="file"; ${parameter}`);

/** Bodies and the parts that they contain. */
const read: Record<string, [body: string, parts: Part[]]> = {
  'a field': [holding('x'), oneField],
  'no line end after the final boundary': [holding('x').slice(0, -2), oneField],
  'blanks after boundaries': [`--B \t\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B--  \r\n`, oneField],
  'a preamble': [`some text\r\nmore\r\n${holding('x')}`, oneField],
  'an empty line in front': [`\r\n${holding('x')}`, oneField],
  'an epilogue': [`${holding('x')}some text\r\n--B\r\nnot a part`, oneField],
  'blanks before the epilogue': [`${holding('x').slice(0, -2)} \t\r\nmore`, oneField],
  'no part at all': ['--B--\r\n', []],
  'an empty part': [holding(''), [{ name: 'a', filename: undefined, content: '' }]],
  'a part without even the line end of its content': [
    '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n--B--',
    [{ name: 'a', filename: undefined, content: '' }],
  ],
  'two parts': [
    `--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n${holding('y')}`,
    [...oneField, { name: 'a', filename: undefined, content: 'y' }],
  ],
  'content of line ends': [holding('\r\n\r\n\r\n'), [{ name: 'a', filename: undefined, content: '\r\n\r\n\r\n' }]],
  'content of CRs': [holding('\r\r\r'), [{ name: 'a', filename: undefined, content: '\r\r\r' }]],
  'content that almost is a boundary': [
    holding('\r\n--\r\n-B\r\n--b\n--B'),
    [{ name: 'a', filename: undefined, content: '\r\n--\r\n-B\r\n--b\n--B' }],
  ],
  'content that ends like a boundary starts': [
    holding('\r\n--'),
    [{ name: 'a', filename: undefined, content: '\r\n--' }],
  ],
  'every byte there is': [
    holding(String.fromCharCode(...Array(256).keys())),
    [{ name: 'a', filename: undefined, content: String.fromCharCode(...Array(256).keys()) }],
  ],
  'headers in another case and order': [
    '--B\r\ncontent-TYPE: text/plain\r\ncontent-disposition: Form-Data; NAME="a"\r\n\r\nx\r\n--B--',
    oneField,
  ],
  'unknown headers': [withHeaders('X-More: 1\r\nContent-Length: 99'), oneField],
  'an empty header value': [withHeaders('X-More:'), oneField],
  'a harmless transfer encoding': [withHeaders('Content-Transfer-Encoding: Binary'), oneField],
  'a name without quotes': [named('form-data; name=a'), oneField],
  'no blanks between parameters': [named('form-data;name="a"'), oneField],
  'a semicolon at the end': [named('form-data; name="a";'), oneField],
  'an unknown parameter': [named('form-data; name="a"; size=1'), oneField],
  'an empty name': [named('form-data; name=""'), [{ name: '', filename: undefined, content: 'x' }]],
  'a file': [fileNamed('filename="a.txt"'), file('a.txt')],
  'an empty filename': [fileNamed('filename=""'), file('')],
  'a semicolon in a filename': [fileNamed('filename="a;b.txt"'), file('a;b.txt')],
  'quotes escaped by a browser': [fileNamed('filename="a%22b%22.txt"'), file('a"b".txt')],
  'quotes escaped by a backslash': [fileNamed('filename="a\\"b\\".txt"'), file('a"b".txt')],
  'other percent signs': [fileNamed('filename="100%25 of%20it%.txt"'), file('100%25 of%20it%.txt')],
  'raw UTF-8': [fileNamed(`filename="${utf8('Grüße 世界.txt')}"`), file('Grüße 世界.txt')],
  'Latin-1': [fileNamed('filename="Gr\xfc\xdfe.txt"'), file('Grüße.txt')],
  'decomposed letters': [fileNamed(`filename="${utf8('u\u0308.txt')}"`), file('ü.txt')],
  'filename* beside filename': [fileNamed('filename="a.txt"; filename*=UTF-8\'\'b%C3%BC.txt'), file('bü.txt')],
  'filename* in front of filename': [fileNamed('filename*=utf-8\'de\'b.txt; filename="a.txt"'), file('b.txt')],
  'filename* in Latin-1': [fileNamed("filename*=ISO-8859-1''Gr%FC%DFe.txt"), file('Grüße.txt')],
  'a UNIX path': [fileNamed('filename="/etc/../x/a.txt"'), file('a.txt')],
  'a Windows path': [fileNamed('filename="C:\\Users\\me\\a.txt"'), file('a.txt')],
  'an escaped Windows path': [fileNamed('filename="C:\\\\Users\\\\a.txt"'), file('a.txt')],
  'a UNC path': [fileNamed('filename="\\\\host\\share\\a.txt"'), file('a.txt')],
  'a path in filename*': [fileNamed("filename*=UTF-8''..%2F..%5Ca.txt"), file('a.txt')],
  'nothing but a path': [fileNamed('filename="dir/"'), file('')],
};

/** Bodies and the error messages that refuse them. */
const refused: Record<string, [body: string, message: RegExp]> = {
  nothing: ['', /before the final boundary/],
  'no boundary': ['some text', /before the final boundary/],
  'text without end in front': [`${'x'.repeat(9000)}\r\n${holding('x')}`, /no boundary/],
  'text without end behind': [`${holding('x')}${'x'.repeat(9000)}`, /around the parts/],
  'no final boundary': [holding('x').replace('--B--', '--B'), /before the final boundary/],
  'a final boundary with one hyphen': [holding('x').replace('--B--', '--B-'), /neither by CRLF/],
  'text behind the final boundary': [holding('x').replace('--B--', '--B--x'), /final boundary is followed/],
  'LF behind the final boundary': [holding('x').replace('--B--\r\n', '--B--\n'), /final boundary is followed/],
  'a lone CR at the end': [holding('x').slice(0, -1), /before the final boundary/],
  'text behind a boundary': [holding('x').replace('--B\r\n', '--Bx\r\n'), /neither by CRLF/],
  'a longer boundary in the content': [holding('a\r\n--BB\r\n'), /neither by CRLF/],
  'LF line ends': [holding('x').replaceAll('\r\n', '\n'), /neither by CRLF|before the final/],
  'LF behind a boundary': [holding('x').replace('--B\r\n', '--B\n'), /neither by CRLF/],
  'LF between headers': [withHeaders('A: b\nC: d'), /lone CR or LF/],
  'CR between headers': [withHeaders('A: b\rC: d'), /lone CR or LF/],
  'blanks without end': [holding('x').replace('--B\r\n', `--B${' '.repeat(100)}\r\n`), /too many blanks/],
  'a header that starts with a blank': [withHeaders(' folded'), /starts with a blank/],
  'a header that starts with a tab': [withHeaders('\tfolded'), /starts with a blank/],
  'a blank first header': ['--B\r\n Content-Disposition: form-data; name="a"\r\n\r\nx\r\n--B--', /starts with a blank/],
  'a header without a colon': [withHeaders('nothing'), /not name: value/],
  'a header without a name': [withHeaders(': value'), /not name: value/],
  'a blank before the colon': [withHeaders('X-More : 1'), /not name: value/],
  'NUL in a header': [withHeaders('X-More: a\0b'), /control character/],
  'no headers': ['--B\r\n\r\nx\r\n--B--', /no Content-Disposition/],
  'no disposition': ['--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--', /no Content-Disposition/],
  'two dispositions': [withHeaders('Content-Disposition: form-data; name="b"'), /two content-disposition/],
  'two types': [withHeaders('Content-Type: a/b\r\nContent-Type: a/b'), /two content-type/],
  'an attachment': [named('attachment; name="a"'), /not form-data/],
  'no name': [named('form-data'), /no name/],
  'a name without value': [named('form-data; name='), /no value/],
  'a parameter without =': [named('form-data; name'), /not name=value/],
  'a quote that does not end': [named('form-data; name="a'), /does not end/],
  'text behind a quote': [named('form-data; name="a"b'), /semicolons/],
  'two names': [named('form-data; name="a"; name="b"'), /occurs twice/],
  'two filenames': [fileNamed('filename="a.txt"; FILENAME="b.pdf"'), /occurs twice/],
  'NUL in a filename': [fileNamed('filename="a\0.txt"'), /control character/],
  'a line end in a filename': [fileNamed('filename="a%0d%0aX: y.txt"'), /control character/],
  'a control character in filename*': [fileNamed("filename*=UTF-8''a%00.txt"), /control character/],
  'filename* without its form': [fileNamed('filename*=a.txt'), /filename\*/],
  'filename* in another charset': [fileNamed("filename*=UTF-7''a.txt"), /filename\*/],
  'filename* that is not UTF-8': [fileNamed("filename*=UTF-8''a%FF.txt"), /not UTF-8/],
  base64: [withHeaders('Content-Transfer-Encoding: base64'), /Transfer-Encoding/],
  'quoted-printable': [withHeaders('Content-Transfer-Encoding: quoted-printable'), /Transfer-Encoding/],
  'multipart in a part': [withHeaders('Content-Type: multipart/mixed; boundary=C'), /multipart itself/],
  'headers without end': [withHeaders(`X: ${'x'.repeat(multipartLimits.headerBytes)}`), /longer than/],
  'too many headers': [withHeaders(Array.from({ length: 16 }, (_, n) => `X-${n}: 1`).join('\r\n')), /more than 16/],
  'too many parts': [
    Array.from({ length: 9 }, () => holding('x').slice(0, -7))
      .join('\r\n')
      .concat('\r\n--B--'),
    /more than 8/,
  ],
};

describe('multipart/form-data', () => {
  for (const [name, [body, parts]] of Object.entries(read)) {
    test(`reads ${name}, in one piece and byte by byte`, () => {
      assert.deepEqual(parse(bytes(body)), parts);
      for (const chunkSize of [1, 2, 3, 5]) assert.deepEqual(parse(bytes(body), chunkSize), parts);
    });
  }

  for (const [name, [body, message]] of Object.entries(refused)) {
    test(`refuses ${name}, in one piece and byte by byte`, () => {
      for (const chunkSize of [body.length || 1, 1]) {
        const outcome = parse(bytes(body), chunkSize);
        assert.ok(typeof outcome === 'string', JSON.stringify(outcome));
        assert.match(outcome, message);
      }
    });
  }

  test('a body that is cut before its final boundary is refused, and one that is cut after it is complete', () => {
    const body = bytes(
      `${holding('x'.repeat(200)).slice(0, -7)}\r\n${fileNamed('filename="a.txt"').slice(0, -7)}\r\n${holding('\r\n--'.repeat(40))}`,
    );
    assert.ok(body.length > 500);
    const whole = parse(body);
    for (let length = 0; length < body.length; length += 1) {
      for (const chunkSize of [length || 1, 7]) {
        const outcome = parse(body.subarray(0, length), chunkSize);
        if (length === body.length - 2) assert.deepEqual(outcome, whole);
        else assert.ok(typeof outcome === 'string', `cut at ${length}: ${JSON.stringify(outcome)}`);
      }
    }
  });

  test('a body is parsed identically for every division into chunks', () => {
    const body = bytes(`pre\r\n${holding('ab\r\n--\r\ncd')}epilogue`);
    const whole = parse(body);
    assert.equal(typeof whole, 'object');
    for (let at = 1; at < body.length; at += 1) {
      assert.deepEqual(parse(body, at), whole);
    }
  });

  test('file bytes are slices of the chunks', () => {
    const seen: ArrayBufferLike[] = [];
    const parser = createMultipartParser('B', {
      onPart() {},
      onPartEnd() {},
      onData: (data) => seen.push(data.buffer),
    });
    parser.write(bytes('--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n'));
    parser.write(bytes('first bytes'));
    const chunk = Buffer.alloc(100_000, 'x');
    parser.write(chunk);
    assert.ok(seen.at(-1) === chunk.buffer, 'the bytes were copied');
  });
});

describe('the boundary of a Content-Type', () => {
  const good: Record<string, string> = {
    'multipart/form-data; boundary=B': 'B',
    'Multipart/Form-Data;BOUNDARY="a b"': 'a b',
    'multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundary7MA4': '----WebKitFormBoundary7MA4',
    [`multipart/form-data; boundary=${'x'.repeat(70)}`]: 'x'.repeat(70),
    'multipart/form-data; boundary="(=:?/)"; a=b': '(=:?/)',
  };
  for (const [header, boundary] of Object.entries(good)) {
    test(`accepts ${header.slice(0, 60)}`, () => assert.equal(readBoundary(header), boundary));
  }

  const bad: Record<string, number> = {
    '': 415,
    'application/json': 415,
    'multipart/form-datax; boundary=B': 415,
    'multipart/mixed; boundary=B': 415,
    'text/plain; multipart/form-data; boundary=B': 415,
    ' multipart/form-data; boundary=B, application/json': 415,
    'multipart/form-data': 400,
    'multipart/form-data; boundary=': 400,
    'multipart/form-data; boundary=""': 400,
    'multipart/form-data; boundary="a "': 400,
    'multipart/form-data; boundary="a;b"': 400,
    'multipart/form-data; boundary=ü': 400,
    [`multipart/form-data; boundary=${'x'.repeat(71)}`]: 400,
    'multipart/form-data; boundary=A; boundary=B': 400,
    'multipart/form-data; boundary="A': 400,
    'multipart/form-data; boundary=A B': 400,
    'multipart/form-data boundary=B': 415,
  };
  for (const [header, status] of Object.entries(bad)) {
    test(`answers ${status} for ${JSON.stringify(header.slice(0, 60))}`, () => {
      assert.throws(
        () => readBoundary(header),
        (error: unknown) => error instanceof Problem && error.status === status,
      );
    });
  }
  test('answers 415 without a header', () => {
    assert.throws(
      () => readBoundary(undefined),
      (error: unknown) => error instanceof Problem && error.status === 415,
    );
  });
});
