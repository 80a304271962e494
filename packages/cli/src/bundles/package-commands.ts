import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { BundlePlan, BundlePlanRequest } from '@quartermaster/contract';
import { commandName } from '@quartermaster/contract/command-name';
import type { Command } from 'commander';
import { withAdministration } from '../administration.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { type JsonOption, jsonOption, printError, printJson, printResult, say } from '../output/print.ts';
import { readList } from '../read-arguments.ts';
import { editReach, type ReachOptions, readPlace } from './edit-reach.ts';

interface PlanOptions extends JsonOption, ReachOptions {
  readonly digest?: string;
}

/** Installs pieces from packages, without a running service. A running service loads the changes within seconds. */
export function addPackageCommands(bundle: Command): void {
  const add = bundle
    .command('add')
    .argument('[package]', 'package of a piece, such as @activepieces/piece-slack or @activepieces/piece-slack@0.17.9')
    .option('--from <file>', 'install this .tgz file instead of downloading the package')
    .option('--id <id>', 'id of the bundle (default: from the name of the package)')
    .description('show what a piece may do, and install it after confirmation');
  withPlanOptions(add).action(
    async (name: string | undefined, { from, id, ...options }: PlanOptions & { from?: string; id?: string }) => {
      if ((name === undefined) === (from === undefined))
        throw new CommandError(exitCodes.usage, 'Name a package, or a file with --from. Send one of the two.');
      const source =
        from === undefined
          ? ({ kind: 'piece', ...readPackage(name ?? '') } as const)
          : ({ kind: 'piece_file', content: (await readFile(from)).toString('base64') } as const);
      await planAndInstall({ source, ...(id === undefined ? {} : { bundle_id: id }) }, options);
    },
  );
  const update = bundle
    .command('update')
    .argument('<id>', 'id of a bundle that was installed from a package, also with @version')
    .description(
      'show what the latest version of a piece changes, and install it after confirmation; with other hosts or places, change the installed version',
    );
  withPlanOptions(update).action(async (given: string, options: PlanOptions) => {
    const [bundle_id = '', version] = given.split('@');
    const installed = await withInstallation(({ list }) => list());
    const found = installed.find(({ bundleId }) => bundleId === bundle_id);
    if (found === undefined)
      throw new CommandError(
        exitCodes.notFound,
        `No bundle "${bundle_id}" was installed from a package. Run "${commandName} bundle list" to see the installed bundles.`,
      );
    const { digest: _, json: __, ...edits } = options;
    const isEdit = version === undefined && Object.keys(edits).length > 0;
    const source = isEdit
      ? ({ kind: 'installed', bundle_id } as const)
      : ({ kind: 'piece', package: found.about.package, ...(version === undefined ? {} : { version }) } as const);
    await planAndInstall({ source, bundle_id }, options);
  });
}

/** Removes a bundle that was installed from a package. */
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

/** Splits `@scope/name@version`. */
export function readPackage(text: string): { readonly package: string; readonly version?: string } {
  const at = text.indexOf('@', 1);
  return at === -1 ? { package: text } : { package: text.slice(0, at), version: text.slice(at + 1) };
}

type WithInstallation = Parameters<Parameters<typeof withAdministration>[0]>[0]['withInstallation'];

async function withInstallation<T>(work: (installation: Parameters<Parameters<WithInstallation>[0]>[0]) => Promise<T>) {
  let result: { readonly value: T } | undefined;
  await withAdministration(async (administration) => {
    result = { value: await administration.withInstallation(work) };
  });
  return (result as unknown as { readonly value: T }).value; // set, because nothing was thrown
}

async function planAndInstall(request: BundlePlanRequest, { digest, json, ...edits }: PlanOptions): Promise<void> {
  const { commandSource, planToWire } = await import('@quartermaster/server/administration');
  await withInstallation(async (installation) => {
    const plan = planToWire(
      await installation.plan(request, commandSource(), new AbortController().signal, showProgress),
    );
    showProgress(0, 0);
    const reach = editReach(plan, edits);
    const isSame = digest === undefined && json === undefined && Object.keys(reach).length === 0;
    if (isSame && (await installation.list()).some(({ about }) => about.digest === plan.digest))
      return say(`${plan.bundle_id} ${plan.version} is already installed`);
    const shown = { ...plan, ...reach };
    if (json === true && digest === undefined) return printJson(shown);
    if (digest === undefined) {
      (await import('./print-plan.ts')).printPlan(shown);
      await confirm(plan);
    } else if (digest !== plan.digest) {
      throw new CommandError(
        exitCodes.invalidData,
        `The digest of the plan is ${plan.digest}, not ${digest}. Read the plan, then confirm its digest.`,
      );
    }
    const confirmed = { digest: plan.digest, ...reach };
    const { about } = await installation.install(plan.bundle_plan_id, confirmed, commandSource());
    const { bundle_id, version } = about;
    printResult({ ...(json === true ? { json } : {}) }, { ...about, object: 'InstalledBundle' }, () =>
      say(`installed ${bundle_id} ${version}; a running service lists it within seconds`),
    );
    for (const warning of about.warnings.slice(plan.warnings.length)) printError(`Warning: ${warning}`);
  });
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
