import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { type FilesService, startFilesService } from './testing/files-service.ts';
import { boundary, type Form, formBody, type Head, head } from './testing/form.ts';
import { until } from './testing/until.ts';

const limit = 100_000;

describe('POST /v1/files refuses', () => {
  let service: FilesService;
  before(async () => {
    service = await startFilesService({ maxFileBytes: limit });
  });
  after(() => service.stop());
  afterEach(async () => {
    await until('an end of all uploads', () => service.admissions.inFlight('projecta') === 0);
    assert.deepEqual(await service.onDisk(), { staging: [], blobs: [] });
    assert.deepEqual(
      [await service.rows('file'), await service.rows('blob'), await service.rows('idempotency')],
      [[], [], []],
    );
  });

  async function refuse(body: Buffer, options: Head, expected: { status: number; code: string; message: RegExp }) {
    const answer = await service.send([head(body, options), body]);
    assert.equal(answer.status, expected.status, answer.body.toString());
    assert.equal(answer.json?.status, 'error');
    assert.equal(answer.json?.error.code, expected.code);
    assert.match(answer.json?.error.message ?? '', expected.message);
  }
  const invalid = (message: RegExp) => ({ status: 422, code: 'REQUEST_VALIDATION_ERROR', message });
  const malformed = (message: RegExp) => ({ status: 400, code: 'INVALID_REQUEST', message });
  const parts = (...texts: string[]) =>
    Buffer.from(`${texts.map((text) => `--${boundary}\r\n${text}\r\n`).join('')}--${boundary}--\r\n`);
  const filePart = 'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext';
  const purposePart = 'Content-Disposition: form-data; name="purpose"\r\n\r\nrecord_file';

  const forms: Record<string, [form: Form, message: RegExp]> = {
    'an unknown purpose': [
      { purpose: 'assistants' },
      /body\/purpose must be one of "record_file", "qa_record_file", "document_file"; received "assistants"/,
    ],
    'an empty purpose': [{ purpose: '' }, /body\/purpose must be .*; received ""/],
    'a purpose with a blank': [{ purpose: ' record_file' }, /body\/purpose/],
    'a purpose that is too long': [{ purpose: 'x'.repeat(2000) }, /body\/purpose must be .*; received a longer text/],
    'an extension of the other purpose': [
      { name: 'a.csv' },
      /one of .txt, .pdf, .docx, .md, .html for purpose record_file; .*".csv" \(purpose qa_record_file allows .csv\)/,
    ],
    'the other way round': [
      { name: 'a.txt', purpose: 'qa_record_file' },
      /one of .csv, .xlsx .*\(purpose record_file or document_file allows .txt\)/,
    ],
    'a workbook as a document of the interface': [
      { name: 'a.xlsx' },
      /one of .txt, .pdf, .docx, .md, .html for purpose record_file; .*\(purpose qa_record_file or document_file allows .xlsx\)/,
    ],
    'a format of the additional purpose': [
      { name: 'a.json', purpose: 'qa_record_file' },
      /one of .csv, .xlsx for purpose qa_record_file; .*\(purpose document_file allows .json\)/,
    ],
    'an extension nobody takes': [
      { name: 'a.exe' },
      /one of .txt, .pdf, .docx, .md, .html for purpose record_file; .*".exe"\.$/,
    ],
    'no extension': [{ name: 'txt' }, /without an extension/],
    'a dot at the end': [{ name: 'a.txt.' }, /without an extension/],
    'a blank at the end': [{ name: 'a.txt ' }, /".txt "/],
    'two extensions, the last one bad': [{ name: 'a.txt.exe' }, /".exe"/],
    'the written form of a NUL': [{ name: 'a.txt%00.exe' }, /".exe"/],
    'an empty name': [{ name: '' }, /received an empty filename/],
    'a name that is too long': [
      { name: `${'x'.repeat(300)}.txt` },
      /at most 255 bytes of UTF-8; received a longer one/,
    ],
    'content that contradicts': [
      { name: 'a.pdf' },
      /must be a PDF document; received a .pdf file whose content is text/,
    ],
    'a program called text': [{ content: randomBytes(5000) }, /must be text/],
  };
  for (const [name, [form, message]] of Object.entries(forms)) {
    for (const order of ['file first', 'purpose first'] as const) {
      test(`${name}, ${order}`, () => refuse(formBody({ ...form, order }), {}, invalid(message)));
    }
  }

  const bodies: Record<string, [body: Buffer, expected: { status: number; code: string; message: RegExp }]> = {
    'no file': [parts(purposePart), invalid(/body\/file is required/)],
    'no purpose': [
      parts(filePart),
      invalid(/body\/purpose is required. Send one of "record_file", "qa_record_file", "document_file"/),
    ],
    'nothing at all': [parts(), invalid(/body\/file is required/)],
    'two files': [parts(filePart, purposePart, filePart), invalid(/body\/file must be sent once/)],
    'two purposes': [parts(purposePart, filePart, purposePart), invalid(/body\/purpose must be sent once/)],
    'a file without a filename': [
      parts(purposePart, 'Content-Disposition: form-data; name="file"\r\n\r\ntext'),
      invalid(/without a filename/),
    ],
    'a purpose that is a file': [
      parts(purposePart.replace('"\r\n', '"; filename="p.txt"\r\n'), filePart),
      invalid(/body\/purpose must be a text field; received a file/),
    ],
    'another field without end': [
      parts(purposePart, filePart, `Content-Disposition: form-data; name="more"\r\n\r\n${'x'.repeat(70_000)}`),
      invalid(/received a longer field "more"/),
    ],
    'an empty body': [Buffer.alloc(0), malformed(/before the final boundary/)],
  };
  for (const [name, [body, expected]] of Object.entries(bodies)) test(name, () => refuse(body, {}, expected));

  const types: Record<string, number> = {
    '': 415,
    'multipart/form-data': 400,
    'application/json; multipart/form-data; boundary=x': 415,
    'multipart/form-data\t;boundary': 400,
  };
  for (const [contentType, status] of Object.entries(types)) {
    test(`the Content-Type ${JSON.stringify(contentType)} with ${status}`, async () => {
      const body = formBody();
      const answer = await service.send([head(body, { contentType }), body]);
      assert.equal(answer.status, status);
      assert.equal(answer.json?.error.code, status === 415 ? 'UNSUPPORTED_MEDIA_TYPE' : 'INVALID_REQUEST');
    });
  }

  test('a compressed body', () =>
    refuse(
      formBody(),
      { more: ['Content-Encoding: gzip'] },
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: /Content-Encoding/ },
    ));

  test('a request without an API key, before it reads the body', async () => {
    const body = formBody();
    const answer = await service.send([head(body, { length: 10 * 1024 ** 3 }).replace('Bearer', 'Basic')]);
    assert.equal(answer.status, 401);
  });

  for (const length of ['known', 'chunked'] as const) {
    test(`the first byte beyond the limit, length ${length}, with the limit in the message`, async () => {
      const body = formBody({ content: 'x'.repeat(limit + 1) });
      const message = /100000 bytes/;
      if (length === 'known') return refuse(body, {}, { status: 413, code: 'FILE_TOO_LARGE', message });
      const answer = await service.send([head(body, { length: 'chunked' }), chunked(body)]);
      assert.equal(answer.status, 413);
      assert.match(answer.json?.error.message ?? '', message);
    });
  }

  test('an impossible length, before it reads the body', async () => {
    const answer = await service.send([head(Buffer.alloc(0), { length: 10 * 1024 ** 3 })]);
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.get('connection'), 'close');
  });

  test('an endless body, and the client can still read the reason', async () => {
    const start = formBody({ content: 'x'.repeat(limit) }).subarray(0, limit);
    const answer = await service.send([head(start, { length: 300_000 }), start, Buffer.alloc(190_000, 'x')]);
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.get('connection'), 'close');
  });

  for (const key of ['', 'x'.repeat(256), 'schlüssel', 'a\tb']) {
    test(`the Idempotency-Key ${JSON.stringify(key.slice(0, 20))}`, () =>
      refuse(formBody(), { key }, invalid(/idempotency-key/)));
  }
});

describe('POST /v1/files at its limits', () => {
  for (const [size, status] of [
    [limit - 1, 200],
    [limit, 200],
    [limit + 1, 413],
  ] as const) {
    test(`answers ${status} to ${size} of at most ${limit} bytes`, async () => {
      const service = await startFilesService({ maxFileBytes: limit });
      const body = formBody({ content: 'x'.repeat(size) });
      for (const order of [
        [head(body), body],
        [head(body, { length: 'chunked' }), chunked(body)],
      ]) {
        assert.equal((await service.send(order)).status, status);
      }
      await service.stop();
    });
  }

  test('the quota counts the bytes of every file and of its name exactly', async () => {
    const service = await startFilesService({ maxProjectBytes: 1000 + 2 * 'notes.txt'.length });
    const send = async (content: string, project: string) => {
      const body = formBody({ content });
      return (await service.send([head(body, { project }), body])).status;
    };
    assert.equal(await send('x'.repeat(600), 'projecta'), 200);
    assert.equal(await send('x'.repeat(401), 'projecta'), 429);
    assert.equal(await send('x'.repeat(400), 'projecta'), 200);
    assert.equal(await send('x', 'projecta'), 429);
    assert.equal(await send('', 'projecta'), 429);
    assert.equal(await send('x'.repeat(1000), 'projectb'), 200);
    await service.stop();
  });

  test('concurrent uploads never exceed the quota together', async () => {
    const service = await startFilesService({ maxProjectBytes: 1000 });
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const body = formBody({ content: `${index}`.padEnd(150, '-') });
        return (await service.send([head(body), body])).status;
      }),
    );
    const bytes = await service.files.bytesKept('projecta');
    assert.ok(
      bytes <= 1000 && bytes === (150 + 'notes.txt'.length) * statuses.filter((status) => status === 200).length,
      `${bytes}`,
    );
    assert.ok(bytes > 0);
    await service.stop();
  });

  test('too many concurrent uploads of a project are refused until later, and other projects are not affected', async () => {
    const service = await startFilesService({ maxUploadsInFlight: 2 });
    const body = formBody();
    const slow = [service.connect(), service.connect()];
    for (const socket of slow) socket.write(head(body));
    await until('two uploads', () => service.admissions.inFlight('projecta') === 2);
    const third = await service.send([head(body), body]);
    assert.equal(third.status, 429);
    assert.equal(third.json?.error.code, 'TOO_MANY_REQUESTS');
    assert.equal(third.headers.get('retry-after'), '1');
    assert.equal((await service.send([head(body, { project: 'projectb' }), body])).status, 200);
    for (const socket of slow) socket.destroy();
    await until('free places', () => service.admissions.inFlight('projecta') === 0);
    assert.equal((await service.send([head(body), body])).status, 200);
    await service.stop();
  });
});

function chunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += 10_000) {
    const piece = body.subarray(at, at + 10_000);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
