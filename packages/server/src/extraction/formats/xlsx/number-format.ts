/** Formats a number as a spreadsheet does. */
export type Format = (value: number) => string;

export interface DateSystem {
  /** Days between the day 0 of the file and 1970-01-01. */
  readonly epoch: 1900 | 1904;
}

/** Predefined formats, which files do not list (ECMA-376 18.8.30). The others up to 163 are dates of some locale. */
const builtIn: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: 'General',
  13: 'General',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm',
  19: 'h:mm:ss',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
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

/** Compiles a format code. Dates become ISO 8601; numbers keep decimals, percent, thousands and currency. */
export function createFormat(code: string, system: DateSystem): Format {
  const sections = splitSections(code).map((section) => createSection(section, system));
  const [positive = general, negative, zero] = sections;
  return (value) => {
    if (!Number.isFinite(value)) return String(value);
    if (value < 0 && negative !== undefined) return negative(-value);
    if (value === 0 && zero !== undefined) return zero(value);
    return positive(value);
  };
}

/**
 * Formats a cell without a format: 15 digits, the precision of spreadsheets. Long whole numbers are identifiers and
 * keep all digits.
 */
export function general(value: number): string {
  return String(Number.isSafeInteger(value) ? value : Number(value.toPrecision(15)));
}

function splitSections(code: string): string[] {
  return (code.match(/(?:"[^"]*"|\\.|\[[^[\]]*\]|[^;])+|;/g) ?? []).filter((section) => section !== ';').slice(0, 3);
}

function createSection(section: string, system: DateSystem): Format {
  const elapsed = /\[([hms])+\]/i.test(section);
  const bare = section.replace(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]/g, '');
  if (/general/i.test(bare)) return general;
  if (elapsed) return formatElapsed;
  const tokens = bare.replace(/am\/pm|a\/p/gi, 'h');
  if (/[ymdhsgeb]/i.test(tokens) && !/[0#?]E[+-]/i.test(tokens)) return createDateFormat(tokens, system);
  if (!/[0#?]/.test(bare)) return bare.includes('@') ? general : () => literals(section).trim();
  return createNumberFormat(section, bare);
}

function createNumberFormat(section: string, bare: string): Format {
  if (bare.includes('/')) return general;
  const percents = bare.match(/%/g)?.length ?? 0;
  const pattern = /[0#?][0#?,. ]*(?:E[+-][0#?]+)?/i.exec(bare)?.[0] ?? '0';
  const [whole = '', ...rest] = pattern.replace(/E.*/i, '').trim().split('.');
  const decimals = Math.min(20, rest.join('').replace(/[^0#?]/g, '').length);
  const optional = countTrailing(rest.join(''), '#');
  const thousands = countTrailing(whole, ',');
  const grouped = /[0#?],[0#?]/.test(whole);
  const digits = whole.match(/0/g)?.length ?? 0;
  const [before, after] = around(section);
  return (value) => {
    const scaled = (value * 100 ** percents) / 1000 ** thousands;
    const sign = scaled < 0 ? '-' : '';
    const size = Math.abs(scaled);
    const number = /E[+-]/i.test(bare)
      ? scientific(size, decimals)
      : fixed(size, { decimals, optional, grouped, digits });
    return `${sign}${before}${number}${'%'.repeat(percents)}${after}`.trim();
  };
}

function fixed(
  value: number,
  { decimals, optional, grouped, digits }: { decimals: number; optional: number; grouped: boolean; digits: number },
): string {
  if (value >= 1e21) return general(value);
  // Numbers are binary; the intended value is the decimal of 15 digits.
  let text = rounded(Number(value.toPrecision(15)), decimals).toFixed(decimals);
  if (optional > 0) {
    const dropped = Math.min(optional, countTrailing(text, '0'));
    text = text.slice(0, text.length - dropped).replace(/\.$/, '');
  }
  const [whole = '', fraction] = text.split('.');
  const padded = whole.padStart(digits, '0');
  const shown = grouped ? inGroups(padded) : padded;
  return fraction === undefined ? shown : `${shown}.${fraction}`;
}

function countTrailing(text: string, character: string): number {
  let count = 0;
  while (count < text.length && text[text.length - 1 - count] === character) count += 1;
  return count;
}

/** Groups digits: `1234567` becomes `1,234,567`. */
function inGroups(digits: string): string {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(',');
}

/** Rounds the written decimal, not the binary value, which may be slightly less. */
function rounded(value: number, decimals: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e');
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + decimals}`));
  return Number.isSafeInteger(shifted) ? Number(`${shifted}e-${decimals}`) : value;
}

function scientific(value: number, decimals: number): string {
  const [mantissa = '', exponent = '0'] = value.toExponential(decimals).split('e');
  const power = Number(exponent);
  return `${mantissa}E${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Returns the literal text and currency before and after the digits. */
function around(section: string): [string, string] {
  const parts = section.match(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]|[\s\S]/g) ?? [];
  const isDigit = (part: string) => /^[0#?]$/.test(part);
  const first = parts.findIndex(isDigit);
  const last = parts.findLastIndex(isDigit);
  return [
    parts.slice(0, first).map(literal).join(''),
    parts
      .slice(last + 1)
      .map(literal)
      .join(''),
  ];
}

function literals(section: string): string {
  return (section.match(/"[^"]*"|\\.|_.|\*.|\[[^[\]]*\]|[\s\S]/g) ?? []).map(literal).join('');
}

function literal(part: string): string {
  if (part.startsWith('"')) return part.slice(1, -1);
  if (part.startsWith('\\')) return part.slice(1);
  if (part.startsWith('[$')) return /^\[\$([^-\]]*)/.exec(part)?.[1] ?? '';
  if (part.startsWith('_') && part.length === 2) return ' ';
  if (part.length > 1) return '';
  return /[$€£¥₩₽()+ \-:]/.test(part) ? part : '';
}

const dayMs = 86_400_000;
const epochs = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;

/** Formats a date, a time or both, depending on the format. */
function createDateFormat(tokens: string, { epoch }: DateSystem): Format {
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

function formatElapsed(value: number): string {
  const seconds = Math.round(value * 86_400);
  const two = (count: number) => String(count).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
