import { jsonSize } from '../../../platform/json/json-size.ts';
import { charactersPerStep, type ExpressionBudget, membersCost } from './expression-budget.ts';

/**
 * Spends the cost of a function beyond reading its arguments once. Called before the function and before its types are
 * checked.
 */
type Cost = (args: readonly unknown[], budget: ExpressionBudget) => void;

/** Functions whose cost does not depend on the size of their arguments. */
const cheap = new Set(['length', 'abs', 'ceil', 'floor', 'type', 'not_null', 'to_array']);

const extraCosts = new Map<string, Cost>([
  ['contains', ([subject, search], budget) => spendSearch(subject, search, budget)],
  ['find_first', ([subject, search], budget) => spendSearch(subject, search, budget)],
  ['find_last', ([subject, search], budget) => spendSearch(subject, search, budget)],
  ['ends_with', ([subject, search], budget) => spendSearch(subject, search, budget)],
  ['split', (args, budget) => spendPieces(args, budget)],
  ['replace', ([subject, search, by, count], budget) => spendReplace({ subject, search, by, count }, budget)],
  ['html_text', ([html], budget) => budget.spendCharacters(4 * lengthOf(html))],
  ['pad_left', ([, width], budget) => spendWidth(width, budget)],
  ['pad_right', ([, width], budget) => spendWidth(width, budget)],
  ['join', ([glue, texts], budget) => budget.spendCharacters(lengthOf(glue) * lengthOf(texts))],
  ['reverse', ([subject], budget) => budget.spend(lengthOf(subject))],
  ['to_string', ([value], budget) => spendJson(value, budget)],
  ['sort', ([items], budget) => budget.spend(lengthOf(items) * Math.ceil(Math.log2(lengthOf(items) + 1)))],
  ['max', ([items], budget) => spendComparisons(items, budget)],
  ['min', ([items], budget) => spendComparisons(items, budget)],
  // New objects and arrays take more memory than one step allows for.
  ['merge', (args, budget) => budget.spend(3 * args.reduce((sum: number, arg) => sum + membersOf(arg, budget), 0))],
  ['from_items', ([items], budget) => budget.spend(3 * lengthOf(items))],
  ['items', ([object], budget) => budget.spend(2 * membersOf(object, budget))],
  ['group_by', ([items], budget) => budget.spend(3 * lengthOf(items))],
  ['zip', (args, budget) => budget.spend(args.length * Math.min(...args.map(lengthOf)))],
]);

/** Spends the cost of a function call before the call. */
export function spendCall(name: string, args: readonly unknown[], budget: ExpressionBudget): void {
  budget.spend(args.length);
  if (cheap.has(name)) return;
  for (const arg of args) spendLook(arg, budget);
  extraCosts.get(name)?.(args, budget);
}

/** Spends the cost of reading an argument once: its items, members or characters. */
function spendLook(value: unknown, budget: ExpressionBudget): void {
  if (typeof value === 'string') budget.spendCharacters(value.length);
  else if (Array.isArray(value)) {
    budget.spend(value.length);
    for (const item of value) if (typeof item === 'string') budget.spendCharacters(item.length);
  } else budget.spend(membersCost * membersOf(value, budget));
}

/** Spends the cost of a search, which may compare the whole searched text at every position. */
function spendSearch(subject: unknown, search: unknown, budget: ExpressionBudget): void {
  const perPlace = Math.max(1, Math.min(lengthOf(search), lengthOf(subject)) / 4);
  if (typeof subject === 'string') budget.spendCharacters(subject.length * perPlace);
  else if (typeof search === 'string') budget.spend((lengthOf(subject) * search.length) / charactersPerStep);
}

/** @returns the number of pieces that the text is split into */
function spendPieces([subject, search]: readonly unknown[], budget: ExpressionBudget): number {
  if (typeof subject !== 'string' || typeof search !== 'string') return 0;
  spendSearch(subject, search, budget);
  if (search === '') {
    budget.spend(subject.length);
    return subject.length;
  }
  let pieces = 1;
  for (let at = subject.indexOf(search); at !== -1; at = subject.indexOf(search, at + search.length)) {
    budget.spend(1);
    pieces += 1;
  }
  return pieces;
}

interface Replacement {
  readonly subject: unknown;
  readonly search: unknown;
  readonly by: unknown;
  readonly count: unknown;
}

function spendReplace({ subject, search, by, count }: Replacement, budget: ExpressionBudget): void {
  const pieces = spendPieces([subject, search], budget);
  if (typeof count !== 'number' || count === 0) {
    budget.spendCharacters(pieces * lengthOf(by));
    return;
  }
  // Each replacement searches and writes the whole text again. `$'` in the replacement inserts up to the whole text.
  let length = lengthOf(subject);
  const copies = typeof by === 'string' ? by.split('$').length - 1 : 0;
  for (let time = 0; time < count; time += 1) {
    length += lengthOf(by) + copies * length;
    budget.spendCharacters(length * Math.max(1, lengthOf(search) / 4));
  }
}

function spendWidth(width: unknown, budget: ExpressionBudget): void {
  if (typeof width === 'number' && width > 0) budget.spendCharacters(width);
}

/** Spends by the size of the JSON text: a value may hold the same array many times. */
function spendJson(value: unknown, budget: ExpressionBudget): void {
  if (typeof value !== 'string') budget.spend(jsonSize(value, budget.left * 2) / 2);
}

/** Spends the cost of comparing texts by the rules of a language, which costs more than reading them. */
function spendComparisons(items: unknown, budget: ExpressionBudget): void {
  if (!Array.isArray(items)) return;
  for (const item of items) budget.spend(1 + lengthOf(item) / 4);
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0;
}

function membersOf(value: unknown, budget: ExpressionBudget): number {
  return typeof value === 'object' && value !== null ? budget.countMembers(value) : 0;
}
