import type { ExtractedChunk } from '../../extraction/extraction.ts';

/** The text of one page or sheet, or of a document without either. */
export interface Section {
  readonly page: number | undefined;
  readonly sheet: string | undefined;
  readonly content: string;
}

/**
 * Joins chunks to one text for each page or sheet. A chunk belongs to the page on which it begins.
 * @param onExceeded called when the texts have more than `most` characters; further chunks are dropped
 */
export function collectText(most: number, onExceeded: () => void) {
  const sections: Array<{ page: number | undefined; sheet: string | undefined; parts: string[]; end: number }> = [];
  let characters = 0;

  function add({ content, locator }: ExtractedChunk): void {
    const { page, sheet, char_start: start = 0, char_end: end = 0 } = locator ?? {};
    const last = sections.at(-1);
    if (last === undefined || last.page !== page || last.sheet !== sheet) {
      sections.push({ page, sheet, parts: [content], end });
      return;
    }
    // Chunks that touch are parts of one paragraph that was too long.
    last.parts.push(end > 0 && start - last.end < 2 ? ' '.repeat(start - last.end) : '\n\n', content);
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
