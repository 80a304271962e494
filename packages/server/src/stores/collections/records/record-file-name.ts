import { parseJson } from '../../../platform/json/parse-json.ts';

/** Returns the name of the file of a record, from the content of a record with a file. */
export function readFileName(content: string): string | null {
  const { file_name: name = null } = parseJson(content) as { file_name?: string }; // written by `readFile`
  return name;
}
