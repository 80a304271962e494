import { cut } from './cut-text.ts';
import type { AttachmentReport } from './extraction.ts';
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

/** The numbers of what a report leaves out, by kind. */
type LeftOut = Map<string, number>;

/** Shortens the texts and lists of a report to their bounds. Warnings count the cut texts and the omitted items. */
export function boundReport(report: ReportDraft): void {
  const { front_matter: frontMatter, title, sheets, attachments, warnings, ...others } = report;
  const left: LeftOut = new Map();
  Object.assign(report, shorten(others, left), {
    ...(frontMatter === undefined ? {} : { front_matter: shortenText(frontMatter, reportLimits.frontMatter, left) }),
    ...(title === undefined ? {} : { title: shortenText(title, reportLimits.title, left) }),
    ...(sheets === undefined ? {} : { sheets: keepFirst(sheets, 'sheets', left) }),
    ...(attachments === undefined ? {} : { attachments: boundAttachments(attachments, left) }),
    warnings: keepFirst(warnings, 'warnings', left),
  });
  for (const [what, count] of left)
    report.warnings.push(`report_cut: ${count} further ${what} are not in this report.`);
}

function count(left: LeftOut, what: string, more: number): void {
  if (more > 0) left.set(what, (left.get(what) ?? 0) + more);
}

/** The status of every attachment is kept, because it decides whether the record is `partial`. */
function boundAttachments(attachments: readonly AttachmentReport[], left: LeftOut): readonly AttachmentReport[] {
  const inTexts: LeftOut = new Map();
  const shortened = attachments.map((one) => shorten(one, inTexts) as AttachmentReport);
  if (JSON.stringify(shortened).length <= reportLimits.list) {
    for (const [what, more] of inTexts) count(left, what, more);
    return shortened;
  }
  count(left, 'details of attachments', attachments.length);
  return shortened.map(({ name, bytes, status, code }) => ({
    name: cut(name, 100),
    bytes,
    status,
    ...(code === undefined ? {} : { code }),
  }));
}

/** Keeps the first items within the bound of a list. */
function keepFirst<Item>(items: readonly Item[], what: string, left: LeftOut): Item[] {
  const kept: Item[] = [];
  let characters = 0;
  for (const item of items) {
    const short = shorten(item, left) as Item; // of the same type
    characters += JSON.stringify(short).length;
    if (characters > reportLimits.list) break;
    kept.push(short);
  }
  count(left, what, items.length - kept.length);
  return kept;
}

function shortenText(text: string, limit: number, left: LeftOut): string {
  const short = cut(text, limit);
  count(left, 'characters of texts', text.length - short.length);
  return short;
}

function shorten(value: unknown, left: LeftOut): unknown {
  if (typeof value === 'string') return shortenText(value, reportLimits.text, left);
  if (Array.isArray(value)) {
    count(left, 'items of lists', value.length - reportLimits.ranges);
    return value.slice(0, reportLimits.ranges).map((each) => shorten(each, left));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each, left)]));
}
