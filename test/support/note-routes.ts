import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env.NOTED_ROUTES;
let addresses = 0;

interface Initialised {
  readonly fastify: {
    addHook(name: 'onRoute', hook: (route: { readonly method: string | string[]; readonly url: string }) => void): void;
  };
}

/** Preloaded into a service (`--import`), it appends each route to a file: the number of its address, its method and its path. */
if (file !== undefined && isMainThread) {
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as Initialised; // published by Fastify
    addresses += 1;
    const address = addresses;
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) appendFileSync(file, `${address} ${one} ${url}\n`);
    });
  });
}
