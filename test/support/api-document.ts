import { Validator } from '@seriousme/openapi-schema-validator';

/** Reads the OpenAPI document of an address, and replaces each `$ref` by the object that it refers to. */
export async function readApiDocument<Document>(url: string): Promise<Document> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  if (!valid) throw new Error(`the OpenAPI document of ${url} is not valid: ${JSON.stringify(errors)}`);
  return validator.resolveRefs() as Document; // the caller names the type of the part that it reads
}
