import { isHangul, pairsOf, toTermFrequencies } from './chunk-terms.ts';
import { exactQuestionTerm } from './exact-question.ts';
import { partsOf } from './joined-words.ts';
import { detectLanguage, type Language, languageOf, stemIn, stopLanguagesOf } from './languages.ts';
import { formOf, isWholeWord, looselyOf, looseTerm } from './term-kinds.ts';
import { foldWord, toTerm } from './tokenizer.ts';

/** A word of a question, with the terms that chunks have for it. */
export interface QuestionWord {
  /** The term of the word without regard to a language. */
  readonly word: string;
  /** Its stems in the languages of the index, and `word`; distinct. */
  readonly terms: readonly string[];
  /** The terms of chunks that have the word only within a longer one, or in other letters. */
  readonly loose: readonly string[];
  /** How much the word counts: less for stop words. */
  readonly factor: number;
  /** What a chunk with the word scores at least, however long it is; a factor like the one before. */
  readonly floor: number;
  /** The same for its terms without the loose ones, if there are chunks with loose ones. */
  readonly exactFloor: number;
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

/** The weight of each part of a word that punctuation joins. All parts together weigh at most as much as the word. */
const partFactor = 0.5;
/** The weight of the original form of a word, before letters were unified. Measured in ADR 0135. */
const formFactor = 0.2;
/** English has apostrophes in words that are no identifiers. */
const isIdentifier = (word: string) => !word.includes("'");

/**
 * Returns the distinct words of a question, in order, from its folded words. The language of a short question is often unknown,
 * so that each word has its stems in all languages of the index.
 * @param languages those that chunks of the index name
 */
export function analyseQuestion(words: readonly string[], languages: readonly Language[]): QuestionWord[] {
  const stemmed: readonly Language[] = ['en', ...languages];
  const isStopWord = createStopWordTest(words, stemmed);
  const forms = new Set(
    words
      .map(formOf)
      .filter((form) => form !== null)
      .map(foldWord),
  );
  // Chunks with the very word then rank first, whatever their lengths. In longer questions, that finds less: ADR 0135.
  const isSingle = words.filter((word) => isWholeWord(word) && !isStopWord(word)).length <= 1;
  const found = new Map<string, QuestionWord>();
  const add = (word: QuestionWord) => {
    if (found.size < mostQuestionWords && !found.has(word.word)) found.set(word.word, word);
  };
  const termsOf = (word: string) => [...new Set(stemmed.map((each) => stemIn(each, word))).add(toTerm(word))];
  /** Returns the most that a chunk can score for the word and its parts, as a factor. */
  const addWord = (word: string, share: number, isPart: boolean): number => {
    const term = toTerm(word);
    const parts = partsOf(word);
    const isCommon = isStopWord(word) || (parts.length > 0 && parts.every(isStopWord));
    // "A+" is common, but no stop word.
    const isStop = isCommon && (parts.length !== 1 || isStopWord(word));
    const factor = share * (isCommon ? stopFactor : 1);
    if (isHangul(word)) {
      for (const pair of pairsOf(word)) add(exactly({ word: pair, factor: share, isStop, isOptional: isPart }));
      add(exactly({ word: term, factor, isStop, isOptional: true }));
      return factor;
    }
    // The word comes before its parts, but its floor depends on them.
    const place = { word: term, isStop, factor, terms: termsOf(word), isOptional: isPart || parts.length > 0 };
    const loose = place.terms.map(looseTerm);
    add({ ...place, loose, floor: 0, exactFloor: 0 });
    const partShare = share * Math.min(partFactor, 1 / parts.length);
    const ofParts = parts.reduce((sum, part) => sum + addWord(part, partShare, true), 0);
    const floor = isSingle || isIdentifier(word) ? ofParts : 0;
    const isExact = isSingle && !isPart && !forms.has(word);
    const exactFloor = isExact ? factor + floor : 0;
    if (floor + exactFloor > 0 && found.has(term)) found.set(term, { ...place, loose, floor, exactFloor });
    return factor + floor + ofParts;
  };
  for (const word of words) {
    const form = formOf(word);
    const part = looselyOf(word);
    if (part !== null) addWord(part, partFactor, true);
    else if (form === null) addWord(word, 1, false);
    else {
      const ofParts = partsOf(foldWord(form)).length > 0;
      const floor = isSingle || (ofParts && isIdentifier(form)) ? (ofParts ? 2 : 1) : 0;
      add({ ...exactly({ word, factor: formFactor, isStop: false, isOptional: true }), floor });
    }
  }
  return [...found.values()];
}

function createStopWordTest(words: readonly string[], stemmed: readonly Language[]): (word: string) => boolean {
  const language = detectLanguage(new Map(words.map((word) => [word, 1])));
  const spoken = new Set<Language>(['ru', ...(language === null ? stemmed : [language])]);
  return (word) =>
    stopLanguagesOf(word).some((each) => spoken.has(each)) ||
    stopCharacters.test(word) ||
    otherStopWords.has(toTerm(word));
}

/** Returns a word with one term, which is the word. */
function exactly(word: Pick<QuestionWord, 'word' | 'factor' | 'isStop' | 'isOptional'>): QuestionWord {
  return { ...word, terms: [word.word], loose: [], floor: 0, exactFloor: 0 };
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
  return { words: [...new Set(folded.filter(isWholeWord).map(toTerm))], folded, exact: exactQuestionTerm(question) };
}

/** Returns the words of a question, without stop words, that a text has in the same or another form; both as folded words. */
export function matchWords(question: readonly string[], text: ReadonlyMap<string, number>): string[] {
  const has = toTermFrequencies(text);
  const found = analyseQuestion(question, [languageOf(text)]).filter(
    ({ isStop, terms, loose }) => !isStop && [...terms, ...loose].some((term) => has.has(term)),
  );
  return found.flatMap(({ word }) => (formOf(word) === null ? word : []));
}

/** Returns words that the index is searched for as they are. */
export function takeWords(words: readonly string[]): QuestionWord[] {
  return words.map((word) => ({
    ...exactly({ word, factor: 1, isStop: false, isOptional: false }),
    loose: [looseTerm(word)],
  }));
}
