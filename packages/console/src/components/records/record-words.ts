import type { Locator, RecordItem } from '@quartermaster/contract';
import type { Translate } from '../../language/language.tsx';

/** The display name of a record: its title, otherwise its file name or URL, otherwise the start of its text. */
export function nameOfRecord(record: RecordItem): string {
  if (record.title !== '') return record.title;
  if (record.type === 'text') return record.content.slice(0, 80);
  const source = JSON.parse(record.content) as { file_name?: string; url?: string }; // by the contract of content
  return source.file_name ?? source.url ?? record.record_id;
}

/** `Page 3 · Opening hours › Sundays` */
export function describePlace(locator: Locator | null, t: Translate): string {
  if (locator === null) return '';
  const parts: string[] = [];
  if (locator.page !== undefined) parts.push(t('records.page', { page: pagesOf(locator) }));
  if (locator.row !== undefined) {
    const row = t('records.row', { row: locator.row });
    parts.push(locator.sheet === undefined ? row : t('records.sheetRow', { sheet: locator.sheet, row: locator.row }));
  }
  if (locator.heading_path !== undefined) parts.push(locator.heading_path.join(' › '));
  return parts.join(' · ');
}

function pagesOf({ page = 0, page_end: end = page }: Locator): string {
  return page === end ? String(page) : `${page}–${end}`;
}
