export { applyRecipe } from './apply-recipe.ts';
export { listRecipes, readRecipe } from './own-recipes.ts';
export { parseRecipe, type Recipe } from './recipe.ts';
