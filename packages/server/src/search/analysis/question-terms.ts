import { isHangul, pairsOf, toTermFrequencies } from './chunk-terms.ts';
import { exactQuestionTerm } from './exact-question.ts';
import { partsOf } from './joined-words.ts';
import { detectLanguage, type Language, languageOf, stemIn, stopLanguagesOf } from './languages.ts';
import { formOf } from './term-kinds.ts';
import { toTerm } from './tokenizer.ts';

/** A word of a question, with the terms that chunks have for it. */
export interface QuestionWord {
  /** The term of the word without regard to a language. */
  readonly word: string;
  /** Its stems in the languages of the index, and `word`; distinct. */
  readonly terms: readonly string[];
  /** How much the word counts: less for stop words. */
  readonly factor: number;
  /** Whether it is a stop word, or consists of stop words. */
  readonly isStop: boolean;
  /** Whether a word that is in no chunk counts as missing. */
  readonly isOptional: boolean;
}

/** A question is searched for its first words up to this number. More take a thread for seconds. */
export const mostQuestionWords = 1_000;

/** Stop words count by this factor. Measured: ADR 0135. */
const stopFactor = 0.3;

const stopCharacters =
  /^[的了是我你您他她它们这那个只把在有和与一吗呢吧啊呀给让被从到向就也都很还要会能可请里中多少几什么怎样哪谁为のにはをたがでてとしれさもるからこういやなよま]{1,2}$/;
const otherStopWords = new Set(
  'して ある いる する こと です ます など どの なに どう いつ どこ ما ماذا هل من في عل الى الي عن هو هي هذا هذه التي الذي ان كم كيف متي اين لماذا او لا مع'
    .split(' ')
    .map(toTerm),
);

/** The weight of the parts of a word that punctuation joins. */
const partFactor = 0.5;
/** The weight of the original form of a word, before letters were unified. Chunks with the same form rank first. Measured in ADR 0135. */
const formFactor = 0.2;

/**
 * Returns the distinct words of a question, in order, from its folded words. The language of a short question is often unknown,
 * so that each word has its stems in all languages of the index.
 * @param languages those that chunks of the index name
 */
export function analyseQuestion(words: readonly string[], languages: readonly Language[]): QuestionWord[] {
  const stemmed: readonly Language[] = ['en', ...languages];
  const language = detectLanguage(new Map(words.map((word) => [word, 1])));
  const spoken = new Set<Language>(['ru', ...(language === null ? stemmed : [language])]);
  const isStopWord = (word: string) =>
    stopLanguagesOf(word).some((each) => spoken.has(each)) ||
    stopCharacters.test(word) ||
    otherStopWords.has(toTerm(word));
  const found = new Map<string, QuestionWord>();
  const add = (word: QuestionWord) => {
    if (found.size < mostQuestionWords && !found.has(word.word)) found.set(word.word, word);
  };
  const termsOf = (word: string) => [...new Set(stemmed.map((each) => stemIn(each, word))).add(toTerm(word))];
  const addWord = (word: string, share: number, isOptional: boolean): void => {
    const term = toTerm(word);
    const parts = partsOf(word);
    const isCommon = isStopWord(word) || (parts.length > 0 && parts.every(isStopWord));
    // "A+" is common, but no stop word.
    const isStop = isCommon && (parts.length !== 1 || isStopWord(word));
    const factor = share * (isCommon ? stopFactor : 1);
    if (isHangul(word)) {
      for (const pair of pairsOf(word)) add({ word: pair, terms: [pair], factor: share, isStop, isOptional });
      add({ word: term, terms: [term], factor, isStop, isOptional: true });
      return;
    }
    add({ word: term, terms: termsOf(word), factor, isStop, isOptional: isOptional || parts.length > 0 });
    for (const part of parts) addWord(part, share * partFactor, true);
  };
  for (const word of words) {
    if (formOf(word) === null) addWord(word, 1, false);
    else add({ word, terms: [word], factor: formFactor, isStop: false, isOptional: true });
  }
  return [...found.values()];
}

/** The words of a question as a search has them. */
export interface AskedWords {
  /** Their terms without regard to a language. */
  readonly words: readonly string[];
  readonly folded: readonly string[];
  /** The term of pairs with the same question; null when it is too long. */
  readonly exact: string | null;
}

/** Returns the words of a question, from its text and its folded words with their frequencies. */
export function toAskedWords(question: string, words: ReadonlyMap<string, number>): AskedWords {
  const folded = [...words.keys().take(mostQuestionWords)];
  return {
    words: [...new Set(folded.filter((word) => formOf(word) === null).map(toTerm))],
    folded,
    exact: exactQuestionTerm(question),
  };
}

/** Returns the words of a question, without stop words, that a text has in the same or another form; both as folded words. */
export function matchWords(question: readonly string[], text: ReadonlyMap<string, number>): string[] {
  const has = toTermFrequencies(text);
  const found = analyseQuestion(question, [languageOf(text)]).filter(
    ({ isStop, terms }) => !isStop && terms.some((term) => has.has(term)),
  );
  return found.flatMap(({ word }) => (formOf(word) === null ? word : []));
}

/** Returns words that the index is searched for as they are. */
export function takeWords(words: readonly string[]): QuestionWord[] {
  return words.map((word) => ({ word, terms: [word], factor: 1, isStop: false, isOptional: false }));
}
