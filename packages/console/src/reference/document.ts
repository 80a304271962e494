import type { JsonSchema } from '../components/schema/json-schema.ts';

/** The parts of an OpenAPI 3.1 document that this page reads. */
export interface ApiDocument extends JsonSchema {
  readonly info: { readonly title: string; readonly description?: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> };
  readonly responses?: Readonly<Record<string, Response>>;
  readonly 'x-codeSamples'?: ReadonlyArray<{ readonly label: string; readonly source: string }>;
}

interface Response extends JsonSchema {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

/** One operation with its path and method. */
export interface Placed {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly operation: Operation;
}

export function operationsOf(api: ApiDocument): readonly Placed[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      tag: operation.tags?.[0] ?? '',
      operation,
    })),
  );
}
