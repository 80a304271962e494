import { strToU8, zipSync } from 'fflate';
import { writePdf } from '../../test/support/sample-pdf.ts';

/** Payloads that take much more time or memory than their bytes suggest. */

/** A Markdown text whose only heading is long, above many short paragraphs. */
export function longHeading(letters: number, paragraphs: number): Buffer {
  const body = Array.from({ length: paragraphs }, (_, at) => `Paragraph ${at} of a few ordinary words.\n\n`);
  return Buffer.from(`# ${'heading '.repeat(letters / 8)}\n\n${body.join('')}`);
}

const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';

function packOffice(main: string, type: string, parts: Readonly<Record<string, string>>): Buffer {
  const all = {
    '[Content_Types].xml': `<Types><Override PartName="/${main}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="r1" Type="${relations}/officeDocument" Target="${main}"/></Relationships>`,
    ...parts,
  };
  const bytes = Object.fromEntries(Object.entries(all).map(([name, text]) => [name, strToU8(text)]));
  return Buffer.from(zipSync(bytes, { level: 1 }));
}

/** A workbook of a few kilobytes whose only sheet has a long name. */
export function longSheetName(letters: number, rows: number): Buffer {
  const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;
  const body = Array.from({ length: rows }, (_, at) => `<row>${cell(`a ${at}`)}${cell(`b ${at}`)}</row>`).join('');
  return packOffice('xl/workbook.xml', 'spreadsheetml.sheet', {
    'xl/workbook.xml': `<workbook xmlns:r="${relations}"><sheets><sheet name="${'N'.repeat(letters)}" sheetId="1" r:id="s0"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packageRelations}"><Relationship Id="s0" Type="${relations}/worksheet" Target="sheet0.xml"/></Relationships>`,
    'xl/sheet0.xml': `<worksheet><sheetData>${body}</sheetData></worksheet>`,
  });
}

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** A Word document of a few hundred kilobytes that unpacks to many megabytes of elements, with almost no text. */
export function emptyElements(mebibytes: number): Buffer {
  const unit = '<w:p><w:r><w:tab/></w:r></w:p>';
  const body = unit.repeat((mebibytes * 1024 * 1024) / unit.length);
  return packOffice('word/document.xml', 'wordprocessingml.document', {
    'word/document.xml': `<w:document xmlns:w="${word}"><w:body>${body}<w:p><w:r><w:t>end</w:t></w:r></w:p></w:body></w:document>`,
  });
}

/** A page of many rectangles, each of which a program must blend with all below it. */
export function blendedPage(rectangles: number): Buffer {
  const text = 'BT /F1 12 Tf 50 700 Td (a page that takes long to draw) Tj ET';
  const content = `${text}\n/G gs 1 0 0 rg\n${'0 0 600 800 re f\n'.repeat(rectangles)}`;
  const resources =
    '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> /ExtGState << /G << /ca 0.5 /BM /Luminosity >> >>';
  return writePdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << ${resources} >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]);
}

export const smallSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10"/></svg>';

/** A picture whose blurred layers take longer than the time limit of a picture. */
export const heavySvg = `<svg xmlns="http://www.w3.org/2000/svg" width="2048" height="2048"><filter id="f" x="-1" y="-1" width="3" height="3"><feGaussianBlur stdDeviation="300"/><feMorphology operator="dilate" radius="200"/><feTurbulence numOctaves="10"/></filter>${'<g filter="url(#f)"><rect width="2048" height="2048"/></g>'.repeat(500)}</svg>`;

/** A PNG header, and bytes that no encoding makes shorter. */
export function largePicture(bytes: number): Buffer {
  const header = Buffer.from('89504e470d0a1a0a0000000d4948445200000010000000100800000000', 'hex');
  return Buffer.concat([header, Buffer.alloc(bytes - header.length, 'picture bytes')]);
}

/** A text in which no word is repeated. */
export function differentWords(count: number, first = 0): string {
  return Array.from({ length: count }, (_, at) => (first + at).toString(36).padStart(5, 'q')).join(' ');
}
