import { describePythonOperations, listPublicOperations, type PythonDocument, schemasOf } from './python-operations.ts';
import { describePythonTypes, type Schemas } from './python-types.ts';

const folder = 'clients/python/src/quartermaster';

/**
 * Returns the generated files of the Python client: the types and the table of operations.
 * @param documents the texts of both OpenAPI documents
 */
export function describePythonClient(documents: { files: string; plugins: string }): Record<string, string> {
  const files = JSON.parse(documents.files) as PythonDocument; // the service wrote both
  const plugins = JSON.parse(documents.plugins) as PythonDocument;
  const ofFiles = listPublicOperations('files', files);
  const ofPlugins = listPublicOperations('plugins', plugins);
  const schemas = mergeSchemas(
    schemasOf(ofFiles, files.components?.schemas ?? {}),
    schemasOf(ofPlugins, plugins.components?.schemas ?? {}),
  );
  return {
    [`${folder}/types.py`]: describePythonTypes(schemas),
    [`${folder}/_operations.py`]: describePythonOperations([...ofFiles, ...ofPlugins]),
  };
}

function mergeSchemas(first: Schemas, second: Schemas): Schemas {
  for (const [name, schema] of Object.entries(second)) {
    const other = first[name];
    if (other !== undefined && JSON.stringify(other) !== JSON.stringify(schema)) {
      throw new Error(`The schema ${name} differs between both documents.`);
    }
  }
  return { ...first, ...second };
}
