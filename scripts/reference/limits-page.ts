import { listLimits } from '../../packages/server/src/app/service/list-limits.ts';
import { parseConfig } from '../../packages/server/src/app/settings/config.ts';

/** Renders docs/reference/limits.md. */
export function describeLimits(): string {
  const rows = listLimits(parseConfig({})).map(({ name, bounds, value, unit, status, code, setting }) => {
    const most = value === null ? 'no limit' : `${value.toLocaleString('en')} ${unit}`;
    const change = setting === null ? '–' : `\`${setting}\``;
    return `| \`${name}\` | ${most} | ${bounds} | ${status} \`${code}\` | ${change} |`;
  });
  return [
    '# Limits',
    '',
    'Generated from `packages/server/src/app/service/list-limits.ts` by `npm run reference`; do not edit.',
    '',
    'This page lists the largest file, the longest text, the most records and the other limits that a client can reach. The values are the defaults; `GET /v1/limits` returns those in force.',
    'A value at the limit is accepted; one above it gets the error shown.',
    '',
    '| Limit | At most | Applies to | Above it | Setting |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    'Every string, list, object and number of a request has a bound as well. The OpenAPI documents state them as `maxLength`,',
    '`maxItems`, `maxProperties` and `maximum`; a JSON body has at most 64 levels and 50,000 members. What an operator sizes is in',
    '[settings](settings.md), which requests wait is in [admission](admission.md), and the limits of documents are in',
    '[formats](formats.md).',
    '',
  ].join('\n');
}
