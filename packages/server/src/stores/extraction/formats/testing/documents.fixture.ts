import { zipSync } from 'fflate';

const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';

/**
 * Builds a Word document from the content of its body and other parts. The key of a part is the end of its relationship
 * type.
 */
export function docxOf(body: string, parts: Readonly<Record<string, string>> = {}, namespace = word): Uint8Array {
  const names = Object.keys(parts);
  const prefixes = `xmlns:w="${namespace}" xmlns:r="${office}/relationships" xmlns:m="${office}/math"
    xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`;
  const files: Record<string, string> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships><Relationship Id="a" Type="${office}/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `<w:document ${prefixes}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': `<Relationships>${names
      .map((name) => `<Relationship Id="${name}" Type="${office}/relationships/${name}" Target="${name}.xml"/>`)
      .join('')}</Relationships>`,
  };
  for (const [name, content] of Object.entries(parts)) {
    files[`word/${name}.xml`] = `<w:${name} ${prefixes}>${content}</w:${name}>`;
  }
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])));
}

export const paragraph = (text: string, properties = '') =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** Text at a position, in points from the lower left corner. */
export interface Placed {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** The font size; default: 11. */
  readonly size?: number;
  readonly font?: 'Helvetica' | 'Helvetica-Bold' | 'Courier';
}

/** Builds a PDF with pages of 600 by 800 points. It writes the texts in the given order. */
export function pdfOf(pages: readonly (readonly Placed[])[]): Buffer {
  const fonts = ['Helvetica', 'Helvetica-Bold', 'Courier'] as const;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${6 + index * 2} 0 R`).join(' ')}] >>`,
    ...fonts.map((font) => `<< /Type /Font /Subtype /Type1 /BaseFont /${font} /Encoding /WinAnsiEncoding >>`),
  ];
  for (const page of pages) {
    const content = page.map(({ x, y, text, size = 11, font = 'Helvetica' }) => {
      const escaped = text.replace(/[\\()]/g, '\\$&');
      return `BT /F${fonts.indexOf(font) + 1} ${size} Tf ${x} ${y} Td (${escaped}) Tj ET`;
    });
    const stream = content.join('\n');
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${objects.length + 2} 0 R
        /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> >>`,
      `<< /Length ${Buffer.byteLength(stream, 'latin1')} >>\nstream\n${stream}\nendstream`,
    );
  }
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
