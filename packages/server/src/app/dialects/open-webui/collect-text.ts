import type { ExtractedChunk } from '../../../stores/extraction/extraction.ts';

/** The text of one page or sheet, or of a document without either. */
export interface Section {
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  readonly content: string;
}

/**
 * Joins chunks to one text for each page or sheet. A chunk belongs to the page on which it begins.
 * @param options.areRows whether chunks are rows of a sheet, which stay on lines of their own
 * @param options.onExceeded called when the texts have more than `most` characters; further chunks are dropped
 */
export function collectText(most: number, { areRows, onExceeded }: { areRows: boolean; onExceeded: () => void }) {
  const sections: Array<{ page: number | undefined; sheet: string | undefined; parts: string[]; end: number }> = [];
  let characters = 0;

  function add({ content, locator }: ExtractedChunk): void {
    const { page, sheet, char_start: start = 0, char_end: end = 0 } = locator ?? {};
    const last = sections.at(-1);
    if (last === undefined || last.page !== page || last.sheet !== sheet) {
      sections.push({ page, sheet, parts: [content], end });
      return;
    }
    const gap = end > 0 && start - last.end < 2 ? ' '.repeat(start - last.end) : '\n\n';
    last.parts.push(areRows && gap !== '' ? '\n' : gap, content);
    last.end = end;
  }

  return {
    add(chunks: readonly ExtractedChunk[]): void {
      for (const chunk of chunks) {
        characters += chunk.content.length;
        if (characters <= most) add(chunk);
        else onExceeded();
      }
    },
    sections: (): Section[] => sections.map(({ page, sheet, parts }) => ({ page, sheet, content: parts.join('') })),
  };
}
