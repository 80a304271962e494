import type { Catalogue } from '../catalogue/catalogue.ts';
import { bundleNotFound } from '../catalogue/problems.ts';
import { pathNotFound } from '../kernel/problem.ts';
import { type Channel, createChannel, createEndpoint, type Endpoint } from './endpoint.ts';
import type { ProtocolServerDeps } from './protocol-server.ts';
import { createToolboxes, emptyToolbox, type Toolbox } from './toolbox.ts';

export interface EndpointsDeps extends ProtocolServerDeps {
  /** Returns the catalogue in force. A new object means that tools have changed. */
  readonly catalogue: () => Pick<Catalogue, 'bundles' | 'describePlugin'>;
}

/** One endpoint for all tools, one for each bundle and one for all collections, each created at its first request. */
export interface Endpoints {
  /** @throws Problem when the bundle does not exist */
  getEndpoint(bundleId: string | undefined): Endpoint;
  /**
   * Returns the endpoint of a collection. It has no plugins.
   * @throws Problem when the collection does not exist or belongs to another project
   */
  getCollectionEndpoint(projectId: string, collectionId: string): Promise<Endpoint>;
  /** Notifies subscribed clients whose tools differ in the new catalogue. */
  toolsChanged(catalogue: Pick<Catalogue, 'bundles'>, previous: Pick<Catalogue, 'bundles'>): void;
  /** Ends the streams of subscribed clients. */
  close(): Promise<void>;
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  let listed = deps.catalogue();
  let toolboxes = createToolboxes(listed, deps.logger);
  const endpoints = new WeakMap<Toolbox, Endpoint>();
  /** One channel for each URL. Its streams outlive the endpoint that opened them. */
  const channels = new Map<string, Channel>();

  function channelOf(bundleId: string): Channel {
    const channel = channels.get(bundleId) ?? createChannel();
    channels.set(bundleId, channel);
    return channel;
  }

  let ofCollections: Endpoint | undefined;
  return {
    async getCollectionEndpoint(projectId, collectionId) {
      if (deps.knowledge === null) throw pathNotFound();
      await deps.knowledge.checkCollection(projectId, collectionId);
      ofCollections ??= createEndpoint(emptyToolbox, deps, channelOf(collections));
      return ofCollections;
    },
    getEndpoint(bundleId) {
      const catalogue = deps.catalogue();
      if (catalogue !== listed) toolboxes = createToolboxes(catalogue, deps.logger);
      listed = catalogue;
      const toolbox = bundleId === undefined ? toolboxes.all : toolboxes.ofBundle.get(bundleId);
      if (toolbox === undefined) throw bundleNotFound(bundleId ?? '');
      // An endpoint of one bundle has no knowledge tools.
      const own = bundleId === undefined ? deps : { ...deps, knowledge: null };
      const endpoint = endpoints.get(toolbox) ?? createEndpoint(toolbox, own, channelOf(bundleId ?? everything));
      endpoints.set(toolbox, endpoint);
      return endpoint;
    },
    toolsChanged(catalogue, previous) {
      for (const [name, channel] of channels) {
        const isOther = catalogue.bundles.get(name) !== previous.bundles.get(name);
        if (name === everything || isOther) channel.bus.publish({ kind: 'tools_list_changed' });
      }
    },
    async close() {
      await Promise.all([...channels.values()].map((channel) => channel.close()));
    },
  };
}

/** The key of the endpoint for all plugins. No bundle has this id. */
const everything = '';

/** The key of the endpoint for collections. No bundle has this id. */
const collections = ':collections';
