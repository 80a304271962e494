import { defaultScopes, type Scope, scopes } from '@quartermaster/contract';
import { withAdministration } from '@quartermaster/server/administration';
import { Command, InvalidArgumentError } from 'commander';
import { printTable, time } from './print.ts';

/** Keys are shown once, on standard output and alone on their line, so that a script can take them. */
export function keyCommands(): Command {
  const key = new Command('key').description('API keys of a project');
  key
    .command('create')
    .argument('<project>', 'id of the project')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scopes <list>', `of ${scopes.join(',')}`, readScopes, [...defaultScopes])
    .option('--expires-in <days>', 'days until it expires (default: never)', readDays)
    .description('make a key and show it once')
    .action((projectId: string, options: { name: string; scopes: Scope[]; expiresIn?: number }) =>
      withAdministration(async ({ projects }) => {
        const expiresAt =
          options.expiresIn === undefined ? null : Math.ceil(Date.now() + options.expiresIn * 86_400_000);
        const made = await projects.createKey({ projectId, name: options.name, scopes: options.scopes, expiresAt });
        console.error(`key ${made.stored.id}; it is shown this once:`);
        console.log(made.key.reveal());
      }),
    );
  key
    .command('list')
    .argument('[project]', 'id of a project')
    .description('list keys; never the keys themselves')
    .action((projectId: string | undefined) =>
      withAdministration(async ({ projects }) => {
        const rows = await projects.listKeys(projectId);
        printTable(
          ['key', 'project', 'name', 'ends with', 'scopes', 'created', 'expires', 'revoked', 'last used'],
          rows.map((row) => [
            row.id,
            row.projectId,
            row.name,
            row.hint,
            row.scopes.join(','),
            time(row.createdAt),
            time(row.expiresAt),
            time(row.revokedAt),
            time(row.lastUsedAt),
          ]),
        );
      }),
    );
  addRevocation(key);
  addRotation(key);
  return key;
}

function addRevocation(key: Command): void {
  key
    .command('revoke')
    .argument('<key>', 'id of the key')
    .option('--descendants', 'also revoke the keys that it created, directly or by way of other keys')
    .description('end a key at once (running services notice within a second)')
    .action((keyId: string, options: { descendants?: true }) =>
      withAdministration(async ({ projects }) => {
        const revoked = await projects.revokeKey(keyId, { withDescendants: options.descendants === true });
        for (const id of revoked) console.error(`revoked ${id}`);
        const left = await projects.countDescendants(keyId);
        if (left > 0) {
          console.error(
            `${left} usable ${left === 1 ? 'key' : 'keys'} that it created; --descendants revokes them too`,
          );
        }
      }),
    );
}

function addRotation(key: Command): void {
  key
    .command('rotate')
    .argument('<key>', 'id of the key')
    .option('--overlap <minutes>', 'how long the old key still works', readOverlap, 60)
    .description('replace a key; the old one works until the overlap ends')
    .action((keyId: string, options: { overlap: number }) =>
      withAdministration(async ({ projects }) => {
        const made = await projects.rotateKey(keyId, Math.ceil(options.overlap * 60_000));
        console.error(`key ${made.stored.id}; the old one ends in ${options.overlap} minutes; it is shown this once:`);
        console.log(made.key.reveal());
      }),
    );
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((item) => item.trim());
  const known = wanted.filter((item): item is Scope => (scopes as readonly string[]).includes(item));
  if (known.length !== wanted.length) throw new InvalidArgumentError(`expected some of ${scopes.join(',')}`);
  return known;
}

const longestDays = 36_500;
/** Thirty days, as for the API. */
const longestOverlap = 43_200;

function readDays(text: string): number {
  const days = readNumber(text);
  if (!(days > 0 && days <= longestDays))
    throw new InvalidArgumentError(`expected more than 0 days and at most ${longestDays}`);
  return days;
}

function readOverlap(text: string): number {
  const minutes = readNumber(text);
  if (!(minutes >= 0 && minutes <= longestOverlap))
    throw new InvalidArgumentError(`expected 0 to ${longestOverlap} minutes`);
  return minutes;
}

/** NaN for what is none. */
function readNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
