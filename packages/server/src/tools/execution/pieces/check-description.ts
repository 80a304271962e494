import { once } from '../../../platform/concurrency/once.ts';
import { describeErrors } from '../../../platform/validation/describe-errors.ts';
import { sentenceWithoutPath, toErrorDetail } from '../../../platform/validation/validation-error.ts';
import { engine } from '../../catalogue/schema/manifest-engine.ts';
import { authKinds, type PieceChoices, type PieceDescription } from './child/piece-task.ts';
import { pieceRefused } from './problems.ts';

/** Checks what the process of a piece says about it: the number of its parts, their forms and the lengths of texts. */

/** @throws Problem that names the first part in an unknown form */
export function checkDescription(found: unknown): PieceDescription {
  const check = descriptionCheck();
  if (check(found)) return found;
  const options = { schema: descriptionSchema, showsValue: () => false, limit: 1 };
  const [error] = describeErrors(check.errors ?? [], options);
  if (error === undefined) throw pieceRefused('its description is invalid');
  const message = sentenceWithoutPath(toErrorDetail(error)).replace(/\.$/, '');
  throw pieceRefused(`in its description, ${error.segments.join('.') || 'the whole'} is invalid: ${message}`);
}

/** Undefined for choices in an unknown form. */
export function checkChoices(found: unknown): PieceChoices | undefined {
  return choicesCheck()(found) ? found : undefined;
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
  pkce: { type: 'boolean' },
  prompt: text(40),
  authorizationMethod: text(40),
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
const descriptionCheck = once(() => engine().compile<PieceDescription>(descriptionSchema));
const choicesCheck = once(() => engine().compile<PieceChoices>(choicesSchema));
