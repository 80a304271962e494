/** Shorter texts say too little. */
const leastCharacters = 100;
const leastLetters = 100;
/** The shares of vowels of languages in Latin letters are from .3 to .55. */
const vowelShares = [0.24, 0.65] as const;
/** At least this share of the characters of a text in any language are letters or digits. */
const leastShare = 0.5;
const mostPrivate = 0.2;
/** Capitals behind small letters, as a share of all letters. */
const mostInside = 0.12;
/** The mean length of the word in which a Latin letter stands. Words are longer where the blank is a letter, too. */
const longestWords = 25;
/** Words of one letter, as a share of all words. */
const mostSingles = 0.75;
const mostExamined = 4_000;

/**
 * Whether the text of a page is not language but numbers of glyphs, as fonts without a map to letters give. A false alarm costs
 * one page of OCR or a warning, so the measures are few and cheap.
 */
export function isGarbled(page: string): boolean {
  const text = page.slice(0, mostExamined);
  const counts = { all: 0, letters: 0, named: 0, unassigned: 0, latin: 0, vowels: 0, inside: 0 };
  let wasSmall = false;
  let before = '';
  for (const character of text) {
    const { isBlank, isLetter, isNamed, isLatin, isVowel, isCapital, isSmall, isUnassigned } = classOf(character);
    // Leaders and rules repeat one sign.
    if (!isBlank && (isNamed || character !== before)) {
      before = character;
      counts.all += 1;
      if (isUnassigned) counts.unassigned += 1;
      if (isNamed) counts.named += 1;
      if (isLetter) counts.letters += 1;
      if (isLatin) counts.latin += 1;
      if (isVowel) counts.vowels += 1;
      if (isCapital && wasSmall) counts.inside += 1;
    }
    wasSmall = isSmall;
  }
  return counts.all >= leastCharacters && (isOfSigns(counts) || isOfWrongLetters(counts, text));
}

const classes = new Map<string, ReturnType<typeof classify>>();
const mostClasses = 10_000;

function classOf(character: string) {
  const known = classes.get(character);
  if (known !== undefined) return known;
  const found = classify(character);
  if (classes.size < mostClasses) classes.set(character, found);
  return found;
}

function classify(character: string) {
  const isLetter = /[\p{L}\p{M}]/u.test(character);
  const isLatin = isLetter && character < '\u0250';
  const isCapital = isLetter && character !== character.toLowerCase();
  return {
    isBlank: character.trim() === '',
    isLetter,
    isNamed: isLetter || /\p{N}/u.test(character),
    isLatin,
    isVowel: isLatin && /[aeiouyæø]/i.test(character.normalize('NFD').charAt(0)),
    isCapital,
    isSmall: isLetter && !isCapital && character !== character.toUpperCase(),
    /** Without a meaning that all programs share, or the mark of a damaged character. */
    isUnassigned: /[\p{Co}\p{Cn}\ufffd]/u.test(character),
  };
}

function isOfSigns({ all, named, unassigned }: { all: number; named: number; unassigned: number }): boolean {
  return named < leastShare * all || unassigned > mostPrivate * all;
}

function isOfWrongLetters(
  { letters, latin, vowels, inside }: { letters: number; latin: number; vowels: number; inside: number },
  text: string,
): boolean {
  if (letters < leastLetters) return false;
  const words = text.match(/[\p{L}\p{M}]+/gu) ?? [];
  const singles = words.filter((word) => word.length === 1 && word < '\u0900').length;
  if (singles > mostSingles * words.length || inside > mostInside * letters) return true;
  if (latin <= 0.8 * letters) return false;
  const length = words.reduce((sum, word) => sum + word.length ** 2, 0) / letters;
  return length > longestWords || vowels < vowelShares[0] * latin || vowels > vowelShares[1] * latin;
}
