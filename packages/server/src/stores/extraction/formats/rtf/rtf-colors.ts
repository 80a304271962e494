import { leastPoints } from '../unseen-look.ts';
import type { State } from './rtf-state.ts';

/** The colours of a document. Source: RTF specification 1.9.1, "Color Table". */
export interface Colors {
  /** Takes a control word of the table. */
  take(word: string, value: number | undefined): void;
  /** Takes a text of the table: a semicolon ends a colour. */
  end(text: string): void;
  /** Whether people cannot see a text: it is white on paper, or smaller than they can read. Cells and boxes may have another colour. */
  isUnseen(state: State): boolean;
}

const whiteFrom = 245;
const mostColors = 1_000;

export function createColors(): Colors {
  const whites: boolean[] = [];
  let parts: Record<string, number> = {};
  return {
    take: (word, value = 0) => {
      parts[word] = value;
    },
    end: (text) => {
      for (let count = text.split(';').length - 1; count > 0 && whites.length < mostColors; count -= 1) {
        const { red, green, blue } = parts;
        // An empty entry stands for the default colour of the program.
        whites.push(red !== undefined && Math.min(red, green ?? 0, blue ?? 0) >= whiteFrom);
        parts = {};
      }
    },
    isUnseen: ({ color, size, isBacked, inTable, destination }) =>
      (size !== undefined && size < 2 * leastPoints) ||
      (whites[color ?? 0] === true && !isBacked && !inTable && destination !== 'box'),
  };
}
