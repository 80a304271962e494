import type { PicturePage } from './picture.ts';

const pointsPerInch = 72;
/** A picture of a screen has this many pixels per inch or fewer; its letters are small. */
const screenDpi = 100;
const enlargedDpi = 150;
/** A larger picture is legible without being enlarged. */
const mostEnlargedPixels = 8_000_000;
const usualDpi = 300;
const beyondLimit = { width: 20_000, height: 20_000 };

/** Builds a PDF whose pages are the pictures, as they are compressed. */
export function toPdf(pages: readonly PicturePage[]): Buffer {
  const objects: Buffer[] = [];
  const add = (head: string, stream?: Uint8Array): number => {
    const number = objects.length + 1;
    const body =
      stream === undefined ? [`${head} >>`] : [`${head} /Length ${stream.length} >>\nstream\n`, stream, '\nendstream'];
    objects.push(
      Buffer.concat([`${number} 0 obj\n<< `, ...body, '\nendobj\n'].map((part) => Buffer.from(part as string))),
    );
    return number;
  };
  add('/Type /Catalog /Pages 2 0 R');
  objects.push(Buffer.alloc(0)); // the list of pages, whose numbers are known at the end
  const kids = pages.map((page) => addPage(page, add));
  const list = `/Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}]`;
  objects[1] = Buffer.from(`2 0 obj\n<< ${list} >>\nendobj\n`);
  return withTable(objects);
}

type Add = (head: string, stream?: Uint8Array) => number;

function addPage({ width, height, dpi, rotate, parts }: PicturePage, add: Add): number {
  const resolution = resolutionOf(width * height, dpi);
  const [pageWidth, pageHeight] = [width, height].map((pixels) => (pixels * pointsPerInch) / resolution) as [
    number,
    number,
  ];
  const scale = pointsPerInch / resolution;
  // The reader of scanned pages skips a page if the header of its picture states more pixels than its limit.
  const announced = { left: 0, top: 0, ...beyondLimit, dictionary: '/ColorSpace /DeviceGray /BitsPerComponent 8' };
  const shown = parts.length > 0 ? parts : [{ ...announced, data: new Uint8Array(0) }];
  const names: string[] = [];
  const drawing = shown.map((part, index) => {
    const head = `/Type /XObject /Subtype /Image /Width ${part.width} /Height ${part.height} ${part.dictionary}`;
    names.push(`/I${index} ${add(head, part.data)} 0 R`);
    const bottom = pageHeight - (part.top + part.height) * scale;
    const place = [part.width * scale, 0, 0, part.height * scale, part.left * scale, bottom];
    return `q ${place.map(written).join(' ')} cm /I${index} Do Q`;
  });
  const content = add('', Buffer.from(drawing.join('\n')));
  const box = `/MediaBox [0 0 ${written(pageWidth)} ${written(pageHeight)}] /Rotate ${rotate}`;
  return add(
    `/Type /Page /Parent 2 0 R ${box} /Contents ${content} 0 R /Resources << /XObject << ${names.join(' ')} >> >>`,
  );
}

/** PDF has no numbers with an exponent. */
function written(value: number): string {
  return value.toFixed(4);
}

/** Whether the file of a picture names a usable resolution. */
export function hasResolution({ dpi }: Pick<PicturePage, 'dpi'>): boolean {
  return dpi !== undefined && dpi > screenDpi && dpi <= 2400;
}

/** Small pictures without a usable resolution are enlarged, because their letters may be those of a screen. */
function resolutionOf(pixels: number, dpi: number | undefined): number {
  if (dpi !== undefined && hasResolution({ dpi })) return dpi;
  return pixels <= mostEnlargedPixels ? enlargedDpi : usualDpi;
}

function withTable(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  let length = parts[0]?.length ?? 0;
  let table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  for (const object of objects) {
    table += `${String(length).padStart(10, '0')} 00000 n \n`;
    parts.push(object);
    length += object.length;
  }
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + trailer)]);
}
