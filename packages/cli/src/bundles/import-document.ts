import { readFile } from 'node:fs/promises';
import type { ImportedBundle, ImportOptions, SchemaChecks } from '@quartermaster/importers/openapi';

/** @param recipe the name of a recipe, or the path of its file; undefined imports what the options choose */
export async function importDocument(
  text: string,
  recipe: string | undefined,
  checks: SchemaChecks,
  options: ImportOptions,
): Promise<ImportedBundle> {
  if (recipe === undefined) {
    const { importOpenApi } = await import('@quartermaster/importers/openapi');
    return importOpenApi(text, checks, options);
  }
  const { applyRecipe, parseRecipe, readRecipe } = await import('@quartermaster/importers/recipes');
  const found = recipe.endsWith('.yaml') ? parseRecipe(await readFile(recipe, 'utf8')) : readRecipe(recipe);
  return applyRecipe(text, found, checks, options);
}
