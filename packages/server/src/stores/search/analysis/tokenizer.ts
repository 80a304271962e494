import { fold, foldCase, foldLetters } from './fold.ts';
import { dropElision, mayHaveSigns, piecesOf, takeSign } from './joined-words.ts';
import { looseTerm, markTerm } from './term-kinds.ts';

/** Separates a term from its frequency. */
export const frequencySeparator = '\u0081';

/** Longer words are cut. They are not natural language, and they would enlarge the index. */
const longestWord = 64;

// The locale does not affect words: ICU selects its dictionaries (Japanese, Thai, Lao, Khmer, Burmese) by script.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Returns the terms of a text without regard to its language, in order and with repetitions. Documents and questions are
 * treated alike, as `fold.ts` describes. `stemWord` removes few endings; `chunk-terms.ts` knows the language. Dictionaries split
 * languages without spaces. Each Chinese character and each pair of neighbours is a term, so the result does not depend on a dictionary.
 */
export function tokenize(text: string): string[] {
  return foldWords(text).map(toTerm);
}

/** Returns the folded words of a text with their endings, in order and with repetitions. */
export function foldWords(text: string): string[] {
  const words: string[] = [];
  eachWord(text, (word) => void words.push(word));
  return words;
}

/** Returns the term of a folded word whose language is unknown. */
export function toTerm(word: string): string {
  return stemWord(word.includes('й') ? word.replaceAll('й', 'и') : word);
}

/**
 * Adds the folded words of a text to the frequencies; a new word is appended. A word with hyphens counts as its parts and as one
 * word, because others write it without a hyphen. A word that folding changed has a mark with its form besides.
 */
export function addWords(frequencies: Map<string, number>, text: string): void {
  const add = (word: string) => void frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  eachWord(text, (word, form) => {
    add(word);
    if (form !== word) add(markTerm('form', form));
  });
  for (const word of joinParts(text)) add(word);
  if (text.includes(nonJoiner)) for (const part of partsAtNonJoiners(text)) add(looseTerm(part));
}

/** Separates a word of Persian from its affixes without a blank. The segmenter does not split there. */
const nonJoiner = '\u200c';
/** Letters and vowel signs. */
const arabicRun = /[\p{Script=Arabic}\u064b-\u065f\u0670\u200c]+/gu;
const shortestStem = 2;
/** Folded affixes of Persian. They are not parts. */
const affixes = new Set('مي نمي ها هاي هايي هايم هايت هايش تر ترين اي ام ات اش ايم ايد اند'.split(' '));

/** Returns the folded parts of the words with non-joiners. In other scripts, the character only changes the shape of letters. */
function partsAtNonJoiners(text: string): string[] {
  const words = text.match(arabicRun)?.filter((word) => word.includes(nonJoiner)) ?? [];
  const parts = words.flatMap((word) => word.split(nonJoiner)).map((part) => cutLong(fold(part)));
  return parts.filter((part) => part.length >= shortestStem && !affixes.has(part));
}

/** Encodes terms with their frequencies in the format of `ExtractedChunk.words`. */
export function joinFrequencies(frequencies: ReadonlyMap<string, number>): string {
  return Array.from(frequencies, ([word, times]) => `${word}${frequencySeparator}${times}`).join(' ');
}

/** Letters of the scripts whose words have hyphens. */
const letter = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u;
/** Two or three parts. */
const hyphenated =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,30}(?:-[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,30}){1,2}(?![-\p{L}\p{N}\p{M}_])/uy;
const longestPart = 30;
const otherHyphens = /[\u2010\u2011]/g;

/** Returns the words with hyphens as one word each, folded. It looks around hyphens only, because most words have none. */
function joinParts(text: string): string[] {
  const words: string[] = [];
  const plain = ascii.test(text) ? text : text.replace(otherHyphens, '-');
  for (let at = plain.indexOf('-'); at >= 0; at = plain.indexOf('-', at + 1)) {
    let from = at;
    while (from > 0 && at - from < longestPart && letter.test(plain.charAt(from - 1))) from--;
    hyphenated.lastIndex = from;
    const [word] = (from < at && isFree(plain.charAt(from - 1)) && hyphenated.exec(plain)) || [];
    if (word === undefined) continue;
    words.push(word.replaceAll('-', ''));
    at = from + word.length - 1;
  }
  return words.length === 0 ? words : fold(words.join(' ')).split(' ');
}

const partOfWord = /[-\p{L}\p{N}\p{M}_]/u;
const isFree = (before: string) => !partOfWord.test(before);

const ascii = /^[\0-\x7f]*$/;
const han = /\p{Script=Han}/u;
const hanRun = /\p{Script=Han}+/gu;
const onlyHan = /^\p{Script=Han}+$/u;

/** A run of underscores, such as a line to write on, is not a word. */
const blank = /^_+$/;
/** Matches what the segmenter finds in ASCII (UAX #29), six times as fast. Most text is ASCII. */
const asciiWord = /[a-z0-9_]+(?:(?:(?<=[a-z])[.':](?=[a-z])|(?<=[0-9])[.',;](?=[0-9]))[a-z0-9_]+)*/g;

/** Calls `add` with each folded word of a text and its form before letters were unified, both of a limited length. */
function eachWord(text: string, add: (word: string, form: string) => void): void {
  const finish = (folded: string, form: string) => {
    const word = dropElision(folded);
    const own = word === folded ? form : form.slice(folded.length - word.length);
    if (word.length <= longestWord) add(word, form === folded ? word : cutLong(own));
    else for (const piece of new Set([word, ...piecesOf(word)])) add(cutLong(piece), cutLong(piece));
  };
  if (ascii.test(text)) {
    cutAscii(text.toLowerCase(), (word) => finish(word, word));
    return;
  }
  const plain = foldCase(text);
  const cut = han.test(plain) ? cutHan : cutSegments;
  cut(plain, (word) => finish(foldWord(word), word));
}

/** The long vowel mark at the end of a Japanese word. Many writers omit it: サーバー, サーバ. */
const longVowel = /^(\p{Script=Katakana}[\p{Script=Katakana}ー]{2,})ー$/u;

/** The folded forms of words, because texts repeat them. */
const knownFolds = new Map<string, string>();
const mostKnown = 20_000;

/** Returns a word of a text in lower case with its letters unified. */
export function foldWord(word: string): string {
  if (ascii.test(word)) return word;
  const known = knownFolds.get(word);
  if (known !== undefined) return known;
  const folded = foldLetters(word).replace(longVowel, '$1');
  if (word.length > longestWord) return folded;
  if (knownFolds.size === mostKnown) knownFolds.clear();
  knownFolds.set(word, folded);
  return folded;
}

/** Cuts a long word, but never between the halves of a surrogate pair. */
function cutLong(word: string): string {
  if (word.length <= longestWord) return word;
  const last = word.charCodeAt(longestWord - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWord - 1 : longestWord);
}

function cutAscii(text: string, add: (word: string) => void): void {
  if (mayHaveSigns(text)) {
    for (const { 0: word, index } of text.matchAll(asciiWord)) if (!blank.test(word)) add(takeSign(text, index, word));
  } else for (const word of text.match(asciiWord) ?? []) if (!blank.test(word)) add(word);
}

/** Scripts whose words a dictionary finds. The segmenter does not split them beside punctuation. */
const besideSign = /(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[.:'](?=\p{L})/gu;

function cutSegments(text: string, add: (word: string) => void): void {
  const hasSigns = mayHaveSigns(text);
  for (const { segment, index, isWordLike } of segmenter.segment(text.replace(besideSign, ' '))) {
    if (isWordLike === true && !blank.test(segment)) add(hasSigns ? takeSign(text, index, segment) : segment);
  }
}

function cutHan(text: string, add: (word: string) => void): void {
  cutSegments(text, (word) => onlyHan.test(word) || add(word));
  for (const [run] of text.matchAll(hanRun)) {
    let before = '';
    for (const character of run) {
      if (before !== '') add(before + character);
      add(character);
      before = character;
    }
  }
}

/*
 * Removes endings from words so that a question and a passage match. Each ending was measured to help on every set of
 * real questions and to hurt on none. Documents and questions are treated alike, so a stem need not be a word. Source:
 * ADR 0135.
 */

const latin = /^[a-z]+$/;
const arabic = /^[\u0620-\u064a]+$/;
/** Shorter words keep their endings, because their stems would be too ambiguous. */
const shortest = 4;

/** Returns the form under which a folded word is indexed and looked up. */
function stemWord(word: string): string {
  if (word.length < shortest) return word;
  if (word.charCodeAt(word.length - 1) === 0x73) return stemPlural(word);
  return word.charCodeAt(0) < 0x620 ? word : stemArabic(word);
}

/** Removes the English possessive and plural. Spanish, Portuguese, French and Dutch share this plural. */
function stemPlural(word: string): string {
  if (word.endsWith("'s")) return word.slice(0, -2);
  if (!latin.test(word)) return word;
  if (word.endsWith('ies') && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:sses|shes|ches|xes|zes)$/.test(word)) return word.slice(0, -2);
  return /[uis]s$/.test(word) ? word : word.slice(0, -1);
}

/** The article, also after "and", "with", "as", "so" or "for". */
const arabicPrefix = /^(?:وال|بال|كال|فال|لل|ال)(?=..)/;
/** The prefix for "and". */
const arabicAnd = /^و(?=...)/;
const arabicLongSuffix = /(?<=..)(?:ها|ان|ات|ون|ين|يه)$/;
const arabicShortSuffix = /(?<=...)[هي]$/;

/** The stemmer of Larkey, Ballesteros and Connell (light10) without its weakest suffixes. */
function stemArabic(word: string): string {
  if (!arabic.test(word)) return word;
  const bare = word.replace(arabicPrefix, '').replace(arabicAnd, '');
  const stem = bare.replace(arabicLongSuffix, '');
  return stem === bare ? bare.replace(arabicShortSuffix, '') : stem;
}
