import {
  acceptedNames,
  answerBeginnings,
  answerStems,
  answerWords,
  attributeWords,
  questionBeginnings,
  questionStems,
  questionWords,
} from './column-names.ts';

export type PairRole = 'question' | 'answer';

/** Compares names without regard to case, width, blanks and punctuation. */
export function normaliseName(cell: string): string {
  return cell
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{Cf}]/gu, '');
}

/** The longest cell that may be a name with several words, and the most words of it. */
const longest = { characters: 60, words: 6 };

/**
 * Returns how plainly a cell names a role: 0 is the plainest, `null` means that it does not. An accepted name comes before a name that
 * contains one as a word, and this one before a compound.
 */
export function rankOfName(cell: string, role: PairRole): number | null {
  const exact = exactRank(cell, role);
  if (exact !== null) return exact;
  if (rankOfPhrase(cell, role === 'question' ? 'answer' : 'question') !== null) return null;
  return rankOfPhrase(cell, role);
}

/** Whether a cell has a word of a role, also one that says that the column may hold something else, as in "réponse type". */
export function mentions(cell: string, role: PairRole): boolean {
  const words = wordsOf(cell.normalize('NFKC').slice(0, longest.characters));
  return placeOfWord(words, wordRanks[role]) !== null || isCompound(words, role);
}

export function exactRank(cell: string, role: PairRole | 'id' | 'tags'): number | null {
  return exactRanks[role].get(normaliseName(cell)) ?? null;
}

/** Whether the whole name is a word for a question or an answer, not only one that may stand for it, such as "term". */
export function isPlainName(cell: string, role: PairRole): boolean {
  return wordRanks[role].has(normaliseName(cell));
}

/** Whether names of people, if any, are those of a conversation: a user says something to an assistant, or gets an answer. */
export function isSpeakers(question: string, answer: string): boolean {
  if (!/^(?:user|human)$/.test(normaliseName(question))) return true;
  return /^(?:assistant|completion|output)$/.test(normaliseName(answer)) || rankOfPhrase(answer, 'answer') !== null;
}

function rankOfPhrase(cell: string, role: PairRole): number | null {
  const text = cell.normalize('NFKC').trim();
  if (text === '' || text.length > longest.characters || /[?？؟!！。]/.test(text)) return null;
  const words = wordsOf(text);
  if (words.length > longest.words || attributesOf(text).some((word) => attributes.has(word))) return null;
  const place = placeOfWord(words, wordRanks[role]);
  if (place !== null) return 1_000 + place;
  if (isCompound(words, role)) return 2_000;
  const isInflected = beginnings[role].some((start) => words.some((word) => isInflection(word, start)));
  return isInflected || isLetterOfLanguage(words, role) ? 3_000 : null;
}

function isInflection(word: string, start: string): boolean {
  return word.startsWith(start) && word.length <= start.length + 3;
}

/** Whether the name is a letter and a language, such as `q_en` and `a_en`. */
function isLetterOfLanguage([letter, language = '', ...others]: readonly string[], role: PairRole): boolean {
  return letter === role.charAt(0) && language.length === 2 && others.length === 0;
}

/** Splits at everything that is not a letter, and before a capital letter that follows a small one. */
function wordsOf(text: string): readonly string[] {
  return text
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => word !== '');
}

/** Leaves out two letters in brackets, which name a language: "Question (ID)" is Indonesian. */
function attributesOf(text: string): readonly string[] {
  return wordsOf(text.replace(/[([{]\p{L}{2}[)\]}]/gu, ' '));
}

/** A name may have up to three words, such as "câu trả lời". */
function placeOfWord(words: readonly string[], ranks: ReadonlyMap<string, number>): number | null {
  for (const [index] of words.entries()) {
    for (let count = 1; count <= 3; count += 1) {
      const place = ranks.get(words.slice(index, index + count).join(''));
      if (place !== undefined) return place;
    }
  }
  return null;
}

/** Whether one of the words contains a name of the role, and the rest of that word is no attribute. */
function isCompound(words: readonly string[], role: PairRole): boolean {
  return words.some((word) =>
    compoundParts[role].some((part) => {
      if (!part.isScript && !word.startsWith(part.name) && !word.endsWith(part.name)) return false;
      const at = word.indexOf(part.name);
      if (at === -1) return false;
      const rest = word.slice(0, at) + word.slice(at + part.name.length);
      return !namesAttribute(rest, part.isScript);
    }),
  );
}

function namesAttribute(rest: string, isScript: boolean): boolean {
  if (!isScript) return attributes.has(rest) || attributes.has(rest.replace(/^(?:en|n|s)/, ''));
  return attributes.has(rest) || scriptAttributes.some((word) => rest.includes(word));
}

/** Scripts that are written without blanks between words. */
const withoutBlanks = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}]{2,}$/u;

function partsOf(words: readonly string[], stems: readonly string[]) {
  return [
    ...words.filter((word) => withoutBlanks.test(word)).map((name) => ({ name, isScript: true })),
    ...stems.map((name) => ({ name, isScript: false })),
  ];
}

const attributes = new Set(attributeWords);
const scriptAttributes = attributeWords.filter((word) => /[\p{sc=Han}\p{sc=Hangul}]/u.test(word));
const compoundParts = { question: partsOf(questionWords, questionStems), answer: partsOf(answerWords, answerStems) };
const beginnings = { question: questionBeginnings, answer: answerBeginnings };
const wordRanks = { question: ranksOf(questionWords), answer: ranksOf(answerWords) };
const exactRanks = {
  question: ranksOf(acceptedNames.question),
  answer: ranksOf(acceptedNames.answer),
  id: ranksOf(acceptedNames.id),
  tags: ranksOf(acceptedNames.tags),
};

function ranksOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, place) => [normaliseName(name), place]));
}
