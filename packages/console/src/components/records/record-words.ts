import type { Locator, RecordItem } from '@quartermaster/contract';
import type { Translate } from '../../language/language.tsx';

/** The display name of a record: its title, otherwise its file name or URL, otherwise the start of its text. */
export function nameOfRecord(record: RecordItem): string {
  if (record.title !== '') return record.title;
  if (record.type === 'text') return record.content.slice(0, 80);
  const { file_name: name, url } = sourceOf(record);
  return name ?? url ?? record.record_id;
}

/** The format of the file in capitals, such as `PDF`; empty for other records. */
export function formatOf(record: RecordItem): string {
  const [, extension = ''] = /\.([a-z0-9]{1,8})$/i.exec(sourceOf(record).file_name ?? '') ?? [];
  return extension.toUpperCase();
}

/** The ids of the sheets with the corrected rows of this one. */
export function correctionsOf({ status, metadata }: RecordItem): readonly string[] {
  return status === 'partial' ? (metadata.corrected_by ?? '').split(' ').filter((id) => id !== '') : [];
}

/** The numbers of rows of a sheet by what became of them; 0 for other records. */
export function rowCounts({ report }: RecordItem) {
  const rows = Object(report?.rows) as Readonly<Record<string, unknown>>;
  const count = (name: string) => Number(rows[name] ?? 0);
  return { accepted: count('accepted'), rejected: count('rejected'), duplicate: count('duplicate') };
}

/** The bytes of the file; undefined for other records. */
export function sizeOf(record: RecordItem): number | undefined {
  return sourceOf(record).file_size;
}

/** The number of pages, if the format has pages. */
export function pageCountOf({ report }: RecordItem): number | undefined {
  return typeof report?.pages === 'number' ? report.pages : undefined;
}

function sourceOf(record: RecordItem): {
  readonly file_name?: string;
  readonly file_size?: number;
  readonly url?: string;
} {
  return record.type === 'text' ? {} : JSON.parse(record.content); // by the contract of `content`
}

const extensionsWithPages = /\.(?:pdf|png|jpe?g|tiff?|webp)$/i;

/** Whether the record was created from a PDF file or a picture, whose pages can be shown. */
export function hasPages(record: RecordItem): boolean {
  return record.type === 'file' && extensionsWithPages.test(sourceOf(record).file_name ?? '');
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
