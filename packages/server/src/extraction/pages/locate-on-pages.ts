import type { OpenPdf } from '../formats/pdf/open-pdf.ts';
import { findPassage, lettersOf } from './find-passage.ts';
import { type PageBoxes, type PageJob, pageLimits } from './page-protocol.ts';
import { openPageText, type PageText } from './read-letters.ts';

/** Finds the places of the passage on its pages. Broken pages are omitted. */
export function locateOnPages(pdf: OpenPdf, { passage, first, last }: PageJob): PageBoxes[] {
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
    return findBoxes(opened, passage);
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

function* codePointsOf(text: string): Generator<number> {
  for (const character of text) yield character.codePointAt(0) ?? 0;
}
