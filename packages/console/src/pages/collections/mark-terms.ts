/** A part of a text. */
export interface MarkedPart {
  readonly text: string;
  readonly isMarked: boolean;
}

/** Scripts that write words without spaces, or join particles to them: a term may begin and end at any character. */
const joined =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const isJoined = new RegExp(`[${joined}]`, 'u');
/** A character that continues a word. */
const inWord = `[[\\p{L}\\p{M}\\p{N}]--[${joined}]]`;

/** The lower-case words of a question. Scripts without spaces are segmented by dictionary. */
export function wordsOf(question: string): readonly string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(question.toLowerCase());
  const words = [...segments].filter(({ isWordLike }) => isWordLike === true).map(({ segment }) => segment);
  return [...new Set(words)];
}

interface Explained {
  readonly explanation?: { readonly words: { readonly matched: readonly string[] } | null };
}

/**
 * Returns the words of the question that the service found in the results, without stop words. The service returns stems,
 * which are mostly the beginnings of the words. Without explanations, returns all words.
 */
export function wordsFound(question: string, results: readonly Explained[]): readonly string[] {
  if (results.every(({ explanation }) => explanation === undefined)) return wordsOf(question);
  const found = new Set(results.flatMap(({ explanation }) => explanation?.words?.matched ?? []));
  return wordsOf(question).filter((word) => {
    const plain = word.normalize('NFD').replace(/\p{M}/gu, '');
    return [...found].some((form) =>
      isJoined.test(word) ? word.includes(form) || form.includes(word) : plain.startsWith(prefixOf(form)),
    );
  });
}

/** A stem may have another last letter than the word: `librari` for `library`. */
function prefixOf(form: string): string {
  return form.length >= 4 ? form.slice(0, -1) : form;
}

/** Divides a text at the terms. A term matches whole words; in scripts without spaces also parts of them. */
export function markTerms(text: string, terms: readonly string[]): readonly MarkedPart[] {
  const pattern = patternOf(terms);
  if (pattern === null) return [{ text, isMarked: false }];
  // The pattern has one group, so each second part is a term.
  return text
    .split(pattern)
    .map((part, index) => ({ text: part, isMarked: index % 2 === 1 }))
    .filter((part) => part.text !== '');
}

/** Returns the terms that a text contains. */
export function termsIn(text: string, terms: readonly string[]): readonly string[] {
  return terms.filter((term) => patternOf([term])?.test(text) === true);
}

/** The longest term comes first, because the first that matches is taken. */
function patternOf(terms: readonly string[]): RegExp | null {
  const longest = terms.filter((term) => term !== '').toSorted((a, b) => b.length - a.length);
  if (longest.length === 0) return null;
  const alternatives = longest.map((term) => {
    const literal = [...term].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('');
    return isJoined.test(term) ? literal : `(?<!${inWord})${literal}(?!${inWord})`;
  });
  return new RegExp(`(${alternatives.join('|')})`, 'iv');
}
