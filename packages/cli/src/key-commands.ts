import {
  defaultScopes,
  describePermissions,
  keyCollectionPattern,
  keyToolPattern,
  maxKeyCollections,
  maxKeyTools,
  type Scope,
  scopes,
} from '@quartermaster/contract/scopes';
import type { Administration } from '@quartermaster/server/administration';
import { Command, InvalidArgumentError } from 'commander';
import { withAdministration } from './administration.ts';
import { type JsonOption, jsonOption, printJson, printResult, printTable, say, time } from './output/print.ts';
import { readList } from './read-arguments.ts';

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly scopes: Scope[];
  readonly collections?: readonly string[];
  readonly tools?: readonly string[];
  readonly expiresIn?: number;
}

/** Manages API keys. A new key is printed once, on its own line of standard output, for scripts. */
export function keyCommands(): Command {
  const key = new Command('key').description('manage the API keys of a project');
  key
    .command('create')
    .argument('<project>', 'id or name of the project')
    .requiredOption('--name <name>', 'purpose of the key')
    .option('--scopes <list>', `scopes of the key: ${scopes.join(',')}`, readScopes, [...defaultScopes])
    .option('--collections <list>', 'ids of the only collections that exist for it (default: all)', readCollections)
    .option('--tools <list>', 'the only bundles, or bundle/plugin, that exist for it (default: all)', readTools)
    .option('--expires-in <days>', 'days until it expires (default: never)', readDays)
    .description('create a key and print it once')
    .option(...jsonOption)
    .action((project: string, options: CreateOptions) =>
      withAdministration(async ({ projects, findProjectId }) => {
        const expiresAt =
          options.expiresIn === undefined ? null : Math.ceil(Date.now() + options.expiresIn * 86_400_000);
        const projectId = await findProjectId(project);
        const { name, scopes, collections = null, tools = null } = options;
        const created = await projects.createKey({ projectId, name, scopes, expiresAt, collections, tools });
        const { stored, key: secret } = created;
        printResult(options, { key_id: stored.id, key: secret.reveal() }, () => {
          console.error(`Created key ${stored.id}. ${describePermissions(stored).join(' ')} It is shown only once:`);
          say(secret.reveal());
        });
      }),
    );
  key
    .command('generate')
    .description('print a new key for QUARTERMASTER_FIRST_KEY_FILE, without storing it')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const { createApiKey } = await import('@quartermaster/server/administration');
      const secret = createApiKey();
      printResult(options, { key: secret }, () => say(secret));
    });
  addList(key);
  addRevocation(key);
  addRotation(key);
  return key;
}

function addList(key: Command): void {
  key
    .command('list')
    .argument('[project]', 'id or name of a project')
    .description('list keys, without their secrets')
    .option(...jsonOption)
    .action((project: string | undefined, { json }: JsonOption) =>
      withAdministration(async ({ projects, findProjectId }) => {
        const rows = await projects.listKeys(project === undefined ? undefined : await findProjectId(project));
        if (json === true) {
          for (const row of rows) printJson(toJson(row));
          return;
        }
        printTable(
          [
            ...['KEY', 'PROJECT', 'NAME', 'ENDS WITH', 'SCOPES', 'COLLECTIONS', 'TOOLS'],
            ...['CREATED', 'EXPIRES', 'REVOKED', 'LAST USED'],
          ],
          rows.map((row) => [
            ...[row.id, row.projectId, row.name, row.hint, row.scopes.join(',')],
            ...[row.collections?.join(',') ?? 'all', row.tools?.join(',') ?? 'all'],
            ...[row.createdAt, row.expiresAt, row.revokedAt, row.lastUsedAt].map(time),
          ]),
        );
      }),
    );
}

/** A listed key with the names of the API. It has no hash. */
type ListedKey = Awaited<ReturnType<Administration['projects']['listKeys']>>[number];

function toJson({ id, projectId, name, hint, scopes, collections, tools, ...times }: ListedKey) {
  const { createdAt, expiresAt, revokedAt, lastUsedAt } = times;
  return {
    key_id: id,
    project_id: projectId,
    name,
    hint,
    scopes,
    collections,
    tools,
    created_timestamp: createdAt,
    expires_timestamp: expiresAt,
    revoked_timestamp: revokedAt,
    last_used_timestamp: lastUsedAt,
  };
}

function addRevocation(key: Command): void {
  key
    .command('revoke')
    .argument('<key>', 'id of the key')
    .option('--descendants', 'also revoke all keys that it created, directly or through other keys')
    .description('revoke a key; running services reject it within a second')
    .option(...jsonOption)
    .action((keyId: string, options: JsonOption & { descendants?: true }) =>
      withAdministration(async ({ projects, assertKey }) => {
        await assertKey(keyId);
        const revoked = await projects.revokeKey(keyId, { withDescendants: options.descendants === true });
        const remaining = await projects.countDescendants(keyId);
        printResult(options, { revoked, remaining_descendants: remaining }, () => {
          for (const id of revoked) console.error(`revoked ${id}`);
        });
        if (remaining > 0) {
          console.error(
            `${remaining} ${remaining === 1 ? 'key' : 'keys'} that it created can still be used. Use --descendants to revoke them too.`,
          );
        }
      }),
    );
}

function addRotation(key: Command): void {
  key
    .command('rotate')
    .argument('<key>', 'id of the key')
    .option('--overlap <minutes>', 'minutes until the old key stops working', readOverlap, 60)
    .description('replace a key; the old key works until the overlap ends')
    .option(...jsonOption)
    .action((keyId: string, options: JsonOption & { overlap: number }) =>
      withAdministration(async ({ projects, assertUsableKey }) => {
        await assertUsableKey(keyId);
        const rotated = await projects.rotateKey(keyId, Math.ceil(options.overlap * 60_000));
        const { stored, key: secret } = rotated;
        printResult(options, { key_id: stored.id, key: secret.reveal() }, () => {
          console.error(
            `Created key ${stored.id}. The old key ends in ${options.overlap} minutes. The new key is shown only once:`,
          );
          say(secret.reveal());
        });
      }),
    );
}

function readScopes(text: string): Scope[] {
  const wanted = text.split(',').map((item) => item.trim());
  const known = wanted.filter((item): item is Scope => (scopes as readonly string[]).includes(item));
  if (known.length !== wanted.length) throw new InvalidArgumentError(`Allowed scopes: ${scopes.join(',')}.`);
  return known;
}

function readCollections(text: string): string[] {
  const ids = readList(text);
  // composed: a literal of the contract without nested repetition
  const form = new RegExp(keyCollectionPattern);
  if (ids.length > maxKeyCollections || ids.some((id) => !form.test(id)))
    throw new InvalidArgumentError(`The value must be 1 to ${maxKeyCollections} ids of collections.`);
  return ids;
}

function readTools(text: string): string[] {
  const tools = readList(text);
  // composed: a literal of the contract without nested repetition
  const form = new RegExp(keyToolPattern);
  if (tools.length > maxKeyTools || tools.some((tool) => !form.test(tool)))
    throw new InvalidArgumentError(
      `The value must be at most ${maxKeyTools} names such as slack or slack/post_message.`,
    );
  return tools;
}

const longestDays = 36_500;
/** Thirty days in minutes, the limit of the API. */
const longestOverlap = 43_200;

function readDays(text: string): number {
  const days = readNumber(text);
  if (!(days > 0 && days <= longestDays))
    throw new InvalidArgumentError(`The value must be more than 0 and at most ${longestDays} days.`);
  return days;
}

function readOverlap(text: string): number {
  const minutes = readNumber(text);
  if (!(minutes >= 0 && minutes <= longestOverlap))
    throw new InvalidArgumentError(`The value must be a number of minutes from 0 to ${longestOverlap}.`);
  return minutes;
}

/** @returns NaN for a text that is not a number */
function readNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}
