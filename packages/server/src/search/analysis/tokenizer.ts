import { stemWord } from './stemmer.ts';

/** Separates a term from its frequency. */
export const frequencySeparator = '\u0081';

/** Longer words are cut. They are not natural language, and they would enlarge the index. */
const longestWord = 64;

// The locale does not affect words: ICU selects its dictionaries (Japanese, Thai, Lao, Khmer, Burmese) by script.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Returns the terms of a text without regard to its language, in order and with repetitions. Documents and questions are
 * treated alike. Compatibility forms are unified (NFKC). Letter case, diacritics of Latin, Greek and Cyrillic letters,
 * and spelling variants and vowel signs of Arabic are dropped. Marks of other scripts stay, because they carry meaning.
 * `stemmer.ts` removes few endings; `chunk-terms.ts` knows the language. Dictionaries split languages without spaces. Each
 * Chinese character and each pair of neighbours is a term, so the result does not depend on a dictionary.
 */
export function tokenize(text: string): string[] {
  return foldWords(text).map(toTerm);
}

/** Returns the folded words of a text with their endings, in order and with repetitions. */
export function foldWords(text: string): string[] {
  if (ascii.test(text)) return cutAscii(text.toLowerCase());
  const folded = fold(text);
  return han.test(folded) ? cutHan(folded) : cutSegments(folded);
}

/** Returns the term of a folded word whose language is unknown. */
export function toTerm(word: string): string {
  return stemWord(word.includes('й') ? word.replaceAll('й', 'и') : word);
}

/**
 * Adds the folded words of a text to the frequencies; a new word is appended. A word with hyphens counts as its parts and as one
 * word, because others write it without a hyphen.
 */
export function addWords(frequencies: Map<string, number>, text: string): void {
  const add = (word: string) => void frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
  for (const word of foldWords(text)) add(word);
  for (const word of joinParts(text)) add(word);
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
/** More marks follow one letter in no language (UAX #15, section 13). Unicode sorts them, which takes quadratic time. */
const mostMarks = /(\p{M}{30})\p{M}+/gu;
const invisible = /[\u00ad\u2060\ufeff]/g;
/** The letter й keeps its sign, because the endings of Russian words depend on it. */
const accented = /(?!и\u0306)([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu;
const arabic = /\p{Script=Arabic}/u;
const han = /\p{Script=Han}/u;
const hanRun = /\p{Script=Han}+/gu;
const onlyHan = /^\p{Script=Han}+$/u;

/** Drops what makes no difference between words: letter case, compatibility forms, diacritics and variants of Arabic. */
export function fold(text: string): string {
  const bounded = text.replace(mostMarks, '$1');
  const folded = bounded.normalize('NFKC').replace(invisible, '').toUpperCase().toLowerCase();
  const plain = folded.replaceAll('ς', 'σ').replaceAll('\u2019', "'");
  const bare = plain.normalize('NFD').replace(accented, '$1').normalize('NFC');
  return arabic.test(bare) ? foldArabic(bare) : bare;
}

/** Removes vowel signs and the stretching mark, and unifies letters that writers use interchangeably. */
function foldArabic(text: string): string {
  return text
    .replace(/[\u064b-\u065f\u0670\u0640]/g, '')
    .replace(/[إأآٱ]/g, 'ا')
    .replace(/[ىئ]/g, 'ي')
    .replaceAll('ة', 'ه')
    .replaceAll('ؤ', 'و');
}

/** A run of underscores, such as a line to write on, is not a word. */
const blank = /^_+$/;
/** Matches what the segmenter finds in ASCII (UAX #29), six times as fast. Most text is ASCII. */
const asciiWord = /[a-z0-9_]+(?:(?:(?<=[a-z])[.':](?=[a-z])|(?<=[0-9])[.',;](?=[0-9]))[a-z0-9_]+)*/g;

function cutAscii(text: string): string[] {
  const words: string[] = [];
  for (const word of text.match(asciiWord) ?? []) if (!blank.test(word)) words.push(finishWord(word));
  return words;
}

function cutSegments(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike === true && !blank.test(segment)) words.push(finishWord(segment));
  }
  return words;
}

function cutHan(text: string): string[] {
  const words = cutSegments(text).filter((word) => !onlyHan.test(word));
  for (const [run] of text.matchAll(hanRun)) {
    let before = '';
    for (const character of run) {
      if (before !== '') words.push(before + character);
      words.push(character);
      before = character;
    }
  }
  return words;
}

/** Shortens a word. */
function finishWord(word: string): string {
  return word.length > longestWord ? cutLong(word) : word;
}

/** Cuts a long word, but never between the halves of a surrogate pair. */
function cutLong(word: string): string {
  const last = word.charCodeAt(longestWord - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWord - 1 : longestWord);
}
