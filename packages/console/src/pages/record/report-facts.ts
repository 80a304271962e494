import type { Fact } from '../../components/fact-cards.tsx';
import { formatBytes, formatMs } from '../../components/format.ts';
import type { CodedError } from '../../language/explain-error.ts';
import { fill } from '../../language/language.tsx';
import type { ReportWords } from './report-words.ts';

export type Facts = Readonly<Record<string, unknown>>;

export interface ReportTexts {
  readonly words: ReportWords;
  /** Returns the words of the console for a code. */
  readonly explain: (said: CodedError) => string;
}

/** The parsing report as labelled values, in the order of the words. Facts without a label follow, under their wire names. */
export function factsOf(report: Facts, texts: ReportTexts): readonly Fact[] {
  const { warnings: _, encoding_confidence: confidence, ...facts } = report;
  const order = Object.keys(texts.words);
  const place = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return Object.entries(facts)
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([name, value]) => {
      const sure = name === 'encoding' && typeof confidence === 'number' ? ` (${Math.round(confidence * 100)}%)` : '';
      return { name, label: say(texts.words, name), text: textOf(name, value, texts) + sure };
    });
}

/** The words for a name, or the name itself. */
function say(words: ReportWords, name: string, family = ''): string {
  const key = family + name;
  return Object.hasOwn(words, key) ? words[key as keyof ReportWords] : name.replaceAll('_', ' ');
}

function textOf(name: string, value: unknown, texts: ReportTexts): string {
  const { words } = texts;
  if (name === 'rows' && isFacts(value)) {
    const { accepted, rejected, duplicate } = value;
    const counts = { accepted: Number(accepted), rejected: Number(rejected), duplicate: Number(duplicate) };
    return fill(words.rowCounts, counts);
  }
  if (name === 'dialect' && isFacts(value)) {
    const shown = (sign: unknown) => ({ '\t': words.tab, ' ': words.space })[String(sign)] ?? String(sign);
    return fill(words.dialectText, { delimiter: shown(value.delimiter), quote: shown(value.quote) });
  }
  if (name === 'dropped' && isFacts(value)) return droppedText(value, words);
  if (name === 'ocr' && isFacts(value)) return membersText(value, words);
  if (name === 'header') return value === 'found' ? words.headerFound : words.headerNone;
  if (name === 'sheets' && Array.isArray(value)) return value.map((sheet) => sheetText(sheet, words)).join('\n');
  if (name === 'attachments' && Array.isArray(value)) return value.map((one) => attachmentText(one, texts)).join('\n');
  return describe(name, value, words);
}

function droppedText(dropped: Facts, words: ReportWords): string {
  const lines = Object.entries(dropped)
    .filter(([, count]) => Number(count) > 0)
    .map(([reason, count]) => fill(words.droppedCount, { what: say(words, reason, 'dropped.'), count: Number(count) }));
  return lines.length === 0 ? words.droppedNone : lines.join('\n');
}

function sheetText(sheet: Facts, words: ReportWords): string {
  const columns = Array.isArray(sheet.columns) ? sheet.columns.join(' | ') : '';
  const rows = fill(words.sheetRows, { count: Number(sheet.rows) });
  return [sheet.name, columns, rows].filter((part) => typeof part === 'string' && part !== '').join(' · ');
}

function attachmentText({ name, bytes, status, code }: Facts, { words, explain }: ReportTexts): string {
  const why = code === undefined ? '' : explain({ code: String(code), message: say(words, String(code), 'reason.') });
  const parts = [name, formatBytes(Number(bytes)), say(words, String(status), 'status.'), why];
  return parts.filter((part) => part !== '').join(' · ');
}

const isFacts = (value: unknown): value is Facts => typeof value === 'object' && value !== null;

/** One line for each member. */
function membersText(facts: Facts, words: ReportWords): string {
  return Object.entries(facts)
    .map(([name, value]) => `${say(words, name)}: ${describe(name, value, words)}`)
    .join('\n');
}

function describe(name: string, value: unknown, words: ReportWords): string {
  if (typeof value === 'number') {
    if (name.endsWith('_bytes')) return formatBytes(value);
    return name === 'milliseconds' ? formatMs(value) : value.toLocaleString();
  }
  if (value === null) return '–';
  if (name.endsWith('pages') && Array.isArray(value)) return value.map(rangeText).join(', ');
  if (Array.isArray(value)) return value.map((item) => describe('', item, words)).join('; ');
  if (!isFacts(value)) return String(value);
  if (typeof value.reason === 'string')
    return `${say(words, value.reason, 'reason.')} (${describe('pages', value.pages, words)})`;
  return Object.entries(value)
    .map(([key, inner]) => `${say(words, key)}: ${describe(key, inner, words)}`)
    .join(', ');
}

/** `[2, 4]` → `2–4` */
function rangeText(range: unknown): string {
  if (!Array.isArray(range)) return String(range);
  const [first, last] = range;
  return first === last ? String(first) : `${first}–${last}`;
}
