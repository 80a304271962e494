/*
 * Words with punctuation inside or at their ends, such as `config_file.yaml`, `Status:approved` or `C++`. The segmenter returns them
 * whole (UAX #29). Questions may contain only a part, so the index has the whole word and its parts.
 */

/** Punctuation within a word, from the outermost to the innermost. Between digits, only underscores count: 3.14 and v1.2.3 have no parts. */
const joints = [/(?:(?<![0-9])[.:·"]|[.:·"](?![0-9]))+/, /(?:(?<![0-9])'|'(?![0-9]))+/, /[_‿⁀⁔]+/] as const;
const anyJoint = /[.:·"'_‿⁀⁔]/;
const onlyDigits = /^[0-9_]+$/;
/** Matches "don't", of which "don" is not a part. */
const negated = /^\p{L}+n't$/u;
/** English endings after the apostrophe, such as in "we'll". They are not parts. */
const appended = new Set(['ll', 're', 've']);
/** Shorter parts are letters of abbreviations, such as "e.g". In words with a colon, such as "Type:A", they count. */
const shortestPart = 2;

/**
 * Returns the parts of a folded word: those between its outermost signs, which may have parts themselves. The part of "c++", "a+", "c#"
 * and ".net" is the word without its sign. Empty for a word without signs, and for numbers.
 */
export function partsOf(word: string): readonly string[] {
  const bare = dropSigns(word);
  if (bare !== word) return [bare];
  if (!anyJoint.test(word) || onlyDigits.test(word) || negated.test(word)) return [];
  const least = word.includes(':') ? 1 : shortestPart;
  const pieces = joints.map((joint) => word.split(joint)).find(({ length }) => length > 1) ?? [];
  return pieces.filter((piece) => piece.length >= least && !appended.has(piece));
}

/** Returns the shortest parts of a word that is too long to be stored whole. */
export function piecesOf(word: string): string[] {
  return joints
    .reduce((pieces, joint) => pieces.flatMap((piece) => piece.split(joint)), [word])
    .filter((piece) => piece !== '');
}

function dropSigns(word: string): string {
  const from = word.startsWith('.') ? 1 : 0;
  let to = word.length;
  while (to > from + 1 && (word.endsWith('+', to) || word.endsWith('#', to))) to--;
  return word.slice(from, to);
}

/**
 * Articles, pronouns and prepositions without their last vowel before a vowel or h, as in French, Italian, Catalan and Occitan, and before
 * f in Irish. No English word starts with one, so the rule applies to all languages: "o'clock" and "rock'n'roll" stay whole.
 */
const elided =
  /^(?:(?:[bcdjlmnstv]|qu|jusqu|lorsqu|puisqu|quoiqu|gl|agl|dagl|degl|negl|sugl|all|coll|dall|dell|nell|sull|un|quell|quest)'(?=[aeiouyh])|[bdm]'(?=f))/;

/** Returns a folded word without its elided article. */
export function dropElision(word: string): string {
  return word.includes("'") ? word.replace(elided, '') : word;
}

const signs = /[+#♯]|(?<![\p{L}\p{N}\p{M}._)\]])\.\p{L}/u;
/** One or two plus signs at the end of a word; C++17 has a number behind them. */
const plus = /(?:\+\+(?![\p{L}_+#])|\+(?![\p{L}\p{N}_+#]))/uy;
/** Only a single letter can have this symbol: "C#" is a name, and "PR#12" has a number. */
const sharp = /[#♯](?![\p{L}_+#♯])/uy;
const beforeDot = /[\p{L}\p{N}\p{M}._)\]]/u;
const letter = /^\p{L}$/u;
const firstLetter = /^\p{L}/u;
/** A longer word with a symbol is not treated as a name. */
const longestName = 30;

/** Returns whether some words of a text may be names with a sign. */
export function mayHaveSigns(text: string): boolean {
  return signs.test(text);
}

const musicalSharp = '♯'.charCodeAt(0);

/** Returns a word of a text in lower case with the sign that belongs to it. */
export function takeSign(text: string, start: number, word: string): string {
  if (word.length > longestName) return word;
  const end = start + word.length;
  if (text.charCodeAt(start - 1) === 0x2e && firstLetter.test(word) && !beforeDot.test(text.charAt(start - 2)))
    return `.${word}`;
  const following = text.charCodeAt(end);
  if (following !== 0x2b && following !== 0x23 && following !== musicalSharp) return word;
  const pattern = following === 0x2b ? plus : sharp;
  if (pattern === sharp && !letter.test(word)) return word;
  pattern.lastIndex = end;
  return word + (pattern.exec(text)?.[0] ?? '');
}
