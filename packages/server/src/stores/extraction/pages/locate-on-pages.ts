import type { OpenPdf } from '../formats/pdf/open-pdf.ts';
import { type Box, type PageBoxes, type PageJob, pageLimits } from '../page-protocol.ts';
import { findPassage, lettersOf } from './find-passage.ts';
import { openPageText, type PageText } from './read-letters.ts';

/**
 * Finds the places of the passage on its pages: in their text, and where OCR has read it. Broken pages are omitted.
 */
export function locateOnPages(pdf: OpenPdf, { passage, first, last, scanned }: Omit<PageJob, 'format'>): PageBoxes[] {
  const opened: PageText[] = [];
  try {
    let letters = 0;
    const end = Math.min(last, pdf.numPages, first + pageLimits.pages - 1);
    for (let page = first; page <= end && letters < pageLimits.letters; page += 1) {
      const text = openPageText(pdf, page, pageLimits.letters - letters);
      if (text === undefined) continue;
      opened.push(text);
      letters += text.letters.text.length;
    }
    return withScanned(findBoxes(opened, passage), scanned);
  } finally {
    for (const page of opened) page.close();
  }
}

function findBoxes(pages: readonly PageText[], passage: string): PageBoxes[] {
  const wanted = lettersOf(codePointsOf(passage), pageLimits.letters).text;
  const runs = findPassage(wanted, pages.map(({ letters }) => letters.text).join(''));
  const marked = new Uint8Array(pages.reduce((sum, { letters }) => sum + letters.text.length, 0));
  for (const { start, length } of runs) marked.fill(1, start, start + length);
  let from = 0;
  let left: number = pageLimits.boxes;
  return pages.map((each) => {
    const { page, width, height, letters } = each;
    const places = new Set(letters.places.filter((_, at) => marked[from + at] === 1));
    from += letters.text.length;
    const boxes = each.boxesOf(places).slice(0, left);
    left -= boxes.length;
    return { page, width, height, boxes };
  });
}

/** Adds the boxes of OCR. They replace those of a text that lies over the picture and that OCR has read, too. */
function withScanned(pages: readonly PageBoxes[], scanned: PageJob['scanned']): PageBoxes[] {
  let left: number = pageLimits.boxes;
  return pages.map((page) => {
    const read = scanned.flatMap(([number, ...box]): Box[] => (number === page.page ? [box] : []));
    const others = page.boxes.filter((box) => !read.some((one) => isMiddleIn(one, box)));
    const boxes = [...read, ...others].slice(0, left);
    left -= boxes.length;
    return { ...page, boxes };
  });
}

function isMiddleIn([left, top, width, height]: Box, box: Box): boolean {
  const [x, y] = [box[0] + box[2] / 2, box[1] + box[3] / 2];
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

function* codePointsOf(text: string): Generator<number> {
  for (const character of text) yield character.codePointAt(0) ?? 0;
}
