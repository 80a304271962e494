import { tokenize } from '../analysis/tokenizer.ts';
import { wordGroups } from './word-groups.ts';

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
export function weightOfWord(word: string): number {
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

/**
 * Creates a function like `wordsOf` that remembers the words of every part between spaces. The texts of a catalogue repeat few parts
 * many times.
 */
export function createWordReader(): (text: string) => string[] {
  const known = new Map<string, readonly string[]>();
  return (text) => {
    const words: string[] = [];
    for (const part of text.split(/\s+/)) {
      const found = known.get(part) ?? wordsOf(part);
      if (part.length <= longestKnown) known.set(part, found);
      words.push(...found);
    }
    return words;
  };
}

/** Longer parts are rarely repeated. Chinese sentences are one part. */
const longestKnown = 32;

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
export function relatedWords(word: string): ReadonlySet<string> {
  return groupsOfWord.get(word) ?? none;
}

const none: ReadonlySet<string> = new Set();
