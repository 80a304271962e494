import { type CharacterStatistics, characterStatistics, commonCharacters } from './frequent-characters.ts';
import { languageLetters } from './language-letters.ts';

/*
 * Computes how unlikely a text is, in natural logarithms, in the language that fits it best. Only characters beyond
 * ASCII and their neighbours count, because an encoding affects only them. The results for all encodings of the same
 * bytes are therefore comparable.
 */

const costs = {
  /** A letter that the language does not have. */
  foreignLetter: 12,
  /** An ASCII letter next to a character beyond ASCII, without knowledge of the language. */
  plainLetter: 3.5,
  /** The additional cost of a pair that the language does not have. */
  unknownPair: 1.5,
  /** Quotes, dashes and currency signs. */
  commonSymbol: 5,
  rareSymbol: 10,
  /** C1 controls, private use and unassigned code points. */
  noCharacter: 20,
  /** A small letter before a capital one, a sign between two letters, or a closing quote before a word. */
  oddOrder: 5,
  /** A Chinese, Japanese or Korean character directly next to an ASCII letter; often a blank separates them. */
  changeOfScript: 3,
  uncommonCharacter: 13,
  otherScript: 14,
} as const;

interface TextCounts {
  /** Pairs of folded letters, at least one beyond ASCII. A space stands for any other character. */
  readonly pairs: Map<string, number>;
  /** Chinese, Japanese and Korean characters. */
  readonly characters: Map<string, number>;
  /** ASCII letters, which indicate the language. */
  readonly plain: Map<string, number>;
  /** The costs that are the same in every language. */
  fixed: number;
}

const wide = /[\u3000-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef\u{20000}-\u{3ffff}]/u;
const letter = /[\p{L}\p{M}]/u;
const nothing = /[\p{Cc}\p{Co}\p{Cn}\p{Cs}\ufffd\ufeff]/u;
const commonSymbols = new Set('–—‘’“”„…«»•€£°§©®™·¿¡ªº\u00a0²½№');
const joiningSymbols = new Set('’‘·-–—\u00ad\u200c\u200d');
/** Symbols that do not occur directly before a word. */
const closingSymbols = new Set('’”»›…°™‰†²³½¼¾');

/** Returns a lower value for a likelier text; 0 for a text that is all ASCII. */
export function unlikelihood(text: string): number {
  const counts = countText(compose(text));
  const languages = Object.values(letterModels()).map((model) => costOfLetters(counts, model));
  const scripts = Object.values(characterModels()).map((model) => costOfCharacters(counts, model));
  return counts.fixed + Math.min(...languages, ...scripts);
}

/** The time of a normalisation grows with the square of a run of combining marks, so the text is composed in pieces. */
function compose(text: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += composedPiece)
    pieces.push(text.slice(at, at + composedPiece).normalize('NFC'));
  return pieces.join('');
}
const composedPiece = 1024;

function countText(text: string): TextCounts {
  const counts: TextCounts = { pairs: new Map(), characters: new Map(), plain: new Map(), fixed: 0 };
  const order = createOrder();
  let previous = ' ';
  for (const character of text) {
    const found = classify(character);
    const { kind, folded } = found;
    if (kind === 'wide') add(counts.characters, character);
    if (kind === 'symbol') counts.fixed += symbolCost(character);
    if (kind === 'plain' && folded !== ' ') add(counts.plain, folded);
    if (kind === 'letter' || previous > '\u007f') add(counts.pairs, previous + folded);
    counts.fixed += order.costOf(character, found, previous);
    previous = folded;
  }
  return counts;
}

/** Detects odd orders of characters, independent of the language. */
function createOrder() {
  let wasSmall = false;
  let wasWide = false;
  let inWord = false;
  let oddBeforeLetter = false;

  function costOf(character: string, { kind, folded }: Classified, previous: string): number {
    let cost = 0;
    const isLetter = folded !== ' ';
    const isCapital = isLetter && character !== folded && character.toUpperCase() === character;
    if (isCapital && wasSmall && (kind === 'letter' || previous > '\u007f')) cost += costs.oddOrder;
    if (isLetter && oddBeforeLetter) cost += costs.oddOrder;
    if (kind === 'wide' ? previous !== ' ' : wasWide && isLetter) cost += costs.changeOfScript;
    wasWide = kind === 'wide';
    oddBeforeLetter = kind === 'symbol' && (inWord ? !joiningSymbols.has(character) : closingSymbols.has(character));
    inWord = isLetter || (inWord && kind === 'symbol');
    wasSmall = isLetter && !isCapital && character.toUpperCase() !== character;
    return cost;
  }
  return { costOf };
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

interface Classified {
  readonly kind: 'plain' | 'letter' | 'wide' | 'symbol';
  /** The letter in lower case; a space for every other character. */
  readonly folded: string;
}

const classified = new Map<string, Classified>();
const mostClassified = 20_000;

function classify(character: string): Classified {
  const known = classified.get(character);
  if (known !== undefined) return known;
  const found = classifyAnew(character);
  if (classified.size < mostClassified) classified.set(character, found);
  return found;
}

function classifyAnew(character: string): Classified {
  if (character < '\u0080') {
    return { kind: 'plain', folded: /[a-z]/i.test(character) ? character.toLowerCase() : ' ' };
  }
  if (wide.test(character)) return { kind: 'wide', folded: ' ' };
  if (letter.test(character)) return { kind: 'letter', folded: fold(character) };
  return { kind: 'symbol', folded: ' ' };
}

/**
 * Folds a letter. The capital İ has two characters in lower case; most code pages have a cedilla instead of a comma
 * below.
 */
function fold(character: string): string {
  const folds: Record<string, string> = { ș: 'ş', ț: 'ţ' };
  const lower = character.toLowerCase();
  return folds[lower] ?? (lower.length > 1 ? lower.charAt(0) : lower);
}

function symbolCost(character: string): number {
  if (commonSymbols.has(character)) return costs.commonSymbol;
  return nothing.test(character) ? costs.noCharacter : costs.rareSymbol;
}

interface LetterModel {
  readonly letters: ReadonlyMap<string, number>;
  readonly pairs: ReadonlyMap<string, number>;
}

let builtLetterModels: readonly LetterModel[] | undefined;

function letterModels(): readonly LetterModel[] {
  builtLetterModels ??= Object.values(languageLetters).map((description) => {
    const bar = description.indexOf('|');
    return { letters: read(description.slice(0, bar), 1), pairs: read(description.slice(bar + 1), 2) };
  });
  return builtLetterModels;
}

/** Parses keys of `length` characters, each followed by its cost. */
function read(description: string, length: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = 0; at + length < description.length; at += length + 1) {
    found.set(description.slice(at, at + length), (description.charCodeAt(at + length) - 40) / 4);
  }
  return found;
}

function costOfLetters({ pairs, characters, plain }: TextCounts, model: LetterModel): number {
  let cost = 0;
  for (const [pair, count] of pairs) cost += count * costOfPair(pair, model);
  for (const count of characters.values()) cost += count * costs.otherScript;
  return cost + costOfLanguage(plain, model);
}

function costOfPair(pair: string, model: LetterModel): number {
  const known = model.pairs.get(pair);
  if (known !== undefined) return known;
  const single = model.letters.get(pair.charAt(1)) ?? costs.foreignLetter;
  return Math.min(single + costs.unknownPair, costs.foreignLetter);
}

/** The weight of the evidence from ASCII letters. It is low, because much text is mixed with names and markup. */
const languageWeight = 4;
/** The mean cost of an ASCII letter in languages of other scripts. */
const meanPlainLetter = 3;
function costOfLanguage(plain: ReadonlyMap<string, number>, { letters }: LetterModel): number {
  let cost = 0;
  let total = 0;
  for (const [character, count] of plain) {
    cost += count * Math.min(letters.get(character) ?? 8, 8);
    total += count;
  }
  if (total === 0) return 0;
  return languageWeight * (cost / total) * Math.min(1, total / 100);
}

interface CharacterModel {
  readonly costs: ReadonlyMap<string, number>;
  readonly script: RegExp;
}

let builtCharacterModels: readonly CharacterModel[] | undefined;

function characterModels(): readonly CharacterModel[] {
  builtCharacterModels ??= Object.values(characterStatistics).map(toCharacterModel);
  return builtCharacterModels;
}

/** Assigns costs: frequent characters by Zipf's law, the other common ones equally. */
function toCharacterModel(statistics: CharacterStatistics): CharacterModel {
  const found = new Map<string, number>();
  const common = commonCharacters(statistics.common);
  const rest = -Math.log((0.97 - statistics.frequentShare) / common.size);
  for (const character of common) found.set(character, rest);
  const frequent = [...statistics.frequent];
  const sum = Math.log(frequent.length + 10) - Math.log(10);
  for (const [rank, character] of frequent.entries()) {
    found.set(character, Math.min(rest, -Math.log(statistics.frequentShare / sum / (rank + 10))));
  }
  return { costs: found, script: statistics.script };
}

function costOfCharacters({ pairs, characters, plain }: TextCounts, { costs: known, script }: CharacterModel): number {
  const total = plain.values().reduce((sum, count) => sum + count, 0);
  let cost = languageWeight * meanPlainLetter * Math.min(1, total / 100);
  for (const [character, count] of characters) {
    cost += count * (known.get(character) ?? (script.test(character) ? unknownCost(character) : costs.otherScript));
  }
  for (const [pair, count] of pairs) {
    cost += count * (pair.charAt(1) > '\u007f' ? costs.otherScript : costs.plainLetter);
  }
  return cost;
}

function unknownCost(character: string): number {
  return /\p{P}/u.test(character) ? costs.commonSymbol : costs.uncommonCharacter;
}
