import { foldLetters } from './fold.ts';
import { partsOf } from './joined-words.ts';
import { type Language, languageOf, namedLanguages, stemIn, stopLanguagesOf } from './languages.ts';
import { formOf, languageTerm } from './term-kinds.ts';
import { addWords } from './tokenizer.ts';

/**
 * Returns the terms of a text for the index with their frequencies, from its folded words and theirs. A word is indexed by its
 * stem in the language of the text, and not by itself. A word of Hangul is indexed by the pairs of its syllables, and a word that signs
 * join by itself and by its parts. The form of a word that folding changed counts once, and that of a stop word does not count. A further
 * term names the language, unless it is English or unknown.
 * @param language by default that of the text
 */
export function toTermFrequencies(
  words: ReadonlyMap<string, number>,
  language: Language = languageOf(words),
): Map<string, number> {
  const terms = new Map<string, number>();
  const add = (term: string, times: number) => void terms.set(term, (terms.get(term) ?? 0) + times);
  for (const [word, times] of words) {
    const form = formOf(word);
    if (form === null) for (const term of termsOfWord(word, language)) add(term, times);
    else if (stopLanguagesOf(foldLetters(form)).length === 0) terms.set(word, 1);
  }
  if (namedLanguages.includes(language) && terms.size > 0) terms.set(languageTerm(language), 1);
  return terms;
}

function termsOfWord(word: string, language: Language): readonly string[] {
  if (isHangul(word)) return pairsOf(word);
  const term = stemIn(language, word);
  const parts = partsOf(word);
  if (parts.length === 0) return [term];
  return [term, ...parts.flatMap((part) => termsOfWord(part, language)).filter((each) => each !== term)];
}

/** Returns the folded words of a text with their frequencies. */
export function countWords(text: string): Map<string, number> {
  const words = new Map<string, number>();
  addWords(words, text);
  return words;
}

const firstHangul = 0xac00;
const hangul = /^[\uac00-\ud7a3]{2,}$/;

/** Returns whether a word consists of syllables of Hangul. Its particles have no space before them. */
export function isHangul(word: string): boolean {
  return word.charCodeAt(0) >= firstHangul && hangul.test(word);
}

/** Returns the pairs of neighbouring syllables. */
export function pairsOf(word: string): string[] {
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
}
