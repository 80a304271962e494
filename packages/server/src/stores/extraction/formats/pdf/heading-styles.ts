import type { Line } from './lines.ts';
import type { Outline } from './outline.ts';
import type { PageLines } from './running-heads.ts';

/** Detects headings by bookmarks, and by size and weight relative to the text. */
export interface HeadingStyles {
  /** Whether a line looks like a heading, independent of its text. */
  isHeading(line: Line): boolean;
  /** Whether a line is smaller than the text, such as a note or caption. */
  isSmall(line: Line | undefined): boolean;
  levelOf(text: string, lines: readonly Line[]): number | undefined;
}

const longest = 200;

/** @param isOutlined bookmarks name the headings, so that large type is none */
export function findHeadingStyles(
  pages: readonly PageLines[],
  { outline, isOutlined }: { readonly outline: Outline; readonly isOutlined: boolean },
): HeadingStyles {
  const characters = new Map<number, number>();
  let bold = 0;
  let all = 0;
  for (const line of pages.flatMap((page) => page.lines)) {
    const length = line.segments.reduce((sum, segment) => sum + segment.text.length, 0);
    if (!line.mono && line.turned !== true) characters.set(line.size, (characters.get(line.size) ?? 0) + length);
    all += length;
    if (line.bold) bold += length;
  }
  const [text] = [...characters].reduce((most, next) => (next[1] > most[1] ? next : most), [0, 0]);
  const sizes = [...characters.keys()].filter((size) => size >= text * 1.13).sort((a, b) => b - a);
  const steps = sizes.filter((size, index) => index === 0 || (sizes[index - 1] ?? 0) - size > 0.4);
  // When most of a document is bold, bold does not indicate a heading.
  const boldMeans = bold < all * 0.3;

  // A turned line beside the text is a stamp, such as that of an archive.
  const isLarge = (line: Line) => line.turned !== true && line.size >= text * 1.13;
  const isBold = (line: Line) => boldMeans && line.turned !== true && line.bold && line.size >= text * 0.95;
  return {
    isHeading: (line) => !line.mono && (isLarge(line) || isBold(line)),
    isSmall: (line) => line !== undefined && line.size <= text * 0.88,
    levelOf: (content, lines) => {
      const [first] = lines;
      if (isOutlined || first === undefined || content.length > longest || !/\p{L}/u.test(content)) return undefined;
      const marked = outline.levelOf(content);
      const isHeading = !first.mono && (isLarge(first) || isBold(first));
      if (marked !== undefined && (isHeading || lines.length === 1)) return Math.min(marked, 6);
      if (!isHeading || lines.length > 3 || isLeader(content) || bullet.test(content)) return undefined;
      if (number.test(content) && !first.bold && first.size < text * 1.3) return undefined;
      if (isLarge(first))
        return Math.min(
          6,
          1 +
            Math.max(
              0,
              steps.findLastIndex((size) => size >= first.size - 0.2),
            ),
        );
      const isSentence = /[.,;]$/.test(content) || content.length > 120;
      return isSentence || outline.size > 0 ? undefined : Math.min(6, steps.length + 1);
    },
  };
}

const bullet = /^[•‣◦▪∙–—*-]\s/;
/** The start of numbered headings and of list items. */
const number = /^\(?[0-9]{1,3}[.)]\s/;

/**
 * A line of a table of contents: three dots before its last word. The text is reversed so that the pattern is anchored.
 */
function isLeader(text: string): boolean {
  return /^\S*\s*\.\s?\.\s?\./.test([...text].reverse().join(''));
}
