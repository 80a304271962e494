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

/** Returns the textual part of each operation's route schema: `{ operationId, tags, summary, description, … }`. */
export function describeOperations<Id extends string>(tag: string, texts: Readonly<Record<Id, OperationText>>) {
  const entries = Object.entries<OperationText>(texts).map(([operationId, text]) => {
    const { summary, description } = text;
    const described = { operationId, tags: [tag], summary, ...(description === undefined ? {} : { description }) };
    return [operationId, { ...described, [textKeyword]: text }] as const;
  });
  return Object.fromEntries(entries) as Record<Id, (typeof entries)[number][1]>; // the same names
}
