/*
 * The first character of a term says its kind. A term that begins with another character is a word, because no word
 * begins with a control character.
 */
const marks = { filter: '\u0001', language: '\u0002', list: '\u0003', form: '\u0004', loose: '\u0005' } as const;

const filterByte = marks.filter.charCodeAt(0);

/** Returns the term of a kind other than words. */
export function markTerm(kind: keyof typeof marks, text: string): string {
  return marks[kind] + text;
}

/** Returns whether a term, in UTF-8, says what a chunk belongs to. It is no word, so that it adds nothing to lengths and scores. */
export function isFilterTerm(term: Uint8Array): boolean {
  return term[0] === filterByte;
}

/** Returns the form of a word before letters were unified, such as "łódź", from the term of this form. Null for other terms. */
export function formOf(term: string): string | null {
  return term.startsWith(marks.form) ? term.slice(marks.form.length) : null;
}

/**
 * Returns the term of the chunks that have a word only within a longer one, such as "config" in "config.file", or only in other letters,
 * such as "lodz" in "Łódź". Chunks with the word itself have its plain term.
 */
export function looseTerm(term: string): string {
  return markTerm('loose', term);
}

/** Returns the plain term of a loose one. Null for other terms. */
export function looselyOf(term: string): string | null {
  return term.startsWith(marks.loose) ? term.slice(marks.loose.length) : null;
}

/** Returns whether a term is a word, and not the form or the part of one. */
export function isWholeWord(term: string): boolean {
  return formOf(term) === null && looselyOf(term) === null;
}

/** The term that names the language of the stems of a chunk. */
export function languageTerm(language: string): string {
  return markTerm('language', language);
}

/** The term of a chunk that lists entries. Its frequency makes the chunk longer. No question has it. */
export const listTerm = markTerm('list', '');
