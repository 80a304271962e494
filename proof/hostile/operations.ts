/** The part of JSON Schema that the documents use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly additionalProperties?: boolean | Schema;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

/** One operation of an OpenAPI document. */
export interface ApiOperation {
  readonly id: string;
  readonly address: 'files' | 'plugins';
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Schemas by content type. */
  readonly bodies: Readonly<Record<string, Schema>>;
  /** Whether the document says that the operation needs no key. */
  readonly isPublic: boolean;
}

interface Document {
  readonly paths: Record<string, Record<string, RawOperation>>;
}
interface RawOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Record<string, { schema?: Schema }> };
  readonly security?: ReadonlyArray<Record<string, unknown>>;
}

/** Returns the operations of both addresses from the OpenAPI documents that they serve. */
export async function readOperations(urls: { filesUrl: string; pluginsUrl: string }): Promise<ApiOperation[]> {
  const [files, plugins] = await Promise.all([
    operationsOf('files', urls.filesUrl),
    operationsOf('plugins', urls.pluginsUrl),
  ]);
  return [...files, ...plugins];
}

async function operationsOf(address: 'files' | 'plugins', url: string): Promise<ApiOperation[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document; // an OpenAPI 3.1 document
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => ({
      id: raw.operationId,
      address,
      method: method.toUpperCase(),
      path,
      parameters: raw.parameters ?? [],
      bodies: Object.fromEntries(
        Object.entries(raw.requestBody?.content ?? {}).map(([type, { schema = {} }]) => [type, schema]),
      ),
      isPublic: raw.security?.length === 0,
    })),
  );
}
