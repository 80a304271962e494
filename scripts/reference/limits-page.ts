import type { Limit } from '../../packages/server/src/limits/limit.ts';
import { limits } from '../../packages/server/src/limits/limits.ts';
import { parseConfig } from '../../packages/server/src/settings/config.ts';
import { findLimitTests } from './limit-tests.ts';

const headings = {
  requests: 'Every request',
  store: 'Files, projects and keys',
  collections: 'Collections, records and chunks',
  plugins: 'Plugins address',
  bundles: 'Bundle archives',
} as const satisfies Record<keyof typeof limits, string>;

/** Renders docs/reference/limits.md. */
export function describeLimits(): string {
  const tests = findLimitTests();
  // The default depends on the processors of the machine. The page always shows that of four or more.
  const config = parseConfig({ QUARTERMASTER_EXTRACTION_PROCESSES: '4' });
  const row = ([name, { bounds, unit, value, setting, above }]: [string, Limit]) => {
    const number = value(config);
    const amount = number === null ? 'no limit' : `${number.toLocaleString('en')} ${unit}${binary(number, unit)}`;
    const effect = typeof above === 'string' ? above : `${above.status} \`${above.code}\``;
    const change = setting === undefined ? '–' : `\`QUARTERMASTER_${setting}\``;
    const proof = (tests.get(name) ?? []).map((file) => `\`${file}\``).join(', ');
    return `| \`${name}\` | ${amount} | ${bounds.replaceAll('|', '\\|')} | ${effect} | ${change} | ${proof} |`;
  };
  const groups = Object.entries(headings).flatMap(([group, heading]) => [
    `## ${heading}`,
    '',
    '| Limit | At most | Applies to | Above it | Setting | Test |',
    '|---|---|---|---|---|---|',
    ...Object.entries<Limit>(limits[group as keyof typeof limits]).map(row),
    '',
  ]);
  return [
    '# Limits',
    '',
    'Generated from `packages/server/src/limits/` by `npm run reference`; do not edit.',
    '',
    'Everything whose size or number a caller chooses has a limit. The table shows the values of the default settings;',
    '`GET /v1/limits` returns those in force. A value at the limit is accepted; one above it has the effect shown. Each',
    'limit has a test at the limit and one above it.',
    '',
    ...groups,
  ].join('\n');
}

/** Returns bytes in KiB or MiB as well. */
function binary(number: number, unit: string): string {
  if (unit !== 'bytes' || number < 1024) return '';
  const [size, name] =
    number >= 1024 ** 3 ? [1024 ** 3, 'GiB'] : number >= 1024 ** 2 ? [1024 ** 2, 'MiB'] : [1024, 'KiB'];
  return number % size === 0 ? ` (${number / size} ${name})` : '';
}
