import type { Setting } from '../../packages/server/src/settings/setting.ts';
import { settings } from '../../packages/server/src/settings/settings.ts';

/** Returns the range of a whole number; a dash for other settings. */
function describeRange(allowed = ''): string {
  const [, least, most] = /^(\d+)\.\.(\d+)$/.exec(allowed) ?? [];
  return least === undefined ? '–' : `${least} to ${most}`;
}

/** Renders docs/reference/settings.md. */
export function describeSettings(): string {
  const rows = Object.entries<Setting>(settings).map(([key, setting]) => {
    const standard = setting.default === null || setting.default === '' ? '–' : `\`${setting.default}\``;
    const range = describeRange(setting.check.allowed);
    return `| \`QUARTERMASTER_${key}\` | ${standard} | ${range} | ${setting.description.replaceAll('|', '\\|')} |`;
  });
  return [
    '# Settings',
    '',
    'Generated from `packages/server/src/settings/` by `npm run reference`; do not edit.',
    '',
    'Settings are environment variables, read once at start. All invalid values are reported together, and the service does not',
    'start; a name under `QUARTERMASTER_` that is not in this table is an error too. Exceptions are `QUARTERMASTER_URL`,',
    '`QUARTERMASTER_PLUGINS_URL` and `QUARTERMASTER_API_KEY`, which the command line reads. An empty value counts as unset.',
    '',
    '| Variable | Default | Range | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
