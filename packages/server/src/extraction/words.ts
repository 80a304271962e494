/** Words longer than this are cut: they are not language, and the index should not grow with them. */
const longestWord = 64;

// The locale decides nothing for words: ICU picks its dictionaries (Chinese, Japanese, Thai, Lao, Khmer, Burmese) by script.
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * The words of a text as the full-text index knows them, in order, with repetitions; the same for documents and
 * questions. Compatibility forms are unified (NFKC), letter case and the diacritics of Latin, Greek and Cyrillic letters
 * are dropped; marks of other scripts carry meaning and stay. Languages without spaces are cut by dictionary.
 */
export function cutWords(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(fold(text))) {
    if (isWordLike === true) words.push(segment.length > longestWord ? cutLong(segment) : segment);
  }
  return words;
}

const ascii = /^[\0-\x7f]*$/;
const invisible = /[\u00ad\u2060\ufeff]/g;
const accented = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{Mn}+/gu;

function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  const folded = text.normalize('NFKC').replace(invisible, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return folded.normalize('NFD').replace(accented, '$1').normalize('NFC');
}

/** Never between the halves of a surrogate pair. */
function cutLong(word: string): string {
  const last = word.charCodeAt(longestWord - 1);
  return word.slice(0, last >= 0xd800 && last <= 0xdbff ? longestWord - 1 : longestWord);
}
