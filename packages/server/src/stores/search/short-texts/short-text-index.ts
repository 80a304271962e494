import { setImmediate as nextTurn } from 'node:timers/promises';
import { tokenize } from '../analysis/tokenizer.ts';
import { wordGroups } from './word-groups.ts';

/** A text with fields, such as a name and a description. A word counts `weight` times its occurrences. */
export interface ShortText<Item> {
  /** Several texts may describe one item, such as its texts in two languages. */
  readonly item: Item;
  readonly fields: readonly Field[];
}

interface Field {
  readonly text: string;
  readonly weight: number;
  /** Whether this is the title, or names what the item belongs to. A question that consists of their words finds the item first. */
  readonly role?: 'title' | 'owner';
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
/** The part of a word of a title that a compound is for each of its two words. */
const halfWord = 0.5;

interface Posting {
  readonly text: number;
  /** The weighted occurrences of the word. */
  readonly count: number;
}

/** One text of the index. */
interface Indexed<Item> {
  readonly item: Item;
  readonly length: number;
  readonly title: ReadonlySet<string>;
  readonly owner: ReadonlySet<string>;
}

/** What one word of a question finds in a text, and what all of them find. */
interface Match {
  value: number;
  /** How far the title has the word: 0 to 1 for one word. */
  inTitle: number;
  /** The same for the title and the name of the owner. */
  named: number;
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
  const indexed: Indexed<Item>[] = [];
  const postings = new Map<string, Posting[]>();
  let sliced = { texts: 0, words: 0 };
  for (const { item, fields } of texts) {
    const { counts, words } = countWords(fields);
    let length = 0;
    for (const [word, count] of counts) {
      length += count;
      const list = postings.get(word);
      if (list === undefined) postings.set(word, [{ text: indexed.length, count }]);
      else list.push({ text: indexed.length, count });
    }
    indexed.push({ item, length, title: wordsWith('title', fields), owner: wordsWith('owner', fields) });
    sliced = { texts: sliced.texts + 1, words: sliced.words + words };
    if (sliced.texts >= slice.texts || sliced.words >= slice.words) {
      await turn();
      sliced = { texts: 0, words: 0 };
    }
  }
  const mean = indexed.reduce((sum, { length }) => sum + length, 0) / Math.max(1, indexed.length);

  /** Adds the BM25 weight of a word to texts in which no better word of its group occurs. */
  function weigh(best: Map<number, Match>, word: string, weight: number, share = 1): void {
    for (const { text, count } of postings.get(word) ?? []) {
      // Every posting names a text.
      const { length, title, owner } = indexed[text] as Indexed<Item>;
      const value = (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * length) / mean));
      const inTitle = title.has(word) ? weight * share : 0;
      const named = title.has(word) || owner.has(word) ? weight : 0;
      best.set(text, better(best.get(text) ?? noMatch, { value, inTitle, named }));
    }
  }

  return {
    find(question, weightOf) {
      const matches = new Map<number, Match>();
      const words = questionWords(question, postings);
      let known = 0;
      let count = 0;
      for (const { word, compounds } of words) {
        const best = new Map<number, Match>();
        const weight = weightOfWord(word);
        weigh(best, word, weight);
        for (const compound of compounds) weigh(best, compound, weight, halfWord);
        for (const related of relatedWords(word)) weigh(best, related, relatedWeight * weight);
        if (best.size === 0) continue;
        // A word is as rare as its group of related words. Otherwise a rare synonym of a common word would decide alone.
        const rarity = Math.log(1 + (indexed.length - best.size + 0.5) / (best.size + 0.5));
        known += rarity * weight;
        count += weight;
        for (const [text, match] of best) matches.set(text, add(matches.get(text) ?? noMatch, match, rarity));
      }
      const scored = [...matches].map(([text, { value, inTitle, named }]) => {
        const { item, title } = indexed[text] as Indexed<Item>;
        const precision = Math.min(1, inTitle / Math.max(1, title.size));
        return { text, item, score: value * titleFactor(named / known, precision, count) };
      });
      return ranked(scored, weightOf);
    },
  };
}

const noMatch: Match = { value: 0, inTitle: 0, named: 0 };

function better(one: Match, other: Match): Match {
  return {
    value: Math.max(one.value, other.value),
    inTitle: Math.max(one.inTitle, other.inTitle),
    named: Math.max(one.named, other.named),
  };
}

function add(sum: Match, { value, inTitle, named }: Match, rarity: number): Match {
  return { value: sum.value + rarity * value, inTitle: sum.inTitle + inTitle, named: sum.named + rarity * named };
}

/**
 * The factor of a text: 8 if its title is the question, and up to 4 if its title has all words of the question. The fewer words a
 * question has, the more of the title they must be, because one word such as "picture" occurs in the titles of tools for many
 * things. The numbers are those that did best with the tasks in `test/fixtures/tool-search`.
 *
 * @param coverage the part of the question, by rarity, that the title and the owner have
 * @param precision the part of the title that the question has
 * @param words the words of the question
 */
function titleFactor(coverage: number, precision: number, words: number): number {
  // Sums of fractions may miss 1 by a little.
  if (Math.min(coverage, precision) > 0.999) return 8;
  return 1 + 3 * coverage ** 4 * precision ** (6 / words ** 2);
}

interface Scored<Item> {
  readonly text: number;
  readonly item: Item;
  readonly score: number;
}

/** The items by the weighted sum of the scores of their texts. */
function ranked<Item>(scored: ReadonlyArray<Scored<Item>>, weightOf?: (item: Item) => number): Item[] {
  const sums = new Map<Item, { first: number; score: number }>();
  for (const { text, item, score } of scored) {
    const sum = sums.get(item);
    if (sum === undefined) sums.set(item, { first: text, score });
    else sums.set(item, { first: Math.min(sum.first, text), score: sum.score + score });
  }
  if (weightOf !== undefined) for (const [item, sum] of sums) sum.score *= weightOf(item);
  const sorted = [...sums].sort(([, one], [, other]) => other.score - one.score || one.first - other.first);
  return sorted.map(([item]) => item);
}

function countWords(fields: readonly Field[]) {
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

function wordsWith(role: Field['role'], fields: readonly Field[]): ReadonlySet<string> {
  return new Set(fields.filter((field) => field.role === role).flatMap(({ text }) => wordsOf(text)));
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
  return termsOf(text).map(removeEnding);
}

function termsOf(text: string): string[] {
  return tokenize(separateWords(text)).filter((word) => !isIgnored(word));
}

/** Returns the different words of a question, each with the compounds that it forms with its neighbours: "task lists" is also `tasklists`. */
function questionWords(question: string, known: { has(word: string): boolean }) {
  const words: Array<{ word: string; compounds: string[] }> = [];
  const terms = termsOf(question).slice(0, maxWords);
  for (const [index, term] of terms.entries()) {
    const pairs = [`${terms[index - 1] ?? ''}${term}`, `${term}${terms[index + 1] ?? ''}`];
    const own = latin.test(term) ? pairs.filter((pair) => pair !== term) : [];
    const compounds = own.map(removeEnding).filter((pair) => known.has(pair));
    const word = removeEnding(term);
    if (compounds.length > 0 || words.every((other) => other.word !== word)) words.push({ word, compounds });
  }
  return words;
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
