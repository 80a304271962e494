import type { OutputField, PieceProperty } from '../execution/pieces/child/piece-task.ts';
import { isFilled } from '../execution/pieces/piece-schema.ts';

type Members = Record<string, unknown>;

type Which = 'all' | 'required';

/**
 * Returns plausible inputs for an action, to try one after the other: values for all properties, for the required ones, and for these and
 * one other, because some actions want one of several.
 */
export function sampleInputs(props: readonly PieceProperty[]): Members[] {
  const other = props.find(({ type, required }) => type !== 'MARKDOWN' && !required);
  const required = sampleMembers(props, 'required');
  const oneMore = other === undefined ? {} : sampleMembers([other], 'all');
  const samples = [sampleMembers(props, 'all'), required, { ...required, ...oneMore }];
  return [...new Map(samples.map((sample) => [JSON.stringify(sample), sample])).values()];
}

function sampleMembers(properties: readonly PieceProperty[], which: Which): Members {
  const wanted = properties.filter(({ required, type }) => type !== 'MARKDOWN' && (which === 'all' || required));
  const fileNames = wanted.filter(({ type }) => type === 'FILE').map(({ name }) => [`${name}_filename`, 'sample.pdf']);
  const values = wanted.map((property) => [property.name, sampleOf(property, which)]);
  return Object.fromEntries([...fileNames, ...values]);
}

function sampleOf({ type, name, defaultValue, options, properties }: PieceProperty, which: Which): unknown {
  // Some actions want a confirmation, which is off by default.
  const isConfirmed = type === 'CHECKBOX' && which === 'all';
  if (!isConfirmed && isFilled(defaultValue)) return defaultValue;
  const first = options?.map(({ value }) => value).find((value) => value !== null && value !== '');
  switch (type) {
    case 'NUMBER':
      return /(?:^at|_at|At|[tT]imestamp)$/.test(name) ? futureSeconds : 1;
    case 'CHECKBOX':
      return true;
    case 'DATE_TIME':
      return '2026-01-01T00:00:00.000Z';
    case 'JSON':
    case 'OBJECT':
      return {};
    case 'DYNAMIC':
      return { [name]: '/text' };
    case 'ARRAY':
      return [properties === undefined ? sampleItem(name) : sampleMembers(properties, which)];
    case 'MULTI_SELECT_DROPDOWN':
    case 'STATIC_MULTI_SELECT_DROPDOWN':
      return [first ?? '1'];
    case 'FILE':
      return Buffer.from('text').toString('base64');
    case 'COLOR':
      return '#000000';
    default:
      return first ?? sampleText(name);
  }
}

const futureSeconds = Date.parse('2100-01-01T00:00:00Z') / 1000;

const texts: ReadonlyArray<readonly [RegExp, string]> = [
  [/mail/i, 'person@example.com'],
  [/ur[il]|link|website/i, 'https://example.com/page'],
  [/(?:^|_)ts$|Ts$|[tT]imestamp/, '1767225600.000100'],
  [/(?:^|_)date|Date|[tT]ime/, '2026-01-01T00:00:00.000Z'],
  [/phone|mobile/i, '+15555550100'],
  [/id$|ids$|key$|number|count|limit|amount/i, '1'],
];

function sampleText(name: string): string {
  return texts.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
}

/** Many lists hold ids. */
function sampleItem(name: string): string {
  const text = sampleText(name);
  return text === 'text' ? '1' : text;
}

/** An answer with what an action says that it returns, and with members that many APIs have. */
export function sampleAnswer(fields: readonly OutputField[]): Members {
  return { ok: true, success: true, id: '1', data: { id: '1' }, items: [], results: [], ...sampleFields(fields) };
}

function sampleFields(fields: readonly OutputField[]): Members {
  return Object.fromEntries(fields.map((field) => [field.key, sampleField(field)]));
}

function sampleField({ format, children, items }: OutputField): unknown {
  if (items !== null) return [sampleFields(items)];
  if (children.length > 0) return sampleFields(children);
  if (format === 'boolean') return true;
  return /number|integer|currency/.test(format) ? 1 : 'text';
}
