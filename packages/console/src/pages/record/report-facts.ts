import type { Fact } from '../../components/fact-cards.tsx';
import { formatBytes, formatMs } from '../../components/format.ts';
import type { MessageKey, Translate } from '../../language/language.tsx';

export type Facts = Readonly<Record<string, unknown>>;

/** Labels in display order. Facts without a label follow, under their wire names. */
const labels: Readonly<Record<string, MessageKey>> = {
  title: 'report.title',
  rows: 'report.rows',
  pages: 'report.pages',
  pages_without_text: 'report.pagesWithoutText',
  headings: 'report.headings',
  tables: 'report.tables',
  characters: 'report.characters',
  dropped: 'report.dropped',
  sheets: 'report.sheets',
  header: 'report.header',
  format: 'report.format',
  encoding: 'report.encoding',
  replaced: 'report.replaced',
  dialect: 'report.dialect',
  parser: 'report.parser',
  milliseconds: 'report.time',
  peak_memory_bytes: 'report.memory',
  embedding: 'report.embedding',
  front_matter: 'report.frontMatter',
};

/** The parsing report as labelled values, in the order of `labels`. */
export function factsOf(report: Facts, t: Translate): readonly Fact[] {
  const { warnings: _, encoding_confidence: confidence, ...facts } = report;
  const order = Object.keys(labels);
  const place = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return Object.entries(facts)
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([name, value]) => {
      const label = labels[name];
      const sure = name === 'encoding' && typeof confidence === 'number' ? ` (${Math.round(confidence * 100)}%)` : '';
      return { name, label: label === undefined ? plain(name) : t(label), text: textOf(name, value, t) + sure };
    });
}

function textOf(name: string, value: unknown, t: Translate): string {
  if (name === 'rows' && isFacts(value)) {
    const { accepted, rejected, duplicate } = value;
    const counts = { accepted: Number(accepted), rejected: Number(rejected), duplicate: Number(duplicate) };
    return t('report.rowCounts', counts);
  }
  if (name === 'dialect' && isFacts(value)) {
    return t('report.dialectText', { delimiter: visible(value.delimiter), quote: visible(value.quote) });
  }
  if (name === 'dropped' && isFacts(value)) return droppedText(value, t);
  if (name === 'header') return t(value === 'found' ? 'report.headerFound' : 'report.headerNone');
  if (name === 'sheets' && Array.isArray(value)) return value.map((sheet) => sheetText(sheet, t)).join('\n');
  return describe(name, value);
}

/** The labels of the reasons for which the reader leaves out characters. */
const reasons: Readonly<Record<string, MessageKey>> = {
  boilerplate: 'report.dropped.boilerplate',
  comments: 'report.dropped.comments',
  deleted: 'report.dropped.deleted',
  embedded: 'report.dropped.embedded',
  headers_and_footers: 'report.dropped.headers_and_footers',
  hidden: 'report.dropped.hidden',
  running_heads: 'report.dropped.running_heads',
};

function droppedText(dropped: Facts, t: Translate): string {
  const lines = Object.entries(dropped)
    .filter(([, count]) => Number(count) > 0)
    .map(([reason, count]) => {
      const label = reasons[reason];
      return t('report.droppedCount', { what: label === undefined ? plain(reason) : t(label), count: Number(count) });
    });
  return lines.length === 0 ? t('report.droppedNone') : lines.join('\n');
}

function sheetText(sheet: Facts, t: Translate): string {
  const columns = Array.isArray(sheet.columns) ? sheet.columns.join(' | ') : '';
  const rows = t('report.sheetRows', { count: Number(sheet.rows) });
  return [sheet.name, columns, rows].filter((part) => typeof part === 'string' && part !== '').join(' · ');
}

const shownAs: Readonly<Record<string, string>> = { '\t': 'Tab', ' ': 'Space' };
const visible = (value: unknown) => shownAs[String(value)] ?? String(value);
const plain = (name: string) => name.replaceAll('_', ' ');
const isFacts = (value: unknown): value is Facts => typeof value === 'object' && value !== null;

function describe(name: string, value: unknown): string {
  if (typeof value === 'number') {
    if (name.endsWith('_bytes')) return formatBytes(value);
    return name === 'milliseconds' ? formatMs(value) : value.toLocaleString();
  }
  if (value === null) return '–';
  if (Array.isArray(value)) return value.map((item) => describe('', item)).join('; ');
  if (!isFacts(value)) return String(value);
  return Object.entries(value)
    .map(([key, inner]) => `${plain(key)}: ${describe(key, inner)}`)
    .join(', ');
}
