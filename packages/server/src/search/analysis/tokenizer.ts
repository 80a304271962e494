import { stemWord } from './stemmer.ts';

/** Between a word and the times it occurs. */
export const frequencySeparator = '\u0081';

/** Words longer than this are cut: they are not language, and the index should not grow with them. */
const longestWord = 64;

// The locale decides nothing for words: ICU picks its dictionaries (Japanese, Thai, Lao, Khmer, Burmese) by script.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * The words of a text as the full-text index knows them, in order, with repetitions; the same for documents and
 * questions. Compatibility forms are unified (NFKC), letter case and the diacritics of Latin, Greek and Cyrillic letters
 * are dropped, as are the spelling variants and vowel signs of Arabic; marks of other scripts carry meaning and stay.
 * Endings go as `light-stem.ts` says. Languages without spaces are cut by dictionary; of Chinese characters each one and
 * each pair of neighbours is a word, so that it does not matter where a dictionary would cut.
 */
export function tokenize(text: string): string[] {
  if (ascii.test(text)) return cutAscii(text.toLowerCase());
  const folded = fold(text);
  return han.test(folded) ? cutHan(folded) : cutSegments(folded);
}

/** Adds the words of a text to these frequencies; a new word comes after the others. */
export function addTerms(frequencies: Map<string, number>, text: string): void {
  for (const word of tokenize(text)) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
}

/** Words with their frequencies as `ExtractedChunk.words` has them. */
export function joinFrequencies(frequencies: ReadonlyMap<string, number>): string {
  return Array.from(frequencies, ([word, times]) => `${word}${frequencySeparator}${times}`).join(' ');
}

/** The words of a text in the order of their first occurrence, with their frequencies, as `ExtractedChunk.words` has them. */
export function countTerms(text: string): string {
  const frequencies = new Map<string, number>();
  addTerms(frequencies, text);
  return joinFrequencies(frequencies);
}

const ascii = /^[\0-\x7f]*$/;
const invisible = /[\u00ad\u2060\ufeff]/g;
const accented = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu;
const arabic = /\p{Script=Arabic}/u;
const han = /\p{Script=Han}/u;
const hanRun = /\p{Script=Han}+/gu;
const onlyHan = /^\p{Script=Han}+$/u;

function fold(text: string): string {
  const folded = text.normalize('NFKC').replace(invisible, '').toUpperCase().toLowerCase();
  const plain = folded.replaceAll('ς', 'σ').replaceAll('\u2019', "'");
  const bare = plain.normalize('NFD').replace(accented, '$1').normalize('NFC');
  return arabic.test(bare) ? foldArabic(bare) : bare;
}

/** Vowel signs and the stretching mark go; letters that writers use for each other become one. */
function foldArabic(text: string): string {
  return text
    .replace(/[\u064b-\u065f\u0670\u0640]/g, '')
    .replace(/[إأآٱ]/g, 'ا')
    .replace(/[ىئ]/g, 'ي')
    .replaceAll('ة', 'ه')
    .replaceAll('ؤ', 'و');
}

/** A line to write on is no word. */
const blank = /^_+$/;
/** What the segmenter does with ASCII (UAX #29), six times as fast: most text is ASCII. */
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

/** What becomes of a word that was cut out. */
function finishWord(word: string): string {
  return stemWord(word.length > longestWord ? cutLong(word) : word);
}

/** Never between the halves of a surrogate pair. */
function cutLong(word: string): string {
  const last = word.charCodeAt(longestWord - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWord - 1 : longestWord);
}
