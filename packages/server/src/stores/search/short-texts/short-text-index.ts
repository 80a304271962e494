import { setImmediate as nextTurn } from 'node:timers/promises';
import { createWordReader, relatedWords, weightOfWord, wordsOf } from './words.ts';

/** A text with fields, such as a name and a description. A word counts `weight` times its occurrences. */
export interface ShortText<Item> {
  /** Several texts may describe one item, such as its texts in two languages. */
  readonly item: Item;
  readonly fields: ReadonlyArray<{ readonly text: string; readonly weight: number }>;
}

/** An index in memory for thousands of names and descriptions. */
export interface ShortTextIndex<Item> {
  /** Returns the items that share a word with the question, or a related word, best first. Equal ones keep their order. */
  find(question: string): Item[];
}

/** The words of a question that are looked up. Each word costs at most one pass over the texts for itself and its groups. */
const maxWords = 32;
/** The texts and the words after which the event loop can run other work while an index is built. */
export const slice = { texts: 8, words: 4_000 } as const;

/** The usual constants of BM25. */
const k1 = 1.2;
const b = 0.75;
/** A related word counts less than the word of the question. */
const relatedWeight = 0.7;

interface Posting {
  readonly text: number;
  /** The weighted occurrences of the word. */
  readonly count: number;
}

/**
 * Builds an index. Yields to the event loop after every slice, so that other requests proceed.
 *
 * @param turn waits until the event loop has run other work
 */
export async function createShortTextIndex<Item>(
  texts: Iterable<ShortText<Item>>,
  turn: () => Promise<unknown> = nextTurn,
): Promise<ShortTextIndex<Item>> {
  const items: Item[] = [];
  const lengths: number[] = [];
  const postings = new Map<string, Posting[]>();
  const read = createWordReader();
  let sliced = { texts: 0, words: 0 };
  for (const { item, fields } of texts) {
    const { counts, words } = countWords(fields, read);
    const text = items.push(item) - 1;
    let length = 0;
    for (const [word, count] of counts) {
      length += count;
      const list = postings.get(word);
      if (list === undefined) postings.set(word, [{ text, count }]);
      else list.push({ text, count });
    }
    lengths.push(length);
    sliced = { texts: sliced.texts + 1, words: sliced.words + words };
    if (sliced.texts >= slice.texts || sliced.words >= slice.words) {
      await turn();
      sliced = { texts: 0, words: 0 };
    }
  }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);

  /** Adds the BM25 weight of a word to texts in which no better word of its group occurs. */
  function weigh(best: Map<number, number>, word: string, weight: number): void {
    for (const { text, count } of postings.get(word) ?? []) {
      const length = (lengths[text] ?? 0) / mean;
      const value = (weight * count * (k1 + 1)) / (count + k1 * (1 - b + b * length));
      if (value > (best.get(text) ?? 0)) best.set(text, value);
    }
  }

  return {
    find(question) {
      const scores = new Map<number, number>();
      for (const word of new Set(wordsOf(question).slice(0, maxWords))) {
        const best = new Map<number, number>();
        const weight = weightOfWord(word);
        weigh(best, word, weight);
        for (const related of relatedWords(word)) weigh(best, related, relatedWeight * weight);
        // A word is as rare as its group of related words. Otherwise a rare synonym of a common word would decide alone.
        const rarity = Math.log(1 + (items.length - best.size + 0.5) / (best.size + 0.5));
        for (const [text, value] of best) scores.set(text, (scores.get(text) ?? 0) + rarity * value);
      }
      return ranked(scores, items);
    },
  };
}

/** The items by the sum of the scores of their texts. */
function ranked<Item>(scores: ReadonlyMap<number, number>, items: readonly Item[]): Item[] {
  const sums = new Map<Item, { first: number; score: number }>();
  for (const [text, score] of scores) {
    // Every index comes from a posting, so it names an item.
    const item = items[text] as Item;
    const sum = sums.get(item);
    if (sum === undefined) sums.set(item, { first: text, score });
    else sums.set(item, { first: Math.min(sum.first, text), score: sum.score + score });
  }
  const sorted = [...sums].sort(([, one], [, other]) => other.score - one.score || one.first - other.first);
  return sorted.map(([item]) => item);
}

function countWords(fields: ShortText<unknown>['fields'], read: (text: string) => readonly string[]) {
  const counts = new Map<string, number>();
  let words = 0;
  for (const { text, weight } of fields) {
    for (const word of read(text)) {
      words += 1;
      counts.set(word, (counts.get(word) ?? 0) + weight);
    }
  }
  return { counts, words };
}
