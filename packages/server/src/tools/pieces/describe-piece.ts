import { once } from '../../platform/concurrency/once.ts';
import { describeErrors } from '../../platform/validation/describe-errors.ts';
import { sentenceWithoutPath, toErrorDetail } from '../../platform/validation/validation-error.ts';
import { engine } from '../catalogue/schema/manifest-engine.ts';
import type { Sandbox, SandboxOutcome } from '../execution/sandbox/sandbox.ts';
import { authKinds, type PieceChoices, type PieceDescription } from './child/piece-task.ts';
import { openPiece } from './piece-process.ts';
import { pieceFailed, pieceRefused } from './problems.ts';

/**
 * Describes a piece: its process in the sandbox reads what the piece declares, and the answer is checked here.
 * @param file the unmodified file of the package
 * @throws Problem that says why the piece cannot be used
 */
export async function describePiece(file: Buffer, sandbox: Sandbox, signal: AbortSignal): Promise<PieceDescription> {
  await using piece = await openPiece(file, sandbox);
  const found = readAnswer(await piece.run({ mode: 'describe' }, signal));
  return check(descriptionCheck(), descriptionSchema, found) as PieceDescription;
}

/** Checks the choices that a piece returned. */
export function checkChoices(found: unknown): PieceChoices {
  return check(choicesCheck(), choicesSchema, found) as PieceChoices;
}

function readAnswer(outcome: SandboxOutcome): unknown {
  if (outcome.kind === 'returned') return outcome.output;
  // Its length is limited, and only administrators install pieces.
  if (outcome.kind === 'returned_large') return JSON.parse(outcome.json.toString());
  if (outcome.kind === 'failed') throw pieceRefused(outcome.message.replace(/\.$/, ''));
  throw pieceFailed('message' in outcome ? outcome.message : `Its process ended with ${outcome.kind}.`);
}

function check(validate: ReturnType<ReturnType<typeof engine>['compile']>, schema: object, found: unknown): unknown {
  if (validate(found)) return found;
  const [error] = describeErrors(validate.errors ?? [], { schema, showsValue: () => false, limit: 1 });
  if (error === undefined) throw pieceRefused('its description is invalid');
  const message = sentenceWithoutPath(toErrorDetail(error)).replace(/\.$/, '');
  throw pieceRefused(`in its description, ${error.segments.join('.') || 'the whole'} is invalid: ${message}`);
}

const text = (maxLength: number, minLength = 0) => ({ type: 'string', minLength, maxLength });
const list = (items: object, maxItems: number) => ({ type: 'array', items, maxItems });
const record = (members: Readonly<Record<string, object>>, optional: Readonly<Record<string, object>> = {}) => ({
  type: 'object',
  properties: { ...members, ...optional },
  required: Object.keys(members),
  additionalProperties: false,
});

const name = { ...text(200, 1), pattern: '^[^\\u0000-\\u001f]+$' };
const options = list(record({ label: text(200), value: {} }), 2_000);
const properties = list({ $ref: '#/$defs/property' }, 200);
const fields = list({ $ref: '#/$defs/field' }, 200);
const named = { displayName: text(200), description: text(2_000) };
const $defs = {
  property: record(
    { name, type: text(60), ...named, required: { type: 'boolean' } },
    { defaultValue: {}, options, refreshers: list(text(200), 50), properties },
  ),
  field: record({
    key: text(200),
    description: text(2_000),
    format: text(40),
    isMap: { type: 'boolean' },
    children: fields,
    items: { anyOf: [{ type: 'null' }, fields] },
  }),
};
const auth = record({
  kind: { enum: [...authKinds] },
  ...named,
  props: properties,
  authUrl: text(2_000),
  tokenUrl: text(2_000),
  scope: list(text(200), 500),
});
const action = record({
  name,
  ...named,
  requireAuth: { type: 'boolean' },
  classification: text(40),
  idempotent: { type: 'boolean' },
  props: properties,
  output: fields,
});
const descriptionSchema = {
  ...record({
    ...named,
    displayName: text(200, 1),
    logoUrl: text(2_000),
    categories: list(text(100), 50),
    auth: list(auth, 10),
    actions: { ...list(action, 500), minItems: 1 },
  }),
  $defs,
};
const choicesSchema = {
  anyOf: [record({ options, placeholder: text(200) }), record({ properties })],
  $defs,
};
const descriptionCheck = once(() => engine().compile(descriptionSchema));
const choicesCheck = once(() => engine().compile(choicesSchema));
