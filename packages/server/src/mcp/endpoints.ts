import type { Catalogue } from '../catalogue/catalogue.ts';
import { bundleNotFound } from '../catalogue/problems.ts';
import { type Channel, createChannel, createEndpoint, type Endpoint } from './endpoint.ts';
import type { ProtocolServerDeps } from './protocol-server.ts';
import { createToolboxes, type Toolbox } from './toolbox.ts';

export interface EndpointsDeps extends ProtocolServerDeps {
  /** The catalogue in force; another object means that the tools have changed. */
  readonly catalogue: () => Pick<Catalogue, 'bundles' | 'describePlugin'>;
}

/** One endpoint for all plugins and one for each bundle, each made when it is first asked for. */
export interface Endpoints {
  /** @throws Problem when there is no such bundle */
  getEndpoint(bundleId: string | undefined): Endpoint;
  /** Tells clients that listen that another catalogue is in force, where their tools are others now. */
  toolsChanged(catalogue: Pick<Catalogue, 'bundles'>, previous: Pick<Catalogue, 'bundles'>): void;
  /** Ends the streams of clients that listen. */
  close(): Promise<void>;
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  let listed = deps.catalogue();
  let toolboxes = createToolboxes(listed, deps.logger);
  const endpoints = new WeakMap<Toolbox, Endpoint>();
  /** One for each address; streams that were opened on an endpoint outlive it. */
  const channels = new Map<string, Channel>();

  function channelOf(bundleId: string): Channel {
    const channel = channels.get(bundleId) ?? createChannel();
    channels.set(bundleId, channel);
    return channel;
  }

  return {
    getEndpoint(bundleId) {
      const catalogue = deps.catalogue();
      if (catalogue !== listed) toolboxes = createToolboxes(catalogue, deps.logger);
      listed = catalogue;
      const toolbox = bundleId === undefined ? toolboxes.all : toolboxes.ofBundle.get(bundleId);
      if (toolbox === undefined) throw bundleNotFound(bundleId ?? '');
      const endpoint = endpoints.get(toolbox) ?? createEndpoint(toolbox, deps, channelOf(bundleId ?? everything));
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

/** No bundle has this id. */
const everything = '';
