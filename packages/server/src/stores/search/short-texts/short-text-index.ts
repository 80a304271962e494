import { setImmediate as nextTurn } from 'node:timers/promises';
import { tokenize } from '../analysis/tokenizer.ts';
import { wordGroups } from './word-groups.ts';

/** A text with fields, such as a name and a description. A word counts `weight` times its occurrences. */
export interface ShortText<Item> {
  /** Several texts may describe one item, such as its texts in two languages. */
  readonly item: Item;
  readonly fields: ReadonlyArray<{ readonly text: string; readonly weight: number }>;
}

/** An index in memory for thousands of names and descriptions. */
export interface ShortTextIndex<Item> {
  /**
   * Returns the items that share a word with the question, or a related word, best first. Equal ones keep their order.
   *
   * @param weightOf a factor for the score of an item. Default: 1 for each
   */
  find(question: string, weightOf?: (item: Item) => number): Item[];
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
  let sliced = { texts: 0, words: 0 };
  for (const { item, fields } of texts) {
    const { counts, words } = countWords(fields);
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
    find(question, weightOf) {
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
      return ranked(scores, items, weightOf);
    },
  };
}

/** The items by the weighted sum of the scores of their texts. */
function ranked<Item>(
  scores: ReadonlyMap<number, number>,
  items: readonly Item[],
  weightOf?: (item: Item) => number,
): Item[] {
  const sums = new Map<Item, { first: number; score: number }>();
  for (const [text, score] of scores) {
    // Every index comes from a posting, so it names an item.
    const item = items[text] as Item;
    const sum = sums.get(item);
    if (sum === undefined) sums.set(item, { first: text, score });
    else sums.set(item, { first: Math.min(sum.first, text), score: sum.score + score });
  }
  if (weightOf !== undefined) for (const [item, sum] of sums) sum.score *= weightOf(item);
  const sorted = [...sums].sort(([, one], [, other]) => other.score - one.score || one.first - other.first);
  return sorted.map(([item]) => item);
}

function countWords(fields: ShortText<unknown>['fields']) {
  const counts = new Map<string, number>();
  let words = 0;
  for (const { text, weight } of fields) {
    for (const word of wordsOf(text)) {
      words += 1;
      counts.set(word, (counts.get(word) ?? 0) + weight);
    }
  }
  return { counts, words };
}

/** English words that say nothing about the subject of a question. Short texts contain few of them, so they would count as rare. */
const commonWords = `
  a about after again all am an and any are as at be been before being below between both but by can could did do does doing down
  during each few for from further had has have having he her here hers him his how i if in into is it its itself just let like me
  more most my myself no nor not of off on once only or other our ours out over own please same she should so some such than that
  the their theirs them then there these they this those through to too under until up us very was we were what when where which
  while who whom why will with would you your yours need want tell give much many now`;
const ignored = new Set(tokenize(commonWords));
/** The same in Chinese. A character or a pair of characters is ignored if it has only these. */
const commonCharacters = new Set(
  '的了是我你您他她它们这那个只把在有和与一吗呢吧啊呀给让被从到向就也都很还要会能可想请帮下上里中多少几什么怎样哪谁为现',
);

function isIgnored(word: string): boolean {
  return ignored.has(word) || (word.length <= 2 && [...word].every((character) => commonCharacters.has(character)));
}

const han = /^\p{Script=Han}+$/u;

/** The weight of a word of a question. A single Chinese character is part of many words. */
function weightOfWord(word: string): number {
  return word.length === 1 && han.test(word) ? 0.3 : 1;
}

/**
 * Returns the terms of a name, a description or a question about them, in order and with repetitions. They are those of the
 * full-text index without common English words. More English endings are removed, because short texts repeat few words.
 */
export function wordsOf(text: string): string[] {
  return tokenize(separateWords(text))
    .filter((word) => !isIgnored(word))
    .map(removeEnding);
}

/** Separates the words of an identifier, such as `get_current_weather` or `listPullRequests`. */
function separateWords(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_\-./:+#]+/g, ' ');
}

const latin = /^[a-z]+$/;
/** Shorter words keep their endings, because their stems would be too ambiguous. */
const shortest = 4;

function removeEnding(word: string): string {
  if (word.length < shortest || !latin.test(word)) return word;
  const bare = word.replace(endingsFor(word.length), '');
  return removeDoubledEnd(bare)
    .replace(/(?:ie|y)$/, 'i')
    .replace(/e$/, '');
}

function endingsFor(length: number): RegExp {
  if (length >= 8) return /(?:ions?|ings?|ed|ers?)$/;
  return length >= 6 ? /(?:ing|ed|er)$/ : /$/;
}

/** Removes the second of two equal consonants, as in "plotting". */
function removeDoubledEnd(word: string): string {
  const end = word.at(-1) ?? '';
  return end === word.at(-2) && !'aeiouls'.includes(end) ? word.slice(0, -1) : word;
}

const groupsOfWord = readGroups();

function readGroups(): ReadonlyMap<string, ReadonlySet<string>> {
  const related = new Map<string, Set<string>>();
  for (const group of wordGroups) {
    // A Chinese word of a group is one term. Its characters alone have other meanings.
    const words = group.split(' ').flatMap((word) => (han.test(word) ? [word] : wordsOf(word)));
    for (const word of words) {
      const others = related.get(word) ?? new Set();
      for (const other of words) if (other !== word) others.add(other);
      related.set(word, others);
    }
  }
  return related;
}

/** Returns the other words of the groups of a word. */
function relatedWords(word: string): ReadonlySet<string> {
  return groupsOfWord.get(word) ?? none;
}

const none: ReadonlySet<string> = new Set();
