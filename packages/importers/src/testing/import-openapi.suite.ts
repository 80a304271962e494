import { schemaChecks } from '@quartermaster/server/authoring';
import { type ImportOptions, importOpenApi as importWith } from '../openapi/import-openapi.ts';

/** Imports a document by the rules of the catalogue. */
export const importOpenApi = (text: string, options?: ImportOptions) => importWith(text, schemaChecks, options);
