import { type RecordText, type RecordTextQuery, recordTextLimits } from '@quartermaster/contract';
import type { AdmissionQueue } from '../../../platform/admission/admission-queue.ts';
import type { ProjectOwner } from '../../../platform/admission/owner.ts';
import { noExtractedText } from '../problems.ts';
import type { RecordKey } from './record-repository.ts';
import type { RecordTextRepository, TextPart, TextParts } from './record-text-repository.ts';
import type { Records } from './records.ts';

export interface RecordTextsDeps {
  readonly records: Pick<Records, 'get'>;
  readonly texts: RecordTextRepository;
  /** A text has up to 500 chunks, so that many at once would delay all other requests. */
  readonly queue: AdmissionQueue;
}

/** Reads the extracted text of records, in which the offsets of their chunks count. */
export interface RecordTexts {
  /** @throws OBJECT_NOT_FOUND when the record does not exist, or was created from a sheet, TOO_MANY_REQUESTS when too many texts wait */
  read(key: RecordKey & ProjectOwner, query: RecordTextQuery): Promise<RecordText>;
}

/** The maximum number of chunks in one answer. A chunk may be as short as one character. */
const mostParts = 500;

/** The text is not stored a second time: its chunks hold all of it except what lies between them. Decision: ADR 0150. */
export function createRecordTexts({ records, texts, queue }: RecordTextsDeps): RecordTexts {
  return {
    async read(key, { char_start: start = 0, max_characters: most = recordTextLimits.defaultCharacters }) {
      const { type, title } = await records.get(key);
      if (type === 'qa_sheet') throw noExtractedText(key.recordId);
      const range = { start, end: start + most, maxParts: mostParts };
      const leave = await queue.acquire(key);
      try {
        return toText(key, { start, most, title }, await texts.read(key, range));
      } finally {
        leave?.();
      }
    },
  };
}

/** The part of a text that its chunks contain. */
function toText(
  { recordId }: RecordKey,
  { start, most, title }: { readonly start: number; readonly most: number; readonly title: string },
  { parts, numCharacters }: TextParts,
): RecordText {
  const readEnd = parts.length === mostParts ? (parts.at(-1)?.charEnd ?? 0) : numCharacters;
  const end = Math.max(start, Math.min(start + most, readEnd));
  const { text, gaps } = joinParts(parts.filter(hasOwnText(title)), { start, end });
  const whole = withoutHalves(text);
  const from = start + whole.omitted;
  const to = from + whole.text.length;
  const range = { char_start: from, char_end: to, num_characters: numCharacters, has_more: to < numCharacters };
  return { object: 'RecordText', record_id: recordId, text: whole.text, ...range, gaps };
}

/** A chunk that was changed before changes removed its offsets has other text, which its length shows. */
function hasOwnText(title: string) {
  const prefix = title === '' ? 0 : title.length + 2;
  return ({ content, charStart, charEnd, isChanged }: TextPart) => {
    const length = charEnd - charStart;
    return isChanged ? content.length === prefix + length : content.length >= length;
  };
}

/** The text of a chunk is at the end of its content, after the title and the repeated header of a table. */
function joinParts(parts: readonly TextPart[], { start, end }: { start: number; end: number }) {
  const texts: string[] = [];
  const gaps: RecordText['gaps'] = [];
  let at = start;
  /** The end of the last chunk. */
  let before = 0;
  function fillTo(next: number): void {
    if (next <= at) return;
    const fill = next - before === 1 ? ' ' : `\n\n${' '.repeat(Math.max(0, next - before - 2))}`;
    texts.push(fill.slice(at - before, next - before));
    gaps.push({ char_start: at, char_end: next });
    at = next;
  }
  for (const { content, charStart, charEnd } of parts) {
    const from = Math.max(at, charStart);
    const to = Math.min(end, charEnd);
    if (charEnd <= start) before = charEnd;
    if (to <= from) continue;
    fillTo(from);
    const shift = content.length - charEnd;
    texts.push(content.slice(from + shift, to + shift));
    at = to;
    before = charEnd;
  }
  // The length of a gap at the end is not known, so the next answer begins with it.
  if (at === start) fillTo(end);
  return { text: texts.join(''), gaps };
}

/** Omits half of a surrogate pair at either end. `omitted` is the number of characters omitted at the start. */
function withoutHalves(text: string): { text: string; omitted: number } {
  const omitted = /^[\udc00-\udfff]/.test(text) ? 1 : 0;
  const isCut = /[\ud800-\udbff]$/.test(text);
  return { text: text.slice(omitted, isCut ? -1 : undefined), omitted };
}
