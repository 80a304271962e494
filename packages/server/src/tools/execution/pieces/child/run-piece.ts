import type { Handler } from '@quartermaster/plugin-kit';
import { authFor, createActionContext, createPropertyContext, propsFor } from './action-context.ts';
import { currentRun, type PieceRun } from './current-run.ts';
import { describeOptions, describePiece, describeProperties, textOf } from './describe-piece.ts';
import { type LoadedPiece, loadPiece, membersOf } from './load-piece.ts';
import { redirectModules } from './modules.ts';
import type { PieceChoices, PieceTask } from './piece-task.ts';
import { createProcessFacade } from './process-facade.ts';
import { explainFailure, formsOf, refuseSecretsInCrypto } from './secret-use.ts';
import { fetchForPiece } from './send-request.ts';

/**
 * The handler of every piece. It runs in a child process of the sandbox, never in the service. The restrictions of handlers apply;
 * what a piece sees instead of `process`, `fetch` and the modules of Node.js is defined before its file is loaded.
 */

const facade = createProcessFacade(process);
redirectModules(facade);
refuseSecretsInCrypto();
for (const [name, value] of Object.entries({ process: facade, fetch: fetchForPiece })) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}

let loaded: LoadedPiece | undefined;

export const run: Handler<PieceTask> = (task, context) => {
  const forms = formsOf(task.mode === 'describe' ? {} : (task.auth?.fields ?? {}));
  const started: PieceRun = { context, forms, hasSentSecret: false, missing: new Set() };
  return currentRun.run(started, async () => {
    loaded ??= loadPiece(task.file);
    if (task.mode === 'describe') return describePiece(loaded);
    const output = await perform(loaded, task).catch((cause: unknown) => {
      throw explainFailure(cause);
    });
    if (started.refusal !== undefined) throw started.refusal;
    return output;
  });
};

async function perform(
  { actions, contextVersion }: LoadedPiece,
  task: Exclude<PieceTask, { mode: 'describe' }>,
): Promise<unknown> {
  const action = actions.get(task.action);
  if (action === undefined) throw new Error(`The piece has no action ${JSON.stringify(task.action)}.`);
  const auth = authFor(task.auth, contextVersion);
  const props = propsFor(action.props, task, auth);
  if (task.mode === 'choices') return await chooseFor(action, task, { ...props, auth });
  // The types of its members were checked when the piece was loaded.
  const output: unknown = await (action.run as (context: object) => unknown)(createActionContext(auth, props));
  const isObject = typeof output === 'object' && output !== null && !Array.isArray(output);
  // The output of a plugin is an object.
  return isObject ? output : { result: output ?? null };
}

/** Third parties have more; a search finds the others. The service accepts as many as are sent. */
const mostOptions = { read: 50_000, sent: 2_000 };

async function chooseFor(
  action: Readonly<Record<string, unknown>>,
  { property, search }: Extract<PieceTask, { mode: 'choices' }>,
  props: Readonly<Record<string, unknown>>,
): Promise<PieceChoices> {
  const declared = membersOf(membersOf(action.props)[property]);
  const ask = declared.type === 'DYNAMIC' ? declared.props : declared.options;
  const answer: unknown = typeof ask === 'function' ? await ask(props, createPropertyContext(search)) : ask;
  if (declared.type === 'DYNAMIC') return { properties: describeProperties(answer) };
  const { options, placeholder } = membersOf(answer);
  const wanted = (search ?? '').trim().toLowerCase();
  const described = describeOptions(Array.isArray(options) ? options.slice(0, mostOptions.read) : []);
  const isFound = ({ label, value }: (typeof described)[number]) => `${label}\n${value}`.toLowerCase().includes(wanted);
  const found = described.length > mostOptions.sent ? described.filter(isFound) : described;
  return { options: found.slice(0, mostOptions.sent), placeholder: textOf(placeholder, 200) };
}
