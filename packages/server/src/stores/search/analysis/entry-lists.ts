/*
 * Recognises tables of contents and lists of references by the form of their lines. They hold the words of what they point to, but no
 * answer. Titles such as "Contents" decide nothing, because they depend on the language.
 */

/** Lists have at least this many lines, and this share of them are entries. */
const leastLines = 5;
const leastShare = 0.6;
/** An outline without page numbers has no other signal than its section numbers. */
const leastOutline = 8;
/** A longer line is no entry. */
const longestEntry = 300;
/** A longer text is no list: chunks are shorter. */
const longestText = 20_000;

/** Dots up to a page number. */
const leader = /(?:\.{3}|(?:\. ){3}|…|·{3})[ |]{0,3}\d{1,4}$/;
const section = /^(?:[-*•] )?\d{1,3}(?:\.\d{1,3}){0,4}\.? \S/;
const subsection = /^(?:[-*•] )?\d{1,3}\.\d/;
const lastNumber = /\s(\d{1,4})$/;
/** The number or name of a reference. */
const label = /^(?:[-*•] )?(?:\[\w{1,12}\]|\(?\d{1,3}[.)]) /;
const year = /\b(?:19|20)\d\d\b/;

/** Returns whether most lines of a text are entries of a table of contents, an outline or a list of references. */
export function isListOfEntries(text: string): boolean {
  if (text.length > longestText) return false;
  const lines = text.split('\n').flatMap((line) => line.trim().replaceAll('\t', ' ') || []);
  if (lines.length < leastLines) return false;
  const entries = lines.filter((line) => line.length <= longestEntry);
  const least = Math.ceil(leastShare * lines.length);
  const count = (isEntry: (line: string) => boolean) => entries.filter(isEntry).length;
  if (count((line) => leader.test(line)) >= least) return true;
  const sections = entries.filter((line) => section.test(line));
  if (sections.length >= least) {
    const pages = sections.flatMap((line) => lastNumber.exec(line)?.[1] ?? []).map(Number);
    if (pages.length >= least && areRising(pages)) return true;
    const isOutline = sections.filter((line) => subsection.test(line)).length >= Math.max(least, leastOutline);
    if (isOutline) return true;
  }
  return count((line) => label.test(line) && year.test(line)) >= least;
}

/** Page numbers rise; few may be misread. */
function areRising(pages: readonly number[]): boolean {
  const steps = pages.slice(1).filter((page, at) => page >= (pages[at] as number)).length;
  return steps >= 0.9 * (pages.length - 1) && (pages.at(-1) as number) > (pages[0] as number);
}
