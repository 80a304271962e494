import { ErrorAnswer, errorCodes } from '@quartermaster/contract';
import type { OpenApiDocument, Placed } from './document.ts';
import { markSchema } from './named-schemas.ts';

/** Error responses that depend on the input of an operation; `default` represents all others. */
const responses = {
  Unauthorized: { status: 401, isPossible: ({ security }: Placed) => security.length > 0 },
  Forbidden: { status: 403, isPossible: ({ security }: Placed) => security.length > 0 },
  NotFound: { status: 404, isPossible: ({ path }: Placed) => path.includes('{') },
  Invalid: {
    status: 422,
    isPossible: ({ operation }: Placed) => operation.parameters !== undefined || operation.requestBody !== undefined,
  },
} as const;

/** Returns the components that `errorReferences` refers to. */
export function errorComponents(): NonNullable<OpenApiDocument['components'][string]> {
  const content = { 'application/json': { schema: markSchema(ErrorAnswer) } };
  const named = Object.entries(responses).map(([name, { status }]) => [
    name,
    { description: codesOf(status), content },
  ]);
  const description = 'Any other refusal or failure: 400, 405, 408, 409, 413, 415, 429, 500 to 507. `code` says which.';
  return { ...Object.fromEntries(named), Error: { description, content } };
}

/** Returns nothing for an operation that describes its errors itself. */
export function errorReferences(placed: Placed): Record<string, { $ref: string }> {
  if (placed.operation.responses.default !== undefined) return {};
  const possible = Object.entries(responses).filter(([, { isPossible }]) => isPossible(placed));
  const entries = possible.map(([name, { status }]) => [String(status), { $ref: `#/components/responses/${name}` }]);
  return { ...Object.fromEntries(entries), default: { $ref: '#/components/responses/Error' } };
}

function codesOf(wanted: number): string {
  return Object.entries(errorCodes)
    .filter(([, { status }]) => status === wanted)
    .map(([code, { meaning }]) => `\`${code}\`: ${meaning}`)
    .join(' ');
}
