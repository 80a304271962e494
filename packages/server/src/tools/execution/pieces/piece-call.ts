import { createHmac, randomBytes } from 'node:crypto';
import type { PieceActionCall, PieceOrigin } from '@quartermaster/plugin-kit';
import { once } from '../../../platform/concurrency/once.ts';
import { Problem } from '../../../platform/problem.ts';
import type { FoundOptions, OptionsCall } from '../executor.ts';
import type { RawOutcome, Run } from '../run.ts';
import type { SandboxTask } from '../sandbox/sandbox.ts';
import { checkChoices } from './check-description.ts';
import type { ActionCall, PieceAuthValue } from './child/piece-task.ts';
import { schemaOfProperties } from './piece-schema.ts';

/** A question for the choices of an input. */
export type ChoicesQuestion = Pick<OptionsCall, 'property' | 'search'>;

/** Returns what the task of a piece has besides that of a handler. Empty for an ordinary handler. */
export function pieceTaskOf(
  { bundle, plugin, policy }: Pick<Run, 'bundle' | 'plugin' | 'policy'>,
  input: Run['input'],
  question?: ChoicesQuestion,
): Partial<Pick<SandboxTask, 'piece' | 'input'>> {
  const [origin, call] = [bundle.manifest.piece, plugin?.manifest.piece];
  if (origin === undefined || call === undefined) return {};
  const named = (name: string) => namesOf(call).get(name) ?? name;
  const action: ActionCall = {
    action: call.action,
    props: Object.fromEntries(Object.entries(input).map(([name, value]) => [named(name), value])),
    auth: authOf(origin, policy.lent?.handlerCredentials ?? {}),
  };
  const asked = question === undefined ? undefined : { ...question, property: named(question.property) };
  return {
    piece: { credentialsDigest: digestOf(policy.egress.credentials) },
    input: asked === undefined ? { mode: 'run', ...action } : { mode: 'choices', ...action, ...asked },
  };
}

function namesOf({ names = {} }: PieceActionCall): ReadonlyMap<string, string> {
  return new Map(Object.entries(names));
}

/** Uses the alternative whose credentials are complete, otherwise the one with the most. */
function authOf({ auth }: PieceOrigin, credentials: Readonly<Record<string, string>>): PieceAuthValue | null {
  const found = auth.map(({ kind, fields }) => {
    const given = Object.entries(fields).filter(([name]) => Object.hasOwn(credentials, name));
    const values = given.map(([name, type]) => [name, typed(credentials[name] ?? '', type)]);
    return {
      kind,
      fields: Object.fromEntries(values),
      given: given.length,
      missing: Object.keys(fields).length - given.length,
    };
  });
  const [best] = found.filter(({ given }) => given > 0).sort((a, b) => a.missing - b.missing || b.given - a.given);
  return best === undefined ? null : { kind: best.kind, fields: best.fields };
}

function typed(value: string, type: PieceOrigin['auth'][number]['fields'][string]): unknown {
  if (type === 'number') return Number(value);
  if (type === 'boolean') return value === 'true';
  return type === 'json' ? value.split(',').map((one) => one.trim()) : value;
}

const digestKey = once(() => randomBytes(32));

/** Identifies the credentials of a run within this process only. */
function digestOf(credentials: Run['policy']['egress']['credentials']): string {
  const values = [...credentials].map(([name, secret]) => [name, secret.reveal()] as const);
  values.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', digestKey()).update(JSON.stringify(values)).digest('base64url');
}

/** Turns the answer of a piece about choices into {@link FoundOptions}. The process may answer anything. */
export function readFoundOptions(outcome: RawOutcome): RawOutcome {
  if (outcome.kind !== 'returned') return outcome;
  const found = checkChoices(outcome.output);
  if (found === undefined) return { kind: 'failed', message: 'The piece returned choices in an unknown form.' };
  try {
    const output: FoundOptions = 'options' in found ? found : { schema: schemaOfProperties(found.properties) };
    return { ...outcome, output };
  } catch (cause) {
    if (cause instanceof Problem) return { kind: 'failed', message: cause.message };
    throw cause;
  }
}
