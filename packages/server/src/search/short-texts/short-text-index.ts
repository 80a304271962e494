import { setImmediate as turn } from 'node:timers/promises';
import { relatedWords, wordsOf } from './words.ts';

/** A text with fields, such as a name and a description. A word counts `weight` times its occurrences. */
export interface ShortText<Item> {
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
/** Milliseconds after which the event loop can run other work while an index is built. */
const sliceMs = 8;

/** The usual constants of BM25. */
const k1 = 1.2;
const b = 0.75;
/** A related word counts half. */
const relatedWeight = 0.5;

interface Posting {
  readonly text: number;
  /** The weighted occurrences of the word. */
  readonly count: number;
}

/** Builds an index. Yields to the event loop every 8 ms, so that other requests proceed. */
export async function createShortTextIndex<Item>(texts: Iterable<ShortText<Item>>): Promise<ShortTextIndex<Item>> {
  const items: Item[] = [];
  const lengths: number[] = [];
  const postings = new Map<string, Posting[]>();
  let began = performance.now();
  for (const { item, fields } of texts) {
    const counts = countWords(fields);
    const text = items.push(item) - 1;
    let length = 0;
    for (const [word, count] of counts) {
      length += count;
      const list = postings.get(word);
      if (list === undefined) postings.set(word, [{ text, count }]);
      else list.push({ text, count });
    }
    lengths.push(length);
    if (performance.now() - began >= sliceMs) {
      await turn();
      began = performance.now();
    }
  }
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);

  /** Adds the BM25 score of a word to texts in which no better word of its group occurs. */
  function score(best: Map<number, number>, word: string, weight: number): void {
    const found = postings.get(word) ?? [];
    const rarity = Math.log(1 + (items.length - found.length + 0.5) / (found.length + 0.5));
    for (const { text, count } of found) {
      const length = (lengths[text] ?? 0) / mean;
      const value = (weight * rarity * count * (k1 + 1)) / (count + k1 * (1 - b + b * length));
      if (value > (best.get(text) ?? 0)) best.set(text, value);
    }
  }

  return {
    find(question) {
      const scores = new Map<number, number>();
      for (const word of new Set(wordsOf(question).slice(0, maxWords))) {
        const best = new Map<number, number>();
        score(best, word, 1);
        for (const related of relatedWords(word)) score(best, related, relatedWeight);
        for (const [text, value] of best) scores.set(text, (scores.get(text) ?? 0) + value);
      }
      const ranked = [...scores].sort(([one, left], [other, right]) => right - left || one - other);
      // Every index comes from a posting, so it names an item.
      return ranked.map(([text]) => items[text] as Item);
    },
  };
}

function countWords(fields: ShortText<unknown>['fields']): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { text, weight } of fields) {
    for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + weight);
  }
  return counts;
}
