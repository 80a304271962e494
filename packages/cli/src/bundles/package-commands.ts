import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { BundlePlan, BundlePlanRequest, PackageFacts } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import type { Command } from 'commander';
import { withAdministration } from '../administration.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { type JsonOption, jsonOption, printError, printJson, printResult, say } from '../output/print.ts';
import { readList, readMore, readPairs } from '../read-arguments.ts';
import type { SourceOptions } from './bundle-source.ts';
import { editReach, namedHosts, type ReachOptions, readPlace } from './edit-reach.ts';

interface PlanOptions extends JsonOption, ReachOptions {
  readonly digest?: string;
  readonly allowUnsigned?: boolean;
  readonly allowUnknown?: boolean;
}

/** Installs bundles by a plan, without a running service. A running service loads the changes within seconds. */
export function addPackageCommands(bundle: Command): void {
  const add = bundle
    .command('add')
    .argument(
      '[source]',
      'package of a piece, archive (.qmb), package file (.tgz), OpenAPI document (file or URL), or URL of an MCP server',
    )
    .option(
      '--recipe <name>',
      'install what this recipe chooses from the document; without a source it finds the document itself',
    )
    .option('--mcp <url>', 'install the tools of this MCP server (Streamable HTTP)')
    .option('--from <file>', 'install this file, whatever its name is')
    .option('--id <id>', 'id of the bundle (default: from the name of the source)')
    .option('--allow-unsigned', 'install an archive that is not signed')
    .option('--allow-unknown', 'install an archive whose publisher is not trusted')
    .option('--server <url>', 'base URL of the API, in the place of the servers of the document')
    .option('--operation, --operations <list>', 'install only these operations or tools: a,b (repeatable)', readMore)
    .option('--tag <list>', 'install also the operations with these tags (repeatable)', readMore)
    .option('--path <list>', 'install also the operations with these paths, or below them (repeatable)', readMore)
    .option('--bearer <name>', 'send a bearer token to the MCP server; the name of its credential')
    .option('--header <pairs>', 'send headers to the MCP server: X-Api-Key=API_KEY', readPairs)
    .option(
      '--credentials <file>',
      'JSON file with these credentials, to list the tools once; "-" reads standard input',
    )
    .description('show what a bundle may do, and install it after confirmation');
  withPlanOptions(add).action(
    async (name: string | undefined, options: PlanOptions & SourceOptions & { id?: string }) => {
      const { id, from, mcp, recipe, server, operations, tag, path, bearer, header, credentials, ...others } = options;
      const { findSource } = await import('./bundle-source.ts');
      const source = await findSource(name, options);
      await planAndInstall({ source, ...(id === undefined ? {} : { bundle_id: id }) }, others);
    },
  );
  const update = bundle
    .command('update')
    .argument('<id>', 'id of a bundle that was installed from a package, also with @version')
    .description(
      'show what the latest version changes, and install it after confirmation; with other hosts or places, change the installed version',
    );
  withPlanOptions(update).action(async (given: string, options: PlanOptions) => {
    const [bundle_id = '', version] = given.split('@');
    const installed = await withInstallation(({ list }) => list());
    const found = installed.find(({ bundleId }) => bundleId === bundle_id);
    if (found === undefined)
      throw new CommandError(
        exitCodes.notFound,
        `No bundle "${bundle_id}" was installed by a plan. Run "${commandName} bundle list" to see the installed bundles.`,
      );
    const { digest: _, json: __, ...edits } = options;
    const isEdit = version === undefined && Object.keys(edits).length > 0;
    const source = isEdit ? ({ kind: 'installed', bundle_id } as const) : sourceOf(found.about, version);
    await planAndInstall({ source, bundle_id }, options);
  });
}

/** What an update reads. @throws CommandError when the person must name it */
function sourceOf({ bundle_id: id, kind, package: name, source }: PackageFacts, version: string | undefined) {
  if (kind === 'piece') return { kind, package: name, ...(version === undefined ? {} : { version }) } as const;
  const needsCredentials = source?.kind === 'mcp' && (source.bearer !== undefined || source.headers !== undefined);
  if (needsCredentials)
    throw new CommandError(
      exitCodes.usage,
      `The MCP server of ${id} requires credentials. Run "${commandName} bundle add --mcp ${source.url}" with the same options.`,
    );
  if (source !== null && version === undefined) return source;
  throw new CommandError(
    exitCodes.usage,
    source === null
      ? `${id} is from a file. To update it, run "${commandName} bundle add" with the new version of its source.`
      : `${id} is not from a package, so no version can be named. Run "${commandName} bundle update ${id}".`,
  );
}

/** Finds packages by words. */
export function addSearchCommand(bundle: Command): void {
  bundle
    .command('search')
    .argument('<words...>', 'words, or the name of a package')
    .description('search the registry for packages of pieces')
    .option(...jsonOption)
    .action(async (words: string[], options: JsonOption) => {
      const found = await withInstallation(({ search }) => search(words.join(' '), new AbortController().signal));
      printResult(options, { object: 'PackageSearch', packages: found }, () => {
        for (const { package: name, version, description } of found) say(`${name} ${version}  ${description}`);
        if (found.length === 0) printError('No packages found.');
      });
    });
}

/** Lists installed bundles. `changed`: the files of this data folder that differ from the archive; null when it has none of them. */
export async function listInstalled() {
  return await withInstallation(async ({ list, changedFiles }) => {
    const row = async ({ about, archiveDigest }: Awaited<ReturnType<typeof list>>[number]) => {
      const { bundle_id, version, publisher } = about;
      const changed = await changedFiles(bundle_id).catch(() => null);
      return { bundle_id, version, id: `${bundle_id}@${version}+sha256.${archiveDigest}`, publisher, changed };
    };
    return await Promise.all((await list()).map(row));
  });
}

/** Removes an installed bundle. */
export async function removePackage(bundleId: string): Promise<void> {
  const { commandSource } = await import('@quartermaster/server/administration');
  await withInstallation(({ remove }) => remove(bundleId, commandSource()));
}

function withPlanOptions(command: Command): Command {
  return command
    .option('--digest <digest>', 'install without a question if the plan has this digest')
    .option('--add-hosts <list>', 'also allow calls to these hosts: a,b', readList)
    .option('--remove-hosts <list>', 'do not allow calls to these hosts', readList)
    .option('--add-credential-hosts <list>', 'also send the credential to these hosts', readList)
    .option('--remove-credential-hosts <list>', 'do not send the credential to these hosts', readList)
    .option(
      '--add-places <list>',
      'also allow the credential here: header:x-api-key,query:key,form:token,path:/bot',
      readPlaces,
    )
    .option('--remove-places <list>', 'do not allow the credential here', readPlaces)
    .option(...jsonOption);
}

const readPlaces = (text: string) => readList(text).map(readPlace);

type WithInstallation = Parameters<Parameters<typeof withAdministration>[0]>[0]['withInstallation'];

async function withInstallation<T>(work: (installation: Parameters<Parameters<WithInstallation>[0]>[0]) => Promise<T>) {
  let result: { readonly value: T } | undefined;
  await withAdministration(async (administration) => {
    result = { value: await administration.withInstallation(work) };
  });
  return (result as unknown as { readonly value: T }).value; // set, because nothing was thrown
}

async function planAndInstall(
  request: BundlePlanRequest,
  { digest, json, allowUnsigned, allowUnknown, ...edits }: PlanOptions,
): Promise<void> {
  const { checkHosts, commandSource, compareFacts, planToWire } = await import('@quartermaster/server/administration');
  checkHosts({ hosts: namedHosts(edits) });
  await withInstallation(async (installation) => {
    const plan = planToWire(
      await installation.plan(request, commandSource(), new AbortController().signal, showProgress),
    );
    showProgress(0, 0);
    const reach = editReach(plan, edits);
    const isAccepted = (plan.trust === 'unsigned' && allowUnsigned) || (plan.trust === 'unknown' && allowUnknown);
    const isEdited = Object.keys(reach).length > 0;
    const before = (await installation.list()).find(({ bundleId }) => bundleId === plan.bundle_id)?.about;
    if (digest === undefined && json === undefined && !isEdited && before?.digest === plan.digest)
      return say(`${plan.bundle_id} ${plan.version} is already installed`);
    const edited = { ...plan, ...reach, digest: isEdited ? digestOfEdit(plan.digest, reach) : plan.digest };
    const shown = { ...edited, update: before === undefined ? null : compareFacts(before, edited) };
    if (json === true && digest === undefined) return printJson(shown);
    if (digest === undefined) {
      (await import('./print-plan.ts')).printPlan(shown);
      // Without the option the installation is refused, whatever the answer is.
      if ((plan.trust ?? 'trusted') === 'trusted' || isAccepted === true) await confirm(shown);
    } else if (digest !== shown.digest) {
      throw new CommandError(
        exitCodes.invalidData,
        `The digest of the plan is ${shown.digest}, not ${digest}. Read the plan, then confirm its digest.`,
      );
    }
    const confirmed = { digest: plan.digest, ...reach, ...(isAccepted === true ? { accept_publisher: true } : {}) };
    const { about } = await installation.install(plan.bundle_plan_id, confirmed, commandSource());
    const { bundle_id, version } = about;
    printResult({ ...(json === true ? { json } : {}) }, { ...about, object: 'InstalledBundle' }, () =>
      say(`installed ${bundle_id} ${version}; a running service lists it within seconds`),
    );
    for (const warning of about.warnings.slice(plan.warnings.length)) printError(`Warning: ${warning}`);
  });
}

/** Confirms a plan together with the hosts and places of the options. */
function digestOfEdit(digest: string, reach: ReturnType<typeof editReach>): string {
  return createHash('sha256')
    .update(JSON.stringify([digest, reach]))
    .digest('hex');
}

/** Shows on a terminal how many actions were tried. Without actions, the line is removed. */
function showProgress(done: number, all: number): void {
  if (process.stderr.isTTY) process.stderr.write(all === 0 ? '\r\u001b[K' : `\rtrying action ${done + 1} of ${all} …`);
}

/** @throws CommandError without a yes */
async function confirm({ digest, update }: BundlePlan): Promise<void> {
  const question = update === null ? 'Install it? [y/N] ' : 'Install this version? [y/N] ';
  if (process.stdin.isTTY) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(question).finally(() => terminal.close());
    if (/^y(es)?$/i.test(answer.trim())) return;
    throw new CommandError(exitCodes.failed, 'Nothing was installed, because the plan was not confirmed.');
  }
  throw new CommandError(
    exitCodes.usage,
    `Nothing was installed, because standard input is not a terminal. To confirm the plan, add --digest ${digest}.`,
  );
}
