import type { Chunk } from '@quartermaster/contract';
import { plainName } from '../../../platform/plain-name.ts';
import type { NamedRecord } from './knowledge-store.ts';

const longestName = 120;

function cut(text: string): string {
  return text.length <= longestName ? text : `${text.slice(0, longestName - 1).toWellFormed()}…`;
}

/** The title of the record, otherwise the name of its file or page, otherwise the start of the text. Never empty. */
export function titleOf(record: NamedRecord | undefined, content: string): string {
  const start = content.trim().split('\n', 1)[0] ?? '';
  const names = [record?.title, record?.fileName, record?.url, start, 'Untitled'];
  return plainName(cut(names.find((name) => typeof name === 'string' && name.trim() !== '') ?? ''));
}

/** The members of a citation that users chose. */
export function namesIn({ sheet, heading }: Readonly<Record<string, unknown>>): string[] {
  return [sheet, heading].filter((name) => typeof name === 'string');
}

/** The location of a chunk in its source. */
export function citationOf(record: NamedRecord | undefined, chunk: Chunk): Record<string, unknown> {
  const { page, page_end: pageEnd, sheet, row, heading_path: headings = [] } = chunk.locator ?? {};
  const members = {
    record_id: chunk.record_id ?? undefined,
    file_id: record?.fileId ?? undefined,
    page,
    page_end: pageEnd === page ? undefined : pageEnd,
    sheet: sheet === undefined ? undefined : cut(sheet),
    row,
    heading: headings.length === 0 ? undefined : cut(headings.join(' › ')),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
