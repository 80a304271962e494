import { cut } from './cut-text.ts';
import type { AttachmentReport, ExtractionReport } from './extraction.ts';
import type { ReportDraft } from './extraction-job.ts';

/** Bounds of a report. A report may contain text of the document, and is stored with the record. */
export const reportLimits = {
  /** The report as JSON, in characters. */
  characters: 400_000,
  /** Characters of a text, except `front_matter`. */
  text: 1_000,
  frontMatter: 4_000,
  title: 500,
  /** A list of sheets, attachments or warnings as JSON, in characters. */
  list: 64_000,
  /** Ranges of pages in one list. */
  ranges: 1_000,
} as const;

/** Shortens the texts and lists of a report to their bounds. A warning counts what is left out. */
export function boundReport(report: ReportDraft): void {
  const { front_matter: frontMatter, title, sheets, attachments, warnings, ...others } = report;
  const bounded: ExtractionReport = { ...(shorten(others) as typeof others), warnings: [] };
  const left: string[] = [];
  Object.assign(report, bounded, {
    ...(frontMatter === undefined ? {} : { front_matter: cut(frontMatter, reportLimits.frontMatter) }),
    ...(title === undefined ? {} : { title: cut(title, reportLimits.title) }),
    ...(sheets === undefined ? {} : { sheets: keepFirst(sheets, 'sheets', left) }),
    ...(attachments === undefined ? {} : { attachments: boundAttachments(attachments) }),
    warnings: keepFirst(warnings, 'warnings', left),
  });
  report.warnings.push(...left);
}

/** The status of every attachment is kept, because it decides whether the record is `partial`. */
function boundAttachments(attachments: readonly AttachmentReport[]): readonly AttachmentReport[] {
  const shortened = attachments.map((one) => shorten(one) as AttachmentReport);
  if (JSON.stringify(shortened).length <= reportLimits.list) return shortened;
  return shortened.map(({ name, bytes, status, code }) => ({
    name: cut(name, 100),
    bytes,
    status,
    ...(code === undefined ? {} : { code }),
  }));
}

/** Keeps the first items within the bound of a list. */
function keepFirst<Item>(items: readonly Item[], what: string, left: string[]): Item[] {
  const kept: Item[] = [];
  let characters = 0;
  for (const item of items) {
    const short = shorten(item) as Item; // of the same type
    characters += JSON.stringify(short).length;
    if (characters > reportLimits.list) break;
    kept.push(short);
  }
  if (kept.length < items.length) {
    left.push(`report_cut: ${items.length - kept.length} further ${what} are not in this report.`);
  }
  return kept;
}

function shorten(value: unknown): unknown {
  if (typeof value === 'string') return cut(value, reportLimits.text);
  if (Array.isArray(value)) return value.slice(0, reportLimits.ranges).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each)]));
}
