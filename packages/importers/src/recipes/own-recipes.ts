import { readdirSync, readFileSync } from 'node:fs';
import { parseRecipe, type Recipe } from './recipe.ts';

/** The recipes that ship with the product. */
const folder = new URL('../../recipes/', import.meta.url);

export function listRecipes(): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return files.map((name) => name.slice(0, -'.yaml'.length)).sort();
}

/** @throws Error that lists the recipes, for another name */
export function readRecipe(name: string): Recipe {
  const all = listRecipes();
  if (!all.includes(name))
    throw new Error(
      `There is no recipe ${JSON.stringify(name.slice(0, 60))}. Use one of these, or none: ${all.join(', ')}.`,
    );
  return parseRecipe(readFileSync(new URL(`${name}.yaml`, folder), 'utf8'));
}
