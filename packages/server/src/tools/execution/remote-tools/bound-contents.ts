import { jsonBytes } from '../json-bounds.ts';
import { outputPartLimits } from '../output-parts/output-part.ts';

/** Replaces each content beside a structured output that does not fit by a note, and those beyond the limit together by one note. */
export function boundContents(
  blocks: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>>[] {
  let left: number = outputPartLimits.inlineBytes;
  const most = outputPartLimits.contents;
  const bounded = blocks.slice(0, most).map((block) => {
    const size = jsonBytes(block) ?? Number.POSITIVE_INFINITY;
    if (size > left) return note(`A content of ${size} bytes was left out because of its size.`);
    left -= size;
    return block;
  });
  const others = blocks.length - bounded.length;
  if (others === 0) return bounded;
  return [...bounded, note(`Further contents were left out: ${others}. At most ${most} contents are passed on.`)];
}

function note(text: string) {
  return { type: 'text', text };
}
