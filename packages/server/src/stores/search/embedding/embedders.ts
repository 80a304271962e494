import { createHash } from 'node:crypto';
import type { Embedder } from './embedder.ts';

/** The configured models, each with one embedder that all its collections share. */
export interface Embedders<Each extends Embedder = Embedder> {
  /** The embedder of new collections. */
  readonly first: Each;
  /** The embedders of all models, the first one included. */
  readonly all: readonly Each[];
  /** Returns the embedder whose `model` has this name. */
  find(model: string): Each | undefined;
  /** Returns the embedder whose model has this id in the API. */
  findById(id: string): Each | undefined;
}

export function createEmbedders<Each extends Embedder>(first: Each, further: readonly Each[] = []): Embedders<Each> {
  const all = [first, ...further];
  const byModel = new Map(all.map((each) => [each.model, each]));
  const byId = new Map(all.map((each) => [toModelId(each.model), each]));
  return { first, all, find: (model) => byModel.get(model), findById: (id) => byId.get(id) };
}

/** Whether an id has the form of the ids of models. */
export function isModelId(id: string): boolean {
  return /^Qm[0-9a-f]{6}$/.test(id);
}

/** Returns the id of a model in the API. Clients of other programs require 8 characters. */
export function toModelId(model: string): string {
  return `Qm${createHash('sha256').update(model).digest('hex').slice(0, 6)}`;
}
