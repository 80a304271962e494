import type { ReplacedPart, TextPart } from './find-pieces.ts';

/** Replaces the forms of the secrets in texts. */
export interface Replacer {
  replace(text: string): string;
  replacePart(text: string, part: TextPart): ReplacedPart;
  /** The characters of the longest form. */
  longestForm(): number;
}

/** Redacts bytes chunk by chunk. */
export interface RedactionStream {
  /** Returns the bytes that no later chunk can change; possibly none. Takes ownership of the chunk. */
  push(chunk: Buffer): Buffer;
  /** Returns the remaining bytes. */
  end(): Buffer;
}

/** The least number of characters that are searched at once, so that searching the overlap again costs little. */
const window = 256 * 1024;

/** A form may begin in one chunk and end in another, so the characters of the longest form wait for the next chunk. */
export function createRedactionStream(replacer: Pick<Replacer, 'replacePart' | 'longestForm'>): RedactionStream {
  let waiting = '';
  /** The start of what is not returned yet. The character before it stays, because a short form must stand alone. */
  let from = 0;

  function take(limit: number): Buffer {
    const { text, end } = replacer.replacePart(waiting, { from, limit });
    waiting = waiting.slice(Math.max(0, end - 1));
    from = Math.min(1, end);
    return Buffer.from(text, 'latin1');
  }

  return {
    push(chunk) {
      waiting += chunk.toString('latin1');
      const limit = waiting.length - replacer.longestForm();
      return limit - from < Math.max(window, replacer.longestForm()) ? Buffer.alloc(0) : take(limit);
    },
    end: () => take(waiting.length),
  };
}
