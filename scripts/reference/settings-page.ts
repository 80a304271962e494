import { formOf } from '../../packages/server/src/app/settings/read-settings.ts';
import type { SettingSchema } from '../../packages/server/src/app/settings/setting.ts';
import { isOnFirstPage, settings } from '../../packages/server/src/app/settings/settings.ts';

/** Renders docs/reference/settings.md. */
export function describeSettings(): string {
  const rowsOf = (isWanted: (key: string) => boolean) => [
    '| Variable | Default | Range | Meaning |',
    '|---|---|---|---|',
    ...Object.entries(settings)
      .filter(([key]) => isWanted(key))
      .map(([key, schema]) => describeRow(key, schema as unknown as SettingSchema)), // the table is made of them
    '',
  ];
  return [
    '# Settings',
    '',
    'Generated from `packages/server/src/app/settings/` by `npm run reference`; do not edit.',
    '',
    'Settings are environment variables, read once at start. All invalid values are reported together, and the service does not',
    'start; a name under `QUARTERMASTER_` that is not on this page is an error too. An empty value counts as unset. A setting marked',
    '*secret* is never printed. With `_FILE` after its name, it names a file that holds the value, so that the value is not in the',
    'environment of the process: `QUARTERMASTER_DATABASE_URL_FILE`.',
    '',
    'The command line reads `QUARTERMASTER_URL`, `QUARTERMASTER_PLUGINS_URL` and `QUARTERMASTER_API_KEY`. The npm scripts run with the',
    'Node.js of the lockfile, or with the one that runs npm if `QUARTERMASTER_NODE` is `host` and it is new enough.',
    '',
    ...rowsOf(isOnFirstPage),
    '## Advanced',
    '',
    'Few installations need these.',
    '',
    ...rowsOf((key) => !isOnFirstPage(key)),
  ].join('\n');
}

function describeRow(key: string, schema: SettingSchema): string {
  const { type, minimum, maximum } = formOf(schema);
  const values = [schema.default ?? []].flat();
  const standard = values.length === 0 || typeof values[0] === 'object' ? '–' : `\`${values.join(',')}\``;
  const unit = schema.unit === undefined ? '' : ` ${schema.unit}`;
  const range = schema.isSecret ? '*secret*' : type === 'integer' ? `${minimum} to ${maximum}${unit}` : '–';
  return `| \`QUARTERMASTER_${key}\` | ${standard} | ${range} | ${schema.description.replaceAll('|', '\\|')} |`;
}
