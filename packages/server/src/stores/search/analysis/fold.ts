/*
 * Unifies spellings of the same word. Documents and questions are folded alike. `foldCase` keeps the letters of the writer,
 * and `foldLetters` unifies letters with several spellings, such as `ł` and `l`.
 */

/** No language has more than 30 marks on a letter (UAX #15, section 13). Normalization sorts marks in quadratic time. */
const mostMarks = /(\p{M}{30})\p{M}+/gu;
/** Soft hyphens, joiners, the non-joiner of Persian, and marks of the writing direction. */
const invisible = /[\u00ad\u061c\u200c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g;
const apostrophes = /[\u02bb\u02bc\u05f3\u2018\u2019]/g;

/** Unifies letter case, compatibility forms (NFKC) and apostrophes, and drops invisible characters. */
export function foldCase(text: string): string {
  const bounded = text.replace(mostMarks, '$1').normalize('NFKC').replace(invisible, '').toLowerCase();
  return bounded.replaceAll('i\u0307', 'i').replaceAll('ς', 'σ').replace(apostrophes, "'").replaceAll('\u05f4', '"');
}

/** The letter й stays, because it is a letter of its own and not an и with a mark. */
const accented = /(?!и\u0306)([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}])\p{Mn}+/gu;

/** Letters that Unicode does not decompose, with their usual spelling on other keyboards. */
const spelled: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  þ: 'th',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'k',
  ı: 'i',
  ƀ: 'b',
  ɓ: 'b',
  ƈ: 'c',
  ɖ: 'd',
  ɗ: 'd',
  ǥ: 'g',
  ɠ: 'g',
  ɨ: 'i',
  ɉ: 'j',
  ƙ: 'k',
  ƚ: 'l',
  ɲ: 'n',
  ƞ: 'n',
  ƥ: 'p',
  ɍ: 'r',
  ƭ: 't',
  ʈ: 't',
  ʉ: 'u',
  ʋ: 'v',
  ɏ: 'y',
  ƴ: 'y',
  ƶ: 'z',
  ȥ: 'z',
};
// composed: one character class.
const spelledLetter = new RegExp(`[${Object.keys(spelled).join('')}]`, 'g');
const catalanPoint = /(?<=l)·(?=l)/g;
const otherDigit = /(?![0-9])\p{Nd}/gu;
const arabic = /\p{Script=Arabic}/u;

/** Drops diacritics, and unifies letters and digits of a text in lower case. Marks of other scripts stay, because they carry meaning. */
export function foldLetters(text: string): string {
  const bare = text.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFD').replace(accented, '$1');
  const plain = bare
    .normalize('NFC')
    .replace(spelledLetter, (letter) => spelled[letter] ?? letter)
    .replace(catalanPoint, '')
    .replaceAll('♯', '#')
    .replace(otherDigit, digitOf);
  return arabic.test(plain) ? foldArabic(plain) : plain;
}

/** Folds a whole text. */
export function fold(text: string): string {
  return foldLetters(foldCase(text));
}

/** Removes vowel signs and the stretching mark, and unifies letters that writers use interchangeably, or that keyboards of Persian and Urdu write. */
function foldArabic(text: string): string {
  return text
    .replace(/[\u064b-\u065f\u0670\u0640]/g, '')
    .replace(/[إأآٱ]/g, 'ا')
    .replace(/[ىئیے]/g, 'ي')
    .replace(/[کڪ]/g, 'ك')
    .replace(/[ةۃہھۀە]/g, 'ه')
    .replaceAll('ؤ', 'و')
    .replaceAll('٫', '.')
    .replaceAll('٬', ',');
}

const anyDigit = /^\p{Nd}$/u;
const knownDigits = new Map<string, string>();

/** Returns the ASCII digit of a digit. Unicode assigns consecutive code points to the ten digits of each script. */
function digitOf(digit: string): string {
  const known = knownDigits.get(digit);
  if (known !== undefined) return known;
  const code = digit.codePointAt(0) as number;
  let first = code;
  while (anyDigit.test(String.fromCodePoint(first - 1))) first--;
  const value = String((code - first) % 10);
  knownDigits.set(digit, value);
  return value;
}
