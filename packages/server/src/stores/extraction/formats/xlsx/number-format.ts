import { format, isValidFormat } from 'numfmt';

/** Formats the value of a cell, a number or a text, as a spreadsheet does. */
export type Format = (value: number | string) => string;

type NumberFormat = (value: number) => string;

export interface DateSystem {
  /** Days between the day 0 of the file and 1970-01-01. */
  readonly epoch: 1900 | 1904;
}

const accounting = '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)';
const accountingDecimals = '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)';

/**
 * Predefined formats, which files do not list (ECMA-376 18.8.30). Currency formats are listed here without the currency, because it
 * depends on the computer that shows them. The others up to 163 are dates of some locale.
 */
const builtIn: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '#,##0;(#,##0)',
  6: '#,##0;(#,##0)',
  7: '#,##0.00;(#,##0.00)',
  8: '#,##0.00;(#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm',
  19: 'h:mm:ss',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)',
  39: '#,##0.00;(#,##0.00)',
  40: '#,##0.00;(#,##0.00)',
  41: accounting,
  42: accounting,
  43: accountingDecimals,
  44: accountingDecimals,
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};

export function builtInFormat(id: number): string | undefined {
  const isLocalDate = (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
  return isLocalDate ? 'yyyy-mm-dd' : builtIn[id];
}

/** The maximum length of a code that is parsed. It is also the maximum of Excel. */
export const longestCode = 255;

/** A longer result shows the text of the cell itself. It is the maximum of Excel for a cell. */
export const longestShown = 32_767;

/**
 * Compiles a format code. Numbers and texts are shown as ECMA-376 18.8.31 says, without alignment; dates and times are ISO 8601. A
 * code that is too long or invalid shows the value itself.
 */
export function createFormat(code: string, system: DateSystem): Format {
  if (code.length > longestCode) return general;
  const sections = splitSections(code);
  const shown = createSections(sections, system);
  const shownText = createTextFormat(sections);
  return (value) => {
    if (typeof value === 'string') return shownText(value);
    return Number.isFinite(value) ? shown(value) : String(value);
  };
}

/**
 * Formats a cell without a format: 15 digits, the precision of spreadsheets. Long whole numbers are identifiers and
 * keep all digits. An exponent is written as in `1E-07`.
 */
export function general(value: number | string): string {
  if (typeof value === 'string') return value;
  const digits = String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(15)));
  return digits.replace(/e([+-])(\d+)$/, (_, sign, power) => `E${sign}${power.padStart(2, '0')}`);
}

/** The parts of a code: a text in quotes, an escaped or filling character, a bracket, or a character. */
const parts = /"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]|[\s\S]/g; // bounded: at most 255 characters (a format code)

function splitSections(code: string): string[] {
  const sections = [''];
  for (const part of code.match(parts) ?? []) {
    if (part === ';') sections.push('');
    else sections[sections.length - 1] += part;
  }
  return sections;
}

/** The characters of a section that are no text and no bracket. */
const bareOf = (section: string) => section.replace(parts, (part) => (part.length === 1 ? part : ''));

/** The fourth section is for texts, and so is the last one if it shows the text. Other codes show the text itself. */
function createTextFormat(sections: readonly string[]): (text: string) => string {
  const last = sections.at(-1) ?? '';
  if (sections.length > 4 || (sections.length < 4 && !bareOf(last).includes('@'))) return general;
  const section = last.replace(conditionOf(last), '').replace(parts, (part) => (/^[_*]./.test(part) ? '' : part));
  const code = `;;;${section}`;
  if (!isValidFormat(code)) return general;
  return (text) => {
    const shown = format(code, text);
    return shown.length <= longestShown ? shown : text;
  };
}

/** A condition of a section, such as `[>=100]`. */
const conditionOf = (section: string) => /\[(?:[<>]=?|<>|=)\s*-?[\d.]+\]/.exec(section)?.[0] ?? '';

/** @param signed the value, without its sign if the section contains the sign */
type OwnFormat = (value: number, signed: number) => string;

/** Characters that no XML document contains, for the sections for numbers. A fourth section is for texts. */
const marks = ['\u0001', '\u0002', '\u0003'];

/**
 * Dates and General have formats of their own. `numfmt` gets a mark in their place, and chooses the section and its sign. A number that
 * fits no condition is shown as General.
 */
function createSections(sections: readonly string[], system: DateSystem): NumberFormat {
  const isLastConditional = sections.length < marks.length && conditionOf(sections.at(-1) ?? '') !== '';
  const all = isLastConditional ? [...sections, 'General'] : sections;
  const hasConditions = all.some((section) => conditionOf(section) !== '');
  const own = all.map((section, at) => {
    const isForTexts = !hasConditions && at > 0 && at === all.length - 1 && section.includes('@');
    return isForTexts || at >= marks.length ? undefined : createOwnFormat(section, { system, hasConditions });
  });
  const [single] = own;
  if (all.length === 1 && single !== undefined) return (value) => single(value, value);
  const marked = all.map((section, at) =>
    own[at] === undefined ? section : `${conditionOf(section)}"${marks[at] ?? ''}"`,
  );
  const shown = createNumberFormat(marked.join(';'));
  return (value) => {
    const text = shown(value);
    const show = own[marks.indexOf(text.at(-1) ?? '')];
    return show === undefined ? text : show(value, text.startsWith('-') ? value : Math.abs(value));
  };
}

/** @returns undefined for a section that `numfmt` shows */
function createOwnFormat(
  section: string,
  { system, hasConditions }: { readonly system: DateSystem; readonly hasConditions: boolean },
): OwnFormat | undefined {
  const bare = bareOf(section);
  // A number in a section for texts is shown as General.
  if (bare.includes('@') || (/^general$/i.test(bare.trim()) && !/["\\]/.test(section))) {
    return (value, signed) => general(hasConditions ? value : signed);
  }
  // Without a text, no sign is shown either.
  if (hasConditions && section.replace(/\[[^[\]]*\]/g, '') === '') return () => '';
  if (/\[([hms])\1*\]/i.test(section)) {
    const elapsed = createNumberFormat(section.replace(conditionOf(section), ''));
    return (_, signed) => (signed < 0 ? '-' : '') + elapsed(Math.abs(signed));
  }
  const percents = bare.split('%').length - 1;
  if (percents > 1 || (percents === 1 && bare.includes(','))) {
    // Each sign multiplies by 100. `numfmt` multiplies once, and does not divide by the thousands of a comma then.
    const unscaled = section.replace(conditionOf(section), '').replace(parts, (part) => (part === '%' ? '"%"' : part));
    const shown = createNumberFormat(unscaled);
    return (_, signed) => shown(Number((signed * 100 ** percents).toPrecision(15)));
  }
  const tokens = bare.replace(/am\/pm|a\/p/gi, 'h').replace(/general/gi, '');
  // A date has digits only after the seconds.
  const isDate = /[ymdhsgeb]/i.test(tokens) && !/[0#?]/.test(tokens.replace(/s\.0+/gi, ''));
  return isDate ? createDateFormat(tokens, system) : undefined;
}

/** `numfmt` uses the separators of the locale of a currency or of digits. Spreadsheets do not. */
function createNumberFormat(code: string): NumberFormat {
  const neutral = code.replace(parts, (part) =>
    part.startsWith('[$')
      ? part.replace(/^\[\$([^-\]]*)(?:-[^\]]*)?\]$/, (_, symbol) => (symbol === '' ? '' : `[$${symbol}]`))
      : part,
  );
  if (!isValidFormat(neutral)) return general;
  return (value) => format(neutral, value).trim();
}

const dayMs = 86_400_000;
const epochs = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;

/** Formats a date, a time or both, depending on the format. */
function createDateFormat(tokens: string, { epoch }: DateSystem): NumberFormat {
  const showsTime = /[hs]/i.test(tokens);
  const showsDate = /[ydgeb]/i.test(tokens) || (/m/i.test(tokens) && !showsTime);
  return (value) => {
    // Spreadsheets count 29 February 1900, which did not exist.
    const days = epoch === 1900 && value < 60 && value >= 1 ? value + 1 : value;
    const date = new Date(epochs[epoch] + Math.round(days * dayMs));
    if (value < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return general(value);
    const [day = '', time = ''] = date.toISOString().replace('Z', '').replace('.000', '').split('T');
    if (!showsDate) return time;
    return showsTime ? `${day}T${time}` : day;
  };
}
