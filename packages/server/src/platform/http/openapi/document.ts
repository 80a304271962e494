import type { Scope } from '@quartermaster/contract';
import type { OperationText } from '@quartermaster/contract/operations';

/** The parts of an OpenAPI 3.1 document that `completeDocument` reads and writes. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
  security: readonly SecurityRequirement[];
  [other: string]: unknown;
}

/** Maps each security scheme to the scopes that it needs. */
export type SecurityRequirement = Readonly<Record<string, readonly Scope[]>>;

export interface Operation {
  readonly operationId: string;
  summary: string;
  description?: string;
  security?: readonly SecurityRequirement[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, { description?: string; $ref?: string; content?: Record<string, MediaType> }>;
  'x-operation-text'?: OperationText;
  'x-codeSamples'?: readonly CodeSample[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  example?: unknown;
}

export interface MediaType {
  schema?: unknown;
  examples?: Record<string, { summary: string; value: unknown }>;
}

/** The form in which Redoc, Scalar and others show requests: https://redocly.com/docs-legacy/api-reference-docs/specification-extensions/x-code-samples */
export interface CodeSample {
  readonly lang: 'Shell';
  readonly label: string;
  readonly source: string;
}

/** An operation with its path and method. */
export interface Placed {
  readonly path: string;
  /** In upper case. */
  readonly method: string;
  readonly operation: Operation;
  /** The requirements of a request, including those of the whole document. */
  readonly security: readonly SecurityRequirement[];
}

export function listOperations(document: OpenApiDocument): Placed[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
      security: operation.security ?? document.security,
    })),
  );
}
