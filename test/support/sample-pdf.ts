import { createCipheriv, createHash, randomBytes } from 'node:crypto';

/** Object bodies of a PDF, in order of their numbers from 1. The first is the catalogue. */
export type PdfObjects = readonly (string | Buffer)[];

/** Writes a PDF file. `trailer` adds entries to the trailer dictionary. */
export function writePdf(objects: PdfObjects, trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.from(`${index + 1} 0 obj\n`));
    add(typeof object === 'string' ? Buffer.from(object, 'latin1') : object);
    add(Buffer.from('\nendobj\n'));
  }
  const start = length;
  const lines = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${lines}trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

const page = (contents: string, more = '') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${contents} /Resources << /Font << /F1 4 0 R >> >> ${more} >>`;
const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

function streamOf(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`<< /Length ${bytes.length} >>\nstream\n`), bytes, Buffer.from('\nendstream')]);
}

const show = (text: string, y = 700, size = 11) => `BT /F1 ${size} Tf 50 ${y} Td (${text}) Tj ET`;

/** Builds pages of lines of text, one below the other. */
export function textPdf(pages: readonly (readonly string[])[]): Buffer {
  const quote = (line: string) => line.replace(/[\\()]/g, '\\$&');
  const kids = pages.map((_, at) => `${5 + at * 2} 0 R`).join(' ');
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    'null',
    helvetica,
    ...pages.flatMap((lines, at) => [
      page(`${6 + at * 2} 0 R`),
      streamOf(lines.map((line, row) => show(quote(line), 740 - row * 14)).join('\n')),
    ]),
  ]);
}

/** A line of text that begins at a point of the page, in points from its bottom left corner. */
export interface PlacedLine {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Builds pages of 600 × 800 points with lines at given points. `more` adds entries to each page, such as `/Rotate 90`. */
export function placedPdf(pages: readonly (readonly PlacedLine[])[], more = ''): Buffer {
  const kids = pages.map((_, at) => `${5 + at * 2} 0 R`).join(' ');
  const draw = ({ text, x, y }: PlacedLine) => `BT /F1 11 Tf ${x} ${y} Td (${text}) Tj ET`;
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    'null',
    helvetica,
    ...pages.flatMap((lines, at) => [page(`${6 + at * 2} 0 R`, more), streamOf(lines.map(draw).join('\n'))]),
  ]);
}

/** Builds a page of 600 × 800 points from a content stream. */
export function drawnPdf(content: string, more = ''): Buffer {
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    page('5 0 R', more),
    helvetica,
    streamOf(content),
  ]);
}

/** Builds a document of two pages whose bookmarks name its headings: a chapter, and a section in it. */
export function pdfWithBookmarks(): Buffer {
  const body = Array.from({ length: 5 }, (_, at) => show(`Line ${at} of a text that is long enough.`, 660 - at * 14));
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R /Outlines 7 0 R >>',
    '<< /Type /Pages /Count 2 /Kids [3 0 R 6 0 R] >>',
    page('5 0 R'),
    helvetica,
    streamOf([show('V2 Business Logic'), ...body].join('\n')),
    page('10 0 R'),
    '<< /Type /Outlines /First 8 0 R /Last 8 0 R /Count 2 >>',
    '<< /Title (V2 Business Logic) /Parent 7 0 R /First 9 0 R /Last 9 0 R /Count 1 /Dest [3 0 R /Fit] >>',
    '<< /Title (V2.3 Checks of Amounts) /Parent 8 0 R /Dest [6 0 R /Fit] >>',
    streamOf([show('V2.3 Checks of Amounts'), ...body].join('\n')),
  ]);
}

/**
 * Builds a page with Arabic as a typesetter draws it: glyphs from left to right in visual order, mapped to letters by
 * the font's ToUnicode table.
 */
export function arabicPdf(words: string): Buffer {
  const letters = [...new Set(words)];
  const codeOf = (letter: string) => (0x21 + letters.indexOf(letter)).toString(16);
  const hex = (letter: string) => letter.charCodeAt(0).toString(16).padStart(4, '0');
  const map = [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def',
    '1 begincodespacerange <00> <ff> endcodespacerange',
    `${letters.length} beginbfchar`,
    ...letters.map((letter) => `<${codeOf(letter)}> <${hex(letter)}>`),
    'endbfchar endcmap end end',
  ].join('\n');
  const seen = [...words].reverse().map(codeOf).join('');
  const widths = letters.map((letter) => (letter === ' ' ? 280 : 550)).join(' ');
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    page('5 0 R'),
    `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 33 /LastChar ${32 + letters.length} /Widths [${widths}] /ToUnicode 6 0 R >>`,
    streamOf(`BT /F1 12 Tf 200 700 Td <${seen}> Tj ET`),
    streamOf(map),
  ]);
}

/**
 * Builds a page encrypted with AES-256 under a user password. A reader opens it without asking if the password is
 * empty. Source: Adobe Supplement to ISO 32000, extension level 3 (revision 5 of the standard handler).
 */
export function encryptedPdf(password: string, text = 'Hello from behind a password'): Buffer {
  const fileKey = randomBytes(32);
  const sha = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const wrap = (key: Buffer) => {
    const cipher = createCipheriv('aes-256-cbc', key, Buffer.alloc(16)).setAutoPadding(false);
    return Buffer.concat([cipher.update(fileKey), cipher.final()]);
  };
  const user = Buffer.from(password);
  const [userSalt, userKeySalt, ownerSalt, ownerKeySalt] = [0, 1, 2, 3].map(() => randomBytes(8)) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const u = Buffer.concat([sha(user, userSalt), userSalt, userKeySalt]);
  const owner = Buffer.from('the owner');
  const o = Buffer.concat([sha(owner, ownerSalt, u), ownerSalt, ownerKeySalt]);
  const permissions = -4;
  const perms = Buffer.alloc(16, 0xff);
  perms.writeInt32LE(permissions, 0);
  perms.write('Tadb', 8, 'latin1');
  const ecb = createCipheriv('aes-256-ecb', fileKey, null).setAutoPadding(false);
  const encrypt = (content: string) => {
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-256-cbc', fileKey, iv);
    return Buffer.concat([iv, cipher.update(content), cipher.final()]);
  };
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`;
  const encryption = `<< /Filter /Standard /V 5 /R 5 /Length 256 /P ${permissions} /U ${hex(u)} /O ${hex(o)}
    /UE ${hex(wrap(sha(user, userKeySalt)))} /OE ${hex(wrap(sha(owner, ownerKeySalt, u)))} /Perms ${hex(ecb.update(perms))}
    /CF << /StdCF << /CFM /AESV3 /AuthEvent /DocOpen /Length 32 >> >> /StmF /StdCF /StrF /StdCF >>`;
  return writePdf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      page('5 0 R'),
      helvetica,
      streamOf(encrypt(show(text))),
      encryption,
    ],
    '/Encrypt 6 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]',
  );
}
