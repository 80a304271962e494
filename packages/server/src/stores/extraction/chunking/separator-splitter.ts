import { countTokens } from '../tokens.ts';
import { splitByTokens, type TextPiece, type TokenSizes } from './token-splitter.ts';

interface Section {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits a text at each separator in turn and drops the separators and blank sections. A section with more tokens than
 * the size is split by tokens.
 */
export function* splitBySeparators(
  text: string,
  separators: readonly string[],
  sizes: TokenSizes,
): Generator<TextPiece> {
  for (const section of sections(text, separators, { start: 0, end: text.length })) {
    const slice = text.slice(section.start, section.end);
    const content = slice.trim();
    if (content === '') continue;
    const start = section.start + (slice.length - slice.trimStart().length);
    const numTokens = countTokens(content);
    if (numTokens <= sizes.size) yield { start, end: start + content.length, numTokens };
    else yield* shifted(splitByTokens(content, sizes), start);
  }
}

/**
 * Each separator splits what the previous ones left. It is a generator, because a text may have millions of sections.
 */
function* sections(text: string, separators: readonly string[], whole: Section): Generator<Section> {
  const [separator, ...others] = separators;
  if (separator === undefined) {
    yield whole;
    return;
  }
  const part = text.slice(whole.start, whole.end);
  let start = 0;
  for (;;) {
    const found = part.indexOf(separator, start);
    const end = found === -1 ? part.length : found;
    yield* sections(text, others, { start: whole.start + start, end: whole.start + end });
    if (found === -1) return;
    start = found + separator.length;
  }
}

function* shifted(cuts: Iterable<TextPiece>, by: number): Generator<TextPiece> {
  for (const cut of cuts) yield { ...cut, start: cut.start + by, end: cut.end + by };
}
