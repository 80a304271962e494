import { roles, scopes } from '@quartermaster/contract';
import { scopesOf } from '../../test/support/authorisation-outcomes.ts';
import { mcpNeeds, type Need, otherNeeds, table } from '../../test/support/authorisation-table.ts';

/** Renders docs/reference/authorisation.md. */
export function describeAuthorisation(): string {
  const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');
  const titleOf = (need: string) =>
    need in otherNeeds
      ? otherNeeds[need as keyof typeof otherNeeds]
      : { title: `\`${need}\``, keys: `\`${need}\``, people: rolesWith(need) };
  const rolesWith = (need: string) => {
    const found = roles.filter((role) => [...scopesOf({ kind: 'session', role })].some((scope) => scope === need));
    return found.length === 0 ? 'none' : code(found);
  };
  const addresses = Object.entries(table).flatMap(([address, rows]) => [
    `## The ${address} address`,
    '',
    ...Object.entries(rows).flatMap(([need, lines]) => {
      const { title, keys, people } = titleOf(need as Need);
      const requests = lines
        .trim()
        .split('\n')
        .map((line) => `* \`${line.trim()}\``);
      const callers = address === 'files' ? `Keys: ${keys}. People: ${people}.` : `Keys: ${keys}.`;
      return [`### ${title}`, '', ...(need === 'nothing' ? [] : [callers, '']), ...requests, ''];
    }),
  ]);
  const mcp = Object.entries(mcpNeeds).map(
    ([need, names]) => `| ${need === 'nobody' ? 'refused to all' : titleOf(need).keys} | ${names.join(', ')} |`,
  );
  return [
    '# Authorisation',
    '',
    'Generated from `test/support/authorisation-table.ts` by `npm run reference`; do not edit.',
    '',
    'What each request needs. A test sends each of them with every kind of key, session and token, and with none.',
    'A scope includes its `:read` form, and `admin` includes `metrics`. What a caller does not see does not exist for it (404).',
    '',
    '| Role | Acts like a key with |',
    '|---|---|',
    ...roles.map(
      (role) => `| \`${role}\` | ${code(scopes.filter((scope) => scopesOf({ kind: 'session', role }).has(scope)))} |`,
    ),
    '',
    'Administrators of the service are administrators of every project. Sessions are valid at the files address, except for MCP.',
    'Tokens of applications are valid for MCP only, at the server for which they were issued. They do what the person left, and',
    'no more than the person may do. Where `QUARTERMASTER_PLUGINS_KEY` requires no key, the plugins address accepts requests without one',
    'for what needs `plugins` or `plugins:read`.',
    '',
    ...addresses,
    '## Methods and tools of MCP',
    '',
    'Beside the scope of the server. A tool that a caller may not use is not in its list.',
    '',
    '| Scope of a key or a token | Methods and tools |',
    '|---|---|',
    ...mcp,
    '',
  ].join('\n');
}
