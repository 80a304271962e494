import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { purposes } from '@quartermaster/contract';
import iconv from 'iconv-lite';
import type { Attachment } from 'postal-mime';
import { encryptedOfficeFile, presentation } from '../../../../../../../test/support/sample-office.ts';
import { type Extractor, isPartial } from '../../extraction.ts';
import { children, file, never, open, taskOf } from '../../worker/testing/extractor.fixture.ts';
import { readDocument } from '../read-document.ts';
import { attachmentLimits } from './read-eml.ts';
import { formatOf } from './read-mail.ts';

let pool: Extractor | undefined;
after(async () => {
  await pool?.close();
  assert.deepEqual(children(), []);
});

interface Part {
  readonly type: string;
  readonly name?: string;
  readonly content: string | Uint8Array;
  readonly more?: string;
}

const header =
  'From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>\r\nTo: a@example.com, Bo <bo@example.com>\r\nSubject: About foxes\r\n';
const letter = `Dear reader, ${'foxes are small and clever animals that live in the forest near the old town. '.repeat(2)}`;

function partOf({ type, name, content, more = '' }: Part): string {
  const disposition = name === undefined ? '' : `Content-Disposition: attachment; filename="${name}"\r\n`;
  const isMail = type === 'message/rfc822';
  const body = isMail
    ? String(content)
    : Buffer.from(content as string)
        .toString('base64')
        .replace(/.{76}/g, '$&\r\n');
  const encoding = isMail ? '' : 'Content-Transfer-Encoding: base64\r\n';
  return `Content-Type: ${type}\r\n${disposition}${encoding}${more}\r\n${body}\r\n`;
}

function mailOf(parts: readonly Part[], kind = 'mixed'): string {
  const boundary = `b${Math.random().toString(36).slice(2)}`;
  const bodies = parts.map((part) => `--${boundary}\r\n${partOf(part)}`).join('');
  return `${header}MIME-Version: 1.0\r\nContent-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n${bodies}--${boundary}--\r\n`;
}

const read = (mail: string | Uint8Array) => readDocument({ format: 'eml', bytes: Buffer.from(mail as string) });
const plain = { type: 'text/plain; charset=utf-8', content: letter } as const;

test('a mail has its subject as heading, then its header, its text, and each attachment below its name', async () => {
  const { blocks, facts, warnings } = await read(
    mailOf([
      plain,
      { type: 'application/octet-stream', name: '../../etc/Slides.PPTX', content: presentation(['Dens']) },
      { type: 'application/json', content: '{"legs": 4}' },
    ]),
  );
  assert.deepEqual(
    blocks.map(({ kind, level, text }) => [kind, level, text]),
    [
      ['heading', 1, 'About foxes'],
      ['paragraph', undefined, 'From: Jörg <joerg@example.com>\nTo: a@example.com, Bo <bo@example.com>'],
      ['paragraph', undefined, letter.trim()],
      ['heading', 1, 'Slides.PPTX'],
      ['heading', 2, 'Dens'],
      ['heading', 1, 'attachment 2 (application/json)'],
      ['paragraph', undefined, 'legs: 4'],
    ],
  );
  assert.deepEqual([facts.title, warnings], ['About foxes', []]);
  assert.deepEqual(
    facts.attachments?.map(({ name, status }) => [name, status]),
    [
      ['Slides.PPTX', 'read'],
      ['attachment 2 (application/json)', 'read'],
    ],
  );
});

test('an attachment of every format of documents has a reader', () => {
  for (const extension of [...purposes.document_file.extensions, 'csv'])
    assert.equal(
      formatOf({ filename: `a.${extension.toUpperCase()}`, mimeType: 'application/octet-stream' } as Attachment),
      extension,
    );
});

test('HTML is read when the plain text says little; its own pictures are no attachments', async () => {
  const page = {
    type: 'text/html; charset=utf-8',
    content: '<h1>News</h1><p>Foxes <b>sleep</b>.</p><img src="cid:l">',
  } as const;
  const logo = { type: 'image/png', content: 'x', more: 'Content-ID: <l>\r\n' } as const;
  const { blocks, facts } = await read(mailOf([page, logo], 'related'));
  assert.deepEqual(
    blocks.slice(2).map(({ text }) => text),
    ['News', 'Foxes sleep.'],
  );
  assert.equal(facts.attachments, undefined);
  const both = await read(mailOf([plain, page], 'alternative'));
  assert.equal(both.blocks.at(-1)?.text, letter.trim());
});

test('Korean text keeps the letters that the decoder of the platform garbles', async () => {
  const mail = Buffer.concat([
    Buffer.from('From: a@b\r\nContent-Type: text/plain; charset=euc-kr\r\n\r\n'),
    Buffer.from('8c63b9e6b0a2c7cfbfcd20bc84bdc3c4ddb6f3', 'hex'),
  ]);
  assert.equal((await read(mail)).blocks.at(-1)?.text, '똠방각하와 펲시콜라');
});

const russian = 'Библиотека открыта с девяти до шести часов. В воскресенье она закрыта, а в субботу открыта.';

test('a text that declares no encoding or a wrong one is read by its bytes, as a file of text is', async () => {
  const bodyOf = async (type: string, bytes: Uint8Array, more = '') => {
    const header = Buffer.from(`Subject: S\r\nFrom: a@b\r\nContent-Type: ${type}\r\n${more}\r\n`);
    const { blocks, facts, warnings } = await read(Buffer.concat([header, bytes]));
    const codes = warnings.map((warning) => warning.split(':')[0]);
    return {
      text: blocks
        .slice(2)
        .map(({ text }) => text)
        .join('\n'),
      encoding: facts.encoding,
      codes,
    };
  };
  const inWindows = iconv.encode(russian, 'cp1251');
  const found = { text: russian, encoding: 'windows-1251', codes: [] };
  assert.deepEqual(await bodyOf('text/plain', inWindows), found);
  const page = Buffer.concat([
    Buffer.from('<html><head><meta charset="windows-1251"></head><body><p>'),
    inWindows,
    Buffer.from('</p></body></html>'),
  ]);
  assert.deepEqual(await bodyOf('text/html', page), found);
  const utf8 = Buffer.from(russian);
  for (const charset of ['us-ascii', 'x-unknown', 'iso-8859-1'])
    assert.deepEqual(await bodyOf(`text/plain; charset=${charset}`, utf8), {
      ...{ text: russian, encoding: 'utf-8', codes: ['charset_mismatch'] },
    });
  const german = Buffer.from('Grüße aus München', 'latin1');
  assert.deepEqual((await bodyOf('text/plain; charset=utf-8', german)).text, 'Grüße aus München');
  const quoted = Buffer.from('Gr=FC=DFe aus M=FCnchen, und alle Gr=FC=DFe aus K=F6ln und N=FCrnberg noch dazu');
  const encoded = 'Content-Transfer-Encoding: quoted-printable\r\n';
  assert.deepEqual(await bodyOf('text/plain; charset=iso-8859-1', quoted, encoded), {
    text: 'Grüße aus München, und alle Grüße aus Köln und Nürnberg noch dazu',
    ...{ encoding: 'windows-1252', codes: [] },
  });
  const japanese = iconv.encode('図書館は毎日九時に開きます。土曜日は休みです。', 'shift_jis');
  assert.match((await bodyOf('text/plain', japanese)).text, /図書館は毎日九時/);
  const { codes } = await bodyOf(
    'text/plain; charset=utf-8',
    Buffer.from('!!!not base64 at all$$$'),
    'Content-Transfer-Encoding: base64\r\n',
  );
  assert.notDeepEqual(codes, []);
});

test('fields of the header are read in the encoding that they have', async () => {
  const subjectOf = async (subject: Uint8Array, type = 'text/plain') => {
    const rest = Buffer.from(`\r\nFrom: a@b\r\nContent-Type: ${type}\r\n\r\nText`);
    return (await read(Buffer.concat([Buffer.from('Subject: '), subject, rest]))).facts.title;
  };
  assert.equal(await subjectOf(Buffer.from('Größe', 'latin1')), 'Größe');
  assert.equal(await subjectOf(iconv.encode(russian, 'koi8-r'), 'text/plain; charset=koi8-r'), russian);
  assert.equal(
    await subjectOf(Buffer.from('=?windows-1251?B?z/Do4uXy?= =?utf-8?Q?J=C3=B6rg?=')),
    'Привет Jörg'.replace(' ', ''),
  );
  assert.equal(await subjectOf(Buffer.from(russian)), russian);
});

test('an attachment that cannot be read is named with the reason, and makes the record partial', async () => {
  pool = open({ processes: 1 });
  const mail = mailOf([
    plain,
    { type: 'application/zip', name: 'a.zip', content: 'PK' },
    { type: 'application/pdf', name: 'broken.pdf', content: '%PDF-1.4 nonsense' },
    { type: 'application/octet-stream', name: 'locked.docx', content: encryptedOfficeFile() },
    { type: 'text/plain', name: 'empty.txt', content: '' },
    { type: 'text/plain', name: 'good.txt', content: 'A good text.' },
  ]);
  const { task, chunks } = taskOf(file('eml', Buffer.from(mail)));
  const outcome = await pool.extract(task, never);
  assert.ok(outcome.kind === 'extracted' && isPartial(outcome), JSON.stringify(outcome));
  assert.deepEqual(
    outcome.report.attachments?.map(({ name, status, code }) => [name, status, code]),
    [
      ['a.zip', 'not_read', 'format_not_supported'],
      ['broken.pdf', 'not_read', 'file_damaged'],
      ['locked.docx', 'not_read', 'file_encrypted'],
      ['empty.txt', 'not_read', 'file_empty'],
      ['good.txt', 'read', undefined],
    ],
  );
  assert.match(chunks.map(({ content }) => content).join('\n'), /good\.txt\n\nA good text\./);
  const whole = await pool.extract(taskOf(file('eml', Buffer.from(mailOf([plain])))).task, never);
  assert.ok(whole.kind === 'extracted' && !isPartial(whole), JSON.stringify(whole));
});

/** A picture of one white pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==',
  'base64',
);

test('a picture without words leaves a mail whole, and a mail that is partial says why', async () => {
  const bytes = Buffer.from(mailOf([plain, { type: 'image/png', name: 'logo.png', content: pixel }]));
  const job = { kind: 'on', engine: 'test', languages: ['eng'], maxPixels: 1_000_000, maxPages: 10 } as const;
  const recognize = async () => ({ kind: 'read', tsv: '', seconds: 0 }) as const;
  const whole = await readDocument({ format: 'eml', bytes, ocr: { job, recognize } });
  assert.deepEqual(
    whole.facts.attachments?.map(({ status, code }) => [status, code]),
    [['read', undefined]],
  );
  assert.deepEqual(whole.warnings, []);
  const unread = await readDocument({ format: 'eml', bytes });
  assert.deepEqual(unread.warnings, ['attachments_not_read: These attachments were not read: "logo.png" (no_text).']);
});

test('the limit mail_attachments counts the attachments of a mail and of the mails in it', async () => {
  const small = Array.from({ length: 60 }, (_, at) => ({
    type: 'text/plain',
    name: `${at}.txt`,
    content: `Text ${at}`,
  }));
  const inner = { type: 'message/rfc822', name: 'inner.eml', content: mailOf([plain, ...small]) } as const;
  const exactly = await read(mailOf([plain, inner, ...small.slice(0, attachmentLimits.count - 61)]));
  assert.deepEqual([exactly.facts.attachments?.length, exactly.warnings], [attachmentLimits.count, []]);
  assert.equal(exactly.facts.attachments?.[1]?.name, 'inner.eml / 0.txt');
  const { facts, warnings } = await read(mailOf([plain, inner, ...small]));
  assert.equal(facts.attachments?.length, attachmentLimits.count);
  assert.deepEqual(warnings, ['attachments_left_out: 21 attachments beyond the limit of 100 were not read.']);
});

test('the limit mail_depth ends the reading of mails in mails', async () => {
  let mail = mailOf([{ ...plain, content: `Deepest. ${letter}` }]);
  for (let depth = 0; depth <= attachmentLimits.depth; depth += 1)
    mail = mailOf([plain, { type: 'message/rfc822', name: `${depth}.eml`, content: mail }]);
  const { facts, blocks } = await read(mail);
  const last = facts.attachments?.at(-1);
  assert.deepEqual([facts.attachments?.length, last?.status, last?.code], [4, 'not_read', 'nested_too_deep']);
  assert.ok(!blocks.some(({ text }) => text.startsWith('Deepest')));
  const within = mailOf([
    plain,
    { type: 'message/rfc822', content: mailOf([plain, { type: 'text/plain', name: 'x.txt', content: 'Inside' }]) },
  ]);
  assert.equal((await read(within)).blocks.at(-1)?.text, 'Inside');
});

test('hostile mails are refused or read in bounds', async () => {
  const deep = Array.from(
    { length: 300 },
    (_, at) => `Content-Type: multipart/mixed; boundary="${at}"\r\n\r\n--${at}\r\n`,
  ).join('');
  await assert.rejects(read(`From: a@b\r\n${deep}`), { code: 'file_damaged' });
  await assert.rejects(read(`From: a@b\r\nX: ${'y'.repeat(3_000_000)}\r\n\r\nText`), { code: 'file_damaged' });
  await assert.rejects(read(''), { code: 'file_empty' });
  const unclosed = mailOf([plain]).replace(/--\w+--\r\n$/, '');
  assert.equal((await read(unclosed)).blocks.at(-1)?.text, letter.trim());
  const parts = Array.from({ length: 5_000 }, () => ({ type: 'text/plain', name: 'a.txt', content: 'x' }));
  assert.match((await read(mailOf(parts))).warnings.join(), /^attachments_left_out: 4900 /);
});

test('signatures and pictures of the size of a logo are no attachments, and larger ones are named', async () => {
  const gif = (width: number, height: number) => {
    const bytes = Buffer.alloc(30);
    bytes.write('GIF89a', 'latin1');
    bytes.writeUInt16LE(width, 6);
    bytes.writeUInt16LE(height, 8);
    return bytes;
  };
  const bmp = Buffer.alloc(30);
  bmp.write('BM', 'latin1');
  bmp.writeInt32LE(120, 18);
  bmp.writeInt32LE(-40, 22);
  const { facts, warnings } = await read(
    mailOf([
      plain,
      { type: 'image/gif', name: 'logo.gif', content: gif(1, 1) },
      { type: 'image/bmp', name: 'logo.bmp', content: bmp },
      { type: 'application/pkcs7-signature', name: 'smime.p7s', content: 'x' },
      { type: 'application/octet-stream', name: 'signature.asc', content: '-----BEGIN PGP SIGNATURE-----' },
      { type: 'image/gif', name: 'scan.gif', content: gif(800, 600) },
    ]),
  );
  assert.deepEqual(
    facts.attachments?.map(({ name, status }) => [name, status]),
    [['scan.gif', 'not_read']],
  );
  assert.equal(warnings.length, 1);
});

test('large pictures within the text of a mail are counted', async () => {
  const of = (bytes: number) =>
    mailOf(
      [
        { type: 'text/html', content: `<p>${letter}</p><img src="cid:a">` },
        {
          type: 'image/png',
          content: Buffer.alloc(bytes, 7),
          more: 'Content-ID: <a>\r\nContent-Disposition: inline\r\n',
        },
      ],
      'related',
    );
  assert.deepEqual((await read(of(100))).warnings, []);
  assert.match(
    (await read(of(20_000))).warnings.join(),
    /^pictures_not_read: One picture of the document was not read\. /,
  );
});
