/*
 * Removes endings from words so that a question and a passage match. Each ending was measured to help on every set of
 * real questions and to hurt on none. Documents and questions are treated alike, so a stem need not be a word. Source:
 * ADR 0135.
 */

const latin = /^[a-z]+$/;
const arabic = /^[\u0620-\u064a]+$/;
/** Shorter words keep their endings, because their stems would be too ambiguous. */
const shortest = 4;

/** Returns the form under which a folded word is indexed and looked up. */
export function stemWord(word: string): string {
  if (word.length < shortest) return word;
  if (word.charCodeAt(word.length - 1) === 0x73) return stemPlural(word);
  return word.charCodeAt(0) < 0x620 ? word : stemArabic(word);
}

/** Removes the English possessive and plural. Spanish, Portuguese, French and Dutch share this plural. */
function stemPlural(word: string): string {
  if (word.endsWith("'s")) return word.slice(0, -2);
  if (!latin.test(word)) return word;
  if (word.endsWith('ies') && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:sses|shes|ches|xes|zes)$/.test(word)) return word.slice(0, -2);
  return /[uis]s$/.test(word) ? word : word.slice(0, -1);
}

/** The article, also after "and", "with", "as", "so" or "for". */
const arabicPrefix = /^(?:وال|بال|كال|فال|لل|ال)(?=..)/;
/** The prefix for "and". */
const arabicAnd = /^و(?=...)/;
const arabicLongSuffix = /(?<=..)(?:ها|ان|ات|ون|ين|يه)$/;
const arabicShortSuffix = /(?<=...)[هي]$/;

/** The stemmer of Larkey, Ballesteros and Connell (light10) without its weakest suffixes. */
function stemArabic(word: string): string {
  if (!arabic.test(word)) return word;
  const bare = word.replace(arabicPrefix, '').replace(arabicAnd, '');
  const stem = bare.replace(arabicLongSuffix, '');
  return stem === bare ? bare.replace(arabicShortSuffix, '') : stem;
}
