import { strToU8, zipSync } from 'fflate';

const sectorSize = 512;

/**
 * Builds an Office document with a password: a compound file with a stream `EncryptedPackage`. Only its directory is
 * real, because no reader reads the stream. Source: MS-CFB.
 */
export function encryptedOfficeFile(): Buffer {
  const header = Buffer.alloc(sectorSize);
  header.write('d0cf11e0a1b11ae1', 'hex');
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(4096, 56);
  header.writeUInt32LE(0xfffffffe, 60);
  header.writeUInt32LE(0xfffffffe, 68);
  header.fill(0xff, 76);
  header.writeUInt32LE(0, 76);
  const table = Buffer.alloc(sectorSize, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  table.writeUInt32LE(0xfffffffe, 4);
  const directory = Buffer.alloc(sectorSize);
  for (const [index, name] of ['Root Entry', 'EncryptionInfo', 'EncryptedPackage'].entries()) {
    directory.write(name, index * 128, 'utf16le');
    directory.writeUInt16LE((name.length + 1) * 2, index * 128 + 64);
    directory.writeUInt8(index === 0 ? 5 : 2, index * 128 + 66);
  }
  return Buffer.concat([header, table, directory]);
}

const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const mainTypes = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
} as const;

function packageOf(kind: keyof typeof mainTypes, main: string, parts: Readonly<Record<string, string>>): Buffer {
  const all = {
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/${main}" ContentType="${mainTypes[kind]}"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="r1" Type="${relations}/officeDocument" Target="${main}"/></Relationships>`,
    ...parts,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)]))));
}

function escapeXml(text: string): string {
  return text.replace(/[<>&]/g, (character) => ({ '<': '&lt;', '>': '&gt;' })[character] ?? '&amp;');
}

/** Builds a Word document from headings (lines that start with `# `) and paragraphs. */
export function wordDocument(lines: readonly string[]): Buffer {
  const body = lines.map((line) => {
    const heading = line.startsWith('# ') ? '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>' : '';
    return `<w:p>${heading}<w:r><w:t xml:space="preserve">${escapeXml(line.replace(/^# /, ''))}</w:t></w:r></w:p>`;
  });
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  return packageOf('docx', 'word/document.xml', {
    'word/document.xml': `<w:document xmlns:w="${word}"><w:body>${body.join('')}</w:body></w:document>`,
  });
}

export interface SampleSheet {
  readonly name: string;
  readonly isHidden?: boolean;
  readonly rows: readonly (readonly string[])[];
}

/** Builds a workbook of sheets of text. */
export function workbook(sheets: readonly SampleSheet[]): Buffer {
  const cell = (text: string) => `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
  const sheetXml = ({ rows }: SampleSheet) =>
    `<worksheet><sheetData>${rows.map((cells) => `<row>${cells.map(cell).join('')}</row>`).join('')}</sheetData></worksheet>`;
  const list = sheets.map(
    ({ name, isHidden }, at) =>
      `<sheet name="${name}" sheetId="${at + 1}" ${isHidden === true ? 'state="hidden"' : ''} r:id="s${at}"/>`,
  );
  const links = sheets.map(
    (_, at) => `<Relationship Id="s${at}" Type="${relations}/worksheet" Target="sheet${at}.xml"/>`,
  );
  return packageOf('xlsx', 'xl/workbook.xml', {
    'xl/workbook.xml': `<workbook xmlns:r="${relations}"><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packageRelations}">${links.join('')}</Relationships>`,
    ...Object.fromEntries(sheets.map((sheet, at) => [`xl/sheet${at}.xml`, sheetXml(sheet)])),
  });
}

/** Builds a presentation with a slide for each title. */
export function presentation(titles: readonly string[]): Buffer {
  const names = `xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${relations}"`;
  const slide = (title: string) =>
    `<p:sld ${names}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${escapeXml(title)}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`;
  const links = titles.map(
    (_, at) => `<Relationship Id="s${at}" Type="${relations}/slide" Target="slides/slide${at}.xml"/>`,
  );
  return packageOf('pptx', 'ppt/presentation.xml', {
    'ppt/presentation.xml': `<p:presentation ${names}><p:sldIdLst>${titles.map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': `<Relationships xmlns="${packageRelations}">${links.join('')}</Relationships>`,
    ...Object.fromEntries(titles.map((title, at) => [`ppt/slides/slide${at}.xml`, slide(title)])),
  });
}

/** Builds an EPUB publication with one chapter. */
export function book(text: string): Buffer {
  const parts = {
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    'book.opf':
      '<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>',
    'a.xhtml': `<html><body><p>${escapeXml(text)}</p></body></html>`,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)]))));
}

const openDocumentKinds = { odt: 'text', ods: 'spreadsheet', odp: 'presentation' } as const;
const openDocumentNames = [
  ...['office', 'text', 'table', 'style', 'presentation', 'chart', 'drawing', 'svg-compatible'].map(
    (name) =>
      `xmlns:${{ drawing: 'draw', 'svg-compatible': 'svg' }[name] ?? name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  ),
  'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"',
  'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"',
].join(' ');

/**
 * Builds an OpenDocument file. @param body the XML inside `office:text`, `office:spreadsheet` or `office:presentation`
 * @param parts further parts; `automatic` stands for the XML of the styles beside the text
 */
export function openDocument(
  format: keyof typeof openDocumentKinds,
  body: string,
  { automatic = '', ...parts }: Readonly<Record<string, string>> = {},
): Buffer {
  const kind = openDocumentKinds[format];
  const all = {
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    'META-INF/manifest.xml': '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
    'content.xml': `<office:document-content ${openDocumentNames}><office:automatic-styles>${automatic}</office:automatic-styles><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    'styles.xml': `<office:document-styles ${openDocumentNames}>${parts.styles ?? ''}</office:document-styles>`,
    'meta.xml': `<office:document-meta ${openDocumentNames}><office:meta>${parts.meta ?? ''}</office:meta></office:document-meta>`,
    ...parts,
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)]))));
}
