import type { Scope } from '../scopes.ts';

/** What the API reference says of one operation. Markdown: names of fields stand in backticks. */
export interface OperationText {
  /** An imperative without a full stop: `Create a record`. */
  readonly summary: string;
  readonly description?: string;
  /** The scope that a key needs. Left out where no key works, or none is needed. */
  readonly scope?: Scope;
  /** Requests that work as printed once their variables are set, by name. A test runs each of them. */
  readonly examples: Readonly<Record<string, Example>>;
}

/**
 * One request. `$NAME` in a value is one of `exampleVariables`; a parameter of the path that is not given stands for the
 * variable of its name: `collection_id` for `$COLLECTION_ID`.
 */
export interface Example {
  /** What it shows; default: the summary of the operation. */
  readonly summary?: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as `multipart/form-data`. `file` holds the text of the file. */
  readonly form?: { readonly purpose: string; readonly fileName: string; readonly file: string };
  /** Keeps the cookies of the answer in `cookies.txt`. */
  readonly keepsCookies?: true;
}

/** The member of a route's schema that holds what OpenAPI has no place for; the document is made from it. */
export const textKeyword = 'x-operation-text';

/** The part of a route's schema that is text: `{ operationId, tags, summary, description, … }` for each operation. */
export function describeOperations<Id extends string>(tag: string, texts: Readonly<Record<Id, OperationText>>) {
  const entries = Object.entries<OperationText>(texts).map(([operationId, text]) => {
    const { summary, description } = text;
    const described = { operationId, tags: [tag], summary, ...(description === undefined ? {} : { description }) };
    return [operationId, { ...described, [textKeyword]: text }] as const;
  });
  return Object.fromEntries(entries) as Record<Id, (typeof entries)[number][1]>; // the same names
}
