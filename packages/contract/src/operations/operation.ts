import type { TSchema } from 'typebox';
import type { Scope } from '../scopes.ts';

/** The text of one operation in the API reference. It is Markdown; field names are in backticks. */
export interface OperationText {
  /** An imperative without a full stop: `Create a record`. */
  readonly summary: string;
  readonly description?: string;
  /** The scope that a key needs. Absent where keys are not accepted or not needed. */
  readonly scope?: Scope;
  /** Example requests by name. They work as printed once their variables are set; a test runs each of them. */
  readonly examples: Readonly<Record<string, Example>>;
}

/**
 * One request. `$NAME` in a value is one of `exampleVariables`. A missing path parameter defaults to the variable of its name:
 * `collection_id` is `$COLLECTION_ID`.
 */
export interface Example {
  /** A summary of the example. Default: the summary of the operation. */
  readonly summary?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `multipart/form-data`. `file` is the text of the file. */
  readonly form?: { readonly purpose: string; readonly fileName: string; readonly file: string };
  /** Sent as it is. `headers` name its type. */
  readonly content?: string;
  /** Whether to store the cookies of the response in `cookies.txt`. */
  readonly keepsCookies?: true;
}

/** The member of a route's schema with the texts that OpenAPI has no place for. The API reference is generated from it. */
export const textKeyword = 'x-operation-text';

/** The schemas of an operation's requests and responses, as a route of Fastify takes them. */
export interface OperationSchemas {
  /** The ways to authenticate, each as the names of its schemes. Default: those of the API. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  readonly consumes?: string[];
  readonly produces?: string[];
  readonly response?: Readonly<Record<string, unknown>>;
}

type Operations = Readonly<Record<string, OperationText & OperationSchemas>>;
/** The schema of a route of Fastify. */
export type RouteSchema<Operation> = Omit<Operation, keyof OperationText> & DescribedOperation;

/** The texts of an operation, as the schema of its route has them. */
export interface DescribedOperation extends Pick<OperationText, 'summary' | 'description'> {
  readonly operationId: string;
  readonly tags: string[];
  readonly [textKeyword]: OperationText;
}

/** Returns the route schema of each operation: `{ operationId, tags, summary, description, body, response, … }`. */
export function describeOperations<All extends Operations>(tag: string, operations: All) {
  const entries = Object.entries(operations).map(([operationId, operation]) => {
    const { summary, description, scope, examples, ...schemas } = operation;
    const text = { summary, ...(description !== undefined && { description }) };
    const texts = { ...text, ...(scope !== undefined && { scope }), examples };
    return [operationId, { operationId, tags: [tag], ...text, [textKeyword]: texts, ...schemas }] as const;
  });
  return Object.fromEntries(entries) as unknown as { readonly [Id in keyof All]: RouteSchema<All[Id]> }; // the same names
}
