import { jsonBytes } from '../json-bounds.ts';
import { outputPartLimits } from '../output-parts/output-part.ts';

/** Replaces the contents beside a structured output that are too large together by a note. */
export function boundContents(
  blocks: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>>[] {
  let left: number = outputPartLimits.inlineBytes;
  return blocks.slice(0, outputPartLimits.contents).map((block) => {
    const size = jsonBytes(block) ?? Number.POSITIVE_INFINITY;
    if (size > left) return { type: 'text', text: `A content of ${size} bytes was left out because of its size.` };
    left -= size;
    return block;
  });
}
