import type { Ajv2020 } from 'ajv/dist/2020.js';
import { type DefinedFormats, fullFormats } from 'ajv-formats/dist/formats.js';
import { boundedFormat } from './bounded-patterns.ts';
import type { CheckBudget } from './check-budget.ts';
import { type LinearRegExp, translateRegExp } from './linear-regexp.ts';

type TextFormat = (text: string) => boolean;

/** Replacements for formats whose usual patterns need look-ahead or backtrack heavily. Each reads its text once. */
const replaced: Readonly<Record<string, TextFormat>> = {
  uri: (text) => isAsciiUri(text) && /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  url: (text) => /^(?:https?|ftp):\/\//i.test(text) && isAsciiUri(text) && URL.canParse(text),
  hostname: isHostname,
  duration: isDuration,
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
};

/**
 * Adds the formats of ajv-formats, all in linear time and, except for the replaced ones, within the budget. Unknown formats are
 * annotations, as JSON Schema defines.
 */
export function addLinearFormats(ajv: Ajv2020, budget: CheckBudget): void {
  // The table is a record by format name, so it can be indexed by text.
  for (const [name, format] of Object.entries(fullFormats as DefinedFormats)) {
    const own = replaced[name];
    if (own !== undefined) ajv.addFormat(name, own);
    else if (typeof format !== 'string')
      ajv.addFormat(name, boundedFormat(format instanceof RegExp ? linear(format) : format, budget));
  }
}

/** Compiled at first use, because the patterns are long and most schemas need none. */
function linear(format: RegExp): TextFormat {
  let compiled: LinearRegExp | undefined;
  return (text) => {
    compiled ??= translateRegExp(format.source, format.ignoreCase);
    return compiled.test(text);
  };
}

function isAsciiUri(text: string): boolean {
  return !/[^\x21-\x7e]|["<>\\^`{|}]/.test(text);
}

function isHostname(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  return name.length <= 253 && name.split('.').every((label) => label.length <= 63 && isLabel(label));
}

function isLabel(label: string): boolean {
  return /^[a-z0-9-]+$/i.test(label) && !label.startsWith('-') && !label.endsWith('-');
}

/** Whether a text is a duration of ISO 8601: weeks alone, or date parts and, after a T, time parts; never empty. */
function isDuration(text: string): boolean {
  if (/^P\d+W$/.test(text)) return true;
  return /^P(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/.test(text) && !/[PT]$/.test(text);
}
