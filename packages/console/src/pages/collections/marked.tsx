/** The lower-case words of a query. Scripts without spaces are segmented by dictionary. */
export function wordsOf(question: string): readonly string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(question.toLowerCase());
  const words = [...segments].filter(({ isWordLike }) => isWordLike === true).map(({ segment }) => segment);
  return [...new Set(words)];
}

/** A text with the query's words highlighted. */
export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const long = words.filter((word) => [...word].length > 2 || /[^\p{Script=Latin}\d]/u.test(word));
  if (long.length === 0) return text;
  const escaped = long.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const parts = text.split(new RegExp(`(${escaped.join('|')})`, 'giu'));
  return parts.map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the position of a part is its only stable key.
    index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
  );
}
